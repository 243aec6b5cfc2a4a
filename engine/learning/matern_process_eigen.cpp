#include "base/random.h"
#include "learning/lbfgs.h"
#include "learning/matern_process.h"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

namespace orrery {

namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

const double root5 = std::sqrt(5.0);

double maternOf(double squared) {
    const double r = root5 * std::sqrt(squared);
    return (1 + r + r * r / 3) * std::exp(-r);
}

// Rows over their lengths, squared distances of all pairs.
Matrix distancesOf(const Matrix& inputs, const std::vector<bool>& words, const Vector& lengths) {
    const Eigen::Index n = inputs.rows();
    Matrix squared = Matrix::Zero(n, n);
    for (Eigen::Index c = 0; c < inputs.cols(); ++c) {
        const double weight = 1 / (lengths[c] * lengths[c]);
        const auto column = inputs.col(c).array();
        for (Eigen::Index j = 0; j < n; ++j) {
            const auto below = column.tail(n - j);
            if (words[static_cast<std::size_t>(c)]) {
                squared.col(j).tail(n - j).array() += weight * (below != column[j]).template cast<double>();
            } else {
                squared.col(j).tail(n - j).array() += weight * (below - column[j]).square();
            }
        }
    }
    return squared;  // lower triangle
}

// K = L Lᵀ with as little added to the diagonal as makes it one.
bool factorised(const Matrix& lowerOfK, Eigen::LLT<Matrix>& out) {
    Matrix k = lowerOfK;
    for (double jitter = 0; jitter < 0.02; jitter = jitter == 0 ? 1e-9 : jitter * 10) {
        k.diagonal() = lowerOfK.diagonal().array() * (1 + jitter);
        out.compute(k);
        if (out.info() == Eigen::Success && (out.matrixLLT().diagonal().array() > 0).all()) return true;
    }
    return false;
}

double spreadOf(const std::vector<double>& target, double mean) {
    double sum = 0;
    for (const double y : target) sum += (y - mean) * (y - mean);
    const double deviation = std::sqrt(sum / static_cast<double>(target.size()));
    const double size = std::abs(mean);
    if (deviation > 1e-12 * size && deviation > 1e-300) return deviation;
    return size > 0 ? 1e-3 * size : 1;  // a constant: nothing is known of its spread
}

double meanOf(const std::vector<double>& target) {
    return std::accumulate(target.begin(), target.end(), 0.0) / static_cast<double>(target.size());
}

// Negative log of likelihood times prior, over ln(lengths), ln(amplitude), ln(noise).
class Likelihood {
public:
    Likelihood(Matrix inputs, Vector target, const std::vector<bool>& words, double leastNoise)
        : inputs_(std::move(inputs)), target_(std::move(target)), words_(words), leastNoise_(leastNoise) {}

    double lengthMedian() const { return std::sqrt(2.0) + 0.5 * std::log(static_cast<double>(words_.size())); }

