#include "study/comparison/break_even.h"

#include "hardware/attribute_at.h"
#include "study/exploration/search_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace orrery {

namespace {

constexpr int firstLook = 17;
constexpr int mostHalvings = 14;
constexpr double closeEnough = 1e-3;
constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

class BreakEvenSearch {
public:
    BreakEvenSearch(const BreakEvenQuestion& question, const CompareOptions& options, std::size_t column)
        : question_(question),
          options_(options),
          column_(column),
          serial_(options.executor ? nullptr : makeSerialExecutor()) {
        found_.path = question.path;
        found_.quantity = question.quantity;
        found_.goal = question.goal;
    }

    Expected<BreakEven> run() {
        if (auto ready = prepare(); !ready) return Unexpected(ready.error());
        lookAround();
        if (options_.stop.stop_requested()) return fail("study.cancelled", "cancelled");
        narrow([](const Ranged& value, const Ranged& goal) { return value.value - goal.value; }, true);
        narrow([](const Ranged& value, const Ranged& goal) { return value.high - goal.low; }, false);
        narrow([](const Ranged& value, const Ranged& goal) { return value.low - goal.high; }, false);
        if (options_.stop.stop_requested()) return fail("study.cancelled", "cancelled");
        for (Crossing& crossing : found_.crossings) addInterval(crossing);
        if (found_.crossings.empty()) found_.none = whyNone();
        return std::move(found_);
    }

private:
    Expected<void> prepare() {
        const Scenario& base = question_.subject;
        const auto at = attributeAt(base.hardware->root, question_.path);
        std::string drawn;
        if (const auto usual = usualKnob(base, question_.path, {})) {
            if (const auto made = knobOf(*usual, base, {})) drawn = made->own;
        }
        auto knob = makeKnob(base, question_.path, std::vector<std::string>{drawn.empty() ? "1" : drawn});
        if (!knob) {
            const bool words = knob.error().code == "search.value";
            if (!words) return Unexpected(knob.error());
            return fail("compare.attribute", fmt::format("`{}` has no number that could be turned", question_.path),
                        "a number of the drawing (`hbm3.bandwidth`, `sm.count`), or a size of the workload (`batch`)",
                        "", Place{{}, 0, 0, question_.path});
        }
        if (knob->words) {
            return fail("compare.attribute", fmt::format("the values of `{}` are words", question_.path),
                        "a number of the drawing (`hbm3.bandwidth`, `sm.count`), or a size of the workload (`batch`)",
                        "", Place{{}, 0, 0, question_.path});
        }
        found_.dimension = knob->dimension;
        found_.whole = knob->dimension == Dimension::Count;
        found_.drawn = drawn.empty() ? nothing : knob->numbers.front();
        if (const auto measure = parseMeasure(drawn, knob->dimension)) found_.perCycle = measure->perCycle;
        setRange(at ? at->spec : nullptr);
        if (question_.from) found_.from = *question_.from;
        if (question_.to) found_.to = *question_.to;
        if (found_.whole) {
            found_.from = std::max(1.0, std::ceil(found_.from));
            found_.to = std::floor(found_.to);
        }
        if (!(found_.from > 0) || !(found_.to > found_.from)) {
            return fail("compare.range", fmt::format("`{}` has no range to look in", question_.path),
                        "both ends above 0, the second the larger");
        }
        return {};
    }

    // The usual range of the attribute, no further than 16 times either way from what is drawn.
    void setRange(const AttributeSpec* spec) {
        const double drawn = found_.drawn > 0 ? found_.drawn : 1;
        constexpr double reach = 16;
        found_.from = drawn / reach;
        found_.to = drawn * reach;
        if (!spec || found_.perCycle) return;
        if (spec->lowest > 0) found_.from = std::max(found_.from, std::min(spec->lowest, drawn));
        if (spec->highest > 0 && std::isfinite(spec->highest))
            found_.to = std::min(found_.to, std::max(spec->highest, drawn));
    }

