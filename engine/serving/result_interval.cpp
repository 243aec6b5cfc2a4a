#include "serving/result_interval.h"

#include <algorithm>
#include <map>

namespace orrery {

namespace {

struct EndTime final : IterationTime {
    IterationTimePtr time;
    PriceEnd end = PriceEnd::Low;
    IterationPrice price(const IterationWork& work) const override {
        IterationPrice price = time->price(work);
        const double factor = std::max(0.0, end == PriceEnd::Low ? price.low : price.high);
        price.seconds *= factor;
        price.lastSeconds *= factor;
        price.host *= factor;
        price.low = price.high = 1;
        return price;
    }
    int stages() const override { return time->stages(); }
    std::vector<std::string> assumptions() const override {
        auto said = time->assumptions();
        said.push_back(end == PriceEnd::Low ? "Every iteration at the low end of its 90 % interval"
                                            : "Every iteration at the high end of its 90 % interval");
        return said;
    }
};

FigureInterval span(double a, double b, double c) {
    return {std::min({a, b, c}), std::max({a, b, c})};
}

constexpr std::pair<SpreadInterval ServingIntervals::*, Spread ServingMetrics::*> spreads[] = {
    {&ServingIntervals::ttft, &ServingMetrics::ttft},
    {&ServingIntervals::tpot, &ServingMetrics::tpot},
    {&ServingIntervals::itl, &ServingMetrics::itl},
    {&ServingIntervals::endToEnd, &ServingMetrics::endToEnd},
    {&ServingIntervals::queueing, &ServingMetrics::queueing},
    {&ServingIntervals::normalised, &ServingMetrics::normalised},
};
constexpr std::pair<FigureInterval SpreadInterval::*, double Spread::*> points[] = {
    {&SpreadInterval::mean, &Spread::mean}, {&SpreadInterval::p50, &Spread::p50}, {&SpreadInterval::p90, &Spread::p90},
    {&SpreadInterval::p95, &Spread::p95},   {&SpreadInterval::p99, &Spread::p99}, {&SpreadInterval::max, &Spread::max},
};
constexpr std::pair<FigureInterval ServingIntervals::*, double ServingMetrics::*> figures[] = {
    {&ServingIntervals::makespan, &ServingMetrics::makespan},
    {&ServingIntervals::requestsPerSecond, &ServingMetrics::requestsPerSecond},
    {&ServingIntervals::outputTokensPerSecond, &ServingMetrics::outputTokensPerSecond},
    {&ServingIntervals::tokensPerSecond, &ServingMetrics::tokensPerSecond},
    {&ServingIntervals::goodput, &ServingMetrics::goodput},
    {&ServingIntervals::attainment, &ServingMetrics::attainment},
    {&ServingIntervals::kvUse, &ServingMetrics::kvUse},
    {&ServingIntervals::mfu, &ServingMetrics::mfu},
    {&ServingIntervals::mbu, &ServingMetrics::mbu},
    {&ServingIntervals::joules, &ServingMetrics::joules},
    {&ServingIntervals::joulesPerToken, &ServingMetrics::joulesPerToken},
    {&ServingIntervals::dollarsPerMillionTokens, &ServingMetrics::dollarsPerMillionTokens},
};

ServingIntervals spanOf(const ServingMetrics& fast, const ServingMetrics& point, const ServingMetrics& slow) {
    ServingIntervals result;
    for (const auto& [interval, spread] : spreads) {
        for (const auto& [side, value] : points) {
            result.*interval.*side = span(fast.*spread.*value, point.*spread.*value, slow.*spread.*value);
        }
    }
    for (const auto& [interval, figure] : figures) {
        result.*interval = span(fast.*figure, point.*figure, slow.*figure);
    }
    return result;
}

}  // namespace

IterationTimePtr atEnd(IterationTimePtr time, PriceEnd end) {
    if (!time) return time;
    auto result = std::make_shared<EndTime>();
    result->time = std::move(time);
    result->end = end;
    return result;
}

FleetSpec atEnd(const FleetSpec& fleet, PriceEnd end) {
    FleetSpec result = fleet;
    std::map<const IterationTime*, IterationTimePtr> made;
    const auto moved = [&](IterationTimePtr& time) {
        if (!time) return;
        IterationTimePtr& there = made[time.get()];
        if (!there) there = atEnd(time, end);
        time = there;
    };
    for (ReplicaSpec& replica : result.replicas) {
        moved(replica.time);
        moved(replica.speculation.draft);
        moved(replica.adapters.extra);
    }
    return result;
}

Expected<ServingIntervals> intervalsOf(const ServingResult& run, const ServingMetrics& metrics, const FleetSpec& fleet,
                                       const ServingOptions& options) {
    if (!run.stream) return fail("serving.nothing", "an interval needs the run whose figures it is about");
    if (run.low == 1 && run.high == 1) {
        ServingIntervals none = spanOf(metrics, metrics, metrics);
        none.basis = "The iteration times of this run state no interval: how sure its figures are is not known";
        return none;
    }
    ServingOptions again = options;
    again.batches = again.members = again.events = false;
    again.progress = nullptr;
    ServingMetrics ends[2];
    for (const PriceEnd end : {PriceEnd::Low, PriceEnd::High}) {
        const auto moved = std::make_shared<const FleetSpec>(atEnd(fleet, end));
        auto result = simulate(moved, run.stream, again);
        if (!result) return tl::unexpected(std::move(result.error()));
        if (result->cancelled) return fail("study.cancelled", "cancelled");
        ends[static_cast<std::size_t>(end)] = measure(*result, *moved);
    }
    ServingIntervals result = spanOf(ends[0], metrics, ends[1]);
    result.known = true;
    result.basis =
        "The same requests with every iteration at the low and at the high end of its 90 % interval: errors of "
        "iterations "
        "count as common. Were they independent, the interval of a sum of N would be narrower by √N";
    return result;
}

}  // namespace orrery
