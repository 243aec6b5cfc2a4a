#include "base/random.h"
#include "learning/edge/next_samples.h"
#include "learning/lbfgs.h"
#include "learning/schedules/schedule_features.h"
#include "learning/schedules/tuned_times.h"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <Eigen/LU>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numeric>

namespace orrery {

namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;
using Index = Eigen::Index;

constexpr std::size_t likelihoodRows = 500, noiseRows = 1200, leastRows = 20, leastAnchors = 3;
constexpr std::uint64_t ascent = TunedTimes::steps - 3;
// So many rows of all devices stand beside a device's own where its noise and its interval are told.
constexpr double pooledRows = 10, pooledAnchors = 5;
constexpr int noiseTurns = 4;
constexpr double spreadOfKinds = 0.3;   // of inputs that are 0 or 1
constexpr double atMost = 3;            // deviations that one row counts where noise is told
constexpr double wideOfNormal = 1.645;  // holds 90 %

// Deviations of ln(time ÷ FLOPs): levels of devices and templates, then functions of the operator.
enum Part : std::size_t { OfDevice, OfTask, OfBoth, Common, OfKind, Own, parts };

struct Shape {
    std::array<double, parts> amplitude{};  // as variances
    double noise = 0;                       // as a variance
    Vector lengths;                         // of standardised inputs
};

struct Points {
    Matrix work;                                             // rows × inputs, standardised
    std::vector<std::size_t> device, task, kind, operators;  // words as their hashes
    Index rows() const { return work.rows(); }
    std::size_t deviceOf(Index i) const { return device[static_cast<std::size_t>(i)]; }
};

constexpr std::hash<std::string> wordOf;

// Matérn 3/2 at r² and its slope over r² (the book's equation 4.17).
double matern(double squared) {
    const double r = std::sqrt(3 * squared);
    return (1 + r) * std::exp(-r);
}
double maternSlope(double squared) {
    return -1.5 * std::exp(-std::sqrt(3 * squared));
}

// A template's word behind the point: `conv2d_nchw.cuda` is of the kind `cuda`.
std::string kindOf(const std::string& task) {
    const auto point = task.rfind('.');
    return point == task.npos ? task : task.substr(point + 1);
}

double perFlop(const TunedRow& row) {
    return std::log(row.seconds / row.work.flops());
}

Points some(const Points& of, std::span<const Index> places) {
    Points out{Matrix(static_cast<Index>(places.size()), of.work.cols()), {}, {}, {}, {}};
    for (std::size_t i = 0; i < places.size(); ++i) {
        const auto at = static_cast<std::size_t>(places[i]);
        out.work.row(static_cast<Index>(i)) = of.work.row(places[i]);
        out.device.push_back(of.device[at]), out.task.push_back(of.task[at]), out.kind.push_back(of.kind[at]);
        out.operators.push_back(of.operators[at]);
    }
    return out;
}

// Squared distances of operators, each input over its length.
Matrix distances(const Points& a, const Points& b, const Vector& lengths) {
    const Vector over = lengths.cwiseInverse();
    const Matrix left = a.work * over.asDiagonal(), right = b.work * over.asDiagonal();
    Matrix squared = -2 * left * right.transpose();
    squared.colwise() += left.rowwise().squaredNorm();
    squared.rowwise() += right.rowwise().squaredNorm().transpose();
    return squared.cwiseMax(0);
}

struct Pair {
    double level = 0, function = 0;
};
Pair between(const Points& a, std::size_t i, const Points& b, std::size_t j, const Shape& shape) {
    const bool device = a.device[i] == b.device[j], task = a.task[i] == b.task[j];
    const auto& s = shape.amplitude;
    Pair pair{0, s[Common]};
    if (device) pair.level += s[OfDevice], pair.function += s[Own];
    if (task) pair.level += s[OfTask];
    if (device && task) pair.level += s[OfBoth];
    if (a.kind[i] == b.kind[j]) pair.function += s[OfKind];
    return pair;
}

// Without noise.
Matrix covariance(const Points& a, const Points& b, const Shape& shape) {
    Matrix k = distances(a, b, shape.lengths);
    for (Index j = 0; j < k.cols(); ++j) {
        for (Index i = 0; i < k.rows(); ++i) {
            const Pair pair = between(a, static_cast<std::size_t>(i), b, static_cast<std::size_t>(j), shape);
            k(i, j) = pair.level + pair.function * matern(k(i, j));
        }
    }
    return k;
}

// Of a point with itself: the same for all.
double variance(const Shape& shape) {
    return std::accumulate(shape.amplitude.begin(), shape.amplitude.end(), 0.0);
}

// −ln(likelihood × prior) over the logarithms of deviations, of noise, of lengths.
class Likelihood {
public:
    Likelihood(const Points& points, const Vector& target) : points_(points), target_(target) {}

