#include "base/maths.h"
#include "base/random.h"
#include "learning/edge/device_prior.h"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <Eigen/Eigenvalues>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
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
constexpr double detail = 0.15;  // of a detail's freedom against that of a core column
constexpr std::size_t manySamples = 30;

Vector mapped(const std::vector<double>& values) {
    return Eigen::Map<const Vector>(values.data(), static_cast<Eigen::Index>(values.size()));
}

std::vector<double> plain(const Vector& values) {
    return {values.data(), values.data() + values.size()};
}

struct Posterior {
    double evidence = 0;  // log
    Vector mean;
};

// Fewer samples than the prior has directions: in the space of the samples.
Posterior bySamples(const Matrix& g, const Matrix& gg, const Vector& residual, const Matrix& root, double noise) {
    Matrix k = gg;
    k.diagonal().array() += noise * noise;
    const Eigen::LLT<Matrix> llt(k);
    const Vector solved = llt.solve(residual);
    return {-0.5 * residual.dot(solved) - llt.matrixLLT().diagonal().array().log().sum(),
            root * (g.transpose() * solved)};
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
            root * (eigen.eigenvectors() * solved)};
    }

    Matrix conditioned(double noise) const {
        return root * eigen.eigenvectors() * shrunk(noise).cwiseSqrt().asDiagonal();
    }
};

}  // namespace

std::vector<double> DeviceModel::standard(std::span<const double> features) const {
    std::vector<double> out(centre_.size());
    for (std::size_t c = 0; c < out.size(); ++c) out[c] = (features[c] - centre_[c]) * spread_[c];
    return out;
}

double DeviceModel::mean(std::span<const double> features) const {
    double sum = 0;
    for (std::size_t c = 0; c < centre_.size(); ++c) sum += (features[c] - centre_[c]) * spread_[c] * weights_[c];
    return scale_ * std::max(sum, floor_);
}

Predicted DeviceModel::at(std::span<const double> features) const {
    const auto x = standard(features);
    double share = 0;
    for (std::size_t c = 0; c < x.size(); ++c) share += x[c] * weights_[c];
    share = std::max(share, floor_);
    double variance = noise * noise * (relative_ ? share * share : 1);
    // Row by row, as the root lies in memory.
    thread_local std::vector<double> along;
    along.assign(rank_, 0);
    for (std::size_t c = 0; c < x.size(); ++c) {
        if (x[c] == 0) continue;
        const double* row = root_.data() + c * rank_;
        for (std::size_t k = 0; k < rank_; ++k) along[k] += x[c] * row[k];
    }
    for (const double each : along) variance += each * each;
    const double half = normal90 * widening * std::sqrt(variance);
    Predicted out;
    out.mean = scale_ * share;
    // The level is known in ratios, so it stretches both ends.
    const double stretch = std::exp(normal90 * widening * scaleDeviation_);
    out.low = scale_ * std::max(share - half, 0.2 * floor_) / stretch;
    out.high = scale_ * (share + half) * stretch;
    return out;
}

std::vector<double> DeviceModel::covariance(const FeatureRows& networks) const {
    const auto rows = static_cast<Eigen::Index>(networks.rows()), rank = static_cast<Eigen::Index>(rank_);
    const Eigen::Map<const RowMajor> root(root_.data(), static_cast<Eigen::Index>(centre_.size()), rank);
    RowMajor along(rows, rank);
    for (Eigen::Index r = 0; r < rows; ++r) {
        const auto features = networks.row(static_cast<std::size_t>(r));
        const double share = std::max(mean(features) / scale_, floor_);
        along.row(r) = (mapped(standard(features)).transpose() * root) / share;
    }
    std::vector<double> out(networks.rows() * networks.rows());
    Eigen::Map<RowMajor> together(out.data(), rows, rows);
    together = along * along.transpose();
    together.array() += scaleDeviation_ * scaleDeviation_;
    return out;
}

