#include "base/maths.h"
#include "base/random.h"
#include "learning/edge/network_matrix.h"
#include "learning/edge/simple_models.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace orrery {
namespace {

constexpr double normal90 = 1.6448536269514722;

// Middle and mean: neither a few lost networks nor the many easy ones decide alone.
double costOf(std::vector<double>& errors) {
    double mean = 0;
    for (const double each : errors) mean += std::min(each, 1.0) / static_cast<double>(errors.size());
    return quantileType7(errors, 0.5) + 0.5 * mean;
}

}  // namespace

/// A known device left out: what the others are without it, what was measured of it and what is asked.
struct NetworkMatrix::Task {
    std::size_t device = 0;
    std::vector<std::size_t> among = {}, measured = {}, asked = {};
    std::vector<double> logs = {}, likeness = {};
    std::shared_ptr<const Rows> rows = {};  ///< one for all draws of a device
};

// Nothing of it measured yet, all asked that can be told.
NetworkMatrix::Task NetworkMatrix::without(std::size_t device) const {
    Task task;
    task.device = device;
    for (std::size_t e = 0; e < groups_.size(); ++e) {
        if (groups_[e] == groups_[device]) continue;
        task.among.push_back(e);
        if (deviceWords_.size() == groups_.size()) task.likeness.push_back(deviceWords_.between(device, e));
    }
    if (task.among.empty()) return task;
    task.rows = std::make_shared<const Rows>(settle(task.among));
    for (std::size_t n = 0; n < networks_; ++n)
        if (known_[device * networks_ + n] && (task.rows->counts[n] > 0 || task.rows->guess[n] > 0))
            task.asked.push_back(n);
    return task;
}

void NetworkMatrix::measure(Task& task, std::span<const std::size_t> networks) const {
    std::vector<std::size_t> left;
    for (const std::size_t n : networks) {
        if (std::find(task.asked.begin(), task.asked.end(), n) == task.asked.end()) continue;
        task.measured.push_back(n);
        task.logs.push_back(raw_[task.device * networks_ + n]);
    }
    for (const std::size_t n : task.asked)
        if (std::find(task.measured.begin(), task.measured.end(), n) == task.measured.end()) left.push_back(n);
    task.asked = std::move(left);
}

