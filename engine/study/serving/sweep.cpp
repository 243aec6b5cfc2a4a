#include "study/serving/sweep.h"

#include "hardware/files/catalogue.h"
#include "methods/system/fleet_defaults.h"
#include "study/serving/pareto.h"

#include <fmt/format.h>

#include <limits>
#include <map>
#include <mutex>

namespace orrery {

namespace {

void answer(const ServingStudy& study, const SweepOptions& options, const std::shared_ptr<const Hardware>& drawing,
            IterationTimes& cache, SweepAnswer& point) {
    FleetOptions making;
    making.calibrations = options.calibrations;
    making.cache = &cache;
    making.stop = options.stop;
    auto planned = fleetOf(study.scenario, drawing, making);
    if (!planned) {
        point.failure = planned.error();
        return;
    }
    for (const PlannedPool& pool : planned->pools) point.devices += pool.replicas * pool.devicesPerReplica;
    if (options.capacity) {
        CapacityOptions searching;
        searching.seed = study.seed;
        searching.stop = options.stop;
        searching.scenario = &study.scenario;
        auto found = capacityOf(planned->fleet, study.traffic, study.capacity, searching);
        if (!found) {
            point.failure = found.error();
            return;
        }
        point.capacity = found->rate;
        point.metrics = found->metrics;
    } else {
        auto stream = requestsOf(study.scenario, study.traffic, study.seed);
        if (!stream) {
            point.failure = stream.error();
            return;
        }
        ServingOptions running;
        running.seed = study.seed;
        running.stop = options.stop;
        const auto shared = std::make_shared<const RequestStream>(std::move(*stream));
        auto run = simulate(planned->fleet, shared, running);
        if (!run) {
            point.failure = run.error();
            return;
        }
        if (run->cancelled) {
            point.failure = fail("study.cancelled", "the sweep was stopped").value();
            return;
        }
        point.metrics = measure(*run, *planned->fleet);
    }
    point.dollars = point.metrics.dollarsPerMillionTokens;
}

// Where the study's scheduler has its engine's own numbers on the study's device, a point on another device has them on
// that one: `hardware` is turned, not what the engine makes of it. Numbers that somebody chose stay.
void followEngine(const ServingStudy& study, ServingStudy& point, const std::shared_ptr<const Hardware>& drawing,
                  std::map<std::string, std::shared_ptr<const Hardware>>& designs) {
    auto& pools = point.scenario.pools;
    const auto& before = study.scenario.pools;
    const auto designOf = [&](const std::string& id) -> const Hardware* {
        if (id.empty()) return drawing.get();
        const auto [at, first] = designs.try_emplace(id);
        if (first)
            if (auto loaded = loadHardware(id))
                at->second = std::make_shared<const Hardware>(std::move(loaded->hardware));
        return at->second.get();
    };
    for (std::size_t i = 0; i < pools.size() && pools.size() == before.size(); ++i) {
        if (pools[i].hardware == before[i].hardware || !(pools[i].scheduler == before[i].scheduler)) continue;
        const Hardware *old = designOf(before[i].hardware), *now = designOf(pools[i].hardware);
        if (!old || !now) continue;
        SchedulerSpec& scheduler = pools[i].scheduler;
        const auto was = engineDefaultsOn(scheduler, *old), is = engineDefaultsOn(scheduler, *now);
        if (!was || !is || was->maxSequences != scheduler.maxSequences || was->tokenBudget != scheduler.tokenBudget)
            continue;
        scheduler.maxSequences = is->maxSequences;
        scheduler.tokenBudget = is->tokenBudget;
    }
}

// Points under different loads answer different questions; each load has a front of its own.
std::vector<std::string> loadOf(const ServingStudy& study, const SweepAnswer& point) {
    std::vector<std::string> load;
    for (std::size_t a = 0; a < study.sweep.size(); ++a)
        if (a < point.values.size() && sweepPath(study.sweep[a].key).starts_with("traffic/"))
            load.push_back(point.values[a]);
    return load;
}

bool isAnswered(const SweepAnswer& point) {
    return !point.failure && point.metrics.outputTokensPerSecond > 0;
}

}  // namespace

bool meetsSlo(const ServingStudy& study, const SweepAnswer& point) {
    return isAnswered(point) && point.metrics.attainment >= study.capacity.attainment;
}

void markBest(const ServingStudy& study, std::vector<SweepAnswer>& points) {
    // Money is compared only if every point has a price.
    bool priced = true;
    for (const SweepAnswer& point : points) priced = priced && (!isAnswered(point) || point.dollars > 0);
    std::vector<std::vector<double>> costs;
    constexpr double none = std::numeric_limits<double>::quiet_NaN();
    for (const SweepAnswer& point : points) {
        const double tokens = point.metrics.outputTokensPerSecond;
        // What breaks the SLO is no choice, however cheap it is.
        if (!meetsSlo(study, point)) {
            costs.push_back({none, none, none});
        } else {
            costs.push_back(
                {priced ? point.dollars : point.devices / tokens, point.metrics.ttft.p99, point.metrics.tpot.p99});
        }
    }
    std::map<std::vector<std::string>, std::vector<std::size_t>> loads;
    for (std::size_t i = 0; i < points.size(); ++i) loads[loadOf(study, points[i])].push_back(i);
    for (const auto& [load, members] : loads) {
        std::vector<std::vector<double>> theirs;
        for (const std::size_t i : members) theirs.push_back(costs[i]);
        const auto front = paretoFront(theirs);
        for (std::size_t m = 0; m < members.size(); ++m) points[members[m]].pareto = front[m];
    }
}

Expected<std::shared_ptr<const Hardware>> hardwareOf(const ServingStudy& study) {
    if (study.hardware.empty()) return std::shared_ptr<const Hardware>();
    auto loaded = loadHardware(study.hardware);
    if (!loaded) return tl::unexpected(loaded.error());
    return std::make_shared<const Hardware>(std::move(loaded->hardware));
}

Expected<std::vector<SweepAnswer>> runSweep(const ServingStudy& study, const SweepOptions& options) {
    for (const SweepAxis& axis : study.sweep) {
        if (axis.values.empty()) {
            return fail("sweep.empty", fmt::format("nothing stands in the axis {}", axis.key), "at least one value", {},
                        Place{{}, 0, 0, "sweep/" + axis.key});
        }
    }
    const auto all = countPoints(study.sweep, mostSweepPoints);
    if (!all) {
        return fail("sweep.too-many", "the axes multiply to too many configurations",
                    fmt::format("at most {}", mostSweepPoints), "leave out values", Place{{}, 0, 0, "sweep"});
    }
    const std::size_t count = *all;
    std::shared_ptr<const Hardware> drawing = options.drawing;
    if (!drawing) {
        auto loaded = hardwareOf(study);
        if (!loaded) return tl::unexpected(loaded.error());
        drawing = *loaded;
    }
    std::vector<ServingStudy> studies(count, study);
    std::map<std::string, std::shared_ptr<const Hardware>> designs;
    std::vector<SweepAnswer> points(count);
    std::map<std::vector<std::string>, std::int64_t> known;
    std::vector<std::size_t> asked;
    for (std::size_t i = 0; i < count; ++i) {
        points[i].values = valuesAt(study.sweep, pointAt(study.sweep, i));
        if (auto set = setSweepValues(studies[i], study.sweep, points[i].values); !set) {
            return tl::unexpected(set.error());
        }
        followEngine(study, studies[i], drawing, designs);
        std::vector<std::string> read = points[i].values;
        for (std::size_t a = 0; a < read.size(); ++a) {
            if (!sweepReads(studies[i], study.sweep[a].key)) read[a].clear();
        }
        const auto [at, first] = known.emplace(std::move(read), static_cast<std::int64_t>(i));
        if (first) {
            asked.push_back(i);
        } else {
            points[i].sameAs = at->second;
        }
    }
    IterationTimes own;
    IterationTimes& cache = options.cache ? *options.cache : own;
    std::mutex telling;
    if (options.progress) options.progress->setTotal(asked.size());
    const auto one = [&](std::size_t which) {
        const std::size_t i = asked[which];
        if (options.stop.stop_requested()) {
            points[i].failure = fail("study.cancelled", "the sweep was stopped").value();
        } else {
            answer(studies[i], options, drawing, cache, points[i]);
        }
        if (options.progress) options.progress->advance();
        if (options.onPoint) {
            const std::scoped_lock lock(telling);
            options.onPoint(i, points[i]);
        }
    };
    if (options.executor) {
        options.executor->forEach(asked.size(), one);
    } else {
        for (std::size_t which = 0; which < asked.size(); ++which) one(which);
    }
    for (SweepAnswer& point : points) {
        if (point.sameAs < 0) continue;
        std::vector<std::string> values = std::move(point.values);
        const std::int64_t from = point.sameAs;
        point = points[static_cast<std::size_t>(from)];
        point.values = std::move(values);
        point.sameAs = from;
    }
    markBest(study, points);
    return points;
}

}  // namespace orrery
