#include "methods/system/serving_method.h"

#include "hardware/views/cluster_view.h"
#include "methods/answer/answer.h"
#include "methods/answer/parts_used.h"
#include "methods/system/planned_fleet.h"
#include "serving/metrics.h"
#include "serving/result_interval.h"
#include "serving/serving_study.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace orrery {

namespace {

// A run beyond this is not made twice more for its intervals: seconds with tables, minutes with kernels.
constexpr std::uint64_t mostIterationsTwiceMore = 1'000'000;
constexpr std::size_t mostSpans = 20'000;

ServingStudy withSlots(const Scenario& scenario, std::string_view compute) {
    ServingStudy study = *std::get<ServingRun>(scenario.task).study;
    for (PoolSpec& pool : study.scenario.pools) {
        if (!compute.empty()) {
            pool.time.kind = SlotKind::Kernels;
            pool.time.method = std::string(compute);
        }
        if (scenario.plan.split()) pool.plan = scenario.plan;
    }
    return study;
}

void addFigure(Estimate& answer, std::string label, double value, Dimension dimension, std::string unit,
               const FigureInterval& interval, const ServingIntervals* sure) {
    Figure figure{std::move(label), value, dimension, std::move(unit)};
    if (sure && sure->known) {
        figure.interval = {interval.low, interval.high};
        figure.basis = sure->basis;
    }
    answer.figures.push_back(std::move(figure));
}

void addFigures(Estimate& answer, const ServingMetrics& m, const ServingIntervals* known) {
    static const ServingIntervals none;
    const ServingIntervals& i = known ? *known : none;
    const auto spread = [&](const std::string& name, const Spread& s, const SpreadInterval& interval) {
        if (s.count == 0) return;
        addFigure(answer, name + ", mean", s.mean, Dimension::Time, {}, interval.mean, known);
        addFigure(answer, name + ", median", s.p50, Dimension::Time, {}, interval.p50, known);
        addFigure(answer, name + ", 99th percentile", s.p99, Dimension::Time, {}, interval.p99, known);
    };
    spread("Time to first token", m.ttft, i.ttft);
    spread("Time per output token", m.tpot, i.tpot);
    spread("End to end", m.endToEnd, i.endToEnd);
    spread("Queueing", m.queueing, i.queueing);
    addFigure(answer, "Throughput", m.outputTokensPerSecond, Dimension::Number, "token/s", i.outputTokensPerSecond,
              known);
    addFigure(answer, "Requests done", m.requestsPerSecond, Dimension::Number, "request/s", i.requestsPerSecond, known);
    addFigure(answer, "Goodput", m.goodput, Dimension::Number, "request/s", i.goodput, known);
    addFigure(answer, "SLO attainment", m.attainment, Dimension::Fraction, {}, i.attainment, known);
    addFigure(answer, "Makespan", m.makespan, Dimension::Time, {}, i.makespan, known);
    addFigure(answer, "KV cache in use", m.kvUse, Dimension::Fraction, {}, i.kvUse, known);
    if (m.mfu > 0) addFigure(answer, "Model FLOP utilisation", m.mfu, Dimension::Fraction, {}, i.mfu, known);
    if (m.mbu > 0) addFigure(answer, "Memory bandwidth utilisation", m.mbu, Dimension::Fraction, {}, i.mbu, known);
    if (m.joulesPerToken > 0)
        addFigure(answer, "Energy per output token", m.joulesPerToken, Dimension::Energy, {}, i.joulesPerToken, known);
    if (m.dollarsPerMillionTokens > 0)
        addFigure(answer, "Cost of a million output tokens", m.dollarsPerMillionTokens, Dimension::Number, "$",
                  i.dollarsPerMillionTokens, known);
    const auto count = [&](std::string label, double value) {
        answer.figures.push_back({std::move(label), value, Dimension::Count});
    };
    count("Requests", static_cast<double>(m.requests));
    count("Rejected", static_cast<double>(m.rejected));
    count("Iterations", static_cast<double>(m.iterations));
    count("Preemptions", static_cast<double>(m.preemptions));
}

// The mean of a sample of requests is not that of all: its standard error, at 90 %.
double samplingHalfWidth(const ServingResult& run, const Spread& endToEnd) {
    double squares = 0;
    std::size_t count = 0;
    for (RequestIndex r = 0; r < run.requests.size(); ++r) {
        if (run.requests.state[r] != RequestState::Done) continue;
        const double off = toSeconds(run.requests.ended[r] - run.requests.arrived[r]) - endToEnd.mean;
        squares += off * off;
        ++count;
    }
    if (count < 2) return endToEnd.mean / 2;
    const auto n = static_cast<double>(count);
    return 1.645 * std::sqrt(squares / (n - 1) / n);
}

void addInterval(Estimate& answer, const ServingResult& run, const ServingMetrics& m, const ServingIntervals* sure) {
    const double half = samplingHalfWidth(run, m.endToEnd);
    double low = m.endToEnd.mean, high = m.endToEnd.mean;
    if (sure && sure->known) {
        low = std::min(low, sure->endToEnd.mean.low);
        high = std::max(high, sure->endToEnd.mean.high);
    }
    answer.interval = {Seconds(std::max(0.0, low - half)), Seconds(high + half),
                       sure && sure->known ? IntervalKind::Residuals : IntervalKind::Sampling,
                       fmt::format("{}; and the standard error of the mean of {} requests, at 90 %",
                                   !sure ? "a run of so many iterations is not made again at the ends of "
                                           "their intervals"
                                   : sure->basis.empty() ? "iteration times state no interval"
                                                         : sure->basis.c_str(),
                                   m.done)};
}

Timeline timelineOf(const ServingResult& run, const PlannedFleet& planned) {
    Timeline timeline;
    for (const PlannedPool& pool : planned.pools) {
        for (std::int32_t r = 0; r < pool.replicas; ++r) {
            timeline.rows.push_back(pool.replicas > 1 ? fmt::format("{} {}", pool.name, r + 1) : pool.name);
        }
    }
    const BatchLog& log = run.batches;
    std::vector<std::int32_t> done(planned.fleet->replicas.size(), 0);
    for (std::size_t b = 0; b < log.size(); ++b) {
        const std::int32_t row = log.replica[b];
        if (row < 0 || static_cast<std::size_t>(row) >= timeline.rows.size()) continue;
        if (timeline.spans.size() >= mostSpans) {
            timeline.truncated = true;
            break;
        }
        timeline.spans.push_back({log.begin[b], log.end[b], row, -1, done[static_cast<std::size_t>(row)]++});
    }
    std::stable_sort(timeline.spans.begin(), timeline.spans.end(),
                     [](const TimelineSpan& a, const TimelineSpan& b) { return a.row < b.row; });
    return timeline;
}

// Of one device of the pool that is fullest.
void addMemoryUse(Estimate& answer, const PlannedFleet& planned) {
    for (const PlannedPool& pool : planned.pools) {
        double all = 0;
        for (const CapacityPart& part : pool.capacity.parts) all += part.bytes;
        MemoryUse use{Bytes(pool.weightBytesPerDevice), {}, {}, Bytes(all)};
        for (const CapacityPart& part : pool.capacity.parts) {
            if (part.use == CapacityUse::KvCache) use.kvCache = Bytes(part.bytes);
            if (part.use == CapacityUse::Activations) use.activations = Bytes(part.bytes);
        }
        if (!answer.memory || answer.memory->total() < use.total()) answer.memory = use;
    }
}

// The devices of the pools, as their views read them, and the network that carries caches between pools.
void addServingParts(Estimate& answer, const Scenario& scenario, const PlannedFleet& planned) {
    PartsRead read;
    for (const PlannedPool& pool : planned.pools) {
        if (pool.design != scenario.hardware) continue;
        if (auto device = deviceView(DeviceRef{pool.design, pool.place})) read.add(device->used);
        // Tensor-parallel devices and stages talk over the tiers that join them.
        if (pool.devicesPerReplica <= 1) continue;
        const auto cluster = clusterView(*pool.design);
        const DeviceGroup* group = cluster ? cluster->groupAt(pool.place) : nullptr;
        if (group && !group->tiers.empty()) read.add(group->tiers.front().read);
    }
    if (planned.network) read.add(PartsRead{{PartRead{*planned.network, {}}}});
    if (!read.parts.empty()) addParts(answer, *scenario.hardware, read);
}

}  // namespace