    static std::vector<double> start(Index inputs) {
        std::vector<double> x;
        for (const double deviation : {1.0, 0.5, 0.2, 0.7, 0.5, 0.4, 0.2}) x.push_back(std::log(deviation));
        x.resize(x.size() + static_cast<std::size_t>(inputs), lengthMiddle);
        return x;
    }
    static Shape shapeOf(const std::vector<double>& x) {
        Shape shape;
        for (std::size_t p = 0; p < parts; ++p) shape.amplitude[p] = std::exp(2 * x[p]);
        shape.noise = std::exp(2 * x[parts]) + leastNoise;
        shape.lengths.resize(static_cast<Index>(x.size() - parts - 1));
        for (Index c = 0; c < shape.lengths.size(); ++c)
            shape.lengths[c] = std::exp(x[parts + 1 + static_cast<std::size_t>(c)]);
        return shape;
    }

    double operator()(const std::vector<double>& x, std::vector<double>& gradient) const {
        for (const double each : x)
            if (!(std::abs(each) < 6))
                return std::numeric_limits<double>::infinity();  // the noise must be seen beside it
        const Shape shape = shapeOf(x);
        const Index n = points_.rows();
        const Matrix squared = distances(points_, points_, shape.lengths);
        Matrix k = covariance(points_, points_, shape);
        k.diagonal().array() += shape.noise;
        const Eigen::LLT<Matrix> cholesky(k);
        if (cholesky.info() != Eigen::Success) return std::numeric_limits<double>::infinity();
        const Vector weights = cholesky.solve(target_);
        Matrix slope = cholesky.solve(Matrix::Identity(n, n));  // K⁻¹ − ααᵀ: twice ∂(−ln likelihood)/∂K
        slope.noalias() -= weights * weights.transpose();
        double value = 0.5 * target_.dot(weights) + cholesky.matrixLLT().diagonal().array().log().sum();
        std::fill(gradient.begin(), gradient.end(), 0.0);
        Matrix far(n, n);  // over squared distances
        for (Index j = 0; j < n; ++j) {
            for (Index i = 0; i < n; ++i) {
                const auto a = static_cast<std::size_t>(i), b = static_cast<std::size_t>(j);
                const double each = slope(i, j), near = each * matern(squared(i, j));
                const bool device = points_.device[a] == points_.device[b], task = points_.task[a] == points_.task[b];
                if (device) gradient[OfDevice] += each, gradient[Own] += near;
                if (task) gradient[OfTask] += each;
                if (device && task) gradient[OfBoth] += each;
                if (points_.kind[a] == points_.kind[b]) gradient[OfKind] += near;
                gradient[Common] += near;
                far(i, j) = each * between(points_, a, points_, b, shape).function * maternSlope(squared(i, j));
            }
        }
        for (std::size_t p = 0; p < parts; ++p) gradient[p] *= shape.amplitude[p];
        gradient[parts] = slope.trace() * (shape.noise - leastNoise);
        const Vector sums = far.rowwise().sum();
        for (Index c = 0; c < shape.lengths.size(); ++c) {
            const Vector column = points_.work.col(c) / shape.lengths[c];
            // Σ far · (xᵢ − xⱼ)², each half of the pair alike; r² falls with the square of the length.
            const double spread = 2 * column.cwiseAbs2().dot(sums) - 2 * column.dot(far * column);
            gradient[parts + 1 + static_cast<std::size_t>(c)] = -spread;
        }
        const auto prior = [&](std::size_t at, double middle, double deviation) {
            const double off = (x[at] - middle) / deviation;
            value += 0.5 * off * off;
            gradient[at] += off / deviation;
        };
        for (std::size_t p = 0; p <= parts; ++p) prior(p, std::log(0.5), 2);
        for (std::size_t c = parts + 1; c < x.size(); ++c) prior(c, lengthMiddle, lengthSpread);
        return value;
    }

private:
    // Eight deviations of an input: with shorter ones a device that was left out was followed worse.
    static constexpr double lengthMiddle = 2.1, lengthSpread = 0.7;
    static constexpr double leastNoise = 1e-4;  // 1 % of a time
    const Points& points_;
    const Vector& target_;
};

// How far each row is off, in deviations of what was said of it, where its operator is left out on all devices at once
// (the book's equation 5.12, of several rows).
Vector leftOut(const Eigen::LLT<Matrix>& cholesky, const Vector& target, std::span<const std::size_t> operators) {
    const Index n = target.size();
    const Matrix inverse = cholesky.matrixL().solve(Matrix::Identity(n, n));
    const Vector weights = cholesky.solve(target);
    std::map<std::size_t, std::vector<Index>> groups;
    for (Index i = 0; i < n; ++i) groups[operators[static_cast<std::size_t>(i)]].push_back(i);
    Vector off(n);
    for (const auto& [word, rows] : groups) {
        const Matrix columns = inverse(Eigen::all, rows);
        const Matrix open = (columns.transpose() * columns).inverse();  // covariance without them
        const Vector beside = open * weights(rows);
        for (std::size_t i = 0; i < rows.size(); ++i)
            off[rows[i]] =
                beside[static_cast<Index>(i)] / std::sqrt(open(static_cast<Index>(i), static_cast<Index>(i)));
    }
    return off;
}

// The mean square of what rows are off, in deviations; `alike` rows beside them are off as they should.
double stretchOfNoise(std::span<const double> off, double alike) {
    double sum = alike;
    for (const double each : off) sum += std::min(each * each, atMost * atMost);
    return sum / (static_cast<double>(off.size()) + alike);
}

// The least value with nine tenths of the weight at or below it, the row that is asked for among it (conformal
// prediction: Vovk, Gammerman and Shafer, 2005); `pool` weighs `pooledRows` together.
double ninth(std::vector<double> own, const std::vector<double>& pool) {
    std::vector<std::pair<double, double>> all;
    for (const double each : own) all.emplace_back(std::abs(each), 1.0);
    for (const double each : pool) all.emplace_back(std::abs(each), pooledRows / static_cast<double>(pool.size()));
    std::sort(all.begin(), all.end());
    double sum = 0;
    for (const auto& [value, weight] : all)
        if ((sum += weight) >= 0.9 * (static_cast<double>(own.size()) + pooledRows + 1)) return value;
    return all.back().first;
}

std::map<std::size_t, std::vector<double>> byDevice(const Points& points, const Vector& off) {
    std::map<std::size_t, std::vector<double>> of;
    for (Index i = 0; i < off.size(); ++i) of[points.deviceOf(i)].push_back(off[i]);
    return of;
}

std::vector<Index> spreadOver(std::size_t rows, std::size_t most) {
    const std::size_t n = std::min(rows, most);
    std::vector<Index> places(n);
    for (std::size_t i = 0; i < n; ++i) places[i] = static_cast<Index>(i * rows / n);
    return places;
}

std::vector<Index> drawnOf(Index rows, std::size_t most, std::uint64_t seed) {
    std::vector<Index> places(static_cast<std::size_t>(rows));
    std::iota(places.begin(), places.end(), Index{0});
    RandomStream random(seed, 17);
    for (std::size_t i = places.size(); i > 1; --i) std::swap(places[i - 1], places[random.below(i)]);
    places.resize(std::min(most, places.size()));
    return places;
}

Vector someOf(const Vector& of, std::span<const Index> places) {
    Vector out(static_cast<Index>(places.size()));
    for (std::size_t i = 0; i < places.size(); ++i) out[static_cast<Index>(i)] = of[places[i]];
    return out;
}

}  // namespace