std::vector<NetworkMatrix::Task> NetworkMatrix::leftOut(std::span<const std::size_t> measured,
                                                        std::uint64_t seed) const {
    std::vector<Task> tasks;
    RandomStream random(seed);
    std::vector<std::size_t> order(groups_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (std::size_t i = 0; i + 1 < order.size(); ++i) std::swap(order[i], order[i + random.below(order.size() - i)]);
    // Few devices: other networks are measured of them too, so that a choice does not hang on one draw.
    const std::size_t draws = order.size() >= mostLeftOut / 2 ? 1 : order.size() >= 6 ? 3 : 6;
    for (const std::size_t d : order) {
        if (tasks.size() >= mostLeftOut) break;
        const Task task = without(d);
        const std::vector<std::size_t>& there = task.asked;
        if (task.among.empty() || there.empty()) continue;
        for (std::size_t draw = 0; draw < draws; ++draw) {
            Task own = task;
            if (draw == 0) measure(own, measured);
            if (2 * own.measured.size() < measured.size() + 1 || own.measured.empty()) {
                std::vector<std::size_t> drawn;
                for (std::size_t i = 0; i < std::min(measured.size(), there.size()); ++i)
                    drawn.push_back(there[random.below(there.size())]);
                std::sort(drawn.begin(), drawn.end());
                drawn.erase(std::unique(drawn.begin(), drawn.end()), drawn.end());
                own = task;
                measure(own, drawn);
            }
            if (!own.asked.empty()) tasks.push_back(std::move(own));
        }
    }
    return tasks;
}

void NetworkMatrix::tune(std::span<const std::size_t> measured, std::uint64_t seed) {
    const std::vector<Task> tasks = leftOut(measured, seed);
    if (tasks.size() < 2) return;
    struct Row {
        double error, half;  // in logarithms, not yet widened
    };
    std::vector<std::vector<double>> offAtBest;  // task by task
    std::vector<Row> rowsAtBest;
    double best = std::numeric_limits<double>::infinity();
    const auto attempt = [&](const Use& use) {
        std::vector<std::vector<double>> off;
        std::vector<Row> rows;
        double cost = 0;
        for (const Task& task : tasks) {
            const Answer told = answer(task.measured, task.logs, *task.rows, task.likeness, use);
            std::vector<double> errors;
            off.emplace_back();
            for (const std::size_t n : task.asked) {
                const double error = std::abs(told.mean[n] - raw_[task.device * networks_ + n]);
                errors.push_back(error);
                off.back().push_back(error / (normal90 * told.deviation[n]));
                rows.push_back({error, normal90 * told.deviation[n]});
            }
            cost += costOf(errors);
        }
        if (cost >= best) return;
        best = cost;
        use_ = use;
        offAtBest = std::move(off);
        rowsAtBest = std::move(rows);
    };
    attempt(use_);
    const auto reaches = [&] {
        for (const double reach : {0.1, 0.25, 0.6, 2.0}) {
            for (const double names : {0.0, 4.0, 10.0}) {
                for (const bool rooflines : {false, true}) {
                    if ((names > 0 && deviceWords_.size() == 0) || (rooflines && rooflines_.empty())) continue;
                    Use use = use_;
                    use.reach = reach;
                    use.names = names;
                    use.rooflines = rooflines;
                    attempt(use);
                }
            }
        }
    };
    reaches();
    for (const double built : {0.0, 0.1, 0.3}) {
        for (const double tilt : {0.0, 0.05, 0.1, 0.2}) {
            if (facts_ == 0) continue;
            Use use = use_;
            use.built = built;
            use.tilt = tilt;
            attempt(use);
        }
    }
    for (const double rest : {0.03, 0.1, 0.2}) {
        for (const double alike : {0.0, 0.15, 0.4}) {
            for (const double called : {0.0, 0.05, 0.15}) {
                if (called > 0 && called_.empty()) continue;
                Use use = use_;
                use.rest = rest;
                use.alike = alike;
                use.called = called;
                attempt(use);
            }
        }
    }
    if (facts_ > 0) reaches();
    if (measured.size() >= 4) {
        for (const double slips : {0.0, 0.01, 0.04}) {
            Use use = use_;
            use.slips = slips;
            attempt(use);
        }
    }
    widening_ = std::clamp(wideEnough(offAtBest), 0.4, 5.0);
    std::vector<double> far, near;
    for (const Row& each : rowsAtBest) (each.error > std::log(2.0) ? far : near).push_back(each.half * widening_);
    doubt_ = doubtOf(std::move(far), std::move(near));
    judgeSimple(tasks, best);
}

// The likest device alone, on the same left-out devices.
void NetworkMatrix::judgeSimple(std::span<const Task> tasks, double best) {
    std::vector<std::vector<double>> off;
    double cost = 0;
    for (const Task& task : tasks) {
        std::vector<double> errors, latencies;
        for (const double each : task.logs) latencies.push_back(std::exp(each));
        const auto told = likestDevice(latenciesOf(task.among), task.measured, latencies);
        for (const std::size_t n : task.asked) {
            const double value = raw_[task.device * networks_ + n];
            errors.push_back(std::isfinite(told[n]) ? std::abs(std::log(told[n]) - value) : 1.0);
        }
        off.push_back(errors);
        cost += costOf(errors);
    }
    simple_ = cost <= best;
    simpleReach_ = wideEnough(off);
}

std::vector<std::vector<double>> NetworkMatrix::latenciesOf(std::span<const std::size_t> among) const {
    std::vector<std::vector<double>> out;
    for (const std::size_t d : among) {
        out.emplace_back(networks_, std::numeric_limits<double>::quiet_NaN());
        for (std::size_t n = 0; n < networks_; ++n)
            if (known_[d * networks_ + n]) out.back()[n] = std::exp(raw_[d * networks_ + n]);
    }
    return out;
}

// So that nine in ten of what was left out lie inside. Of few devices that is no promise for the next one, so the worst
// of them counts too (a quantile over groups: Dunn, Wasserman and Ramdas, "Distribution-free prediction sets for
// two-layer hierarchical models", 2022).
double NetworkMatrix::wideEnough(std::span<const std::vector<double>> off) const {
    std::vector<double> all;
    double worst = 0;
    for (std::vector<double> task : off) {
        all.insert(all.end(), task.begin(), task.end());
        worst = std::max(worst, quantileType7(task, 0.9));
    }
    if (all.size() < 20) return 1;
    // Runs of one board are one device.
    const std::size_t boards = 1 + *std::max_element(groups_.begin(), groups_.end());
    const double pooled = quantileType7(all, 0.9), share = std::min(1.0, 2 / (1 + 0.5 * static_cast<double>(boards)));
    return pooled + share * std::max(0.0, worst - pooled);
}

}  // namespace orrery
