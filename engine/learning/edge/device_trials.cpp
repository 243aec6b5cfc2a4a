#include "base/maths.h"
#include "base/random.h"
#include "learning/edge/device_prior.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace orrery {
namespace {

constexpr double alone = 1e9;                             // a weight of trials beside which samples do not count
constexpr std::size_t manySamples = 30, leastScores = 9;  // of which the largest is the ninth tenth
constexpr double nine = 0.9, clearly = 0.98;

// A normal's errors in half-widths of its 90 % interval: what is believed of scores where no device shows any.
constexpr std::array normalScores{0.019, 0.057, 0.096, 0.134, 0.173, 0.212, 0.251, 0.291, 0.331, 0.372,
                                  0.414, 0.457, 0.501, 0.547, 0.596, 0.648, 0.706, 0.773, 0.856, 0.994};

double logOf(double score) {
    return std::log(std::max(1e-6, score));
}

// Twenty scores that are spread as all of them.
std::vector<double> fewOf(std::vector<double> scores) {
    std::vector<double> out;
    if (scores.empty()) return out;
    for (int i = 0; i < 20; ++i) out.push_back(quantileType7(scores, (i + 0.5) / 20));
    return out;
}

// How wrong it is that nine in ten of the scores lie below (the check function of Koenker and Bassett 1978), in
// logarithms.
double checkLoss(std::span<const double> scores, double widening) {
    double loss = 0;
    for (const double each : scores) {
        const double off = logOf(each) - logOf(widening);
        loss += (off > 0 ? nine * off : (nine - 1) * off) / static_cast<double>(scores.size());
    }
    return loss;
}

}  // namespace

double doubtOf(std::vector<double> far, std::vector<double> near) {
    if (far.empty() || near.empty()) return 2;
    const double found = quantileType7(far, 0.05), spared = quantileType7(near, nine);
    return std::exp(std::min(std::log(2.0), std::max(found, spared)));
}

bool DeviceTrials::simpleIsBetter(const LeftOutSamples& own, const LeftOutSamples& simple, const Choice& by,
                                  std::size_t device) const {
    double a = 0, b = 0, count = 0;
    for (const Trial& each : trials) {
        if (each.device == device) continue;
        a += each.ownError;
        b += each.simpleError;
        count += 1;
    }
    const double n = by.weight < alone ? static_cast<double>(own.scores.size()) : 0,
                 of = count > 0 ? by.weight / count : 0;
    if (n + of == 0) return false;
    return n * simple.error + of * b <= by.margin * (n * own.error + of * a);
}

double DeviceTrials::widening(const LeftOutSamples& left, bool simple, double weight, std::size_t device) const {
    std::vector<std::pair<double, double>> weighed;  // score, weight
    for (const Trial& each : trials) {
        if (each.device == device) continue;
        for (const double score : simple ? each.simpleScores : each.ownScores) weighed.emplace_back(score, 1);
    }
    if (weighed.empty())
        for (const double score : normalScores) weighed.emplace_back(score, 1);
    const double share = weight / static_cast<double>(weighed.size());
    for (auto& each : weighed) each.second = share;
    double total = weight;
    // The next row's own score is unknown: it counts as beyond all (Vovk, Gammerman and Shafer 2005).
    if (weight < alone) {
        for (const double score : left.scores) weighed.emplace_back(score, 1);
        total += static_cast<double>(left.scores.size()) + 1;
    }
    std::sort(weighed.begin(), weighed.end());
    double sum = 0;
    for (const auto& [score, each] : weighed) {
        sum += each;
        if (sum >= nine * total * (1 - 1e-12)) return std::clamp(score, 0.3, 8.0);
    }
    return std::clamp(1.3 * weighed.back().first, 0.3, 8.0);
}

