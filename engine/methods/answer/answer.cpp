#include "methods/answer/answer.h"

#include "base/unit.h"
#include "methods/answer/ceilings.h"
#include "methods/answer/energy.h"
#include "methods/answer/parts_used.h"
#include "methods/answer/stated_errors.h"
#include "methods/answer/timeline.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery {

namespace {

struct Sides {
    double low = 0, high = 0;
};

// Errors of operators are taken as fully correlated: a device that is slow on one is slow on all. So the sides add.
Sides addSides(const CostTable& costs, const OperatorEstimates& ops, const StatedErrors& errors) {
    Sides sum;
    for (std::size_t i = 0; i < ops.size(); ++i) {
        const double repeat = costs.repeat[i];
        if (ops.seconds[i] <= 0 || repeat <= 0) {
            sum.low += ops.seconds[i];
            sum.high += ops.seconds[i];
            continue;
        }
        const auto one = errorBounds(errors, familyOf(costs, i), ops.seconds[i] / repeat);
        sum.low += repeat * one.low;
        sum.high += repeat * one.high;
    }
    return sum;
}

void addInterval(Estimate& answer, const CostTable& costs, const Ground& ground, std::string_view method,
                 IntervalKind kind) {
    const auto& device = ground.device;
    const double latency = answer.latency.value;
    auto& interval = answer.interval;
    interval = {answer.latency, answer.latency, kind, {}};
    const auto* errors = statedErrors(method);
    if (!errors) {
        interval.basis = "No errors have been measured for this method";
        answer.warnings.push_back(warning("method.unmeasured", "the error of this method has never been measured",
                                          "Its interval has no width because nothing is known: compare with another "
                                          "method or with a measurement of your own"));
        return;
    }
    auto sides = addSides(costs, answer.operators, *errors);
    interval.basis = std::string(errors->basis);
    if (ground.platform == Platform::Gpu) {
        interval.basis.append("; ").append(coverageText(*errors));
    } else {
        sides.low /= unknownPlatformWidening;
        sides.high *= unknownPlatformWidening;
        interval.basis = fmt::format("No reference for this platform: errors of GPUs, widened {:g} times ({})",
                                     unknownPlatformWidening, errors->basis);
        answer.warnings.push_back(warning(
            "method.no-reference", "the error of this method has not been measured on a platform like " + device.name,
            "Read the interval as a guess; compare with a measurement of your own", Place{{}, 0, 0, device.path}));
    }
    // The low side of a bound is the bound itself, whatever was measured with warm caches.
    interval.low = kind == IntervalKind::Bound ? answer.latency : Seconds(std::min(sides.low, latency));
    interval.high = Seconds(std::max(sides.high, latency));
}

}  // namespace

void addMemory(Estimate& answer, const Workload& workload, const DeviceView& device) {
    const auto& totals = workload.totals;
    MemoryUse use{Bytes(totals.weightBytes), Bytes(totals.kvBytes), Bytes(totals.peakActivationBytes),
                  device.main().capacity};
    if (use.capacity.value > 0 && use.total() > use.capacity) {
        answer.warnings.push_back(warning(
            "memory.does-not-fit",
            fmt::format("the workload needs {} and {} holds {}: the time is that of a device with enough memory",
                        format(use.total()), device.main().name, format(use.capacity)),
            "Lower the batch or sequence, quantise the weights, or split the model over devices",
            Place{{}, 0, 0, device.main().path}));
    }
    answer.memory = use;
}

Expected<Ground> prepare(const Scenario& scenario) {
    const auto& costs = scenario.workload->costs;
    if (costs.size() == 0) {
        return fail("workload.empty", "workload '" + scenario.workload->name + "' has no operators", "at least one",
                    "Import a model or choose a built-in one");
    }
    auto view = deviceView(*scenario.hardware);
    if (!view) return tl::unexpected(std::move(view.error()));
    if (view->levels.empty() || view->main().bandwidth.value <= 0) {
        const auto path = view->levels.empty() ? view->path : view->main().path;
        return fail("hardware.missing-bandwidth", "the main memory of " + view->name + " has no bandwidth",
                    "an attribute 'bandwidth', e.g. 3.35 TB/s", "Set the bandwidth of " + path,
                    Place{{}, 0, 0, path + ".bandwidth"});
    }
    const auto platform = platformOf(*view);
    auto rates = computeRates(*view, costs);
    if (!rates) return tl::unexpected(std::move(rates.error()));
    Ground ground{std::move(*view), rates->rates, platform, std::move(rates->assumptions)};
    ground.design = scenario.hardware;
    ground.read = ground.device.used;
    const auto& stated = ground.device.assumptions;
    ground.assumptions.insert(ground.assumptions.begin(), stated.begin(), stated.end());
    return ground;
}

void addCopies(Estimate& answer, const DeviceView& device) {
    if (device.copies <= 1) return;
    answer.warnings.push_back(
        warning("plan.one-device", fmt::format("one of {} devices '{}' works", device.copies, device.name),
                fmt::format("Spread the model with a plan, such as tp={}", std::min<std::int64_t>(device.copies, 8)),
                Place{{}, 0, 0, device.path}));
}

void resizeColumns(OperatorEstimates& operators, std::size_t rows) {
    operators.seconds.resize(rows);
    operators.bound.resize(rows);
    operators.flops.resize(rows);
    operators.bytes.resize(rows);
}

void finishAnswer(Estimate& answer, const Workload& workload, const Ground& ground, std::string_view method,
                  IntervalKind kind, bool wantTimeline) {
    double latency = 0;
    for (const double seconds : answer.operators.seconds) latency += seconds;
    answer.latency = Seconds(latency);
    answer.assumptions.insert(answer.assumptions.end(), ground.assumptions.begin(), ground.assumptions.end());
    answer.warnings.insert(answer.warnings.end(), workload.warnings.begin(), workload.warnings.end());
    addInterval(answer, workload.costs, ground, method, kind);
    addEnergy(answer, ground.device);
    if (!answer.energy) addPowerCapEnergy(answer, ground.device, workload.costs, ground.rates);
    addMemory(answer, workload, ground.device);
    if (ground.design) addParts(answer, *ground.design, ground.read);
    answer.ceilings = ceilingsFor(ground.device, workload.costs, answer.levels.size());
    addCopies(answer, ground.device);
    if (wantTimeline) answer.timeline = serialTimeline(workload.graph, answer.operators, ground.device.name);
}

}  // namespace orrery