Expected<Estimate> estimateServing(const Scenario& scenario, EstimateContext& context, std::string_view compute) {
    const ServingStudy study = withSlots(scenario, compute);
    FleetOptions options;
    options.calibrations = context.calibrations;
    options.stop = context.stop;
    auto planned = fleetOf(study.scenario, scenario.hardware, options);
    if (!planned) return Unexpected(std::move(planned.error()));
    auto requests = requestsOf(study.scenario, study.traffic, study.seed);
    if (!requests) return Unexpected(std::move(requests.error()));
    ServingOptions how;
    how.seed = study.seed;
    how.batches = context.wantTimeline;
    how.stop = context.stop;
    how.progress = context.progress;
    const auto stream = std::make_shared<const RequestStream>(std::move(*requests));
    auto run = simulate(planned->fleet, stream, how);
    if (!run) return Unexpected(std::move(run.error()));
    if (run->cancelled) return fail("study.cancelled", "the serving run was cancelled");
    const ServingMetrics metrics = measure(*run, *planned->fleet);
    if (metrics.done == 0) {
        return fail("serving.nothing-done", fmt::format("none of {} requests ends", metrics.requests),
                    "at least one that fits and is not refused", "look at its admission limits and its SLO");
    }
    std::optional<ServingIntervals> sure;
    if (metrics.iterations <= mostIterationsTwiceMore) {
        ServingOptions again = how;
        again.batches = false;
        auto found = intervalsOf(*run, metrics, *planned->fleet, again);
        if (!found) return Unexpected(std::move(found.error()));
        sure = std::move(*found);
    }

    Estimate answer;
    resizeColumns(answer.operators, scenario.workload->costs.size());
    answer.latency = Seconds(metrics.endToEnd.mean);
    addInterval(answer, *run, metrics, sure ? &*sure : nullptr);
    if (metrics.joules > 0) answer.energy = Joules(metrics.joules);
    addMemoryUse(answer, *planned);
    addServingParts(answer, scenario, *planned);
    addFigures(answer, metrics, sure ? &*sure : nullptr);
    answer.assumptions.push_back("The time of a serving run is the mean time from arrival to last token");
    for (const PlannedPool& pool : planned->pools) {
        answer.assumptions.push_back(fmt::format("Pool {}: {} replica{} of {} device{} `{}`", pool.name, pool.replicas,
                                                 pool.replicas == 1 ? "" : "s", pool.devicesPerReplica,
                                                 pool.devicesPerReplica == 1 ? "" : "s", pool.device));
        for (const std::string& said : pool.assumptions) {
            auto& all = answer.assumptions;
            if (std::find(all.begin(), all.end(), said) == all.end()) all.push_back(said);
        }
    }
    answer.warnings = planned->warnings;
    answer.warnings.insert(answer.warnings.end(), run->warnings.begin(), run->warnings.end());
    if (context.wantTimeline) answer.timeline = timelineOf(*run, *planned);
    return answer;
}

