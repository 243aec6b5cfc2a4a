#include "base/maths.h"
#include "learning/edge/device_prior.h"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace orrery {
namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;
using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr double normal90 = 1.6448536269514722;
constexpr double detail = 0.15;  // of a detail's freedom against that of a core column
constexpr std::size_t manySamples = 30;

Eigen::LLT<Matrix> ridge(const Matrix& x) {
    Matrix a = x.transpose() * x;
    a.diagonal().array() += 0.5 + 1e-5 * static_cast<double>(x.rows());
    return a.llt();
}

// Which of the two halves of the columns tells rows better when each is left out: dead code executed, or dropped. Of so
// many rows at most.
bool dropsDeadCode(const Matrix& x, const std::vector<Eigen::Index>& there, const Vector& y) {
    constexpr std::size_t most = 600;
    const std::size_t count = std::min(most, there.size());
    std::vector<Eigen::Index> some;
    Vector values(static_cast<Eigen::Index>(count));
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t at = i * there.size() / count;
        some.push_back(there[at]);
        values[static_cast<Eigen::Index>(i)] = y[static_cast<Eigen::Index>(at)];
    }
    const Eigen::Index half = x.cols() / 2;
    double errors[2] = {0, 0};
    for (const Eigen::Index side : {Eigen::Index{0}, Eigen::Index{1}}) {
        const Matrix own = x.middleCols(side * half, half)(some, Eigen::all);
        const auto llt = ridge(own);
        const Vector fitted = own * llt.solve(own.transpose() * values);
        const Matrix inverse = llt.matrixL().solve(Matrix(own.transpose()));
        for (Eigen::Index r = 0; r < values.size(); ++r) {
            const double left = (values[r] - fitted[r]) / std::max(0.05, 1 - inverse.col(r).squaredNorm());
            errors[side] += std::min(1.0, std::abs(left) / values[r]);
        }
    }
    return errors[1] < 0.95 * errors[0];
}

}  // namespace

void DevicePrior::summarise(const std::vector<std::size_t>& kept) {
    const auto p = half_;
    devices_ = kept.size();
    mean_.assign(p, 0);
    apart_.assign(kept.size() * p, 0);
    const double count = static_cast<double>(kept.size());
    for (const std::size_t d : kept)
        for (std::size_t c = 0; c < p; ++c) mean_[c] += own_[d * p + c] / count;
    const double share = kept.size() > 1 ? 1 / std::sqrt(count - 1) : 0;
    std::size_t row = 0;
    logScale_ = 0;
    for (const std::size_t d : kept) {
        for (std::size_t c = 0; c < p; ++c) apart_[row * p + c] = share * (own_[d * p + c] - mean_[c]);
        logScale_ += std::log(scales_[d]) / count;
        ++row;
    }
    // A device more of each kind than were seen; a roofline knows of none.
    double dropping = 1;
    for (const std::size_t d : kept) dropping += drops_[d];
    dropping_ = used_.empty() ? 0.5 : dropping / (2 + count);
    std::vector<NothingLeft> nothings;
    for (const std::size_t d : kept)
        if (!used_.empty() && nothings_[d]) nothings.push_back(*nothings_[d]);
    nothing_ = expectedNothing(nothings);
    double squares = 0;
    for (const std::size_t d : kept) squares += std::pow(std::log(scales_[d]) - logScale_, 2);
    logScaleDeviation_ = kept.size() > 1 ? std::sqrt(squares / (count - 1)) : 2;
}

