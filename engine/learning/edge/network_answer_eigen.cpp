#include "base/maths.h"
#include "learning/edge/network_matrix.h"
#include "learning/edge/simple_models.h"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace orrery {
namespace {

using Table = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Mask = Eigen::Array<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr double normal90 = 1.6448536269514722;
constexpr double levelVariance = 9;  // of a logarithm: any level
constexpr double pull = 0.8;         // of what devices do alike: samples of few devices overstate it
constexpr double usualTilt = 0.1;    // of a device that nothing is known of, along one fact's spread
constexpr double slipVariance = 4;   // of the logarithm of a sample that is one

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

// What is told of a Gaussian with these covariances, each sample in turn as a slip, none first.
struct Conditioned {
    Eigen::VectorXd mean, variance;
};
Conditioned conditionOn(const Eigen::MatrixXd& across, const Eigen::MatrixXd& k, const Eigen::VectorXd& y,
                        const Eigen::VectorXd& variance, double slips) {
    struct Case {
        double evidence;
        Eigen::VectorXd mean, variance;
    };
    std::vector<Case> cases;
    const Eigen::Index m = y.size(), turns = m >= 4 && slips > 0 ? m : 0;
    for (Eigen::Index slip = -1; slip < turns; ++slip) {
        Eigen::MatrixXd own = k;
        if (slip >= 0) own(slip, slip) += slipVariance;
        const Eigen::LLT<Eigen::MatrixXd> llt(own);
        const Eigen::VectorXd solved = llt.solve(y);
        const double evidence =
            -0.5 * y.dot(solved) - llt.matrixLLT().diagonal().array().log().sum() + (slip >= 0 ? std::log(slips) : 0);
        cases.push_back(
            {evidence, across * solved,
             (across.array() * llt.solve(across.transpose()).transpose().array()).rowwise().sum().matrix()});
    }
    double top = cases.front().evidence, total = 0;
    for (const Case& each : cases) top = std::max(top, each.evidence);
    Eigen::VectorXd told = Eigen::VectorXd::Zero(variance.size()), squares = told, kept = told;
    for (const Case& each : cases) {
        const double part = std::exp(each.evidence - top);
        total += part;
        told += part * each.mean;
        squares += part * each.mean.cwiseAbs2();
        kept += part * (variance - each.variance).cwiseMax(0.0);
    }
    told /= total;
    return {told, ((kept + squares) / total - told.cwiseAbs2()).cwiseMax(0.0)};
}

}  // namespace

NetworkMatrix::Answer NetworkMatrix::answer(std::span<const std::size_t> measured, std::span<const double> logs,
                                            const Rows& known, std::span<const double> likeness, const Use& use) const {
    const auto m = static_cast<Eigen::Index>(measured.size()),
               count = static_cast<Eigen::Index>(use.rooflines ? known.levels.size() : known.devices),
               width = static_cast<Eigen::Index>(networks_);
    const auto at = [&](Eigen::Index i) { return static_cast<Eigen::Index>(measured[static_cast<std::size_t>(i)]); };
    const Eigen::Map<const Table> rows(known.logs.data(), count, width);
    const Eigen::Map<const Mask> there(known.there.data(), count, width), tilts(known.tilts.data(), count, width);
    // How much each known device counts: by its shape over the measured networks, and by its name.
    const double own = std::accumulate(logs.begin(), logs.end(), 0.0) / static_cast<double>(m);
    Eigen::ArrayXd weight(count);
    for (Eigen::Index d = 0; d < count; ++d) {
        double level = 0, square = 0;
        for (Eigen::Index i = 0; i < m; ++i) level += rows(d, at(i)) / static_cast<double>(m);
        for (Eigen::Index i = 0; i < m; ++i) {
            const double off = (logs[static_cast<std::size_t>(i)] - own) - (rows(d, at(i)) - level);
            square += (off * off + 0.05 * (1 - there(d, at(i)))) / static_cast<double>(m);
        }
        weight[d] = -0.5 * square / (use.reach * use.reach);
        if (static_cast<std::size_t>(d) < likeness.size())
            weight[d] += 0.5 * use.names * likeness[static_cast<std::size_t>(d)];
    }
    weight = (weight - weight.maxCoeff()).exp();
    weight /= weight.sum();
    const double effective = 1 / weight.square().sum();
    const double correction = pull * (effective > 1.5 ? effective / (effective - 1) : 1);
    // A network counts where it was measured, as it would be with the tilt of near devices; where none has it, all do.
    const Mask share = there.colwise() * weight;
    const Eigen::RowVectorXd mean =
        (((share * (rows.array() - tilts)).colwise().sum() + 0.02 * (rows.array() - tilts).colwise().mean()) /
             (share.colwise().sum() + 0.02) +
         (tilts.colwise() * weight).colwise().sum())
            .matrix();
    const Eigen::MatrixXd apart = (((rows.rowwise() - mean).array() * there).colwise() * weight.sqrt()).matrix();
    const Eigen::Map<const Eigen::VectorXd> guess(known.guess.data(), width);
    const Eigen::Map<const Table> facts(shapes_.data(), facts_ > 0 ? width : 0, static_cast<Eigen::Index>(facts_));
    Eigen::MatrixXd across(width, m);
    for (Eigen::Index i = 0; i < m; ++i) across.col(i) = correction * apart.transpose() * apart.col(at(i));
    across.array() += levelVariance;
    across.array() += use.alike * use.alike * (-0.5 * distancesTo(placesOf(rows), measured).array()).exp();
    Eigen::VectorXd variance = correction * apart.colwise().squaredNorm().transpose();
    variance.array() += levelVariance + use.alike * use.alike;
    variance += guess;
    for (Eigen::Index i = 0; i < m; ++i) across(at(i), i) += guess[at(i)];
    const auto add = [&](const std::vector<double>& alike, double scale) {
        if (alike.empty() || scale <= 0) return;
        const Eigen::Map<const Table> all(alike.data(), width, width);
        for (Eigen::Index i = 0; i < m; ++i) across.col(i) += scale * scale * all.col(at(i));
        variance += scale * scale * all.diagonal();
    };
    add(called_, use.called);
    add(built_, use.built);
    if (facts_ > 0 && use.tilt > 0) {
        for (Eigen::Index i = 0; i < m; ++i)
            across.col(i) += use.tilt * use.tilt * (facts * facts.row(at(i)).transpose());
        variance += use.tilt * use.tilt * facts.rowwise().squaredNorm();
    }
    Eigen::MatrixXd k(m, m);
    Eigen::VectorXd y(m);
    for (Eigen::Index i = 0; i < m; ++i) {
        k.row(i) = across.row(at(i));
        y[i] = logs[static_cast<std::size_t>(i)] - mean[at(i)];
    }
    k.diagonal().array() += use.rest * use.rest;
    const auto [told, kept] = conditionOn(across, k, y, variance, use.slips);
    Answer out{std::vector<double>(networks_), std::vector<double>(networks_)};
    Eigen::Map<Eigen::VectorXd>(out.mean.data(), width) = told + mean.transpose();
    Eigen::Map<Eigen::VectorXd>(out.deviation.data(), width) = (kept.array() + use.rest * use.rest).sqrt();
    return out;
}