struct TunedTimes::Learned {
    Vector centre, spread;  // of inputs
    double mean = 0;        // of ln(time ÷ FLOPs)
    Shape shape;
    std::map<std::size_t, double> noise, wide;  // of devices: a variance, deviations that hold 90 %
    double usualNoise = 0, usualWide = wideOfNormal;
    Points points;
    Eigen::LLT<Matrix> cholesky;
    Vector halves;  // L⁻¹ of what the rows are over the mean

    Points pointsOf(std::span<const TunedRow* const> rows) const {
        Points out{Matrix(static_cast<Index>(rows.size()), centre.size()), {}, {}, {}, {}};
        std::array<double, workFeatures> work{};
        for (std::size_t i = 0; i < rows.size(); ++i) {
            workFeaturesOf(*rows[i], work);
            out.work.row(static_cast<Index>(i)) =
                (Eigen::Map<const Vector>(work.data(), workFeatures) - centre).cwiseQuotient(spread).transpose();
            out.device.push_back(wordOf(rows[i]->device)), out.task.push_back(wordOf(rows[i]->task));
            out.kind.push_back(wordOf(kindOf(rows[i]->task)));
            out.operators.push_back(wordOf(rows[i]->task + '\n' + rows[i]->workload));
        }
        return out;
    }
    void learnNoise(const Vector& target);
};

