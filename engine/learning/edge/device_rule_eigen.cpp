#include "base/maths.h"
#include "learning/edge/device_prior.h"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <Eigen/Eigenvalues>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

namespace orrery {
namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;
using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr double normal90 = 1.6448536269514722;
constexpr double scaleVariance = 0.04;  // of a device's level beside that of the samples' mean: 20 %
constexpr std::array noises{0.003, 0.006, 0.012, 0.025, 0.05, 0.08, 0.12, 0.18, 0.25};
constexpr std::array freedoms{0.01, 0.03, 0.1, 0.4};
constexpr std::size_t manySamples = 30;
constexpr int manyRounds = 20, gridRounds = 2;  // of reweighting; σ and β are looked for in so many, and in the last

Vector mapped(const std::vector<double>& values) {
    return Eigen::Map<const Vector>(values.data(), static_cast<Eigen::Index>(values.size()));
}

std::vector<double> plain(const Vector& values) {
    return {values.data(), values.data() + values.size()};
}

double logSum(std::span<const double> logs) {
    double top = -std::numeric_limits<double>::infinity(), sum = 0;
    for (const double each : logs) top = std::max(top, each);
    for (const double each : logs) sum += std::exp(each - top);
    return top + std::log(sum);
}

struct Posterior {
    double evidence = 0;  // log
    Vector mean;
    // Of few samples: each told by the others, how sure, and how likely it then is (log), in closed form (Rasmussen
    // and Williams 2006, equations 5.10 to 5.12).
    Vector left, variance, likely;
};

// Fewer samples than the prior has directions: in the space of the samples.
Posterior bySamples(const Matrix& g, const Matrix& gg, const Vector& y, const Vector& residual, const Matrix& root,
                    double noise, bool leaveOut) {
    Matrix k = gg;
    k.diagonal().array() += noise * noise;
    const Eigen::LLT<Matrix> llt(k);
    const Vector solved = llt.solve(residual);
    Posterior out{-0.5 * residual.dot(solved) - llt.matrixLLT().diagonal().array().log().sum(),
                  root * (g.transpose() * solved),
                  {},
                  {},
                  {}};
    if (!leaveOut) return out;
    out.variance = llt.solve(Matrix::Identity(k.rows(), k.cols())).diagonal().cwiseInverse();
    const Vector off = solved.cwiseProduct(out.variance);
    out.left = y - off;
    out.likely = -0.5 * (out.variance.array().log() + off.array().square() / out.variance.array());
    return out;
}

// root (I − gᵀ (g gᵀ + σ²)⁻¹ g) rootᵀ as a product with itself.
Matrix conditionedRoot(const Matrix& g, const Matrix& gg, const Matrix& root, double noise) {
    Matrix k = gg;
    k.diagonal().array() += noise * noise;
    Matrix inner = -g.transpose() * k.llt().solve(g);
    inner.diagonal().array() += 1 + 1e-12;
    const Eigen::LLT<Matrix> kept(inner);
    return kept.info() == Eigen::Success ? Matrix(root * Matrix(kept.matrixL())) : root;
}

// More samples than that: in the space of the directions, decomposed once for all noises.
struct Directions {
    const Matrix& root;
    Eigen::SelfAdjointEigenSolver<Matrix> eigen;
    Vector turned;  // of gᵀ · residual
    double squares = 0, count = 0;

    Directions(const Matrix& xx, const Vector& xr, double rr, double rows, const Matrix& priorRoot)
        : root(priorRoot),
          eigen(priorRoot.transpose() * xx * priorRoot),
          turned(eigen.eigenvectors().transpose() * (priorRoot.transpose() * xr)),
          squares(rr),
          count(rows) {}

    Vector shrunk(double noise) const { return (eigen.eigenvalues().array().max(0.0) / (noise * noise) + 1).inverse(); }

    Posterior at(double noise) const {
        const double precision = 1 / (noise * noise);
        const Vector by = shrunk(noise);
        const Vector solved = precision * by.cwiseProduct(turned);
        return {
            -0.5 * precision * (squares - turned.dot(solved)) + 0.5 * by.array().log().sum() - count * std::log(noise),
            root * (eigen.eigenvectors() * solved),
            {},
            {},
            {}};
    }