void DeviceTrials::learn() {
    if (trials.empty()) return;
    double least = std::numeric_limits<double>::infinity();
    for (const Choice& by :
         {Choice{alone, 1}, {40, 1}, {10, 1}, {3, 1}, {0, 1}, {10, 0.7}, {3, 0.7}, {10, 0.5}, {3, 0.5}}) {
        double error = 0;
        for (const Trial& each : trials)
            error += simpleIsBetter(each.own, each.simple, by, each.device) ? each.simpleError : each.ownError;
        if (error >= clearly * least) continue;  // samples count beside trials where that is clearly better
        least = error;
        choice = by;
    }
    least = std::numeric_limits<double>::infinity();
    std::vector<double> chosen;
    for (const double weight : {alone, 80.0, 20.0, 5.0, 0.0}) {
        double loss = 0;
        std::vector<double> wide;
        for (const Trial& each : trials) {
            const bool simple = simpleIsBetter(each.own, each.simple, choice, each.device);
            wide.push_back(widening(simple ? each.simple : each.own, simple, weight, each.device));
            loss += checkLoss(simple ? each.simpleScores : each.ownScores, wide.back());
        }
        if (loss >= least) continue;
        least = loss;
        widthWeight = weight;
        chosen = std::move(wide);
    }
    std::vector<double> far, near;
    for (std::size_t t = 0; t < trials.size(); ++t) {
        const Trial& each = trials[t];
        const bool simple = simpleIsBetter(each.own, each.simple, choice, each.device);
        const auto& reach = simple ? each.simpleReach : each.ownReach;
        const auto& off = simple ? each.simpleOff : each.ownOff;
        for (std::size_t r = 0; r < reach.size(); ++r)
            (off[r] > std::log(2.0) ? far : near).push_back(reach[r] * chosen[t]);
    }
    doubt = doubtOf(std::move(far), std::move(near));
}

// What its samples never showed is not known of this device, whatever others do.
void DevicePrior::narrow(DeviceModel& model, const FeatureRows& networks) const {
    constexpr std::size_t enough = 10;
    if (networks.rows() < enough) return;
    for (std::size_t c = 0; c < columns_; ++c) {
        const std::size_t place = c % half_;
        if (place == 0 || place >= core_) continue;
        const double value = networks.row(0)[c];
        bool same = true;
        for (std::size_t r = 1; same && r < networks.rows(); ++r) same = networks.row(r)[c] == value;
        if (same) model.least_[c] = model.most_[c] = value;
    }
}

Expected<DeviceModel> DevicePrior::condition(const FeatureRows& networks, std::span<const double> latencies) const {
    auto own = conditioned(networks, latencies);
    if (!own) return Unexpected(own.error());
    if (latencies.empty()) return own->model;
    const bool calibrated = trials_.samples == latencies.size() && !trials_.trials.empty();
    const DeviceTrials none;
    const DeviceTrials& trials = calibrated ? trials_ : none;
    const auto finish = [&](Conditioned& which) {
        const bool enough = !calibrated && latencies.size() >= leastScores;
        which.model.widening = trials.widening(which.left, which.model.simple, enough ? 0 : trials.widthWeight);
        which.model.doubt = trials.doubt;
        narrow(which.model, networks);
        return which.model;
    };
    // Few samples of one device alone choose nothing.
    if (!calibrated && latencies.size() < manySamples) return finish(*own);
    Conditioned simple = simpleModel(networks, latencies);
    return finish(trials.simpleIsBetter(own->left, simple.left, trials.choice) ? simple : *own);
}