double DeviceModel::outside(std::span<const double> features) const {
    double worst = 0;
    for (std::size_t c = 1; c < centre_.size(); ++c) {
        const double range = most_[c] - least_[c];
        if (range <= 0) {
            if (features[c] != most_[c]) worst = std::max(worst, 2.0);
            continue;
        }
        worst = std::max(worst, std::max(least_[c] - features[c], features[c] - most_[c]) / range + 1);
    }
    return worst;
}

void DevicePrior::summarise(const std::vector<std::size_t>& kept) {
    const auto p = columns_;
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
    prior.centre_.assign(p, 0);
    prior.spread_.assign(p, 1);
    prior.least_.assign(p, std::numeric_limits<double>::infinity());
    prior.most_.assign(p, -std::numeric_limits<double>::infinity());
    std::vector<double> raw(p, 0);
    const Eigen::Map<const RowMajor> all(networks.values.data(), static_cast<Eigen::Index>(n),
                                         static_cast<Eigen::Index>(p));
    Matrix x = all;
    for (std::size_t c = 0; c < p; ++c) {
        const auto column = x.col(static_cast<Eigen::Index>(c));
        prior.least_[c] = column.minCoeff();
        prior.most_[c] = column.maxCoeff();
        raw[c] = column.mean();
        if (c == 0) continue;
        prior.centre_[c] = raw[c];
        const double deviation = std::sqrt((column.array() - raw[c]).square().mean());
        const double trust = networks.core == 0 || c < networks.core ? 1 : detail;
        prior.spread_[c] = deviation > 1e-9 * (1 + std::abs(raw[c])) ? trust / deviation : 0;
    }
    for (std::size_t c = 1; c < p; ++c) {
        const auto i = static_cast<Eigen::Index>(c);
        x.col(i) = (x.col(i).array() - prior.centre_[c]) * prior.spread_[c];
    }
    for (std::size_t index = 0; index < latencies.size(); ++index) {
        const std::vector<double>& device = latencies[index];
        if (device.size() != n) return fail("edge.shape", "a device has not one latency per network");
        std::vector<Eigen::Index> there;
        double sum = 0;
        for (std::size_t r = 0; r < n; ++r) {
            if (!(std::isfinite(device[r]) && device[r] > 0)) continue;
            there.push_back(static_cast<Eigen::Index>(r));
            sum += device[r];
        }
        if (there.size() < leastRows) continue;
        const double mean = sum / static_cast<double>(there.size());
        Vector y(static_cast<Eigen::Index>(there.size()));
        for (std::size_t i = 0; i < there.size(); ++i) {
            y[static_cast<Eigen::Index>(i)] = device[static_cast<std::size_t>(there[i])] / mean;
        }
        if ((y.array() - 1).abs().maxCoeff() < 1e-12) continue;  // one value everywhere says nothing of networks
        const Matrix own = x(there, Eigen::all);
        Matrix a = own.transpose() * own;
        a.diagonal().array() += 0.5 + 1e-5 * static_cast<double>(there.size());
        const Vector w = a.llt().solve(own.transpose() * y);
        for (Eigen::Index c = 0; c < w.size(); ++c) prior.own_.push_back(w[c]);
        prior.scales_.push_back(mean);
        prior.used_.push_back(index);
    }
    if (prior.scales_.empty()) {
        // Corners of a roofline: all time in one of the columns but for a quarter that every network pays.
        for (const std::size_t column : analytic) {
            if (column >= p || raw[column] <= 0) continue;
            std::vector<double> w(p, 0);
            w[0] = 1;
            if (prior.spread_[column] > 0) w[column] = 0.75 / (raw[column] * prior.spread_[column]);
            prior.own_.insert(prior.own_.end(), w.begin(), w.end());
            prior.scales_.push_back(1);
        }
        if (prior.scales_.empty()) return fail("edge.no-features", "no device is known, and no column of a roofline");
    }
    std::vector<std::size_t> kept(prior.scales_.size());
    std::iota(kept.begin(), kept.end(), std::size_t{0});
    prior.summarise(kept);
    return prior;
}