    Matrix conditioned(double noise) const {
        return root * eigen.eigenvectors() * shrunk(noise).cwiseSqrt().asDiagonal();
    }
};

struct Setting {
    double noise, freedom;
};

}  // namespace

// One rule about dead code, conditioned on samples; in latencies ÷ `scale`.
struct DevicePrior::Rule {
    Vector weights;
    Matrix root;
    double scale = 1, noise = 0, freedom = 0;
    double evidence = 0;    // log, of the samples as they were given
    Vector left, variance;  // each sample by the others
    Vector without;         // log evidence without each; empty of many
    double error = 0;       // mean of left-out samples' absolute relative errors, none above 1
    NothingLeft nothing;    // of networks that fold to a constant
};

// Samples that fold to a constant are not among those of an additive model. They are told by what is believed of them,
// and say how far that is off.
DevicePrior::Rule DevicePrior::folding(const FeatureRows& networks, std::span<const double> latencies) const {
    FeatureRows some = networks.none();
    std::vector<double> values;
    std::vector<std::size_t> constant;
    for (std::size_t r = 0; r < latencies.size(); ++r) {
        if (folds(networks.row(r))) {
            constant.push_back(r);
            continue;
        }
        some.add(networks.row(r));
        values.push_back(latencies[r]);
    }
    if (values.empty() || constant.empty()) {
        Rule out = follow(networks, latencies, true);
        out.nothing = nothing_;
        return out;
    }
    const Rule own = follow(some, values, true);
    const double n = static_cast<double>(latencies.size()), m = static_cast<double>(values.size());
    const bool few = values.size() < manySamples;
    Rule out = own;
    out.nothing = nothing_;
    std::vector<double> logs;
    for (const std::size_t r : constant)
        logs.push_back(std::log(latencies[r] / (own.scale * nothing_.tell(networks.row(r).subspan(half_)))));
    const double spread = std::max(0.2, (nothing_.high - nothing_.low) / (2 * normal90)),
                 shift = quantileType7(logs, 0.5) * static_cast<double>(logs.size()) /
                         (1 + static_cast<double>(logs.size()));
    for (double& each : out.nothing.shares) each *= std::exp(shift);
    out.left = out.variance = Vector::Zero(static_cast<Eigen::Index>(latencies.size()));
    out.without = few ? out.left : Vector();
    out.error = own.error * m / n;
    std::vector<double> likely(latencies.size(), 0);
    for (std::size_t r = 0, at = 0, c = 0; r < latencies.size(); ++r) {
        const auto i = static_cast<Eigen::Index>(r);
        if (c < constant.size() && constant[c] == r) {
            const double told = nothing_.tell(networks.row(r).subspan(half_));
            out.left[i] = told;
            out.variance[i] = std::pow(spread * told, 2);
            likely[r] = -0.5 * std::pow(logs[c] / spread, 2) - std::log(spread * latencies[r]);
            out.evidence += likely[r];
            out.error += std::min(1.0, std::abs(own.scale * told / latencies[r] - 1)) / n;
            ++c;
            continue;
        }
        out.left[i] = own.left[static_cast<Eigen::Index>(at)];
        out.variance[i] = own.variance[static_cast<Eigen::Index>(at)];
        if (few) out.without[i] = own.without[static_cast<Eigen::Index>(at)] - own.evidence;
        ++at;
    }
    for (std::size_t r = 0; few && r < latencies.size(); ++r)
        out.without[static_cast<Eigen::Index>(r)] += out.evidence - likely[r];
    return out;
}