struct TunedTimes::Added {
    std::vector<TunedRow> anchors;
    std::map<std::size_t, double> noise;  // of devices
    Points points;
    Matrix known;  // L⁻¹ of their covariance with known rows
    Eigen::LLT<Matrix> cholesky;
    Vector halves;
};

// Noise of each device, from operators left out.
void TunedTimes::Learned::learnNoise(const Vector& target) {
    const auto places = drawnOf(points.rows(), noiseRows, 2);
    const Points few = some(points, places);
    const Vector values = someOf(target, places);
    Matrix k = covariance(few, few, shape);
    for (const std::size_t device : points.device) noise[device] = shape.noise;
    k.diagonal().array() += shape.noise;
    const auto of = byDevice(few, leftOut(Eigen::LLT<Matrix>(k), values, few.operators));
    // Squared, for only a part of what a row is off by is noise; a second turn would say the same.
    for (auto& [device, variance] : noise)
        if (const auto own = of.find(device); own != of.end())
            variance *= std::clamp(std::pow(stretchOfNoise(own->second, pooledRows), 2), 0.3, 20.0);
    double sum = 0;
    for (const auto& [device, variance] : noise) sum += std::log(variance);
    usualNoise = std::exp(sum / static_cast<double>(noise.size()));
}

Expected<TunedTimes> TunedTimes::fit(std::span<const TunedRow> given, const ScheduleTraining& options) {
    std::vector<const TunedRow*> all, rows;
    for (const TunedRow& row : given)
        if (row.seconds > 0) all.push_back(&row);
    if (all.size() < leastRows) {
        return fail("schedules.few", fmt::format("{} schedules with a time are too few to learn from", all.size()),
                    fmt::format("{} or more", leastRows));
    }
    for (const Index i : spreadOver(all.size(), mostRows)) rows.push_back(all[static_cast<std::size_t>(i)]);
    auto learned = std::make_shared<Learned>();
    const auto n = static_cast<Index>(rows.size());
    Vector target(n);
    Matrix work(n, static_cast<Index>(workFeatures));
    std::array<double, workFeatures> features{};
    for (Index i = 0; i < n; ++i) {
        const TunedRow& row = *rows[static_cast<std::size_t>(i)];
        target[i] = perFlop(row);
        workFeaturesOf(row, features);
        work.row(i) = Eigen::Map<const Vector>(features.data(), workFeatures).transpose();
    }
    learned->mean = target.mean();
    target.array() -= learned->mean;
    learned->centre = work.colwise().mean();
    learned->spread = (work.rowwise() - learned->centre.transpose()).colwise().norm() / std::sqrt(double(n));
    for (Index c = 0; c < work.cols(); ++c) {
        const auto column = work.col(c).array();
        if (!(learned->spread[c] > 1e-9)) learned->spread[c] = 1;  // the same in all rows
        // Of a kind that is rare here the next row may be one: it is not as far away as its spread says.
        if (((column == 0) || (column == 1)).all()) learned->spread[c] = spreadOfKinds;
    }
    learned->points = learned->pointsOf(rows);

    std::uint64_t done = 0;
    const auto advance = [&](std::uint64_t by) {
        done += by;
        if (options.progress) options.progress->advance(by);
    };
    const auto stopped = [&] { return options.stop.stop_requested(); };
    const auto cancelled = [] { return fail("study.cancelled", "the fit was stopped"); };
    const auto places = drawnOf(n, likelihoodRows, options.seed);
    const Points few = some(learned->points, places);
    const Vector fewTargets = someOf(target, places);
    const Minimum best = minimise(Likelihood(few, fewTargets), Likelihood::start(learned->centre.size()),
                                  static_cast<int>(ascent), 0.02, [&] {
                                      if (done < ascent) advance(1);
                                      return stopped();
                                  });
    if (stopped()) return cancelled();
    learned->shape = Likelihood::shapeOf(best.at);
    advance(ascent - std::min(done, ascent));
    learned->learnNoise(target);
    advance(1);
    if (stopped()) return cancelled();
    Matrix k = covariance(learned->points, learned->points, learned->shape);
    for (Index i = 0; i < n; ++i) k(i, i) += learned->noise[learned->points.deviceOf(i)];
    advance(1);
    learned->cholesky.compute(k);
    if (learned->cholesky.info() != Eigen::Success) {
        return fail("schedules.fit", "the times are too far apart for a fit", "times of one unit");
    }
    learned->halves = learned->cholesky.matrixL().solve(target);
    const Vector off = leftOut(learned->cholesky, target, learned->points.operators);
    const std::vector<double> pool(off.data(), off.data() + off.size());
    learned->usualWide = ninth(pool, pool);
    for (const auto& [device, own] : byDevice(learned->points, off)) learned->wide[device] = ninth(own, pool);
    advance(1);
    TunedTimes model;
    model.learned_ = std::move(learned);
    return model;
}