    std::string textOf(double si) const {
        if (found_.whole) return fmt::format("{}", std::llround(si));
        std::string text = formatMeasure(si, found_.dimension, 9);
        if (found_.perCycle && text.ends_with("/s")) text.replace(text.size() - 1, 1, "cycle");
        return text;
    }

    BreakEvenPoint answer(double si) const {
        BreakEvenPoint point{.at = si, .text = textOf(si), .value = {nothing, nothing, nothing}};
        const auto refused = [&](const Diagnostic& why) {
            point.refusal = why.message;
            return point;
        };
        auto knob = makeKnob(question_.subject, question_.path, std::vector<std::string>{point.text});
        if (!knob) return refused(knob.error());
        const auto space = SearchSpace::make(question_.subject, {std::move(*knob)});
        if (!space) return refused(space.error());
        auto scenario = space->scenarioAt(0);
        if (!scenario) return refused(scenario.error());
        const Method* method = findMethod(question_.method);
        const auto choice = methodChoice(question_.method, builtinMethods());
        if (!choice || !method) return refused(choice ? Diagnostic{} : choice.error());
        EstimateContext context{options_.executor ? *options_.executor : *serial_,
                                options_.stop,
                                nullptr,
                                options_.seed,
                                false,
                                choice->options,
                                options_.calibrations};
        auto estimated = estimate(*method, *scenario, context);
        if (!estimated) return refused(estimated.error());
        const AnsweredCase answered =
            answeredCase({.name = point.text, .scenario = std::move(*scenario), .deviceHour = question_.deviceHour},
                         question_.method, std::make_shared<const Estimate>(std::move(*estimated)),
                         question_.drawn ? question_.drawn.get() : question_.subject.hardware.get());
        if (answered.values[column_]) point.value = *answered.values[column_];
        if (!answered.values[column_]) point.refusal = fmt::format("no {} is predicted", question_.quantity);
        return point;
    }

    // Keeps the points in order; those at the same value once.
    const BreakEvenPoint& ask(double si) {
        if (found_.whole) si = std::round(si);
        auto& points = found_.points;
        const auto place = std::lower_bound(points.begin(), points.end(), si,
                                            [](const BreakEvenPoint& point, double value) { return point.at < value; });
        if (place != points.end() && place->at == si) return *place;
        const auto put = points.insert(place, answer(si));
        if (options_.progress) options_.progress->advance();
        return *put;
    }

    void lookAround() {
        for (int i = 0; i < firstLook && !options_.stop.stop_requested(); ++i) {
            const double share = static_cast<double>(i) / (firstLook - 1);
            ask(i == 0               ? found_.from
                : i == firstLook - 1 ? found_.to
                                     : found_.from * std::pow(found_.to / found_.from, share));
        }
        if (found_.drawn >= found_.from && found_.drawn <= found_.to) ask(found_.drawn);
    }

    bool near(double a, double b) const { return found_.whole ? b - a <= 1 : b / a <= 1 + closeEnough; }

    // Wherever the gap changes sign between two neighbours, until they are near.
    template <class Gap>
    void narrow(const Gap& gap, bool crossing) {
        const std::vector<BreakEvenPoint> looked = found_.points;
        for (std::size_t i = 0; i + 1 < looked.size(); ++i) {
            const double before = gap(looked[i].value, found_.goal), after = gap(looked[i + 1].value, found_.goal);
            if (!std::isfinite(before) || !std::isfinite(after) || (before > 0) == (after > 0)) continue;
            double low = looked[i].at, high = looked[i + 1].at, atLow = before, atHigh = after;
            for (int n = 0; n < mostHalvings && !near(low, high) && !options_.stop.stop_requested(); ++n) {
                const double middle = std::sqrt(low * high);
                const double at = found_.whole ? std::clamp(std::round(middle), low + 1, high - 1) : middle;
                const double its = gap(ask(at).value, found_.goal);
                if (!std::isfinite(its)) break;
                ((its > 0) == (atLow > 0) ? low : high) = at;
                ((its > 0) == (atLow > 0) ? atLow : atHigh) = its;
            }
            if (!crossing) continue;
            Crossing found{.rising = atHigh > 0};
            if (found_.whole) {
                found.at = high;
            } else {
                const double share = atHigh != atLow ? atLow / (atLow - atHigh) : 0.5;
                found.at = low * std::pow(high / low, std::clamp(share, 0.0, 1.0));
            }
            found.text = attributeText(found_, found.at);
            found_.crossings.push_back(std::move(found));
        }
    }