DevicePrior::Rule DevicePrior::follow(const FeatureRows& networks, std::span<const double> latencies,
                                      bool drops) const {
    const std::size_t n = latencies.size(), p = half_, first = drops ? half_ : 0;
    const auto d = static_cast<Eigen::Index>(devices_), columns = static_cast<Eigen::Index>(p);
    const Vector mu = mapped(mean_);
    const Eigen::Map<const RowMajor> apart(apart_.data(), d, columns);
    const auto rootFor = [&](double freedom) {
        Matrix root = Matrix::Zero(columns, d + 1 + columns);
        root.leftCols(d) = apart.transpose();
        root.col(d) = std::sqrt(scaleVariance) * mu;
        for (Eigen::Index c = 0; c < columns; ++c)
            root(c, d + 1 + c) = c == 0 || spread_[static_cast<std::size_t>(c)] > 0 ? freedom : 0;
        return root;
    };
    Rule out;
    Matrix x(static_cast<Eigen::Index>(n), columns);
    Vector y(static_cast<Eigen::Index>(n));
    for (std::size_t r = 0; r < n; ++r) {
        const auto row = networks.row(r);
        for (std::size_t c = 0; c < p; ++c)
            x(static_cast<Eigen::Index>(r), static_cast<Eigen::Index>(c)) = (row[first + c] - centre_[c]) * spread_[c];
        y[static_cast<Eigen::Index>(r)] = latencies[r];
    }
    const double expected = std::max(1e-3, (x * mu).mean());
    out.scale = y.mean() / expected;
    y /= out.scale;
    const bool relative = n >= manySamples;
    Vector weight = Vector::Ones(y.size()), best = mu;
    // Many samples: the least mean of absolute relative errors, by weights; rows of a slowed clock then do not pull the
    // rest.
    const int rounds = relative ? manyRounds : 1;
    std::vector<Setting> grid;
    for (const double beta : freedoms)
        for (const double sigma : noises) grid.push_back({sigma, beta});
    Matrix lastX;
    double lastNoise = 1;
    for (int round = 0; round < rounds; ++round) {
        if (relative) {
            const Vector fitted = round == 0 ? y : Vector((x * best).cwiseMax(0.1 * y));
            weight = fitted.cwiseInverse();
            if (round > 0) {
                const Vector off = ((y - x * best).array() * weight.array()).abs();
                std::vector<double> sorted = plain(off);
                const double limit = std::max(1e-6, 0.1 * quantileType7(sorted, 0.5));
                for (Eigen::Index i = 0; i < off.size(); ++i)
                    if (off[i] > limit) weight[i] *= std::sqrt(limit / off[i]);
            }
        }
        const bool last = round + 1 == rounds;
        const std::vector<Setting> tried =
            round < gridRounds || last ? grid : std::vector<Setting>{{lastNoise, out.freedom}};
        const Matrix wx = weight.asDiagonal() * x;
        const Vector residual = weight.cwiseProduct(y - x * mu);
        const bool many = relative && wx.rows() > d + 1 + columns;
        Matrix xx;
        Vector xr;
        if (many) {
            xx = wx.transpose() * wx;
            xr = wx.transpose() * residual;
        }
        std::vector<Posterior> all;
        std::vector<double> evidence;
        double top = -std::numeric_limits<double>::infinity(), topNoise = 1, topFreedom = 0;
        std::optional<Directions> directions;
        Matrix root, g, gg, topRoot;
        for (std::size_t i = 0; i < tried.size(); ++i) {
            if (i == 0 || tried[i].freedom != tried[i - 1].freedom) {
                root = rootFor(tried[i].freedom);
                if (many) {
                    directions.emplace(xx, xr, residual.squaredNorm(), static_cast<double>(n), root);
                } else {
                    g = wx * root;
                    gg = g * g.transpose();
                }
            }
            all.push_back(many ? directions->at(tried[i].noise)
                               : bySamples(g, gg, y, residual, root, tried[i].noise, !relative));
            evidence.push_back(all.back().evidence);
            if (evidence.back() <= top) continue;
            top = evidence.back();
            topNoise = tried[i].noise;
            topFreedom = tried[i].freedom;
            if (last) {
                topRoot = many ? directions->conditioned(topNoise) : conditionedRoot(g, gg, root, topNoise);
            }
        }
        double total = 0, noise = 0, freedom = 0;
        best = Vector::Zero(columns);
        for (std::size_t i = 0; i < all.size(); ++i) {
            const double share = std::exp(all[i].evidence - top);
            total += share;
            best += share * all[i].mean;
            noise += share * tried[i].noise * tried[i].noise;
            freedom += share * tried[i].freedom;
        }
        best = best / total + mu;
        out.noise = std::sqrt(noise / total);
        out.freedom = last ? freedom / total : topFreedom;
        lastNoise = topNoise;
        if (!last) continue;
        out.weights = best;
        out.root = topRoot;
        lastX = wx;
        if (relative) continue;
        const double levels = std::log(out.scale);
        out.evidence = logSum(evidence) - static_cast<double>(n) * levels;
        out.left = out.variance = out.without = Vector::Zero(y.size());
        for (Eigen::Index r = 0; r < y.size(); ++r) {
            std::vector<double> logs;
            for (const Posterior& each : all) logs.push_back(each.evidence - each.likely[r]);
            const double whole = logSum(logs);
            out.without[r] = whole - static_cast<double>(n - 1) * levels;
            double square = 0;
            for (std::size_t i = 0; i < all.size(); ++i) {
                const double share = std::exp(logs[i] - whole);
                out.left[r] += share * all[i].left[r];
                square += share * (all[i].variance[r] + all[i].left[r] * all[i].left[r]);
            }
            out.variance[r] = std::max(1e-12, square - out.left[r] * out.left[r]);
        }
    }
    const double floor = plainModel().floor_;
    if (relative) {
        // Rows left out one at a time say how wide 90 % of the others are: their own pull is the hat matrix's diagonal.
        const Vector fitted = (x * best).cwiseMax(floor);
        const Vector pulls = (lastX * out.root).rowwise().squaredNorm() / (lastNoise * lastNoise);
        out.left = Vector(y.size());
        std::vector<double> off;
        for (Eigen::Index r = 0; r < y.size(); ++r) {
            out.left[r] = y[r] - (y[r] - fitted[r]) / std::max(0.05, 1 - pulls[r]);
            off.push_back(std::abs(y[r] - out.left[r]) / std::max(floor, out.left[r]));
        }
        out.noise = std::max(1e-4, quantileType7(off, 0.9) / normal90);
        out.variance = (x * out.root).rowwise().squaredNorm();
        for (Eigen::Index r = 0; r < y.size(); ++r) {
            const double share = std::max(floor, out.left[r]);
            out.variance[r] = out.variance[r] / std::max(0.05, 1 - pulls[r]) + out.noise * out.noise * share * share;
        }
    }
    for (Eigen::Index r = 0; r < y.size(); ++r) {
        out.left[r] = std::max(floor, out.left[r]);
        out.error += std::min(1.0, std::abs(out.left[r] / y[r] - 1)) / static_cast<double>(n);
    }
    return out;
}