Expected<DeviceModel> DevicePrior::condition(const FeatureRows& networks, std::span<const double> latencies) const {
    auto model = conditioned(networks, latencies);
    if (!model || latencies.empty()) return model;
    if (latencies.size() < manySamples) {
        if (preferSimple_) *model = simpleModel(networks, latencies);
        return model;
    }
    DeviceModel simple = simpleModel(networks, latencies);
    return simple.leftOut <= model->leftOut ? simple : *model;
}

// The ridge of `simple_models.h` as a device's model: its weights stand on the features as they are.
DeviceModel DevicePrior::simpleModel(const FeatureRows& networks, std::span<const double> latencies) const {
    const auto n = static_cast<Eigen::Index>(latencies.size()), p = static_cast<Eigen::Index>(columns_),
               few = std::min<Eigen::Index>(5, p);
    DeviceModel model;
    model.simple = true;
    model.samples = latencies.size();
    model.centre_.assign(columns_, 0);
    model.spread_.assign(columns_, 1);
    model.least_ = least_;
    model.most_ = most_;
    model.floor_ = 0.02;
    model.widening = widening_;
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
    std::vector<double> off;
    for (Eigen::Index r = 0; r < n; ++r) {
        const double told = std::max(x.row(r).dot(w), model.floor_);
        const double left = (y[r] - told) / std::max(0.05, 1 - inverse.col(r).squaredNorm());
        off.push_back(std::abs(left) / (model.relative_ ? std::max(model.floor_, y[r] - left) : 1));
        model.leftOut += std::abs(left) / y[r] / static_cast<double>(n);
    }
    model.noise = std::max(1e-4, quantileType7(off, 0.9) / normal90);
    const Matrix root = model.noise * Matrix(llt.matrixU().solve(Matrix::Identity(few, few)));
    model.rank_ = static_cast<std::size_t>(few);
    model.root_.assign(columns_ * model.rank_, 0);
    for (Eigen::Index c = 0; c < few; ++c)
        for (Eigen::Index k = 0; k < few; ++k) model.root_[static_cast<std::size_t>(c * few + k)] = root(c, k);
    return model;
}