bool TunedTimes::knows(const std::string& device) const {
    const std::size_t word = wordOf(device);
    return learned_->noise.contains(word) || (added_ && added_->noise.contains(word));
}

Expected<TunedTime> TunedTimes::time(const TunedRow& row) const {
    const TunedRow* const one[] = {&row};
    const auto all = times(one);
    if (!all) return Unexpected(all.error());
    return all->front();
}

Expected<std::vector<TunedTime>> TunedTimes::times(std::span<const TunedRow* const> rows) const {
    for (const TunedRow* row : rows) {
        if (!knows(row->device)) {
            return fail("schedules.device", fmt::format("nothing was learned of `{}`", row->device),
                        "a device of the log, or a few measured schedules of this one");
        }
    }
    constexpr std::size_t together = 256;
    const Learned& known = *learned_;
    std::vector<TunedTime> out;
    for (std::size_t begin = 0; begin < rows.size(); begin += together) {
        const auto asked = rows.subspan(begin, std::min(together, rows.size() - begin));
        const Points points = known.pointsOf(asked);
        const Matrix halves = known.cholesky.matrixL().solve(covariance(known.points, points, known.shape));
        Vector said = halves.transpose() * known.halves;
        Vector open = variance(known.shape) - halves.colwise().squaredNorm().transpose().array();
        if (added_) {
            const Matrix beside = covariance(added_->points, points, known.shape) - added_->known.transpose() * halves;
            const Matrix more = added_->cholesky.matrixL().solve(beside);
            said += more.transpose() * added_->halves;
            open -= more.colwise().squaredNorm().transpose();
        }
        for (std::size_t i = 0; i < asked.size(); ++i) {
            const auto at = static_cast<Index>(i);
            const auto own = known.noise.find(points.device[i]);
            const bool isNew = own == known.noise.end();
            const double all = std::max(open[at], 0.0) + (isNew ? added_->noise.at(points.device[i]) : own->second);
            // The factor of least relative error on a normal ln(time) is exp(−its variance). Tails are heavier, and
            // half of it was better on tuned operators of devices left out.
            const double answer = known.mean + said[at] - 0.5 * std::min(all, 1.0);
            const double reach = (isNew ? known.usualWide : known.wide.at(points.device[i])) * std::sqrt(all);
            const double flops = asked[i]->work.flops();
            TunedTime time{std::exp(answer) * flops, 0, 0};
            time.low = std::min(time.seconds, std::exp(known.mean + said[at] - reach) * flops);
            time.high = std::max(time.seconds, std::exp(known.mean + said[at] + reach) * flops);
            out.push_back(time);
        }
    }
    return out;
}