    double operator()(const std::vector<double>& x, std::vector<double>& gradient) const {
        const std::size_t columns = words_.size();
        for (const double each : x)
            if (!(std::abs(each) < 20)) return std::numeric_limits<double>::infinity();
        Vector lengths(static_cast<Eigen::Index>(columns));
        for (std::size_t c = 0; c < columns; ++c) lengths[static_cast<Eigen::Index>(c)] = std::exp(x[c]);
        const double amplitude2 = std::exp(2 * x[columns]);
        const double free2 = std::exp(2 * x[columns + 1]), noise2 = free2 + leastNoise_ * leastNoise_;
        const Eigen::Index n = inputs_.rows();
        const Matrix squared = distancesOf(inputs_, words_, lengths);
        Matrix k(n, n), slope(n, n);
        for (Eigen::Index j = 0; j < n; ++j) {
            for (Eigen::Index i = j; i < n; ++i) {
                const double r = root5 * std::sqrt(squared(i, j)), faded = amplitude2 * std::exp(-r);
                k(i, j) = (1 + r + r * r / 3) * faded;
                slope(i, j) = 5.0 / 3 * (1 + r) * faded;  // over the squared distance of one input
            }
        }
        k.diagonal().array() += noise2;
        Eigen::LLT<Matrix> cholesky;
        if (!factorised(k, cholesky)) return std::numeric_limits<double>::infinity();
        const Matrix inverse = cholesky.solve(Matrix::Identity(n, n));
        const Vector ones = inverse.rowwise().sum();
        const double level = ones.dot(target_) / ones.sum();
        const Vector centred = target_.array() - level;
        const Vector weights = inverse * centred;
        double value = 0.5 * centred.dot(weights) + cholesky.matrixLLT().diagonal().array().log().sum();
        // ½ tr((K⁻¹ − ααᵀ) ∂K), by its lower triangle; the level's own slope is 0 where it stands best.
        double amplitudeSlope = 0, noiseSlope = 0;
        for (Eigen::Index j = 0; j < n; ++j) {
            for (Eigen::Index i = j; i < n; ++i) {
                const double each = inverse(i, j) - weights[i] * weights[j];
                const double twice = i == j ? 0.5 : 1;
                slope(i, j) *= twice * each;
                amplitudeSlope += 2 * twice * each * (i == j ? amplitude2 : k(i, j));
                if (i == j) noiseSlope += each * free2;
            }
        }
        for (std::size_t c = 0; c < columns; ++c) {
            const auto column = inputs_.col(static_cast<Eigen::Index>(c)).array();
            double sum = 0;
            for (Eigen::Index j = 0; j < n; ++j) {
                const auto below = column.tail(n - j);
                const auto part = slope.col(j).tail(n - j).array();
                sum += words_[c] ? (part * (below != column[j]).template cast<double>()).sum()
                                 : (part * (below - column[j]).square()).sum();
            }
            gradient[c] = sum / (lengths[static_cast<Eigen::Index>(c)] * lengths[static_cast<Eigen::Index>(c)]);
        }
        gradient[columns] = amplitudeSlope;
        gradient[columns + 1] = noiseSlope;
        const auto prior = [&](std::size_t at, double median, double deviation) {
            const double off = (x[at] - median) / deviation;
            value += 0.5 * off * off;
            gradient[at] += off / deviation;
        };
        for (std::size_t c = 0; c < columns; ++c) {
            prior(c, lengthMedian(), std::sqrt(3.0));
            value += x[c];  // a density of lengths, not of their logarithms
            gradient[c] += 1;
        }
        prior(columns, 0, 1);
        prior(columns + 1, std::log(0.01), 2);
        return value;
    }

private:
    Matrix inputs_;
    Vector target_;
    const std::vector<bool>& words_;
    double leastNoise_;
};

Expected<void> checkProcess(const ProcessRows& rows) {
    if (rows.rows() == 0 || rows.columns() == 0) {
        return fail("learning.no-rows", "no rows to fit", "at least one row with one input");
    }
    if (rows.inputs.size() != rows.rows() * rows.columns()) {
        return fail("learning.shape",
                    fmt::format("{} numbers for {} rows of {} inputs", rows.inputs.size(), rows.rows(), rows.columns()),
                    "one number per row and input");
    }
    const auto far = [](double v) { return !(std::abs(v) < 1e30); };
    if (std::any_of(rows.inputs.begin(), rows.inputs.end(), far) ||
        std::any_of(rows.target.begin(), rows.target.end(), far)) {
        return fail("learning.not-finite", "a number of a row is not finite", "finite numbers");
    }
    return {};
}

// What rows say of a process that has not seen them (the book's equations 5.10 to 5.12, with the level as it stands).
struct LeftOut {
    double density = 0;  ///< mean of ln, of standardised targets
    /// Hyper-parameters that fit best make a process too sure of itself: nine in ten rows shall lie within 1.645
    /// deviations.
    double stretch = 1;
};
LeftOut leftOut(const Matrix& lower, const Vector& weights) {
    constexpr Eigen::Index least = 8, enough = 20;  // of few, how large they are in the mean
    const Eigen::Index n = weights.size();
    const Matrix inverse = lower.triangularView<Eigen::Lower>().solve(Matrix::Identity(n, n));
    std::vector<double> off;
    LeftOut out;
    for (Eigen::Index i = 0; i < n; ++i) {
        const double precision = inverse.col(i).squaredNorm();
        off.push_back(std::abs(weights[i]) / std::sqrt(precision));
        out.density += 0.5 * (std::log(precision / (2 * std::numbers::pi)) - off.back() * off.back());
    }
    out.density /= static_cast<double>(n);
    if (n < least) return out;
    if (n < enough) {
        double squared = 0;
        for (const double each : off) squared += each * each / static_cast<double>(n);
        out.stretch = std::clamp(std::sqrt(squared), 1.0, 4.0);
        return out;
    }
    const auto ninth = off.begin() + static_cast<std::ptrdiff_t>(0.9 * static_cast<double>(n));
    std::nth_element(off.begin(), ninth, off.end());
    out.stretch = std::clamp(*ninth / 1.645, 1.0, 4.0);
    return out;
}

ProcessRows chosen(const ProcessRows& rows, const std::vector<std::size_t>& which) {
    ProcessRows out{rows.words, {}, {}};
    for (const std::size_t r : which) {
        out.inputs.insert(out.inputs.end(), rows.inputs.begin() + static_cast<std::ptrdiff_t>(r * rows.columns()),
                          rows.inputs.begin() + static_cast<std::ptrdiff_t>((r + 1) * rows.columns()));
        out.target.push_back(rows.target[r]);
    }
    return out;
}

Matrix matrixOf(const ProcessRows& rows) {
    return Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(
        rows.inputs.data(), static_cast<Eigen::Index>(rows.rows()), static_cast<Eigen::Index>(rows.columns()));
}

}  // namespace

