#include "study/exploration/belief.h"

#include "study/exploration/ladder.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace orrery {

namespace {

constexpr std::size_t mostRows = 256;  // of one process: a batch shall take less than what it asks for

}  // namespace

Belief::Belief(const Search& search) : search_(search), coordinates_(search.space()) {
    models_.resize(search.problem().objectives.size());
    for (auto& levels : models_) {
        levels.resize(this->levels());
        for (std::size_t level = 0; level < levels.size(); ++level) levels[level].kept.resize(1 + level);
    }
}

const PointAnswers& Belief::answersOf(std::size_t level) const {
    return level < search_.ladder().size() ? search_.ladder()[level].answers : search_.seen();
}

std::optional<std::size_t> Belief::rowOf(std::size_t level, std::uint64_t point) const {
    const auto row = level < search_.ladder().size() ? search_.findCheap(level, point) : search_.find(point);
    return row && *row < answersOf(level).size() && answersOf(level).answered(*row) ? row : std::nullopt;
}

std::optional<double> Belief::costAt(std::size_t level, std::uint64_t point, std::size_t objective) const {
    const auto row = rowOf(level, point);
    if (!row) return std::nullopt;
    return scale_->of(objective, answersOf(level).value[*row * models_.size() + objective]);
}

bool Belief::learn() {
    const SearchProblem& problem = search_.problem();
    scale_.emplace(problem, search_.seen());
    for (const RungAnswers& rung : search_.ladder()) {
        const LearnedScale other(problem, rung.answers);
        for (std::size_t k = 0; k < models_.size(); ++k)
            scale_->logarithmic[k] = scale_->logarithmic[k] && other.logarithmic[k];
    }
    const PointAnswers& seen = search_.seen();
    bool answered = false;
    for (std::size_t i = 0; i < seen.size() && !answered; ++i) answered = seen.answered(i);
    if (!answered) return false;
    for (std::size_t k = 0; k < models_.size(); ++k)
        for (std::size_t level = 0; level < levels(); ++level) learnLevel(k, level);
    learnConstraints();
    learnFront();
    return true;
}

// Before two methods have met at a few points, what they say of their own errors is all that is known of their
// difference.
double Belief::statedDeviation(std::size_t a, std::size_t b, std::size_t objective) const {
    double variance = 0;
    for (const std::size_t each : {a, b}) {
        const PointAnswers& answers = answersOf(each);
        double sum = 0, count = 0;
        for (std::size_t i = 0; i < answers.size(); ++i) {
            const std::size_t at = i * models_.size() + objective;
            if (!answers.answered(i) || !(answers.low[at] > 0) || !(answers.high[at] > 0)) continue;
            const double width = scale_->logarithmic[objective] ? std::log(answers.high[at] / answers.low[at])
                                                                : answers.high[at] - answers.low[at];
            sum += width / (2 * 1.645);
            count += 1;
        }
        if (count > 0) variance += sum / count * (sum / count);
    }
    return std::sqrt(variance);
}

namespace {

struct Factor {
    double value = 1, deviation = 0;
};

// Methods of one question are nearly multiples of each other: before rows say so, 1 within a quarter.
Factor drawnToOne(double value, double deviation) {
    constexpr double usual = 0.25;
    const double own = 1 / std::max(deviation * deviation, 1e-12), all = own + 1 / (usual * usual);
    return {(own * value + 1 / (usual * usual)) / all, std::sqrt(1 / all)};
}

// Least squares, for a process to begin with.
Factor plainFactor(const std::vector<double>& own, const std::vector<double>& lower) {
    const auto n = static_cast<double>(own.size());
    double x = 0, y = 0, xx = 0, xy = 0, yy = 0;
    for (std::size_t i = 0; i < own.size(); ++i) x += lower[i] / n, y += own[i] / n;
    for (std::size_t i = 0; i < own.size(); ++i) {
        xx += (lower[i] - x) * (lower[i] - x);
        xy += (lower[i] - x) * (own[i] - y);
        yy += (own[i] - y) * (own[i] - y);
    }
    if (!(xx > 1e-12)) return {1, 0};
    const double slope = xy / xx, left = std::max(yy - slope * xy, 0.0) / std::max(n - 2, 1.0);
    return drawnToOne(slope, std::sqrt(left / xx));
}

}  // namespace