// Both rules, each as far as the samples speak for it: a mixture is one model over the columns of both.
DevicePrior::Conditioned DevicePrior::together(Rule executed, Rule dropped, const FeatureRows& networks,
                                               std::span<const double> latencies) const {
    const bool few = latencies.size() < manySamples;
    const double odds = std::log(dropping_ / (1 - dropping_));
    const auto shareOf = [](double logOdds) { return 1 / (1 + std::exp(-logOdds)); };
    double drops = 0;
    if (hasRules()) {
        drops = few                               ? shareOf(dropped.evidence - executed.evidence + odds)
                : dropped.error == executed.error ? (odds > 0 ? 1 : 0)
                : dropped.error < executed.error  ? 1
                                                  : 0;
        if (drops < 1e-3) drops = 0;
        if (drops > 1 - 1e-3) drops = 1;
    }
    Conditioned out{plainModel(), {}};
    DeviceModel& model = out.model;
    model.samples = networks.rows();
    model.drops = drops;
    model.relative_ = !few;
    model.scale_ = drops < 1 ? executed.scale : dropped.scale;
    const double step = drops > 0 ? dropped.scale / model.scale_ : 1;
    const auto p = static_cast<Eigen::Index>(half_), columns = static_cast<Eigen::Index>(columns_);
    const Eigen::Index a = drops < 1 ? executed.root.cols() : 0, b = drops > 0 ? dropped.root.cols() : 0,
                       both = drops > 0 && drops < 1 ? 1 : 0;
    RowMajor root = RowMajor::Zero(columns, a + b + both);
    Vector weights = Vector::Zero(columns);
    double noise = 0;
    if (drops < 1) {
        weights.head(p) = (1 - drops) * executed.weights;
        root.block(0, 0, p, a) = std::sqrt(1 - drops) * executed.root;
        noise += (1 - drops) * std::pow(executed.noise, 2);
        model.freedom += (1 - drops) * executed.freedom;
    } else {
        std::fill_n(model.spread_.begin(), half_, 0.0);
    }
    model.nothing_ = nothingColumn_;
    model.left_ = dropped.nothing;
    for (double& each : model.left_.shares) each *= step;
    if (drops > 0) {
        weights.tail(p) = drops * step * dropped.weights;
        root.block(p, a, p, b) = std::sqrt(drops) * step * dropped.root;
        noise += drops * std::pow(few ? step * dropped.noise : dropped.noise, 2);
        model.freedom += drops * dropped.freedom;
    } else if (hasRules()) {
        std::fill(model.spread_.begin() + static_cast<std::ptrdiff_t>(half_), model.spread_.end(), 0.0);
    }
    if (both > 0) {
        root.col(a + b).head(p) = std::sqrt(drops * (1 - drops)) * executed.weights;
        root.col(a + b).tail(p) = -std::sqrt(drops * (1 - drops)) * step * dropped.weights;
    }
    model.noise = std::sqrt(noise);
    model.weights_ = plain(weights);
    model.rank_ = static_cast<std::size_t>(root.cols());
    model.root_.assign(root.data(), root.data() + root.size());
    for (std::size_t i = 0; i < latencies.size(); ++i) {
        const auto r = static_cast<Eigen::Index>(i);
        double share = drops;
        if (hasRules() && few) share = shareOf(dropped.without[r] - executed.without[r] + odds);
        const double e = drops < 1 || few ? executed.scale * executed.left[r] : 0;
        const double f = share > 0 ? dropped.scale * dropped.left[r] : 0;
        const double left = (1 - share) * e + share * f;
        double variance = (1 - share) * (share < 1 ? std::pow(executed.scale, 2) * executed.variance[r] : 0);
        if (share > 0)
            variance +=
                share * std::pow(dropped.scale, 2) * dropped.variance[r] + share * (1 - share) * (e - f) * (e - f);
        out.left.scores.push_back(std::abs(latencies[i] - left) / (normal90 * std::sqrt(variance)));
        out.left.error += std::min(1.0, std::abs(left / latencies[i] - 1)) / static_cast<double>(latencies.size());
    }
    model.leftOut = out.left.error;
    return out;
}

