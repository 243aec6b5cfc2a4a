#include "study/exploration/quantity.h"

#include "base/text/nearest.h"
#include "base/text/words.h"
#include "serving/serving_study.h"
#include "study/exploration/serving_quantity.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace orrery {

namespace {

constexpr std::array<QuantityInfo, 9> quantities{{
    {"time", Dimension::Time, "Time of the pass, the step or the run."},
    {"energy", Dimension::Energy, "Energy of it, of all devices."},
    {"power", Dimension::Power, "Energy over time."},
    {"memory", Dimension::Data, "Weights, caches and activations on one device."},
    {"devices", Dimension::Count, "Devices that the plan takes."},
    {"cost", Dimension::Number, "Dollars: devices × time × price per device-hour."},
    {"area", Dimension::Area, "Silicon of the whole design, as its parts say."},
    {"price", Dimension::Number, "Dollars of the design's dies and memories."},
    {"capacity", Dimension::Number, "Requests per second that a serving run serves within its SLO."},
}};

const QuantityInfo* known(std::string_view name) {
    const auto found =
        std::find_if(quantities.begin(), quantities.end(), [&](const auto& q) { return q.name == name; });
    return found == quantities.end() ? nullptr : &*found;
}

const Figure* figure(const Estimate& estimate, std::string_view label) {
    const auto found = std::find_if(estimate.figures.begin(), estimate.figures.end(),
                                    [&](const Figure& f) { return f.label == label; });
    return found == estimate.figures.end() ? nullptr : &*found;
}

Ranged exact(double value) {
    return {value, value, value};
}

Ranged unsure(double value) {
    constexpr double none = std::numeric_limits<double>::quiet_NaN();
    return {value, none, none};
}

// Answers that were stored before 28 November 2026 say the second.
constexpr std::string_view sloAttainment = "SLO attainment", promisesKept = "Promises kept";

}  // namespace

std::span<const QuantityInfo> searchQuantities() {
    return quantities;
}

Expected<Objective> readObjective(std::string_view text) {
    std::string_view rest = trimmed(text);
    Objective objective;
    for (const auto& [word, maximise] : {std::pair{"max ", true}, {"min ", false}}) {
        if (!rest.starts_with(word)) continue;
        objective.maximise = maximise;
        rest = trimmed(rest.substr(4));
        break;
    }
    if (rest.empty()) {
        return fail("search.objective", "an objective names nothing", "such as `time`, `energy` or `max Throughput`");
    }
    objective.quantity = std::string(rest);
    return objective;
}

std::string toText(const Objective& objective) {
    return (objective.maximise ? "max " : "") + objective.quantity;
}

Expected<Constraint> readConstraint(std::string_view text) {
    Constraint constraint{.text = std::string(trimmed(text))};
    if (constraint.text == "fits") return constraint;
    if (constraint.text == "slo") {
        constraint.quantity = "slo";
        constraint.atLeast = true;
        return constraint;
    }
    const auto at = constraint.text.find_first_of("<>");
    const bool orEqual = at != std::string::npos && at + 1 < constraint.text.size() && constraint.text[at + 1] == '=';
    const auto wrong = [&](std::string what) {
        std::vector<std::string> names{"fits", "slo"};
        for (const QuantityInfo& each : quantities) names.emplace_back(each.name);
        return fail("search.constraint", std::move(what),
                    "`fits`, `slo`, or such as `power <= 700 W`, `Throughput >= 2000`",
                    known(constraint.quantity) ? "" : didYouMean(constraint.quantity, names));
    };
    if (!orEqual) return wrong(fmt::format("`{}` is no constraint", constraint.text));
    constraint.quantity = std::string(trimmed(std::string_view(constraint.text).substr(0, at)));
    constraint.atLeast = constraint.text[at] == '>';
    const std::string_view limit = trimmed(std::string_view(constraint.text).substr(at + 2));
    if (constraint.quantity.empty()) return wrong(fmt::format("`{}` limits nothing", constraint.text));
    // A figure's dimension is known when it is there: its limit is read as what its unit says.
    const QuantityInfo* info = known(constraint.quantity);
    const std::array<Dimension, 5> others{Dimension::Number, Dimension::Time, Dimension::Fraction, Dimension::Data,
                                          Dimension::Energy};
    const std::array<Dimension, 1> own{info ? info->dimension : Dimension::Number};
    for (const Dimension dimension : info ? std::span<const Dimension>(own) : std::span<const Dimension>(others)) {
        if (const auto measure = parseMeasure(limit, dimension)) {
            constraint.limit = measure->si;
            return constraint;
        }
    }
    return wrong(fmt::format("`{}` is no limit of `{}`", limit, constraint.quantity));
}