void Belief::learnLevel(std::size_t objective, std::size_t level) {
    constexpr std::size_t fewest = 4;  // of rows, for a process
    Level& model = models_[objective][level];
    model.process.reset();
    model.below.reset();
    model.deviation = 1;
    double best = -std::numeric_limits<double>::infinity();
    const std::uint64_t seed = search_.problem().seed;
    const auto rows = rowsToLearn(search_.problem(), answersOf(level), *scale_, mostRows);
    const auto consider = [&](std::optional<std::size_t> below, KeptProcess& kept) {
        ProcessRows data{coordinates_.words(), {}, {}};
        std::vector<double> lower;
        for (const std::size_t i : rows) {
            const std::uint64_t point = answersOf(level).points[i];
            const auto own = costAt(level, point, objective);
            const auto known = below ? costAt(*below, point, objective) : std::optional(0.0);
            if (!own || !known) continue;
            coordinates_.append(point, data.inputs);
            data.target.push_back(*own);
            lower.push_back(*known);
        }
        if (data.rows() < (below ? fewest : 1)) return;
        const std::vector<double> own = data.target;
        const auto leave = [&](double factor) {
            for (std::size_t i = 0; i < own.size(); ++i) data.target[i] = own[i] - factor * lower[i];
            const auto [least, most] = std::minmax_element(data.target.begin(), data.target.end());
            return std::pair(*least, *most);
        };
        const auto [least, most] = leave(below ? 1 : 0);
        const bool alike = below && most - least < 1e-9;  // two that say the same, as of areas
        Factor factor{below ? 1.0 : 0.0, 0};
        const MaternProcess* process = nullptr;
        if (!alike && below) {
            factor = plainFactor(own, lower);
            leave(factor.value);
            process = kept.told(data, seed);
            data.target = own;
            const auto slope = process ? MaternProcess::slopeOf(data, lower, process->shape())
                                       : Expected<ProcessSlope>(fail("learning.shape", ""));
            if (slope) factor = drawnToOne(slope->value, slope->deviation);
            leave(factor.value);
        }
        if (!alike) process = kept.told(std::move(data), seed);
        const double density = alike ? 20 : process ? process->leftOutDensity() : best;
        if (density <= best) return;
        best = density;
        model.below = below;
        model.factor = factor.value;
        model.factorDeviation = factor.deviation;
        model.middle = std::accumulate(lower.begin(), lower.end(), 0.0) / static_cast<double>(lower.size());
        model.process = process ? std::optional(*process) : std::nullopt;
        model.mean = (least + most) / 2;
        model.deviation = 1e-9;
    };
    consider(std::nullopt, model.kept.front());
    for (std::size_t below = level; below-- > 0;) consider(below, model.kept[1 + below]);
    if (level == 0 || rows.size() >= fewest) return;
    model.process.reset();
    model.below = level - 1;
    model.factor = 1;
    model.factorDeviation = model.middle = model.mean = 0;
    model.deviation = std::max(statedDeviation(level - 1, level, objective), 1e-9);
}

std::vector<std::size_t> Belief::chainOf(std::size_t objective) const {
    std::vector<std::size_t> chain{levels() - 1};
    while (const auto below = models_[objective][chain.back()].below) chain.push_back(*below);
    std::reverse(chain.begin(), chain.end());
    return chain;
}

bool Belief::uses(std::size_t rung) const {
    for (std::size_t k = 0; k < models_.size(); ++k) {
        const auto chain = chainOf(k);
        const bool sure = models_[k].back().below && !models_[k].back().process;  // said alike: nothing to be told
        if (!sure && std::find(chain.begin(), chain.end(), rung) != chain.end()) return true;
    }
    return false;
}