    bool overlaps(const BreakEvenPoint& point) const {
        return point.value.low <= found_.goal.high && point.value.high >= found_.goal.low;
    }

    // From the crossing outwards while the intervals overlap.
    void addInterval(Crossing& crossing) const {
        const auto& points = found_.points;
        const auto above = std::upper_bound(points.begin(), points.end(), crossing.at,
                                            [](double value, const BreakEvenPoint& point) { return value < point.at; });
        crossing.low = crossing.high = crossing.at;
        auto up = above;
        while (up != points.end() && overlaps(*up)) crossing.high = (up++)->at;
        crossing.openHigh = up == points.end();
        auto down = above;
        while (down != points.begin() && overlaps(*std::prev(down))) crossing.low = (--down)->at;
        crossing.openLow = down == points.begin();
    }

    std::string whyNone() const {
        double least = std::numeric_limits<double>::infinity(), most = -least;
        std::string refusal;
        for (const BreakEvenPoint& point : found_.points) {
            if (!point.refusal.empty()) refusal = point.refusal;
            if (!std::isfinite(point.value.value)) continue;
            least = std::min(least, point.value.value);
            most = std::max(most, point.value.value);
        }
        if (!(least <= most)) return fmt::format("nothing in the range of `{}` is answered: {}", found_.path, refusal);
        AnsweredCase plain;
        plain.rateUnit = "pass/s";
        const auto said = [&](double value) { return caseValueText(column_, value, plain); };
        if (least == most)
            return fmt::format("`{}` leaves the {} as it is: {}", found_.path, question_.quantity, said(least));
        const bool below = most < found_.goal.value;
        return fmt::format("from {} to {} the {} stays {} {}: {} … {}", attributeText(found_, found_.from),
                           attributeText(found_, found_.to), question_.quantity, below ? "below" : "above",
                           said(found_.goal.value), said(least), said(most));
    }

    const BreakEvenQuestion& question_;
    const CompareOptions& options_;
    std::size_t column_;
    std::unique_ptr<Executor> serial_;
    BreakEven found_;
};

}  // namespace

Expected<BreakEven> breakEven(const BreakEvenQuestion& question, const CompareOptions& options) {
    const auto column = caseQuantity(question.quantity);
    if (!column) return Unexpected(column.error());
    if (auto choice = methodChoice(question.method, builtinMethods()); !choice) return Unexpected(choice.error());
    if (!std::isfinite(question.goal.value)) {
        return fail("compare.no-answer", fmt::format("there is no {} to reach", question.quantity),
                    "an answer that states it");
    }
    return BreakEvenSearch(question, options, *column).run();
}

std::string attributeText(const BreakEven& found, double si) {
    if (found.whole) return fmt::format("{}", std::llround(si));
    std::string text = formatMeasure(si, found.dimension, 3);
    if (found.perCycle && text.ends_with("/s")) text.replace(text.size() - 1, 1, "cycle");
    return text;
}

std::string toText(const BreakEven& found) {
    if (found.crossings.empty()) return "no break-even: " + found.none;
    std::string text;
    for (const Crossing& crossing : found.crossings) {
        text += fmt::format("{}{} at {}", text.empty() ? "" : "; ", found.path, crossing.text);
        if (crossing.low < crossing.high) {
            text += fmt::format(" [{}{} … {}{}]", crossing.openLow ? "≤ " : "", attributeText(found, crossing.low),
                                crossing.openHigh ? "≥ " : "", attributeText(found, crossing.high));
        }
        if (found.drawn > 0) text += fmt::format(", {:.3g} × what is drawn", crossing.at / found.drawn);
    }
    return text;
}

}  // namespace orrery