Expected<TunedTimes> TunedTimes::adapted(std::span<const TunedRow> anchors) const {
    auto added = std::make_shared<Added>();
    if (added_) added->anchors = added_->anchors, added->noise = added_->noise;
    std::size_t count = 0;
    const std::size_t before = added->anchors.size();
    for (const TunedRow& row : anchors)
        if (row.seconds > 0) added->anchors.push_back(row), ++count;
    if (count < leastAnchors) {
        return fail("schedules.few", fmt::format("{} schedules say too little of a new device", count),
                    fmt::format("{} or more with a time", leastAnchors));
    }
    const Learned& known = *learned_;
    std::vector<const TunedRow*> rows;
    for (const TunedRow& row : added->anchors) rows.push_back(&row);
    added->points = known.pointsOf(rows);
    added->known = known.cholesky.matrixL().solve(covariance(known.points, added->points, known.shape));
    const Matrix open = covariance(added->points, added->points, known.shape) - added->known.transpose() * added->known;
    Vector beside(open.rows());
    for (Index i = 0; i < beside.size(); ++i) beside[i] = perFlop(*rows[static_cast<std::size_t>(i)]) - known.mean;
    beside -= added->known.transpose() * known.halves;
    for (const std::size_t device : added->points.device)
        if (!known.noise.contains(device)) added->noise.try_emplace(device, known.usualNoise);
    // First with the usual noise, then with that of which the new rows, left out one by one, speak.
    for (int turn = 0;; ++turn) {
        Matrix k = open;
        for (Index i = 0; i < k.rows(); ++i) {
            const auto own = known.noise.find(added->points.deviceOf(i));
            k(i, i) += own == known.noise.end() ? added->noise.at(added->points.deviceOf(i)) : own->second;
        }
        added->cholesky.compute(k);
        if (turn == noiseTurns) break;
        const Vector off = leftOut(added->cholesky, beside, added->points.operators);
        std::vector<double> own;
        for (Index i = static_cast<Index>(before); i < off.size(); ++i) own.push_back(off[i]);
        const auto noise = added->noise.find(added->points.device.back());
        if (noise != added->noise.end()) noise->second *= std::clamp(stretchOfNoise(own, pooledAnchors), 0.3, 10.0);
    }
    added->halves = added->cholesky.matrixL().solve(beside);
    TunedTimes more = *this;
    more.added_ = std::move(added);
    return more;
}

std::vector<std::size_t> TunedTimes::anchorsOf(std::span<const TunedRow* const> rows, std::size_t count) const {
    constexpr std::size_t most = 400;
    const Learned& known = *learned_;
    std::vector<const TunedRow*> asked;
    std::vector<std::size_t> all;
    const auto places = spreadOver(rows.size(), most);
    for (const Index i : places) all.push_back(asked.size()), asked.push_back(rows[static_cast<std::size_t>(i)]);
    if (asked.empty()) return {};
    const Points points = known.pointsOf(asked);
    const Matrix halves = known.cholesky.matrixL().solve(covariance(known.points, points, known.shape));
    const Matrix open = covariance(points, points, known.shape) - halves.transpose() * halves;
    std::vector<double> flat(open.data(), open.data() + open.size());  // symmetric
    std::vector<std::size_t> chosen;
    for (const NextSample& each : nextSamples(flat, std::sqrt(known.usualNoise), all, count))
        chosen.push_back(static_cast<std::size_t>(places[each.network]));
    return chosen;
}

}  // namespace orrery