// −1 where all constraints are kept, up to 1 where one is not or there is no answer; by the dearest method that was
// asked.
void Belief::learnConstraints() {
    ProcessRows data{coordinates_.words(), {}, {}};
    bool broken = false;
    for (std::size_t level = levels(); level-- > 0;) {
        const PointAnswers& answers = answersOf(level);
        const std::size_t stride = (answers.size() + mostRows - 1) / mostRows;
        for (std::size_t i = 0; i < answers.size(); i += stride) {
            bool dearer = false;
            for (std::size_t above = level + 1; above < levels(); ++above)
                dearer = dearer || rowOf(above, answers.points[i]).has_value();
            if (dearer) continue;
            coordinates_.append(answers.points[i], data.inputs);
            data.target.push_back(answers.feasible(i)   ? -1
                                  : answers.answered(i) ? std::min(1.0, 0.2 + answers.violation[i])
                                                        : 1);
            broken = broken || data.target.back() > 0;
        }
    }
    constraint_.reset();
    if (!broken) return;
    if (const MaternProcess* process = keptConstraint_.told(std::move(data), search_.problem().seed))
        constraint_ = *process;
}

void Belief::learnFront() {
    const PointAnswers& seen = search_.seen();
    const std::size_t width = models_.size();
    const auto rowAt = [&](std::size_t i) {
        std::vector<double> row;
        for (std::size_t k = 0; k < width; ++k) row.push_back(scale_->of(k, seen.value[i * width + k]));
        return row;
    };
    struct Range {
        double least = 1e300, most = -1e300;
        void take(double x) { least = std::min(least, x), most = std::max(most, x); }
    };
    std::vector<Range> all(width), own(width);
    std::vector<std::vector<double>> rows;
    for (const std::size_t i : frontOf(search_.problem(), seen).points) {
        rows.push_back(rowAt(i));
        for (std::size_t k = 0; k < width; ++k) own[k].take(rows.back()[k]);
    }
    feasible_ = !rows.empty();
    for (std::size_t level = 0; level < levels(); ++level) {
        const PointAnswers& answers = answersOf(level);
        for (std::size_t i = 0; i < answers.size(); ++i) {
            if (!(feasible_ ? answers.feasible(i) : answers.answered(i))) continue;
            for (std::size_t k = 0; k < width; ++k) all[k].take(scale_->of(k, answers.value[i * width + k]));
        }
    }
    // Up to the worst that is known, and a little beyond the front's ends, so that a longer front is worth something.
    // In the costs themselves, as people see the front; in ln only where they span two decades.
    std::vector<double> reference(width);
    std::vector<CostUnit> units;
    box_ = 1;
    for (std::size_t k = 0; k < width; ++k) {
        const double range = std::max(all[k].most - all[k].least, 1e-9);
        const double beyond = own[k].most + std::max(0.1 * (own[k].most - own[k].least), 0.05 * range);
        reference[k] = feasible_ ? std::max(beyond, all[k].most) : all[k].most + 0.1 * range;
        const bool asIs = !scale_->logarithmic[k] || range > std::log(100.0);
        units.push_back(asIs                  ? CostUnit::Plain
                        : scale_->maximise[k] ? CostUnit::NegativeLogarithm
                                              : CostUnit::Logarithm);
        box_ *= std::max(costOf(reference[k], units[k]) - costOf(all[k].least, units[k]), 1e-300);
    }
    gain_.emplace(std::move(rows), std::move(reference), search_.problem().seed, std::move(units));
}