Method servingMethod() {
    MethodCard card{
        .id = "serving",
        .title = "Serving simulation",
        .methodology = Methodology::TraceDriven,
        .level = MethodLevel::System,
        .summary =
            "Requests through routers, schedulers and KV caches, iteration by iteration, on the drawn devices. "
            "Ask it what latency and throughput a fleet keeps under traffic.",
        .platforms = {"GPU"},
        .evidence = {{"serving of language models", "GPU",
                      "per-request times within 2.3e-12 s of VIDUR's on 8 recorded runs with its tables; a real vLLM "
                      "run: time to "
                      "first token +0.4 %, per output token +0.4 %, per request 1.5 % with measured tables, -4.7 %, "
                      "-2.4 %, 2.9 % "
                      "with tile-hybrid (LLMServingSim 2 bench)"}},
        .needs = {"A serving study: model, pools, traffic", "Capacity and bandwidth of the devices' memory"},
        .failureMode =
            "Only as accurate as the iteration times in its slot. Near saturation, an error of a few per cent in them "
            "can multiply the time to first token.",
        .lineage = {"Agrawal et al.: VIDUR, MLSys 2024", "Kwon et al.: PagedAttention (vLLM), SOSP 2023",
                    "Patel et al.: Splitwise, ISCA 2024", "Zhong et al.: DistServe, OSDI 2024"},
        .cost = {.fixed = 7.9e-3, .perRequest = 2.7e-5},
        .version = "1",
        .live = false,
        .options = {{.key = "compute",
                     .title = "Iteration times",
                     .choices = {"as-drawn", "tile-hybrid", "tile-wave", "mapping-search"},
                     .fallback = "as-drawn",
                     .meaning = "The kernel method for iterations; as-drawn: that of each pool.",
                     .slot = MethodLevel::Kernel}},
        .tasks = {TaskKind::ServingRun}};
    return {card, [card](const Scenario& scenario, EstimateContext& context) {
                const auto compute = optionOf(card, context, "compute");
                return estimateServing(scenario, context, compute == "as-drawn" ? std::string_view() : compute);
            }};
}

}  // namespace orrery