Expected<std::vector<Predicted>> NetworkMatrix::predict(std::span<const std::size_t> measured,
                                                        std::span<const double> latencies,
                                                        std::string_view device) const {
    if (measured.size() != latencies.size() || measured.empty())
        return fail("edge.shape", "networks and their latencies do not fit", "one or more of each");
    std::vector<double> logs;
    for (std::size_t i = 0; i < measured.size(); ++i) {
        if (measured[i] >= networks_) return fail("edge.shape", "a network that no device was measured with");
        if (!(std::isfinite(latencies[i]) && latencies[i] > 0))
            return fail("edge.bad-sample", fmt::format("a sample of {}", latencies[i]), "a latency above 0");
        logs.push_back(std::log(latencies[i]));
    }
    std::vector<double> likeness;
    if (!device.empty() && deviceWords_.size() == groups_.size()) likeness = deviceWords_.to(device);
    const Answer told = answer(measured, logs, all_, likeness, use_);
    std::vector<double> likest;
    if (simple_) {
        std::vector<std::size_t> all(groups_.size());
        std::iota(all.begin(), all.end(), std::size_t{0});
        likest = likestDevice(latenciesOf(all), measured, latencies);
    }
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

// What one network alone does on a device says nothing of others: what is far beyond the device's usual is a rest of
// its own.
std::vector<double> NetworkMatrix::covariance() const {
    const auto width = static_cast<Eigen::Index>(networks_), count = static_cast<Eigen::Index>(groups_.size());
    const Eigen::Map<const Table> rows(all_.logs.data(), count, width);
    const Eigen::MatrixXd places = placesOf(rows);
    const Eigen::RowVectorXd mean = rows.colwise().mean();
    const double per = 1 / std::sqrt(static_cast<double>(std::max<Eigen::Index>(1, count - 1)));
    Eigen::MatrixXd apart = rows.rowwise() - mean;
    Eigen::RowVectorXd own = Eigen::RowVectorXd::Zero(width);
    for (Eigen::Index d = 0; d < count; ++d) {
        std::vector<double> sizes;
        for (Eigen::Index n = 0; n < width; ++n) sizes.push_back(std::abs(apart(d, n)));
        const double most = 3 * quantileType7(sizes, 0.5);
        for (Eigen::Index n = 0; n < width; ++n) {
            const double kept = std::clamp(apart(d, n), -most, most);
            own[n] += std::pow((apart(d, n) - kept) * per, 2);
            apart(d, n) = kept * per;
        }
    }
    std::vector<double> out(networks_ * networks_);
    std::vector<std::size_t> every(networks_);
    std::iota(every.begin(), every.end(), std::size_t{0});
    Eigen::Map<Table> covariance(out.data(), width, width);
    covariance = apart.transpose() * apart;
    covariance.array() += levelVariance + 0.15 * 0.15 * (-0.5 * distancesTo(places, every).array()).exp();
    covariance.diagonal() += own.transpose();
    if (facts_ > 0) {
        const Eigen::Map<const Table> facts(shapes_.data(), width, static_cast<Eigen::Index>(facts_));
        covariance += usualTilt * usualTilt * facts * facts.transpose();
    }
    return out;
}

}  // namespace orrery