Expected<DevicePrior> DevicePrior::learn(const FeatureRows& networks, std::span<const std::vector<double>> latencies,
                                         std::span<const std::size_t> analytic) {
    const std::size_t n = networks.rows(), p = networks.columns;
    if (n == 0 || p == 0) return fail("edge.no-features", "there is no network to learn from");
    if (std::any_of(networks.values.begin(), networks.values.end(), [](double v) { return !std::isfinite(v); }))
        return fail("edge.not-finite", "a feature of a network is not a number");
    DevicePrior prior;
    prior.columns_ = p;
    prior.core_ = networks.core;
    prior.nothingColumn_ = networks.half > 0 ? networks.nothing : 0;
    const std::size_t half = prior.half_ = networks.half > 0 ? networks.half : p;
    if (half != p && 2 * half != p) return fail("edge.shape", "two halves of features are not alike");
    prior.centre_.assign(p, 0);
    prior.spread_.assign(p, 1);
    prior.least_.assign(p, std::numeric_limits<double>::infinity());
    prior.most_.assign(p, -std::numeric_limits<double>::infinity());
    std::vector<double> raw(half, 0);
    const Eigen::Map<const RowMajor> all(networks.values.data(), static_cast<Eigen::Index>(n),
                                         static_cast<Eigen::Index>(p));
    Matrix x = all;
    for (std::size_t c = 0; c < p; ++c) {
        const auto column = x.col(static_cast<Eigen::Index>(c));
        prior.least_[c] = column.minCoeff();
        prior.most_[c] = column.maxCoeff();
        if (c >= half) {  // the same coefficients tell it
            prior.centre_[c] = prior.centre_[c - half];
            prior.spread_[c] = prior.spread_[c - half];
            continue;
        }
        raw[c] = column.mean();
        if (c == 0) continue;
        prior.centre_[c] = raw[c];
        const double deviation = std::sqrt((column.array() - raw[c]).square().mean());
        const double trust = networks.core == 0 || c < networks.core ? 1 : detail;
        prior.spread_[c] = deviation > 1e-9 * (1 + std::abs(raw[c])) ? trust / deviation : 0;
    }
    for (std::size_t c = 0; c < p; ++c) {
        const auto i = static_cast<Eigen::Index>(c);
        x.col(i) = (x.col(i).array() - prior.centre_[c]) * prior.spread_[c];
    }
    for (std::size_t index = 0; index < latencies.size(); ++index) {
        const std::vector<double>& device = latencies[index];
        if (device.size() != n) return fail("edge.shape", "a device has not one latency per network");
        std::vector<Eigen::Index> there, left;  // left: those of which something is
        double sum = 0;
        for (std::size_t r = 0; r < n; ++r) {
            if (!(std::isfinite(device[r]) && device[r] > 0)) continue;
            there.push_back(static_cast<Eigen::Index>(r));
            if (!prior.folds(networks.row(r))) left.push_back(static_cast<Eigen::Index>(r));
            sum += device[r];
        }
        if (there.size() < leastRows) continue;
        const double mean = sum / static_cast<double>(there.size());
        const auto shares = [&](const std::vector<Eigen::Index>& rows) {
            Vector out(static_cast<Eigen::Index>(rows.size()));
            for (std::size_t i = 0; i < rows.size(); ++i)
                out[static_cast<Eigen::Index>(i)] = device[static_cast<std::size_t>(rows[i])] / mean;
            return out;
        };
        Vector y = shares(there);
        if ((y.array() - 1).abs().maxCoeff() < 1e-12) continue;  // one value everywhere says nothing of networks
        const auto columns = static_cast<Eigen::Index>(half);
        const bool drops = half < p && left.size() >= leastRows && dropsDeadCode(x, left, shares(left));
        prior.nothings_.emplace_back();
        if (drops && left.size() < there.size()) {
            std::vector<std::array<double, NothingLeft::counts>> constant;
            std::vector<double> values;
            for (const Eigen::Index r : there) {
                const auto row = networks.row(static_cast<std::size_t>(r)).subspan(half);
                if (!prior.folds(networks.row(static_cast<std::size_t>(r)))) continue;
                constant.push_back({row[0], row[1], row[2], row[3]});
                values.push_back(device[static_cast<std::size_t>(r)] / mean);
            }
            prior.nothings_.back() = nothingLeft(constant, values);
            there = left;
            y = shares(there);
        }
        const Matrix own = x.middleCols(drops ? columns : 0, columns)(there, Eigen::all);
        const Vector w = ridge(own).solve(own.transpose() * y);
        for (Eigen::Index c = 0; c < w.size(); ++c) prior.own_.push_back(w[c]);
        prior.scales_.push_back(mean);
        prior.drops_.push_back(drops ? 1 : 0);
        prior.used_.push_back(index);
    }
    if (prior.scales_.empty()) {
        // Corners of a roofline: all time in one of the columns but for a quarter that every network pays.
        for (const std::size_t column : analytic) {
            if (column >= half || raw[column] <= 0) continue;
            std::vector<double> w(half, 0);
            w[0] = 1;
            if (prior.spread_[column] > 0) w[column] = 0.75 / (raw[column] * prior.spread_[column]);
            prior.own_.insert(prior.own_.end(), w.begin(), w.end());
            prior.scales_.push_back(1);
            prior.drops_.push_back(0);
            prior.nothings_.emplace_back();
        }
        if (prior.scales_.empty()) return fail("edge.no-features", "no device is known, and no column of a roofline");
    }
    std::vector<std::size_t> kept(prior.scales_.size());
    std::iota(kept.begin(), kept.end(), std::size_t{0});
    prior.summarise(kept);
    return prior;
}