Expected<DeviceModel> DevicePrior::conditioned(const FeatureRows& networks, std::span<const double> latencies) const {
    const std::size_t n = latencies.size(), p = columns_;
    if (networks.rows() != n || (n > 0 && networks.columns != p))
        return fail("edge.shape", "samples and their features do not fit");
    for (const double each : latencies) {
        if (!(std::isfinite(each) && each > 0))
            return fail("edge.bad-sample", fmt::format("a sample of {}", each), "a latency above 0");
    }
    DeviceModel model;
    model.samples = n;
    model.centre_ = centre_;
    model.spread_ = spread_;
    model.least_ = least_;
    model.most_ = most_;
    model.widening = widening_;
    model.floor_ = 0.02;
    const Vector mu = mapped(mean_);
    const auto d = static_cast<Eigen::Index>(devices_), columns = static_cast<Eigen::Index>(p);
    const Eigen::Map<const RowMajor> apart(apart_.data(), d, columns);
    const auto rootFor = [&](double freedom) {
        Matrix root = Matrix::Zero(columns, d + 1 + columns);
        root.leftCols(d) = apart.transpose();
        root.col(d) = std::sqrt(scaleVariance) * mu;
        for (Eigen::Index c = 0; c < columns; ++c)
            root(c, d + 1 + c) = c == 0 || spread_[static_cast<std::size_t>(c)] > 0 ? freedom : 0;
        return root;
    };
    const auto keep = [&](const Vector& mean, const Matrix& root) {
        model.weights_ = plain(mean);
        const RowMajor rows = root;
        model.rank_ = static_cast<std::size_t>(rows.cols());
        model.root_.assign(rows.data(), rows.data() + rows.size());
    };
    if (n == 0) {
        model.scale_ = std::exp(logScale_);
        model.scaleDeviation_ = logScaleDeviation_;
        model.noise = 0.1;
        model.freedom = freedoms[1];
        keep(mu, apart.transpose());
        return model;
    }
    Matrix x(static_cast<Eigen::Index>(n), columns);
    Vector y(static_cast<Eigen::Index>(n));
    for (std::size_t r = 0; r < n; ++r) {
        const auto row = model.standard(networks.row(r));
        x.row(static_cast<Eigen::Index>(r)) = mapped(row).transpose();
        y[static_cast<Eigen::Index>(r)] = latencies[r];
    }
    const double expected = std::max(1e-3, (x * mu).mean());
    model.scale_ = y.mean() / expected;
    y /= model.scale_;
    model.relative_ = n >= manySamples;
    Vector weight = Vector::Ones(y.size());
    // Many samples: the least mean of absolute relative errors, by weights; rows of a slowed clock then do not pull the
    // rest.
    const int rounds = model.relative_ ? 20 : 1;
    Vector best = mu;
    double noise = 0, freedom = 0;
    Matrix lastX, lastRoot;
    double lastNoise = 1;
    for (int round = 0; round < rounds; ++round) {
        if (model.relative_) {
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
        const Matrix wx = weight.asDiagonal() * x;
        const Vector residual = weight.cwiseProduct(y - x * mu);
        const bool many = wx.rows() > d + 1 + columns;
        Matrix xx;
        Vector xr;
        if (many) {
            xx = wx.transpose() * wx;
            xr = wx.transpose() * residual;
        }
        std::vector<Posterior> all;
        std::vector<std::pair<double, double>> of;
        double top = -std::numeric_limits<double>::infinity(), topNoise = 1;
        Matrix topRoot;
        for (const double beta : freedoms) {
            const Matrix root = rootFor(beta);
            const auto tryAll = [&](const auto& posterior, const auto& conditionedAt) {
                double bestNoise = 0;
                for (const double sigma : noises) {
                    all.push_back(posterior(sigma));
                    of.emplace_back(sigma, beta);
                    if (all.back().evidence <= top) continue;
                    top = all.back().evidence;
                    bestNoise = sigma;
                }
                if (bestNoise > 0) topNoise = bestNoise;
                if (bestNoise > 0 && round + 1 == rounds) topRoot = conditionedAt(bestNoise);
            };
            if (many) {
                const Directions directions(xx, xr, residual.squaredNorm(), static_cast<double>(n), root);
                tryAll([&](double sigma) { return directions.at(sigma); },
                       [&](double sigma) { return directions.conditioned(sigma); });
            } else {
                const Matrix g = wx * root, gg = g * g.transpose();
                tryAll([&](double sigma) { return bySamples(g, gg, residual, root, sigma); },
                       [&](double sigma) { return conditionedRoot(g, gg, root, sigma); });
            }
        }
        double total = 0;
        best = Vector::Zero(columns);
        noise = freedom = 0;
        for (std::size_t i = 0; i < all.size(); ++i) {
            const double share = std::exp(all[i].evidence - top);
            total += share;
            best += share * all[i].mean;
            noise += share * of[i].first * of[i].first;
            freedom += share * of[i].second;
        }
        best = best / total + mu;
        noise = std::sqrt(noise / total);
        freedom /= total;
        if (round + 1 == rounds) {
            keep(best, topRoot);
            lastX = wx;
            lastRoot = topRoot;
            lastNoise = topNoise;
        }
    }
    if (model.relative_) {
        // Rows left out one at a time say how wide 90 % of the others are: their own pull is the hat matrix's diagonal.
        const Vector fitted = (x * best).cwiseMax(model.floor_);
        const Vector pulls = (lastX * lastRoot).rowwise().squaredNorm() / (lastNoise * lastNoise);
        std::vector<double> off;
        for (Eigen::Index r = 0; r < y.size(); ++r) {
            const double left = (y[r] - fitted[r]) / std::max(0.05, 1 - pulls[r]);
            off.push_back(std::abs(left) / std::max(model.floor_, y[r] - left));
            model.leftOut += std::abs(left) / y[r] / static_cast<double>(n);
        }
        noise = std::max(1e-4, quantileType7(off, 0.9) / normal90);
    }
    model.noise = noise;
    model.freedom = freedom;
    return model;
}

DevicePrior DevicePrior::without(std::size_t device) const {
    DevicePrior other = *this;
    std::vector<std::size_t> kept;
    for (std::size_t d = 0; d < scales_.size(); ++d)
        if (d != device) kept.push_back(d);
    other.summarise(kept);
    other.widening_ = 1;
    other.preferSimple_ = false;
    return other;
}

void DevicePrior::calibrate(const FeatureRows& networks, std::span<const std::vector<double>> latencies,
                            std::size_t samples, std::uint64_t seed) {
    if (devices_ < 3) return;
    constexpr std::size_t asked = 100, mostSamples = 200;
    if (samples > mostSamples) return;
    const bool many = samples >= manySamples;  // then samples left out choose the model themselves
    const std::size_t draws = many ? 1 : 4;
    struct Tried {
        std::vector<double> off;  // of the half interval on that side
        double error = 0, worst = 0;
    };
    Tried own, simple;
    for (std::size_t device = 0; device < used_.size(); ++device) {
        if (used_[device] >= latencies.size()) return;
        const std::vector<double>& values = latencies[used_[device]];
        std::vector<std::size_t> there;
        for (std::size_t r = 0; r < values.size(); ++r)
            if (std::isfinite(values[r]) && values[r] > 0) there.push_back(r);
        if (there.size() < std::max(leastRows, samples + 5)) continue;
        const DevicePrior others = without(device);
        RandomStream random = RandomStream(seed).split(device);
        std::vector<double> offHere;
        for (std::size_t draw = 0; draw < draws; ++draw) {
            FeatureRows chosen{networks.columns, {}, networks.core};
            std::vector<double> measured;
            const std::size_t count = std::min(there.size(), samples + asked);
            for (std::size_t i = 0; i < count; ++i) {
                std::swap(there[i], there[i + random.below(there.size() - i)]);
                if (i >= samples) continue;
                const auto row = networks.row(there[i]);
                chosen.values.insert(chosen.values.end(), row.begin(), row.end());
                measured.push_back(values[there[i]]);
            }
            const auto judge = [&](const DeviceModel& model, Tried& tried) {
                for (std::size_t i = samples; i < count; ++i) {
                    const std::size_t r = there[i];
                    const Predicted p = model.at(networks.row(r));
                    const bool above = values[r] > p.mean;
                    // A level that is open reaches in ratios.
                    const double half = samples == 0 ? std::abs(std::log((above ? p.high : p.low) / p.mean))
                                                     : std::abs((above ? p.high : p.low) - p.mean);
                    const double away =
                        samples == 0 ? std::abs(std::log(values[r] / p.mean)) : std::abs(values[r] - p.mean);
                    if (half > 0) tried.off.push_back(away / half);
                    tried.error += std::min(1.0, std::abs(p.mean / values[r] - 1));
                }
            };
            const std::size_t before = own.off.size();
            const auto model = others.condition(chosen, measured);
            if (!model) continue;
            judge(*model, own);
            offHere.insert(offHere.end(), own.off.begin() + static_cast<std::ptrdiff_t>(before), own.off.end());
            if (!many && samples > 0) judge(others.simpleModel(chosen, measured), simple);
        }
        if (!offHere.empty()) own.worst = std::max(own.worst, quantileType7(offHere, 0.9));
    }
    if (own.off.size() < 100) return;
    preferSimple_ = !simple.off.empty() && simple.error <= own.error;
    const double pooled = quantileType7(preferSimple_ ? simple.off : own.off, 0.9);
    // Without a sample few devices say little of the next one's level, so the worst of them counts too.
    const double share = samples == 0 ? std::min(1.0, 2 / (1 + 0.5 * static_cast<double>(used_.size()))) : 0;
    widening_ = std::clamp(pooled + share * std::max(0.0, own.worst - pooled), 0.5, 5.0);
}

}  // namespace orrery