void DevicePrior::calibrate(const FeatureRows& networks, std::span<const std::vector<double>> latencies,
                            std::size_t samples, std::uint64_t seed) {
    trials_ = {};
    widening_ = 1;
    if (devices_ < 3) return;
    constexpr std::size_t asked = 100, mostSamples = 200;
    if (samples > mostSamples) return;
    const std::size_t draws = samples >= manySamples ? 1 : 4;
    trials_.samples = samples;
    std::vector<double> pooled;
    double worst = 0;
    // Of many devices as many are drawn as there is time for, in no order of the table's columns.
    std::vector<std::size_t> leftOut(used_.size());
    std::iota(leftOut.begin(), leftOut.end(), std::size_t{0});
    if (leftOut.size() > mostLeftOut) {
        RandomStream random(seed, 5);
        for (std::size_t i = 0; i < mostLeftOut; ++i)
            std::swap(leftOut[i], leftOut[i + random.below(leftOut.size() - i)]);
        leftOut.resize(mostLeftOut);
        std::sort(leftOut.begin(), leftOut.end());
    }
    for (const std::size_t device : leftOut) {
        if (used_[device] >= latencies.size()) return;
        const std::vector<double>& values = latencies[used_[device]];
        std::vector<std::size_t> there;
        for (std::size_t r = 0; r < values.size(); ++r)
            if (std::isfinite(values[r]) && values[r] > 0) there.push_back(r);
        if (there.size() < std::max(leastRows, samples + 5)) continue;
        const DevicePrior others = without(device);
        RandomStream random = RandomStream(seed).split(device);
        std::vector<double> here;
        for (std::size_t draw = 0; draw < draws; ++draw) {
            FeatureRows chosen = networks.none();
            std::vector<double> measured;
            const std::size_t count = std::min(there.size(), samples + asked);
            for (std::size_t i = 0; i < count; ++i) {
                std::swap(there[i], there[i + random.below(there.size() - i)]);
                if (i >= samples) continue;
                chosen.add(networks.row(there[i]));
                measured.push_back(values[there[i]]);
            }
            const auto judge = [&](const DeviceModel& model, std::vector<double>& scores, std::vector<double>& reach,
                                   std::vector<double>& off, double& error) {
                double left = 0;
                for (std::size_t i = samples; i < count; ++i) {
                    const std::size_t r = there[i];
                    const Predicted p = model.at(networks.row(r));
                    const bool above = values[r] > p.mean;
                    // A level that is open reaches in ratios.
                    const double half = samples == 0 ? std::abs(std::log((above ? p.high : p.low) / p.mean))
                                                     : std::abs((above ? p.high : p.low) - p.mean);
                    const double away =
                        samples == 0 ? std::abs(std::log(values[r] / p.mean)) : std::abs(values[r] - p.mean);
                    if (half > 0) scores.push_back(away / half);
                    reach.push_back(std::log(std::max(p.high / p.mean, p.mean / p.low)));
                    off.push_back(std::abs(std::log(values[r] / p.mean)));
                    if (folds(networks.row(r))) continue;  // no model but one tells constants
                    error += std::min(1.0, std::abs(p.mean / values[r] - 1));
                    left += 1;
                }
                error /= std::max(1.0, left);
            };
            const auto own = others.conditioned(chosen, measured);
            if (!own) continue;
            DeviceTrials::Trial trial;
            trial.device = device;
            trial.own = own->left;
            judge(own->model, trial.ownScores, trial.ownReach, trial.ownOff, trial.ownError);
            if (samples == 0) {
                here.insert(here.end(), trial.ownScores.begin(), trial.ownScores.end());
                continue;
            }
            const Conditioned simple = others.simpleModel(chosen, measured);
            trial.simple = simple.left;
            judge(simple.model, trial.simpleScores, trial.simpleReach, trial.simpleOff, trial.simpleError);
            trial.ownScores = fewOf(std::move(trial.ownScores));
            trial.simpleScores = fewOf(std::move(trial.simpleScores));
            trials_.trials.push_back(std::move(trial));
        }
        if (here.empty()) continue;
        worst = std::max(worst, quantileType7(here, nine));
        pooled.insert(pooled.end(), here.begin(), here.end());
    }
    trials_.learn();
    if (pooled.size() < 100) return;
    // Without a sample few devices say little of the next one's level, so the worst of them counts too.
    const double all = quantileType7(pooled, nine),
                 share = std::min(1.0, 2 / (1 + 0.5 * static_cast<double>(used_.size())));
    widening_ = std::clamp(all + share * std::max(0.0, worst - all), 0.5, 5.0);
}

}  // namespace orrery
