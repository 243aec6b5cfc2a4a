#include "base/maths.h"
#include "base/random.h"
#include "learning/edge/network_matrix.h"
#include "learning/edge/simple_models.h"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

namespace orrery {
namespace {

using Table = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Mask = Eigen::Array<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr double normal90 = 1.6448536269514722;
constexpr double levelVariance = 9;      // of a logarithm: any level
constexpr double pull = 0.8;             // of what devices do alike: samples of few devices overstate it
constexpr double slipVariance = 4;       // of the logarithm of a sample that is one
constexpr std::size_t mostNamed = 2500;  // networks whose names are compared with each other

bool measuredAt(double value) {
    return std::isfinite(value) && value > 0;
}

// Squared distances between columns `from` and all columns.
Eigen::MatrixXd distancesTo(const Eigen::MatrixXd& points, std::span<const std::size_t> from) {
    const Eigen::RowVectorXd norms = points.colwise().squaredNorm();
    Eigen::MatrixXd out(points.cols(), static_cast<Eigen::Index>(from.size()));
    for (std::size_t i = 0; i < from.size(); ++i) {
        const auto at = static_cast<Eigen::Index>(from[i]);
        out.col(static_cast<Eigen::Index>(i)) =
            (norms.transpose().array() + norms[at] - 2 * (points.transpose() * points.col(at)).array()).max(0.0);
    }
    return out;
}

// What a network is on the known devices: its mean and how each departs from it, in units of their spread.
Eigen::MatrixXd placesOf(const Table& rows) {
    const auto count = rows.rows();
    const Eigen::RowVectorXd mean = rows.colwise().mean();
    Eigen::MatrixXd apart = rows.rowwise() - mean;
    const double scale = std::sqrt(apart.squaredNorm() / static_cast<double>(apart.size())),
                 spread = std::sqrt((mean.array() - mean.mean()).square().mean());
    Eigen::MatrixXd places(count + 1, rows.cols());
    places.row(0) = mean / std::max(spread, 1e-9);
    places.bottomRows(count) = apart / (std::max(scale, 1e-9) * std::sqrt(static_cast<double>(count)));
    return places;
}

}  // namespace

Expected<NetworkMatrix> NetworkMatrix::learn(std::span<const std::vector<double>> latencies,
                                             const NetworkNames& names) {
    NetworkMatrix made;
    const std::size_t width = made.networks_ = latencies.empty() ? 0 : latencies.front().size();
    if ((!names.networks.empty() && names.networks.size() != width) ||
        (!names.devices.empty() && names.devices.size() != latencies.size()) ||
        (!names.groups.empty() && names.groups.size() != latencies.size()) ||
        (!names.shapes.empty() && names.shapes.size() != width))
        return fail("edge.shape", "names and measurements do not fit", "a name for each");
    std::vector<std::string> words;
    std::map<std::string, std::size_t> groups;
    for (std::size_t d = 0; d < latencies.size(); ++d) {
        const std::vector<double>& device = latencies[d];
        if (device.size() != width) return fail("edge.shape", "a device has not one cell per network");
        const auto count = static_cast<std::size_t>(std::count_if(device.begin(), device.end(), measuredAt));
        if (count < leastNetworks) continue;
        for (const double each : device) {
            made.logs_.push_back(measuredAt(each) ? std::log(each) : 0);
            made.known_.push_back(measuredAt(each) ? 1 : 0);
        }
        if (!names.devices.empty()) words.push_back(names.devices[d]);
        const std::string group = names.groups.empty() ? fmt::format("{}", d) : names.groups[d];
        made.groups_.push_back(groups.emplace(group, groups.size()).first->second);
    }
    const std::size_t devices = made.groups_.size();
    if (devices == 0) {
        return fail("edge.few-devices", fmt::format("no device has {} measured networks or more", leastNetworks),
                    "one or more", "give a table that has other devices' measurements too");
    }
    // Levels of devices and networks in turn, then what is missing is a network's mean.
    std::vector<double> network(width, 0), counts(width, 0);
    made.guess_.assign(width, 0);
    made.levels_.assign(devices, 0);
    for (int round = 0; round < 20; ++round) {
        for (std::size_t d = 0; d < devices; ++d) {
            double sum = 0, count = 0;
            for (std::size_t n = 0; n < width; ++n) {
                if (!made.known_[d * width + n]) continue;
                sum += made.logs_[d * width + n] - network[n];
                count += 1;
            }
            made.levels_[d] = sum / count;
        }
        for (std::size_t n = 0; n < width; ++n) {
            double sum = 0, count = 0;
            for (std::size_t d = 0; d < devices; ++d) {
                if (!made.known_[d * width + n]) continue;
                sum += made.logs_[d * width + n] - made.levels_[d];
                count += 1;
            }
            network[n] = count > 0 ? sum / count : 0;
            counts[n] = count;
        }
    }
    if (!names.shapes.empty()) made.takeShapes(names.shapes, counts, network);
    for (std::size_t i = 0; i < made.logs_.size(); ++i)
        made.logs_[i] = made.known_[i] ? made.logs_[i] - made.levels_[i / width] : network[i % width];
    made.deviceWords_ = WordLikeness(words);
    if (!names.networks.empty() && width <= mostNamed) {
        const WordLikeness likeness(names.networks);
        made.called_.resize(width * width);
        for (std::size_t a = 0; a < width; ++a)
            for (std::size_t b = 0; b <= a; ++b)
                made.called_[a * width + b] = made.called_[b * width + a] = likeness.between(a, b);
    }
    return made;
}

// Levels of networks that no device has, from what they are made of; and how alike networks are made.
void NetworkMatrix::takeShapes(std::span<const std::vector<double>> shapes, std::span<const double> counts,
                               std::vector<double>& means) {
    std::size_t columns = 0;
    for (const auto& each : shapes) columns = std::max(columns, each.size());
    std::vector<std::size_t> all, known;
    for (std::size_t n = 0; n < networks_; ++n) {
        if (columns == 0 || shapes[n].size() != columns) continue;
        all.push_back(n);
        if (counts[n] > 0) known.push_back(n);
    }
    if (known.size() < columns + 3) return;
    const auto count = static_cast<Eigen::Index>(all.size()), p = static_cast<Eigen::Index>(columns);
    Eigen::MatrixXd x(count, p + 1);
    x.col(0).setOnes();
    for (Eigen::Index r = 0; r < count; ++r)
        for (Eigen::Index c = 0; c < p; ++c)
            x(r, c + 1) = shapes[all[static_cast<std::size_t>(r)]][static_cast<std::size_t>(c)];
    for (Eigen::Index c = 1; c <= p; ++c) {
        const double mean = x.col(c).mean(), deviation = std::sqrt((x.col(c).array() - mean).square().mean());
        x.col(c) = (x.col(c).array() - mean) / std::max(deviation, 1e-9);
    }
    Eigen::MatrixXd a = Eigen::MatrixXd::Zero(p + 1, p + 1);
    Eigen::VectorXd b = Eigen::VectorXd::Zero(p + 1);
    for (Eigen::Index r = 0; r < count; ++r) {
        if (counts[all[static_cast<std::size_t>(r)]] == 0) continue;
        a += x.row(r).transpose() * x.row(r);
        b += x.row(r).transpose() * means[all[static_cast<std::size_t>(r)]];
    }
    a.diagonal().tail(p).array() += 1;
    const Eigen::LLT<Eigen::MatrixXd> llt(a);
    const Eigen::VectorXd fitted = x * llt.solve(b);
    // Each known network left out says how far such a level is off.
    double squares = 0;
    for (Eigen::Index r = 0; r < count; ++r) {
        const std::size_t n = all[static_cast<std::size_t>(r)];
        if (counts[n] == 0) continue;
        const double pulled = x.row(r).dot(llt.solve(x.row(r).transpose()));
        squares += std::pow((means[n] - fitted[r]) / std::max(0.1, 1 - pulled), 2) / static_cast<double>(known.size());
    }
    for (Eigen::Index r = 0; r < count; ++r) {
        const std::size_t n = all[static_cast<std::size_t>(r)];
        if (counts[n] > 0) continue;
        means[n] = fitted[r];
        guess_[n] = std::max(1e-4, squares);
    }
    built_.assign(networks_ * networks_, 0);
    for (Eigen::Index r = 0; r < count; ++r) {
        for (Eigen::Index s = 0; s < count; ++s) {
            const double square = (x.row(r) - x.row(s)).squaredNorm() / static_cast<double>(p);
            built_[all[static_cast<std::size_t>(r)] * networks_ + all[static_cast<std::size_t>(s)]] =
                std::exp(-0.5 * square);
        }
    }
}

NetworkMatrix::Answer NetworkMatrix::answer(std::span<const std::size_t> measured, std::span<const double> logs,
                                            std::span<const std::size_t> among, std::span<const double> likeness,
                                            const Use& use) const {
    const auto m = static_cast<Eigen::Index>(measured.size()), count = static_cast<Eigen::Index>(among.size()),
               width = static_cast<Eigen::Index>(networks_);
    Table rows(count, width);
    Mask there(count, width);
    for (Eigen::Index d = 0; d < count; ++d) {
        for (Eigen::Index n = 0; n < width; ++n) {
            const std::size_t at = among[static_cast<std::size_t>(d)] * networks_ + static_cast<std::size_t>(n);
            rows(d, n) = logs_[at];
            there(d, n) = known_[at];
        }
    }
    // How much each known device counts: by its shape over the measured networks, and by its name.
    const double own = std::accumulate(logs.begin(), logs.end(), 0.0) / static_cast<double>(m);
    Eigen::ArrayXd weight(count);
    for (Eigen::Index d = 0; d < count; ++d) {
        double level = 0, square = 0;
        for (const std::size_t n : measured) level += rows(d, static_cast<Eigen::Index>(n)) / static_cast<double>(m);
        for (Eigen::Index i = 0; i < m; ++i) {
            const auto n = static_cast<Eigen::Index>(measured[static_cast<std::size_t>(i)]);
            const double off = (logs[static_cast<std::size_t>(i)] - own) - (rows(d, n) - level);
            square += (off * off + 0.05 * (1 - there(d, n))) / static_cast<double>(m);
        }
        weight[d] = -0.5 * square / (use.reach * use.reach);
        if (!likeness.empty()) weight[d] += 0.5 * use.names * likeness[among[static_cast<std::size_t>(d)]];
    }
    weight = (weight - weight.maxCoeff()).exp();
    weight /= weight.sum();
    const double effective = 1 / weight.square().sum();
    const double correction = pull * (effective > 1.5 ? effective / (effective - 1) : 1);
    // A network counts where it was measured; where no near device has it, all that have it do.
    const Eigen::RowVectorXd places = rows.colwise().mean();
    const Mask share = there.colwise() * weight;
    const Eigen::RowVectorXd mean =
        (((share * rows.array()).colwise().sum() + 0.02 * places.array()) / (share.colwise().sum() + 0.02)).matrix();
    const Eigen::MatrixXd apart = (((rows.rowwise() - mean).array() * there).colwise() * weight.sqrt()).matrix();
    Eigen::MatrixXd across(width, m);
    for (Eigen::Index i = 0; i < m; ++i)
        across.col(i) = correction * apart.transpose() *
                        apart.col(static_cast<Eigen::Index>(measured[static_cast<std::size_t>(i)]));
    across.array() += levelVariance;
    across.array() += use.alike * use.alike * (-0.5 * distancesTo(placesOf(rows), measured).array()).exp();
    const bool named = !called_.empty() && use.called > 0;
    if (named) {
        for (Eigen::Index i = 0; i < m; ++i)
            across.col(i) += use.called * use.called *
                             Eigen::Map<const Eigen::VectorXd>(
                                 called_.data() + measured[static_cast<std::size_t>(i)] * networks_, width);
    }
    const bool shaped = !built_.empty() && use.built > 0;
    for (Eigen::Index i = 0; i < m; ++i) {
        const std::size_t n = measured[static_cast<std::size_t>(i)];
        across(static_cast<Eigen::Index>(n), i) += guess_[n];
        if (!shaped) continue;
        across.col(i) +=
            use.built * use.built * Eigen::Map<const Eigen::VectorXd>(built_.data() + n * networks_, width);
    }
    Eigen::VectorXd variance = correction * apart.colwise().squaredNorm().transpose();
    variance.array() += levelVariance + use.alike * use.alike + (named ? use.called * use.called : 0);
    variance += Eigen::Map<const Eigen::VectorXd>(guess_.data(), width);
    for (Eigen::Index n = 0; shaped && n < width; ++n)
        variance[n] += use.built * use.built * built_[static_cast<std::size_t>(n) * (networks_ + 1)];
    Eigen::MatrixXd k(m, m);
    Eigen::VectorXd y(m);
    for (Eigen::Index i = 0; i < m; ++i) {
        const auto n = static_cast<Eigen::Index>(measured[static_cast<std::size_t>(i)]);
        k.row(i) = across.row(n);
        y[i] = logs[static_cast<std::size_t>(i)] - mean[n];
    }
    k.diagonal().array() += use.rest * use.rest;
    // Each sample in turn as a slip, none first.
    struct Case {
        double evidence;
        Eigen::VectorXd mean, variance;
    };
    std::vector<Case> cases;
    const Eigen::Index slips = m >= 4 && use.slips > 0 ? m : 0;
    for (Eigen::Index slip = -1; slip < slips; ++slip) {
        Eigen::MatrixXd own2 = k;
        if (slip >= 0) own2(slip, slip) += slipVariance;
        const Eigen::LLT<Eigen::MatrixXd> llt(own2);
        const Eigen::VectorXd solved = llt.solve(y);
        const double evidence = -0.5 * y.dot(solved) - llt.matrixLLT().diagonal().array().log().sum() +
                                (slip >= 0 ? std::log(use.slips) : 0);
        cases.push_back(
            {evidence, across * solved,
             (across.array() * llt.solve(across.transpose()).transpose().array()).rowwise().sum().matrix()});
    }
    double top = cases.front().evidence, total = 0;
    for (const Case& each : cases) top = std::max(top, each.evidence);
    Eigen::VectorXd told = Eigen::VectorXd::Zero(width), squares = told, kept = told;
    for (const Case& each : cases) {
        const double part = std::exp(each.evidence - top);
        total += part;
        told += part * each.mean;
        squares += part * each.mean.cwiseAbs2();
        kept += part * (variance - each.variance).cwiseMax(0.0);
    }
    told /= total;
    const Eigen::VectorXd deviation =
        ((kept + squares) / total - told.cwiseAbs2()).cwiseMax(0.0).array() + use.rest * use.rest;
    told += mean.transpose();
    Answer out{std::vector<double>(networks_), std::vector<double>(networks_)};
    for (Eigen::Index n = 0; n < width; ++n) {
        out.mean[static_cast<std::size_t>(n)] = told[n];
        out.deviation[static_cast<std::size_t>(n)] = std::sqrt(deviation[n]);
    }
    return out;
}

void NetworkMatrix::tune(std::span<const std::size_t> measured, std::uint64_t seed) {
    struct Task {
        std::vector<std::size_t> among, measured, asked;
        std::vector<double> logs, likeness;
        std::size_t device;
    };
    std::vector<Task> tasks;
    RandomStream random(seed);
    std::vector<std::size_t> order(groups_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (std::size_t i = 0; i + 1 < order.size(); ++i) std::swap(order[i], order[i + random.below(order.size() - i)]);
    // Few devices: other networks are measured of them too, so that a choice does not hang on one draw.
    const std::size_t draws = order.size() >= mostLeftOut / 2 ? 1 : order.size() >= 6 ? 3 : 6;
    for (const std::size_t d : order) {
        if (tasks.size() >= mostLeftOut) break;
        Task task;
        task.device = d;
        for (std::size_t e = 0; e < groups_.size(); ++e)
            if (groups_[e] != groups_[d]) task.among.push_back(e);
        if (task.among.empty()) continue;
        if (deviceWords_.size() == groups_.size())
            for (std::size_t e = 0; e < groups_.size(); ++e) task.likeness.push_back(deviceWords_.between(d, e));
        std::vector<std::size_t> there;
        for (std::size_t n = 0; n < networks_; ++n)
            if (known_[d * networks_ + n]) there.push_back(n);
        for (std::size_t draw = 0; draw < draws; ++draw) {
            Task own = task;
            if (draw == 0) {
                for (const std::size_t n : measured)
                    if (known_[d * networks_ + n]) own.measured.push_back(n);
            }
            if (2 * own.measured.size() < measured.size() + 1 || own.measured.empty()) {
                own.measured.clear();
                for (std::size_t i = 0; i < std::min(measured.size(), there.size()); ++i)
                    own.measured.push_back(there[random.below(there.size())]);
                std::sort(own.measured.begin(), own.measured.end());
                own.measured.erase(std::unique(own.measured.begin(), own.measured.end()), own.measured.end());
            }
            for (const std::size_t n : own.measured) own.logs.push_back(logs_[d * networks_ + n] + levels_[d]);
            for (const std::size_t n : there)
                if (std::find(own.measured.begin(), own.measured.end(), n) == own.measured.end())
                    own.asked.push_back(n);
            if (!own.asked.empty() && !own.measured.empty()) tasks.push_back(std::move(own));
        }
    }
    if (tasks.size() < 2) return;
    struct Row {
        double error, half;  // in logarithms, not yet widened
    };
    std::vector<std::vector<double>> offAtBest;  // task by task
    std::vector<Row> rowsAtBest;
    double best = std::numeric_limits<double>::infinity();
    // Middle and mean: neither a few lost networks nor the many easy ones decide alone.
    const auto costOf = [](std::vector<double>& errors) {
        double mean = 0;
        for (const double each : errors) mean += std::min(each, 1.0) / static_cast<double>(errors.size());
        return quantileType7(errors, 0.5) + 0.5 * mean;
    };
    const auto attempt = [&](const Use& use) {
        std::vector<std::vector<double>> off;
        std::vector<Row> rows;
        double cost = 0;
        for (const Task& task : tasks) {
            const Answer told = answer(task.measured, task.logs, task.among, task.likeness, use);
            std::vector<double> errors;
            off.emplace_back();
            for (const std::size_t n : task.asked) {
                const double error = std::abs(told.mean[n] - logs_[task.device * networks_ + n] - levels_[task.device]);
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
    for (const double reach : {0.1, 0.25, 0.6, 2.0}) {
        for (const double names : {0.0, 4.0, 10.0}) {
            if (names > 0 && deviceWords_.size() == 0) continue;
            Use use = use_;
            use.reach = reach;
            use.names = names;
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
    if (!built_.empty()) {
        for (const double built : {0.1, 0.3}) {
            Use use = use_;
            use.built = built;
            attempt(use);
        }
    }
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
    // The likest device alone, on the same left-out devices.
    std::vector<std::vector<double>> offSimple;
    double cost = 0;
    for (const Task& task : tasks) {
        std::vector<double> errors, latencies;
        for (const double each : task.logs) latencies.push_back(std::exp(each));
        const auto told = likestDevice(latenciesOf(task.among), task.measured, latencies);
        for (const std::size_t n : task.asked) {
            const double value = logs_[task.device * networks_ + n] + levels_[task.device];
            errors.push_back(std::isfinite(told[n]) ? std::abs(std::log(told[n]) - value) : 1.0);
        }
        offSimple.push_back(errors);
        cost += costOf(errors);
    }
    simple_ = cost <= best;
    simpleReach_ = wideEnough(offSimple);
}

std::vector<std::vector<double>> NetworkMatrix::latenciesOf(std::span<const std::size_t> among) const {
    std::vector<std::vector<double>> out;
    for (const std::size_t d : among) {
        out.emplace_back(networks_, std::numeric_limits<double>::quiet_NaN());
        for (std::size_t n = 0; n < networks_; ++n)
            if (known_[d * networks_ + n]) out.back()[n] = std::exp(logs_[d * networks_ + n] + levels_[d]);
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
    const double pooled = quantileType7(all, 0.9),
                 share = std::min(1.0, 2 / (1 + 0.5 * static_cast<double>(boards)));
    return pooled + share * std::max(0.0, worst - pooled);
}

Expected<std::vector<Predicted>> NetworkMatrix::predict(std::span<const std::size_t> measured,
                                                        std::span<const double> latencies,
                                                        std::string_view device) const {
    if (measured.size() != latencies.size() || measured.empty())
        return fail("edge.shape", "networks and their latencies do not fit", "one or more of each");
    std::vector<double> logs;
    for (std::size_t i = 0; i < measured.size(); ++i) {
        if (measured[i] >= networks_) return fail("edge.shape", "a network that no device was measured with");
        if (!measuredAt(latencies[i]))
            return fail("edge.bad-sample", fmt::format("a sample of {}", latencies[i]), "a latency above 0");
        logs.push_back(std::log(latencies[i]));
    }
    std::vector<std::size_t> all(groups_.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    std::vector<double> likeness;
    if (!device.empty() && deviceWords_.size() == groups_.size()) likeness = deviceWords_.to(device);
    const Answer told = answer(measured, logs, all, likeness, use_);
    std::vector<double> likest;
    if (simple_) likest = likestDevice(latenciesOf(all), measured, latencies);
    std::vector<Predicted> out(networks_);
    for (std::size_t n = 0; n < networks_; ++n) {
        if (simple_ && std::isfinite(likest[n])) {
            out[n] = {likest[n], likest[n] * std::exp(-simpleReach_), likest[n] * std::exp(simpleReach_)};
            continue;
        }
        const double half = normal90 * widening_ * told.deviation[n];
        out[n] = {std::exp(told.mean[n]), std::exp(told.mean[n] - half), std::exp(told.mean[n] + half)};
    }
    return out;
}

double NetworkMatrix::knownShare(std::size_t network) const {
    double count = 0;
    for (std::size_t d = 0; d < groups_.size(); ++d) count += known_[d * networks_ + network];
    return count / static_cast<double>(groups_.size());
}

std::vector<double> NetworkMatrix::covariance() const {
    const auto width = static_cast<Eigen::Index>(networks_), count = static_cast<Eigen::Index>(groups_.size());
    const Eigen::Map<const Table> rows(logs_.data(), count, width);
    const Eigen::MatrixXd places = placesOf(rows);
    const Eigen::RowVectorXd mean = rows.colwise().mean();
    const Eigen::MatrixXd apart =
        (rows.rowwise() - mean) / std::sqrt(static_cast<double>(std::max<Eigen::Index>(1, count - 1)));
    std::vector<double> out(networks_ * networks_);
    std::vector<std::size_t> every(networks_);
    std::iota(every.begin(), every.end(), std::size_t{0});
    Eigen::Map<Table> covariance(out.data(), width, width);
    covariance = apart.transpose() * apart;
    covariance.array() += levelVariance + 0.15 * 0.15 * (-0.5 * distancesTo(places, every).array()).exp();
    return out;
}

}  // namespace orrery
