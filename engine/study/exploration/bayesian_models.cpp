#include "study/exploration/bayesian_models.h"

#include "study/exploration/scalar.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace orrery {

PointCoordinates::PointCoordinates(const SearchSpace& space) : space_(space) {
    for (const Knob& knob : space.knobs()) {
        words_.push_back(knob.words);
        std::vector<double> values = knob.numbers;
        if (!knob.words) {
            const auto [least, most] = std::minmax_element(values.begin(), values.end());
            const double from = *least, to = *most;
            const bool ratios = from > 0 && (knob.logarithmic || to / from >= 8);
            for (double& value : values) {
                value = to == from ? 0.5
                        : ratios   ? std::log(value / from) / std::log(to / from)
                                   : (value - from) / (to - from);
            }
        }
        values_.push_back(std::move(values));
    }
}

void PointCoordinates::append(std::uint64_t point, std::vector<double>& out) const {
    const auto levels = space_.levelsAt(point);
    for (std::size_t k = 0; k < levels.size(); ++k) out.push_back(values_[k][levels[k]]);
}

std::vector<double> PointCoordinates::of(std::uint64_t point) const {
    std::vector<double> out;
    append(point, out);
    return out;
}

LearnedScale::LearnedScale(const SearchProblem& problem, const PointAnswers& seen) {
    for (std::size_t k = 0; k < problem.objectives.size(); ++k) {
        maximise.push_back(problem.objectives[k].maximise);
        bool positive = true;
        for (std::size_t i = 0; i < seen.size(); ++i)
            positive = positive && (!seen.answered(i) || seen.value[i * seen.objectives + k] > 0);
        logarithmic.push_back(positive);
    }
}

double LearnedScale::of(std::size_t objective, double value) const {
    const double scaled = logarithmic[objective] ? std::log(value) : value;
    return maximise[objective] ? -scaled : scaled;
}

const MaternProcess* KeptProcess::told(ProcessRows rows, std::uint64_t seed) {
    if (rows.rows() == 0) return nullptr;
    const bool anew = !process_ || 4 * rows.rows() >= 5 * fittedRows_;
    ProcessOptions options{.restarts = 1, .steps = 30, .fitRows = 200, .seed = seed};
    if (process_) options.start = process_->shape();
    auto process = anew ? MaternProcess::fit(rows, options) : MaternProcess::conditioned(rows, process_->shape());
    if (!process) return process_ ? &*process_ : nullptr;
    if (anew) fittedRows_ = rows.rows();
    process_ = std::move(*process);
    return &*process_;
}

std::vector<std::size_t> rowsToLearn(const SearchProblem& problem, const PointAnswers& seen, const LearnedScale& scale,
                                     std::size_t most) {
    std::vector<std::size_t> rows;
    for (std::size_t i = 0; i < seen.size(); ++i)
        if (seen.answered(i)) rows.push_back(i);
    if (rows.size() <= most) return rows;
    // The best by the worst of the costs over their ranges: the front and what is near it, whatever its shape.
    const std::size_t width = problem.objectives.size();
    std::vector<double> least(width, 1e300), widest(width, 0), badness(seen.size(), 0);
    for (const std::size_t i : rows)
        for (std::size_t k = 0; k < width; ++k) least[k] = std::min(least[k], scale.of(k, seen.value[i * width + k]));
    for (const std::size_t i : rows)
        for (std::size_t k = 0; k < width; ++k)
            widest[k] = std::max(widest[k], scale.of(k, seen.value[i * width + k]) - least[k]);
    for (const std::size_t i : rows) {
        for (std::size_t k = 0; k < width; ++k)
            badness[i] += (scale.of(k, seen.value[i * width + k]) - least[k]) / std::max(widest[k], 1e-300);
        badness[i] += seen.feasible(i) ? 0 : 10;
    }
    std::stable_sort(rows.begin(), rows.end(), [&](auto a, auto b) { return badness[a] < badness[b]; });
    const std::size_t best = most * 6 / 10, others = most - best, left = rows.size() - best;
    std::vector<std::size_t> kept(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(best));
    for (std::size_t n = 0; n < others; ++n) kept.push_back(rows[best + n * left / others]);
    std::sort(kept.begin(), kept.end());
    return kept;
}

std::vector<std::uint64_t> latinPoints(const SearchSpace& space, std::size_t count, RandomStream& random) {
    std::vector<std::uint64_t> points;
    for (const auto& each : latinLevels(space.knobs(), count, random)) points.push_back(space.pointAt(each));
    return points;
}

std::vector<std::uint64_t> candidatesOf(const Search& search, std::span<const std::uint64_t> around,
                                        RandomStream& random) {
    const SearchSpace& space = search.space();
    std::vector<std::uint64_t> points;
    if (space.points() <= mostCandidates) {
        points.resize(space.points());
        std::iota(points.begin(), points.end(), std::uint64_t{0});
    } else {
        const auto knobs = space.knobs();
        points = latinPoints(space, mostCandidates / 3, random);
        // One knob of a point near the front turned, by a near step or anywhere; or two or three of them.
        while (points.size() < mostCandidates && !around.empty()) {
            auto levels = space.levelsAt(around[random.below(around.size())]);
            const std::uint64_t turns = 1 + random.below(3);
            for (std::uint64_t t = 0; t < turns; ++t) {
                const std::size_t k = random.below(knobs.size());
                const auto count = static_cast<std::uint32_t>(knobs[k].values.size());
                if (knobs[k].words || count <= 3 || random.below(4) == 0) {
                    levels[k] = static_cast<std::uint32_t>(random.below(count));
                } else {
                    const double step = random.normal() * std::max(1.0, 0.1 * count);
                    levels[k] = static_cast<std::uint32_t>(std::clamp(std::round(levels[k] + step), 0.0, count - 1.0));
                }
            }
            points.push_back(space.pointAt(levels));
        }
        std::sort(points.begin(), points.end());
        points.erase(std::unique(points.begin(), points.end()), points.end());
    }
    std::erase_if(points, [&](std::uint64_t point) { return search.find(point).has_value(); });
    return points;
}

}  // namespace orrery
