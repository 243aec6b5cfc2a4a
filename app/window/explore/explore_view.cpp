#include "app/window/explore/explore_view.h"

#include "app/window/explore/explore_text.h"
#include "widgets/common/text.h"

#include <QCoreApplication>

#include <algorithm>
#include <cmath>

namespace orrery::app {

namespace {

constexpr std::size_t mostTicks = 9;
constexpr float notDrawn = std::numeric_limits<float>::quiet_NaN();

std::vector<ui::PointPlace> placesOf(const PointAnswers& seen, const Front& front) {
    using enum ui::PointPlace;
    std::vector<ui::PointPlace> places(seen.size());
    for (std::size_t i = 0; i < seen.size(); ++i) places[i] = seen.feasible(i) ? Beaten : Broken;
    for (const std::size_t i : front.possible) places[i] = Possible;
    for (const std::size_t i : front.points) places[i] = Front;
    return places;
}

ui::SearchAxis scatterAxis(const SearchProblem& problem, const BaseAnswer& drawn, const PointAnswers& seen,
                           std::size_t k) {
    const std::string& quantity = problem.objectives[k].quantity;
    const AxisUnit unit = unitOf(drawn.dimensions[k], quantity);
    const std::size_t width = problem.objectives.size(), count = seen.size();
    ui::SearchAxis axis{axisName(drawn.dimensions[k], quantity), unit.ticks, {}, {}, {}, {}};
    if (drawn.evaluation.refusal.empty()) axis.drawn = drawn.evaluation.values[k].value * unit.factor;
    axis.value.reserve(count);
    axis.low.reserve(count);
    axis.high.reserve(count);
    bool sure = count == 0;
    for (std::size_t i = k; i < count * width; i += width) {
        axis.value.push_back(seen.value[i] * unit.factor);
        axis.low.push_back(seen.low[i] * unit.factor);
        axis.high.push_back(seen.high[i] * unit.factor);
        sure = sure || std::isfinite(seen.low[i]);
    }
    axis.unsure = !sure;
    return axis;
}

// Values of a knob stand at even steps, whatever they are.
ui::ParallelAxis knobAxis(const Knob& knob) {
    ui::ParallelAxis axis{ui::qs(knob.path), false, {}, {}};
    const std::size_t last = knob.values.size() - 1, ticks = std::min(knob.values.size(), mostTicks);
    for (std::size_t t = 0; t < ticks; ++t) {
        const std::size_t level = ticks < 2 ? 0 : t * last / (ticks - 1);
        const float at = last == 0 ? 0.5F : static_cast<float>(level) / static_cast<float>(last);
        axis.ticks.emplace_back(at, ui::qs(knob.values[level]));
    }
    return axis;
}

ui::ParallelAxis objectiveAxis(const SearchProblem& problem, const BaseAnswer& drawn, const PointAnswers& seen,
                               std::size_t k) {
    const std::string& quantity = problem.objectives[k].quantity;
    const AxisUnit unit = unitOf(drawn.dimensions[k], quantity);
    ui::ParallelAxis axis{axisName(drawn.dimensions[k], quantity), true, {}, {}};
    const std::size_t width = problem.objectives.size();
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (std::size_t i = k; i < seen.value.size(); i += width) {
        if (!std::isfinite(seen.value[i])) continue;
        low = std::min(low, seen.value[i] * unit.factor);
        high = std::max(high, seen.value[i] * unit.factor);
    }
    if (!(low <= high)) {
        axis.at.assign(seen.size(), notDrawn);
        return axis;
    }
    if (low == high) low = low > 0 ? low / 1.1 : low - 1, high = high > 0 ? high * 1.1 : high + 1;
    const ui::PlotAxis scale{low, high, 0, 1, low > 0 && high / low > 5};
    axis.at.reserve(seen.size());
    for (std::size_t i = k; i < seen.value.size(); i += width) {
        axis.at.push_back(std::isfinite(seen.value[i]) ? static_cast<float>(scale.position(seen.value[i] * unit.factor))
                                                       : notDrawn);
    }
    for (const double tick : scale.ticks(0.12)) {
        const double at = scale.position(tick);
        if (at >= 0 && at <= 1) axis.ticks.emplace_back(static_cast<float>(at), ui::tickText(tick, unit.ticks));
    }
    return axis;
}

std::shared_ptr<const ui::ParallelData> parallelOf(const SearchProblem& problem, const BaseAnswer& drawn,
                                                   const PointAnswers& seen,
                                                   const std::vector<ui::PointPlace>& places) {
    auto data = std::make_shared<ui::ParallelData>();
    const auto knobs = problem.space.knobs();
    for (const Knob& knob : knobs) {
        data->axes.push_back(knobAxis(knob));
        data->axes.back().at.resize(seen.size());
    }
    for (std::size_t i = 0; i < seen.size(); ++i) {
        std::uint64_t rest = seen.points[i];
        for (std::size_t k = knobs.size(); k-- > 0;) {
            const std::uint64_t count = knobs[k].values.size();
            const auto level = static_cast<float>(rest % count);
            data->axes[k].at[i] = count < 2 ? 0.5F : level / static_cast<float>(count - 1);
            rest /= count;
        }
    }
    data->coloured = knobs.size();
    for (std::size_t k = 0; k < problem.objectives.size(); ++k)
        data->axes.push_back(objectiveAxis(problem, drawn, seen, k));
    data->places = places;
    return data;
}

std::vector<ExploreView::Refused> refusedOf(const PointAnswers& seen) {
    std::vector<ExploreView::Refused> all(seen.refusals.size());
    for (std::size_t i = seen.size(); i-- > 0;) {
        if (seen.answered(i)) continue;
        ExploreView::Refused& one = all[seen.refusal[i] - 1];
        ++one.points;
        one.first = i;
    }
    for (std::size_t r = 0; r < all.size(); ++r) all[r].why = seen.refusals[r];
    std::ranges::stable_sort(all, [](const auto& a, const auto& b) { return a.points > b.points; });
    return all;
}

}  // namespace

std::shared_ptr<const ExploreView> exploreView(const SearchProblem& problem, const BaseAnswer& drawn,
                                               const PointAnswers& seen) {
    auto view = std::make_shared<ExploreView>();
    view->seen = seen;
    view->front = frontOf(problem, seen);
    std::vector<ui::PointPlace> places = placesOf(seen, view->front);
    view->parallel = parallelOf(problem, drawn, seen, places);
    view->plot = ui::readied({scatterAxis(problem, drawn, seen, 0),
                              scatterAxis(problem, drawn, seen, problem.objectives.size() > 1 ? 1 : 0),
                              std::move(places),
                              {}});
    view->history = historyOf(problem, seen);
    view->refused = refusedOf(seen);
    for (std::size_t i = 0; i < seen.size(); ++i) view->broken += seen.answered(i) && !seen.feasible(i) ? 1 : 0;
    return view;
}

}  // namespace orrery::app