Expected<MaternProcess> MaternProcess::fit(const ProcessRows& rows, const ProcessOptions& options) {
    if (auto good = checkProcess(rows); !good) return Unexpected(good.error());
    const std::size_t columns = rows.columns();
    RandomStream random(options.seed);
    std::vector<std::size_t> order(rows.rows());
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (order.size() > options.fitRows) {
        for (std::size_t i = 0; i < options.fitRows; ++i)
            std::swap(order[i], order[i + random.below(order.size() - i)]);
        order.resize(options.fitRows);
        std::sort(order.begin(), order.end());
    }
    const ProcessRows some = chosen(rows, order);
    const double mean = meanOf(some.target), scale = spreadOf(some.target, mean);
    Vector target(static_cast<Eigen::Index>(some.rows()));
    for (std::size_t r = 0; r < some.rows(); ++r)
        target[static_cast<Eigen::Index>(r)] = (some.target[r] - mean) / scale;
    const Likelihood likelihood(matrixOf(some), std::move(target), rows.words, options.leastNoise);

    std::vector<std::vector<double>> starts;
    if (options.start.lengths.size() == columns) {
        std::vector<double> start;
        for (const double length : options.start.lengths) start.push_back(std::log(length));
        start.push_back(std::log(options.start.amplitude));
        start.push_back(std::log(std::max(options.start.noise, 1e-6)));
        starts.push_back(std::move(start));
    }
    std::vector<double> median(columns, likelihood.lengthMedian());
    median.insert(median.end(), {0.0, std::log(0.01)});
    starts.push_back(median);
    for (int n = 0; n < options.restarts; ++n) {
        auto drawn = median;
        for (std::size_t c = 0; c < columns; ++c) drawn[c] += random.normal() - 1.5;  // shorter: they hide structure
        drawn[columns + 1] += random.normal();
        starts.push_back(std::move(drawn));
    }
    Minimum best{median, std::numeric_limits<double>::infinity()};
    for (auto& start : starts) {
        if (options.stop.stop_requested()) break;
        Minimum found =
            minimise(likelihood, std::move(start), options.steps, 1e-3, [&] { return options.stop.stop_requested(); });
        if (found.value < best.value) best = std::move(found);
    }
    ProcessShape shape{{}, std::exp(best.at[columns]), std::hypot(std::exp(best.at[columns + 1]), options.leastNoise)};
    for (std::size_t c = 0; c < columns; ++c) shape.lengths.push_back(std::exp(best.at[c]));
    return conditioned(rows, shape);
}