DeviceModel DevicePrior::noneMeasured() const {
    DeviceModel model = plainModel();
    model.scale_ = std::exp(logScale_);
    model.scaleDeviation_ = logScaleDeviation_;
    model.noise = 0.1;
    model.freedom = freedoms[1];
    const double drops = hasRules() ? dropping_ : 0;
    model.drops = drops;
    model.nothing_ = nothingColumn_;
    model.left_ = nothing_;
    const auto d = static_cast<Eigen::Index>(devices_), p = static_cast<Eigen::Index>(half_);
    const Vector mu = mapped(mean_);
    const Eigen::Map<const RowMajor> apart(apart_.data(), d, p);
    RowMajor root = RowMajor::Zero(static_cast<Eigen::Index>(columns_), d + (hasRules() ? 1 : 0));
    Vector weights = Vector::Zero(static_cast<Eigen::Index>(columns_));
    weights.head(p) = (1 - drops) * mu;
    root.topLeftCorner(p, d) = (1 - drops) * apart.transpose();
    if (hasRules()) {
        weights.tail(p) = drops * mu;
        root.bottomLeftCorner(p, d) = drops * apart.transpose();
        root.col(d).head(p) = std::sqrt(drops * (1 - drops)) * mu;
        root.col(d).tail(p) = -std::sqrt(drops * (1 - drops)) * mu;
    }
    model.weights_ = plain(weights);
    model.rank_ = static_cast<std::size_t>(root.cols());
    model.root_.assign(root.data(), root.data() + root.size());
    return model;
}

Expected<DevicePrior::Conditioned> DevicePrior::conditioned(const FeatureRows& networks,
                                                            std::span<const double> latencies) const {
    const std::size_t n = latencies.size();
    if (networks.rows() != n || (n > 0 && networks.columns != columns_))
        return fail("edge.shape", "samples and their features do not fit");
    for (const double each : latencies) {
        if (!(std::isfinite(each) && each > 0))
            return fail("edge.bad-sample", fmt::format("a sample of {}", each), "a latency above 0");
    }
    if (n == 0) return Conditioned{noneMeasured(), {}};
    return together(follow(networks, latencies, false), hasRules() ? folding(networks, latencies) : Rule{}, networks,
                    latencies);
}

}  // namespace orrery
