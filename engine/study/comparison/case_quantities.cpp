#include "base/text/nearest.h"
#include "study/comparison/cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace orrery {

namespace {

enum CaseColumn : std::size_t {
    ColTime,
    ColRate,
    ColEnergy,
    ColPower,
    ColMemory,
    ColDevices,
    ColArea,
    ColPrice,
    ColCost,
    ColPerWatt,
    ColPerArea,
    ColPerDollar,
    ColFirstToken,
    ColPerToken,
    ColEndToEnd,
    ColGoodput,
    ColKept,
    ColCount
};

constexpr std::array<CaseQuantity, ColCount> columns{{
    {"time", "Time", Dimension::Time, false,
     "Of the pass or the step; of a serving run the mean from a request's arrival to its last token."},
    {"throughput", "Throughput", Dimension::Number, true, "Tokens or samples a second, as the answer counts them."},
    {"energy", "Energy", Dimension::Energy, false, "Of all devices, for the time."},
    {"power", "Power", Dimension::Power, false, "Energy over time."},
    {"memory", "Memory", Dimension::Data, false, "Weights, caches and activations on one device."},
    {"devices", "Devices", Dimension::Count, false, "That the plan takes."},
    {"area", "Silicon", Dimension::Area, false, "Of the whole design, as its parts say."},
    {"price", "Silicon and memory price", Dimension::Number, false, "Dollars of the design's dies and memories."},
    {"cost", "Cost", Dimension::Number, false, "Dollars: devices × time × price per device-hour."},
    {"perf_per_watt", "Throughput per watt", Dimension::Number, true, "Tokens or samples a second for each watt."},
    {"perf_per_mm2", "Throughput per mm²", Dimension::Number, true,
     "Tokens or samples a second for each mm² of the whole design."},
    {"per_dollar", "Throughput per dollar", Dimension::Number, true, "Tokens or samples for a dollar of device-hours."},
    {"ttft_p99", "First token, p99", Dimension::Time, false, "Arrival to first token, 99th percentile of requests."},
    {"tpot_p99", "Per output token, p99", Dimension::Time, false,
     "Time of an output token after the first, 99th percentile of requests."},
    {"latency_p99", "End to end, p99", Dimension::Time, false, "Arrival to last token, 99th percentile of requests."},
    {"goodput", "Goodput", Dimension::Number, true, "Requests per second that meet the SLO."},
    {"slo_kept", "SLO attainment", Dimension::Fraction, true, "Share of requests that meet the SLO."},
}};

Ranged exact(double value) {
    return {value, value, value};
}

// Larger `by` makes it smaller. Of what has no interval there is none.
std::optional<Ranged> over(const std::optional<Ranged>& value, const std::optional<Ranged>& by, double scale = 1) {
    if (!value || !by || !(by->value > 0)) return std::nullopt;
    constexpr double none = std::numeric_limits<double>::quiet_NaN();
    if (!value->sure() || !by->sure()) return Ranged{scale * value->value / by->value, none, none};
    const double low = by->high > 0 ? value->low / by->high : value->value / by->value;
    const double high = by->low > 0 ? value->high / by->low : std::numeric_limits<double>::infinity();
    return Ranged{scale * value->value / by->value, scale * low, scale * high};
}

// Three digits; thousands grouped where no prefix goes: `1,850`, `2.67`, `5.99e-06`.
std::string plainNumber(double value) {
    if (!(std::abs(value) >= 1000 && std::abs(value) < 1e9)) return fmt::format("{:.3g}", value);
    const double step = std::pow(10.0, std::floor(std::log10(std::abs(value))) - 2);
    std::string digits = fmt::format("{:.0f}", std::round(value / step) * step);
    for (auto at = static_cast<int>(digits.size()) - 3; at > (value < 0 ? 1 : 0); at -= 3)
        digits.insert(static_cast<std::size_t>(at), ",");
    return digits;
}

// A derived design keeps the stated silicon of what it was made from; another design states its own.
bool sameDies(const AreaReport& drawn, const AreaReport& own) {
    return std::all_of(own.dies.begin(), own.dies.end(), [&](const DieArea& die) {
        if (!die.stated) return true;
        return std::any_of(drawn.dies.begin(), drawn.dies.end(), [&](const DieArea& each) {
            return each.path == die.path && each.stated && *each.stated == *die.stated;
        });
    });
}

}  // namespace

std::span<const CaseQuantity> caseQuantities() {
    return columns;
}

Expected<std::size_t> caseQuantity(std::string_view name) {
    std::vector<std::string> known;
    for (std::size_t i = 0; i < columns.size(); ++i) {
        if (columns[i].name == name) return i;
        known.emplace_back(columns[i].name);
    }
    return fail("compare.quantity", fmt::format("`{}` is no column of a comparison", name),
                "time, throughput, energy, power, memory, devices, area, price, cost, perf_per_watt, perf_per_mm2, "
                "per_dollar; of serving runs ttft_p99, tpot_p99, latency_p99, goodput, slo_kept",
                didYouMean(name, known));
}