Expected<MaternProcess> MaternProcess::conditioned(const ProcessRows& rows, const ProcessShape& shape) {
    if (auto good = checkProcess(rows); !good) return Unexpected(good.error());
    if (shape.lengths.size() != rows.columns()) {
        return fail("learning.shape", fmt::format("{} lengths for {} inputs", shape.lengths.size(), rows.columns()),
                    "one length per input");
    }
    MaternProcess process;
    if (const std::size_t stride = (rows.rows() + mostMaternRows - 1) / mostMaternRows; stride > 1) {
        std::vector<std::size_t> which;
        for (std::size_t r = 0; r < rows.rows(); r += stride) which.push_back(r);
        process.rows_ = chosen(rows, which);
    } else {
        process.rows_ = rows;
    }
    process.shape_ = shape;
    process.mean_ = meanOf(process.rows_.target);
    process.scale_ = spreadOf(process.rows_.target, process.mean_);
    const auto n = static_cast<Eigen::Index>(process.rows_.rows());
    const Matrix squared =
        distancesOf(matrixOf(process.rows_), rows.words,
                    Eigen::Map<const Vector>(shape.lengths.data(), static_cast<Eigen::Index>(shape.lengths.size())));
    Matrix k(n, n);
    const double amplitude2 = shape.amplitude * shape.amplitude;
    for (Eigen::Index j = 0; j < n; ++j)
        for (Eigen::Index i = j; i < n; ++i) k(i, j) = amplitude2 * maternOf(squared(i, j));
    k.diagonal().array() += shape.noise * shape.noise;
    Eigen::LLT<Matrix> cholesky;
    if (!factorised(k, cholesky)) return fail("learning.singular", "rows depend on each other too closely");
    Vector target(n);
    for (Eigen::Index r = 0; r < n; ++r)
        target[r] = (process.rows_.target[static_cast<std::size_t>(r)] - process.mean_) / process.scale_;
    const Vector ones = cholesky.solve(Vector::Ones(n));
    process.onesSum_ = ones.sum();
    process.level_ = ones.dot(target) / process.onesSum_;
    const Vector weights = cholesky.solve((target.array() - process.level_).matrix());
    process.weights_.assign(weights.data(), weights.data() + n);
    process.ones_.assign(ones.data(), ones.data() + n);
    const Matrix lower = cholesky.matrixL();
    const LeftOut left = leftOut(lower, weights);
    process.stretch_ = left.stretch;
    process.density_ = left.density - std::log(process.scale_);
    process.lower_.assign(lower.data(), lower.data() + n * n);
    process.scaled_ = process.rows_.inputs;
    const std::size_t columns = rows.columns();
    for (std::size_t i = 0; i < process.scaled_.size(); ++i) {
        if (!rows.words[i % columns]) process.scaled_[i] /= shape.lengths[i % columns];
    }
    return process;
}

Expected<ProcessSlope> MaternProcess::slopeOf(const ProcessRows& rows, std::span<const double> beside,
                                              const ProcessShape& shape) {
    if (auto good = checkProcess(rows); !good) return Unexpected(good.error());
    if (shape.lengths.size() != rows.columns() || beside.size() != rows.rows())
        return fail("learning.shape", "lengths or numbers beside the rows are missing", "one per input, one per row");
    const auto n = static_cast<Eigen::Index>(rows.rows());
    const Matrix squared =
        distancesOf(matrixOf(rows), rows.words,
                    Eigen::Map<const Vector>(shape.lengths.data(), static_cast<Eigen::Index>(shape.lengths.size())));
    Matrix k(n, n);
    for (Eigen::Index j = 0; j < n; ++j)
        for (Eigen::Index i = j; i < n; ++i) k(i, j) = shape.amplitude * shape.amplitude * maternOf(squared(i, j));
    k.diagonal().array() += shape.noise * shape.noise;
    Eigen::LLT<Matrix> cholesky;
    if (!factorised(k, cholesky)) return fail("learning.singular", "rows depend on each other too closely");
    const Eigen::Map<const Vector> x(beside.data(), n), y(rows.target.data(), n);
    const Vector ones = cholesky.solve(Vector::Ones(n));
    const Vector own = x.array() - ones.dot(x) / ones.sum(), centred = y.array() - ones.dot(y) / ones.sum();
    const Vector solved = cholesky.solve(own);
    const double size = solved.dot(own);
    if (!(size > 1e-12)) return fail("learning.shape", "the numbers beside the rows never change", "different numbers");
    const double slope = solved.dot(centred) / size;
    // The shape's deviations are in those of the target; what the slope leaves of it is the unit here.
    const Vector left = centred - slope * own;
    const double scale = std::sqrt(std::max(cholesky.solve(left).dot(left) / static_cast<double>(n), 1e-300));
    return ProcessSlope{slope, scale / std::sqrt(size)};
}