std::vector<Expectation> Belief::of(std::span<const std::uint64_t> points) const {
    const std::size_t width = models_.size(), rungs = search_.ladder().size();
    std::vector<double> inputs;
    for (const std::uint64_t point : points) coordinates_.append(point, inputs);
    std::vector<Expectation> out(points.size());
    for (Expectation& each : out) each.tells.assign(rungs, std::vector<double>(width, 0));
    for (std::size_t k = 0; k < width; ++k) {
        const auto chain = chainOf(k);
        std::vector<std::vector<Normal>> parts;
        for (const std::size_t level : chain) {
            const Level& model = models_[k][level];
            parts.push_back(model.process ? model.process->atAll(inputs)
                                          : std::vector<Normal>(points.size(), Normal{model.mean, model.deviation}));
        }
        for (std::size_t i = 0; i < points.size(); ++i) {
            // The dearest method on the way whose answer is known: what lies below it is sure.
            double mean = 0, variance = 0;
            std::size_t from = 0;
            for (std::size_t step = 0; step < chain.size(); ++step) {
                if (const auto known = costAt(chain[step], points[i], k)) {
                    mean = *known;
                    from = step + 1;
                }
            }
            std::vector<double> upTo(rungs, 0);
            for (std::size_t step = from; step < chain.size(); ++step) {
                const Level& model = models_[k][chain[step]];
                const double factor = step > 0 ? model.factor : 1;
                const double turned = step > 0 ? model.factorDeviation * (mean - model.middle) : 0;
                mean = factor * mean + parts[step][i].mean;
                variance *= factor * factor;
                for (double& each : upTo) each *= factor * factor;
                variance += parts[step][i].deviation * parts[step][i].deviation + turned * turned;
                if (chain[step] < rungs) upTo[chain[step]] = variance;
            }
            out[i].costs.push_back({mean, std::sqrt(variance)});
            for (std::size_t rung = 0; rung < rungs && variance > 0; ++rung)
                out[i].tells[rung][k] = std::sqrt(std::min(1.0, upTo[rung] / variance));
        }
    }
    if (constraint_) {
        const auto expected = constraint_->atAll(inputs);
        for (std::size_t i = 0; i < points.size(); ++i) out[i].kept = probabilityBelow(expected[i], 0);
    }
    return out;
}

double Belief::worth(const Expectation& expectation) const {
    double unsure = 0;
    for (const Normal& cost : expectation.costs) unsure += cost.deviation;
    return expectation.kept * (feasible_ ? gain_->of(expectation.costs) / box_ : 1) + 1e-12 * unsure;
}

double Belief::insight(const Expectation& expectation, std::size_t rung, double other) const {
    // What its answer may be, by three nodes of Gauss and Hermite for each objective that it tells something of.
    constexpr double node = 1.7320508075688772, middle = 2.0 / 3, side = 1.0 / 6;
    Expectation after = expectation;
    std::vector<std::size_t> told;
    for (std::size_t k = 0; k < after.costs.size(); ++k) {
        const double share = expectation.tells[rung][k], deviation = expectation.costs[k].deviation;
        if (!(share * deviation > 1e-9)) continue;
        if (told.size() < 4) told.push_back(k);
        after.costs[k].deviation = deviation * std::sqrt(std::max(0.0, 1 - share * share));
    }
    if (told.empty()) return 0;
    double sum = 0;
    std::vector<int> at(told.size(), -1);
    for (;;) {
        double weight = 1;
        for (std::size_t t = 0; t < told.size(); ++t) {
            const std::size_t k = told[t];
            const double share = expectation.tells[rung][k], deviation = expectation.costs[k].deviation;
            after.costs[k].mean = expectation.costs[k].mean + at[t] * node * share * deviation;
            weight *= at[t] == 0 ? middle : side;
        }
        sum += weight * std::max(worth(after), other);
        std::size_t t = 0;
        while (t < at.size() && at[t] == 1) at[t++] = -1;
        if (t == at.size()) break;
        ++at[t];
    }
    return std::max(0.0, sum - std::max(worth(expectation), other));
}

void Belief::believe(std::uint64_t point) {
    const auto x = coordinates_.of(point);
    const auto expected = of(std::span(&point, 1)).front();
    std::vector<double> row;
    for (const Normal& cost : expected.costs) row.push_back(cost.mean);
    gain_->add(std::move(row));
    for (std::size_t k = 0; k < models_.size(); ++k)
        for (const std::size_t level : chainOf(k))
            if (auto& process = models_[k][level].process) process = process->believing(x);
}

std::vector<std::uint64_t> Belief::around() const {
    std::vector<std::uint64_t> points;
    for (std::size_t level = levels(); level-- > 0 && points.empty();) {
        const PointAnswers& answers = answersOf(level);
        for (const std::size_t i : frontOf(search_.problem(), answers).points) points.push_back(answers.points[i]);
    }
    if (points.empty()) points = search_.seen().points;
    return points;
}

}  // namespace orrery