AnsweredCase answeredCase(ComparedCase asked, std::string method, std::shared_ptr<const Estimate> estimate,
                          const Hardware* drawn) {
    AnsweredCase answered{.asked = std::move(asked), .method = std::move(method), .estimate = std::move(estimate)};
    answered.values.resize(ColCount);
    const Scenario& scenario = answered.asked.scenario;
    auto own = areaOf(*scenario.hardware);
    std::optional<AreaReport> base;
    if (own && drawn && drawn != scenario.hardware.get()) {
        if (auto report = areaOf(*drawn); report && sameDies(*report, *own)) base = std::move(*report);
    }
    if (own && !base) base = *own;
    const Circumstances around{answered.asked.deviceHour.value_or(0), base ? &*base : nullptr};
    auto& values = answered.values;
    if (!answered.estimate) {
        const Estimate none;
        values[ColArea] = quantityOf(scenario, none, "area", around);
        values[ColPrice] = quantityOf(scenario, none, "price", around);
        return answered;
    }
    const Estimate& estimated = *answered.estimate;
    for (const std::size_t column : {ColTime, ColEnergy, ColPower, ColMemory, ColDevices, ColArea, ColPrice})
        values[column] = quantityOf(scenario, estimated, columns[column].name, around);
    if (answered.asked.deviceHour) values[ColCost] = quantityOf(scenario, estimated, "cost", around);

    answered.rateUnit = "pass/s";
    double items = 1;  // of one answer
    if (kindOf(scenario.task) == TaskKind::ServingRun) {
        const auto figure = [&](std::string_view label) { return quantityOf(scenario, estimated, label, around); };
        answered.rateUnit = "token/s";
        values[ColRate] = figure("Throughput");
        values[ColFirstToken] = figure("Time to first token, 99th percentile");
        values[ColPerToken] = figure("Time per output token, 99th percentile");
        values[ColEndToEnd] = figure("End to end, 99th percentile");
        values[ColGoodput] = figure("Goodput");
        values[ColKept] = figure("SLO attainment");
        const auto makespan = figure("Makespan");
        if (values[ColRate] && makespan) items = values[ColRate]->value * makespan->value;
        values[ColPerDollar] = over(exact(items), values[ColCost]);
        // Pools may have prices of their own.
        if (const auto million = figure("Cost of a million output tokens"); million && !values[ColPerDollar])
            values[ColPerDollar] = over(exact(1e6), million);
    } else {
        for (const Figure& figure : estimated.figures) {
            if (figure.label != "Throughput" || figure.unit.empty()) continue;
            answered.rateUnit = figure.unit;
            items = figure.value * estimated.latency.value;
        }
        values[ColRate] = over(exact(items), values[ColTime]);
        values[ColPerDollar] = over(exact(items), values[ColCost]);
    }
    values[ColPerWatt] = over(exact(items), values[ColEnergy]);
    values[ColPerArea] = over(values[ColRate], values[ColArea], 1e-6);
    return answered;
}

std::optional<Against> againstBaseline(const AnsweredCase& baseline, const AnsweredCase& other, std::size_t column) {
    const bool ofDesign = column == ColArea || column == ColPrice || column == ColDevices;
    if (!sameQuestion(baseline, other) && !ofDesign) return std::nullopt;
    const auto& a = baseline.values[ColArea];
    const auto& b = other.values[ColArea];
    const bool oneDesign = a && b && a->value == b->value && a->low == b->low && a->high == b->high;
    const bool both = baseline.values[column] && other.values[column];
    const std::size_t decides = column == ColPerArea && oneDesign && both ? std::size_t{ColRate} : column;
    auto found = against(baseline.values[decides], other.values[decides], columns[column].moreIsBetter);
    // What is counted needs no interval.
    if (found && found->says == Against::Says::NoInterval && isCounted(column))
        found->says = (found->ratio > 1) == columns[column].moreIsBetter ? Against::Says::Better : Against::Says::Worse;
    return found;
}

bool sameQuestion(const AnsweredCase& a, const AnsweredCase& b) {
    return kindOf(a.asked.scenario.task) == kindOf(b.asked.scenario.task);
}

bool isCounted(std::size_t quantity) {
    return quantity == ColMemory || quantity == ColDevices;
}

std::string caseValueText(std::size_t quantity, double value, const AnsweredCase& answered) {
    if (!std::isfinite(value)) return "–";
    const CaseQuantity& column = columns[quantity];
    const std::string item = answered.rateUnit.substr(0, answered.rateUnit.find('/'));
    const auto number = plainNumber;
    switch (quantity) {
        case ColRate:
            return fmt::format("{} {}", number(value), answered.rateUnit);
        case ColPrice:
        case ColCost:
            return "$" + number(value);
        case ColPerWatt:
            return fmt::format("{} {}/s/W", number(value), item);
        case ColPerArea:
            return fmt::format("{} {}/s/mm²", number(value), item);
        case ColPerDollar:
            return fmt::format("{} {}/$", number(value), item);
        case ColArea:
            return fmt::format("{} mm²", number(value * 1e6));
        case ColGoodput:
            return fmt::format("{} request/s", number(value));
        case ColDevices:
            return fmt::format("{:.0f}", value);
        default:
            return formatMeasure(value, column.dimension);
    }
}

}  // namespace orrery