double MaternProcess::likeness(const double* features, const double* row) const {
    double squared = 0;
    for (std::size_t c = 0; c < shape_.lengths.size(); ++c) {
        const double length = shape_.lengths[c];
        const double off = rows_.words[c] ? (features[c] != row[c] ? 1 / length : 0) : features[c] / length - row[c];
        squared += off * off;
    }
    return shape_.amplitude * shape_.amplitude * maternOf(squared);
}

double MaternProcess::predict(std::span<const double> features) const {
    double sum = level_;
    for (std::size_t r = 0; r < weights_.size(); ++r)
        sum += weights_[r] * likeness(features.data(), scaled_.data() + r * shape_.lengths.size());
    return mean_ + scale_ * sum;
}

MaternProcess MaternProcess::believing(std::span<const double> features) const {
    const std::size_t columns = shape_.lengths.size();
    const auto n = static_cast<Eigen::Index>(weights_.size());
    const Eigen::Map<const Matrix> lower(lower_.data(), n, n);
    const Eigen::Map<const Vector> ones(ones_.data(), n);
    Vector alike(n);
    for (Eigen::Index r = 0; r < n; ++r)
        alike[r] = likeness(features.data(), scaled_.data() + std::size_t(r) * columns);
    const Vector row = lower.triangularView<Eigen::Lower>().solve(alike);
    const Vector known = lower.triangularView<Eigen::Lower>().transpose().solve(row);
    const double own = shape_.amplitude * shape_.amplitude + shape_.noise * shape_.noise;
    const double left = std::max(own - row.squaredNorm(), 1e-9 * own);
    const double share = (1 - alike.dot(ones)) / left;

    MaternProcess out = *this;
    out.rows_.inputs.insert(out.rows_.inputs.end(), features.begin(), features.end());
    out.rows_.target.push_back(predict(features));
    for (std::size_t c = 0; c < columns; ++c)
        out.scaled_.push_back(rows_.words[c] ? features[c] : features[c] / shape_.lengths[c]);
    out.weights_.push_back(0);  // nothing is new in what was expected
    for (Eigen::Index r = 0; r < n; ++r) out.ones_[std::size_t(r)] -= share * known[r];
    out.ones_.push_back(share);
    out.onesSum_ += share * share * left;
    Matrix longer = Matrix::Zero(n + 1, n + 1);
    longer.topLeftCorner(n, n) = lower;
    longer.row(n).head(n) = row.transpose();
    longer(n, n) = std::sqrt(left);
    out.lower_.assign(longer.data(), longer.data() + longer.size());
    return out;
}

Normal MaternProcess::at(std::span<const double> features) const {
    return atAll(features).front();
}

std::vector<Normal> MaternProcess::atAll(std::span<const double> features) const {
    const std::size_t columns = shape_.lengths.size(), all = features.size() / columns;
    const auto n = static_cast<Eigen::Index>(weights_.size());
    const Eigen::Map<const Matrix> lower(lower_.data(), n, n);
    const Eigen::Map<const Vector> weights(weights_.data(), n), ones(ones_.data(), n);
    std::vector<Normal> out(all);
    constexpr std::size_t block = 256;
    for (std::size_t first = 0; first < all; first += block) {
        const std::size_t count = std::min(block, all - first);
        Matrix alike(n, static_cast<Eigen::Index>(count));
        for (std::size_t p = 0; p < count; ++p)
            for (Eigen::Index r = 0; r < n; ++r)
                alike(r, static_cast<Eigen::Index>(p)) =
                    likeness(features.data() + (first + p) * columns, scaled_.data() + std::size_t(r) * columns);
        const Vector mean = alike.transpose() * weights, toLevel = alike.transpose() * ones;
        lower.triangularView<Eigen::Lower>().solveInPlace(alike);
        const Vector known = alike.colwise().squaredNorm();
        for (std::size_t p = 0; p < count; ++p) {
            const auto i = static_cast<Eigen::Index>(p);
            const double off = 1 - toLevel[i];  // what is not known of the level counts too
            const double variance = shape_.amplitude * shape_.amplitude - known[i] + off * off / onesSum_;
            out[first + p] = {mean_ + scale_ * (level_ + mean[i]),
                              stretch_ * scale_ * std::sqrt(std::max(0.0, variance))};
        }
    }
    return out;
}

}  // namespace orrery
