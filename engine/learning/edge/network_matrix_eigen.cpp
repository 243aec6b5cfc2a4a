#include "learning/edge/network_matrix.h"

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

constexpr double tiltPenalty = 5;        // networks' worth of doubt that a device has a tilt
constexpr std::size_t mostNamed = 2500;  // networks whose names are compared with each other
constexpr std::size_t mostKriged = 600;  // known networks whose rests say something of unknown ones

bool measuredAt(double value) {
    return std::isfinite(value) && value > 0;
}

}  // namespace

Expected<NetworkMatrix> NetworkMatrix::learn(std::span<const std::vector<double>> latencies,
                                             const NetworkNames& names) {
    NetworkMatrix made;
    const std::size_t width = made.networks_ = latencies.empty() ? 0 : latencies.front().size();
    if ((!latencies.empty() && !names.networks.empty() && names.networks.size() != width) ||
        (!names.devices.empty() && names.devices.size() != latencies.size()) ||
        (!names.groups.empty() && names.groups.size() != latencies.size()) ||
        (!latencies.empty() && !names.shapes.empty() && names.shapes.size() != width))
        return fail("edge.shape", "names and measurements do not fit", "a name for each");
    std::vector<std::string> words;
    std::map<std::string, std::size_t> groups;
    for (std::size_t d = 0; d < latencies.size(); ++d) {
        const std::vector<double>& device = latencies[d];
        if (device.size() != width) return fail("edge.shape", "a device has not one cell per network");
        const auto count = static_cast<std::size_t>(std::count_if(device.begin(), device.end(), measuredAt));
        if (count < leastNetworks) continue;
        for (const double each : device) {
            made.raw_.push_back(measuredAt(each) ? std::log(each) : 0);
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
    made.deviceWords_ = WordLikeness(words);
    if (!names.networks.empty() && width <= mostNamed) {
        const WordLikeness likeness(names.networks);
        made.called_.resize(width * width);
        for (std::size_t a = 0; a < width; ++a)
            for (std::size_t b = 0; b <= a; ++b)
                made.called_[a * width + b] = made.called_[b * width + a] = likeness.between(a, b);
    }
    made.takeShapes(names.shapes);
    std::vector<std::size_t> all(devices);
    std::iota(all.begin(), all.end(), std::size_t{0});
    made.all_ = made.settle(all);
    return made;
}

// In units of their spread; what is not known is the mean. And how alike networks are made.
void NetworkMatrix::takeShapes(std::span<const std::vector<double>> shapes) {
    shaped_.assign(networks_, 0);
    for (const auto& each : shapes) facts_ = std::max(facts_, each.size());
    if (facts_ == 0) return;
    shapes_.assign(networks_ * facts_, 0);
    const auto has = [&](std::size_t n, std::size_t c) {
        return shapes[n].size() == facts_ && std::isfinite(shapes[n][c]);
    };
    for (std::size_t c = 0; c < facts_; ++c) {
        double sum = 0, squares = 0, there = 0;
        bool amount = false;  // or a word, 0 and 1
        for (std::size_t n = 0; n < networks_; ++n) {
            if (!has(n, c)) continue;
            amount = amount || (shapes[n][c] != 0 && shapes[n][c] != 1);
            sum += shapes[n][c], squares += shapes[n][c] * shapes[n][c], there += 1;
        }
        const double mean = sum / std::max(1.0, there),
                     deviation = std::sqrt(std::max(0.0, squares / std::max(1.0, there) - mean * mean));
        for (std::size_t n = 0; n < networks_; ++n)
            if (has(n, c)) shapes_[n * facts_ + c] = (shapes[n][c] - mean) / std::max(deviation, 1e-9);
        if (!amount) continue;
        rooflines_.emplace_back(networks_, std::numeric_limits<double>::quiet_NaN());
        for (std::size_t n = 0; n < networks_; ++n) {
            if (!has(n, c)) continue;
            rooflines_.back()[n] = shapes[n][c];
            shaped_[n] = 1;
        }
    }
    built_.assign(networks_ * networks_, 0);
    for (std::size_t a = 0; a < networks_; ++a) {
        for (std::size_t b = 0; b <= a; ++b) {
            if (!shaped_[a] || !shaped_[b]) continue;
            double square = 0;
            for (std::size_t c = 0; c < facts_; ++c)
                square += std::pow(shapes_[a * facts_ + c] - shapes_[b * facts_ + c], 2);
            built_[a * networks_ + b] = built_[b * networks_ + a] =
                std::exp(-0.5 * square / static_cast<double>(facts_));
        }
    }
}

// Levels of devices and networks in turn, and what devices do along the facts.
NetworkMatrix::Rows NetworkMatrix::settle(std::span<const std::size_t> among) const {
    const std::size_t width = networks_, devices = among.size();
    Rows rows;
    rows.devices = devices;
    rows.tilts.assign(devices * width, 0);
    rows.levels.assign(devices, 0);
    rows.counts.assign(width, 0);
    rows.guess.assign(width, 0);
    for (const std::size_t d : among) {
        for (std::size_t n = 0; n < width; ++n) {
            rows.logs.push_back(raw_[d * width + n]);
            rows.there.push_back(known_[d * width + n] ? 1 : 0);
            rows.counts[n] += rows.there.back();
        }
    }
    std::vector<double> network(width, 0);
    constexpr int rounds = 20, untilted = 4;
    for (int round = 0; round < rounds; ++round) {
        for (std::size_t d = 0; d < devices; ++d) {
            double sum = 0, count = 0;
            for (std::size_t n = 0; n < width; ++n) {
                const std::size_t at = d * width + n;
                sum += rows.there[at] * (rows.logs[at] - network[n] - rows.tilts[at]);
                count += rows.there[at];
            }
            rows.levels[d] = sum / count;
        }
        for (std::size_t n = 0; n < width; ++n) {
            double sum = 0;
            for (std::size_t d = 0; d < devices; ++d) {
                const std::size_t at = d * width + n;
                sum += rows.there[at] * (rows.logs[at] - rows.levels[d] - rows.tilts[at]);
            }
            network[n] = rows.counts[n] > 0 ? sum / rows.counts[n] : 0;
        }
        if (facts_ > 0 && devices > 1 && round >= untilted) tilt(rows, network);
    }
    guess(rows, network);
    for (std::size_t i = 0; i < rows.logs.size(); ++i)
        rows.logs[i] = rows.there[i] > 0 ? rows.logs[i] - rows.levels[i / width] : network[i % width] + rows.tilts[i];
    addRooflines(rows, network);
    return rows;
}

// A device that does nothing but one fact, work or weights or what passes memory: others are near one or between them.
void NetworkMatrix::addRooflines(Rows& rows, std::span<const double> network) const {
    for (const std::vector<double>& fact : rooflines_) {
        double sum = 0, count = 0;
        for (std::size_t n = 0; n < networks_; ++n) {
            if (!std::isfinite(fact[n]) || rows.counts[n] == 0) continue;
            sum += fact[n] - network[n];
            count += 1;
        }
        if (count < static_cast<double>(leastNetworks)) continue;
        rows.levels.push_back(sum / count);
        for (std::size_t n = 0; n < networks_; ++n) {
            const bool there = std::isfinite(fact[n]);
            rows.logs.push_back(there ? fact[n] - rows.levels.back() : network[n]);
            rows.there.push_back(there ? 1 : 0);
            rows.tilts.push_back(0);
        }
    }
}

// A ridge of each device on the facts, of what is neither its level nor the networks'.
void NetworkMatrix::tilt(Rows& rows, std::span<const double> network) const {
    const auto p = static_cast<Eigen::Index>(facts_), width = static_cast<Eigen::Index>(networks_);
    const Eigen::Map<const Table> x(shapes_.data(), width, p);
    for (std::size_t d = 0; d < rows.levels.size(); ++d) {
        Eigen::VectorXd left(width), there(width);
        for (Eigen::Index n = 0; n < width; ++n) {
            const std::size_t at = d * networks_ + static_cast<std::size_t>(n);
            there[n] = rows.there[at];
            left[n] = there[n] * (rows.logs[at] - rows.levels[d] - network[static_cast<std::size_t>(n)]);
        }
        Eigen::MatrixXd a = x.transpose() * there.asDiagonal() * x;
        a.diagonal().array() += tiltPenalty;
        Eigen::Map<Eigen::VectorXd>(rows.tilts.data() + d * networks_, width) = x * a.llt().solve(x.transpose() * left);
    }
}

// Levels of networks that none of these devices has: a ridge on the facts, then the rests of those that are made and
// called alike, as far as that tells known networks that are left out.
void NetworkMatrix::guess(Rows& rows, std::vector<double>& network) const {
    std::vector<std::size_t> known, open;
    for (std::size_t n = 0; n < networks_; ++n) {
        if (!shaped_[n]) continue;
        (rows.counts[n] > 0 ? known : open).push_back(n);
    }
    if (open.empty() || known.size() < facts_ + 3) return;
    const auto p = static_cast<Eigen::Index>(facts_), count = static_cast<Eigen::Index>(known.size());
    const auto factsOf = [&](std::size_t n) {
        Eigen::RowVectorXd row(p + 1);
        row[0] = 1;
        row.tail(p) = Eigen::Map<const Eigen::RowVectorXd>(shapes_.data() + n * facts_, p);
        return row;
    };
    Eigen::MatrixXd x(count, p + 1);
    Eigen::VectorXd y(count);
    for (Eigen::Index r = 0; r < count; ++r) {
        x.row(r) = factsOf(known[static_cast<std::size_t>(r)]);
        y[r] = network[known[static_cast<std::size_t>(r)]];
    }
    Eigen::MatrixXd a = x.transpose() * x;
    a.diagonal().tail(p).array() += 1;
    const Eigen::LLT<Eigen::MatrixXd> ridge(a);
    const Eigen::VectorXd w = ridge.solve(x.transpose() * y);
    Eigen::VectorXd left = y - x * w;
    // Each known network left out says how far such a level is off.
    double square = 0;
    for (Eigen::Index r = 0; r < count; ++r) {
        const double pulled = x.row(r).dot(ridge.solve(x.row(r).transpose()));
        square += std::pow(left[r] / std::max(0.1, 1 - pulled), 2) / static_cast<double>(count);
    }
    const auto alike = [&](std::size_t b, std::size_t c) {
        const double made = built_[b * networks_ + c];
        return called_.empty() ? made : 0.5 * (made + called_[b * networks_ + c]);
    };
    Eigen::MatrixXd inverse;
    double share = 0, best = square;
    for (const double each : {0.4, 0.8}) {
        if (known.size() > mostKriged) break;
        Eigen::MatrixXd k(count, count);
        for (Eigen::Index r = 0; r < count; ++r)
            for (Eigen::Index s = 0; s < count; ++s)
                k(r, s) = each * alike(known[static_cast<std::size_t>(r)], known[static_cast<std::size_t>(s)]);
        k.diagonal().array() += 1 - each;
        const Eigen::MatrixXd own = k.llt().solve(Eigen::MatrixXd::Identity(count, count));
        const double off = ((own * left).array() / own.diagonal().array()).square().mean();
        if (off >= best) continue;
        best = off;
        share = each;
        inverse = own;
    }
    for (const std::size_t n : open) {
        network[n] = factsOf(n) * w;
        double kept = 1;
        if (share > 0) {
            Eigen::VectorXd to(count);
            for (Eigen::Index r = 0; r < count; ++r) to[r] = share * alike(n, known[static_cast<std::size_t>(r)]);
            const Eigen::VectorXd solved = inverse * to;
            network[n] += solved.dot(left);
            kept = std::max(0.0, 1 - to.dot(solved));
        }
        // The nearer its likes, the surer: as much of the error as is left out of what is not explained.
        rows.guess[n] = std::max(1e-4, share > 0 ? 0.5 * (best + square * kept) : best);
    }
}

double NetworkMatrix::knownShare(std::size_t network) const {
    return all_.counts[network] / static_cast<double>(groups_.size());
}

}  // namespace orrery