std::optional<Ranged> quantityOf(const Scenario& scenario, const Estimate& estimate, std::string_view name,
                                 const Circumstances& circumstances) {
    const Ranged time{estimate.latency.value, estimate.interval.low.value, estimate.interval.high.value};
    const bool serving = kindOf(scenario.task) == TaskKind::ServingRun;
    const double devices = serving ? servingDevices(scenario) : static_cast<double>(scenario.plan.devices());
    if (name == "time") return time;
    if (name == "devices") return exact(devices);
    if (name == "energy" || name == "power") {
        if (!estimate.energy) return std::nullopt;
        const double joules = estimate.energy->value;
        if (name == "energy") return unsure(joules);
        // A serving run burns it from its first arrival to its last token.
        const auto taken = serving ? quantityOf(scenario, estimate, "Makespan", circumstances) : std::optional(time);
        if (!taken || taken->value <= 0) return std::nullopt;
        return unsure(joules / taken->value);
    }
    if (name == "memory") {
        if (!estimate.memory) return std::nullopt;
        return exact(estimate.memory->total().value);
    }
    if (name == "cost") {
        const double dollars = circumstances.deviceHour * devices / 3600;
        // A serving run is paid for from its first arrival to its last token.
        const auto paid = serving ? quantityOf(scenario, estimate, "Makespan", circumstances) : std::optional(time);
        if (!paid) return std::nullopt;
        return Ranged{dollars * paid->value, dollars * paid->low, dollars * paid->high};
    }
    if (isOfSilicon(name)) {
        if (!circumstances.drawn) return std::nullopt;
        auto now = areaOf(*scenario.hardware);
        if (!now) return std::nullopt;
        const AreaReport report = changedArea(*circumstances.drawn, std::move(*now));
        const auto at = [&](double ratio) { return name == "area" ? report.areaAt(ratio) : report.dollarsAt(ratio); };
        const auto [low, high] = std::minmax({at(leastAreaRatio), at(mostAreaRatio)});
        const double value = at(1);
        return std::isfinite(high) ? std::optional(Ranged{value, low, high}) : std::nullopt;
    }
    if (name == "capacity") return servingCapacity(scenario, estimate.method, circumstances);
    if (const Figure* found = figure(estimate, name)) {
        return found->interval ? Ranged{found->value, found->interval->first, found->interval->second}
                               : unsure(found->value);
    }
    return std::nullopt;
}

std::optional<double> violationOf(const Scenario& scenario, const Estimate& estimate, const Constraint& constraint,
                                  const Circumstances& circumstances) {
    if (constraint.quantity.empty()) {
        if (!estimate.memory || estimate.memory->capacity.value <= 0) return std::nullopt;
        return std::max(0.0, estimate.memory->total().value / estimate.memory->capacity.value - 1);
    }
    if (constraint.quantity == "slo") {
        const auto* run = std::get_if<ServingRun>(&scenario.task);
        const Figure* kept = run ? figure(estimate, sloAttainment) : nullptr;
        if (run && !kept) kept = figure(estimate, promisesKept);
        if (!kept) return std::nullopt;
        return std::max(0.0, run->study->capacity.attainment - kept->value) / run->study->capacity.attainment;
    }
    const auto found = quantityOf(scenario, estimate, constraint.quantity, circumstances);
    if (!found) return std::nullopt;
    const double beyond = constraint.atLeast ? constraint.limit - found->value : found->value - constraint.limit;
    return beyond <= 0 ? 0 : beyond / std::max(std::abs(constraint.limit), 1e-300);
}

bool isOfSilicon(std::string_view quantity) {
    return quantity == "area" || quantity == "price";
}

Dimension dimensionOf(const Estimate& estimate, std::string_view name) {
    if (const QuantityInfo* info = known(name)) return info->dimension;
    const Figure* found = figure(estimate, name);
    return found ? found->dimension : Dimension::Number;
}

std::string figureUnit(const Estimate& estimate, std::string_view label) {
    const Figure* found = figure(estimate, label);
    return found ? found->unit : std::string();
}

}  // namespace orrery