// What every model of this prior starts from.
DeviceModel DevicePrior::plainModel() const {
    DeviceModel model;
    model.centre_ = centre_;
    model.spread_ = spread_;
    model.least_ = least_;
    model.most_ = most_;
    model.widening = widening_;
    model.floor_ = 0.02;
    return model;
}

// The ridge of `simple_models.h` as a device's model: its weights stand on the features as they are.
DevicePrior::Conditioned DevicePrior::simpleModel(const FeatureRows& networks,
                                                  std::span<const double> latencies) const {
    const auto n = static_cast<Eigen::Index>(latencies.size()), p = static_cast<Eigen::Index>(columns_),
               few = std::min<Eigen::Index>(5, p);
    Conditioned out{plainModel(), {}};
    DeviceModel& model = out.model;
    model.simple = true;
    model.samples = latencies.size();
    model.centre_.assign(columns_, 0);
    model.spread_.assign(columns_, 1);
    model.relative_ = latencies.size() >= manySamples;
    Matrix x(n, few);
    for (Eigen::Index r = 0; r < n; ++r)
        for (Eigen::Index c = 0; c < few; ++c)
            x(r, c) = networks.row(static_cast<std::size_t>(r))[static_cast<std::size_t>(c)];
    Vector y = Eigen::Map<const Vector>(latencies.data(), n);
    model.scale_ = y.mean();
    y /= model.scale_;
    Matrix a = x.transpose() * x;
    for (Eigen::Index c = 0; c < few; ++c) a(c, c) += c == 0 ? 1e-9 : 1e-3;
    const Eigen::LLT<Matrix> llt(a);
    const Vector w = llt.solve(x.transpose() * y);
    model.weights_.assign(columns_, 0);
    for (Eigen::Index c = 0; c < few; ++c) model.weights_[static_cast<std::size_t>(c)] = w[c];
    // Rows left out one at a time, from the diagonal of the hat matrix.
    const Matrix inverse = llt.matrixL().solve(Matrix(x.transpose()));
    std::vector<double> off, pulls, told;
    for (Eigen::Index r = 0; r < n; ++r) {
        pulls.push_back(inverse.col(r).squaredNorm());
        const double fitted = std::max(x.row(r).dot(w), model.floor_);
        told.push_back(std::max(model.floor_, y[r] - (y[r] - fitted) / std::max(1e-9, 1 - pulls.back())));
        off.push_back(std::abs(y[r] - told.back()));
        out.left.error += std::min(1.0, off.back() / y[r]) / static_cast<double>(n);
        if (model.relative_) off.back() /= told.back();
    }
    model.noise = std::max(1e-4, quantileType7(off, 0.9) / normal90);
    for (std::size_t r = 0; r < off.size(); ++r) {
        const double share = model.relative_ ? told[r] : 1;
        const double pulled = pulls[r] / std::max(1e-9, 1 - pulls[r]);
        out.left.scores.push_back(off[r] * share / (normal90 * model.noise * std::sqrt(share * share + pulled)));
    }
    model.leftOut = out.left.error;
    const Matrix root = model.noise * Matrix(llt.matrixU().solve(Matrix::Identity(few, few)));
    model.rank_ = static_cast<std::size_t>(few);
    model.root_.assign(columns_ * model.rank_, 0);
    for (Eigen::Index c = 0; c < few; ++c)
        for (Eigen::Index k = 0; k < few; ++k) model.root_[static_cast<std::size_t>(c * few + k)] = root(c, k);
    return out;
}

DevicePrior DevicePrior::without(std::size_t device) const {
    DevicePrior other = *this;
    std::vector<std::size_t> kept;
    for (std::size_t d = 0; d < scales_.size(); ++d)
        if (d != device) kept.push_back(d);
    other.summarise(kept);
    other.widening_ = 1;
    other.trials_ = {};
    return other;
}

}  // namespace orrery
