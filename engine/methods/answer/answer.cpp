#include "methods/answer/answer.h"

#include "base/unit.h"
#include "learning/section_price.h"
#include "methods/answer/ceilings.h"
#include "methods/answer/energy.h"
#include "methods/answer/parts_used.h"
#include "methods/answer/stated_errors.h"
#include "methods/answer/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

namespace orrery {

namespace {

// Without any known error: a factor of two either way.
constexpr double guess = unmeasuredFactor;
constexpr double perMeanError = 2.06;  // of a normal error: 90 % half-width ÷ mean absolute value
constexpr double leastOutside = 1.1;   // either way, where most of the time is outside everything measured

struct Sides {
    double low = 0, high = 0;
    double error = 0;  // mean |ln(measured ÷ predicted)|, weighted by time
    std::array<double, operatorFamilyCount> seconds{}, width{};
};

// What is said of one kernel. Kernels of a model repeat: what was said of the last few is kept, by their time.
struct Missed {
    double seconds = -1;
    OperatorFamily family{};
    ErrorBounds bounds;
    double error = 0;
};
class MissedKernels {
public:
    explicit MissedKernels(const StatedErrors& errors) : errors_(errors) {}
    const Missed& of(OperatorFamily family, double seconds) {
        Missed& kept = kept_[(std::bit_cast<std::uint64_t>(seconds) * 0x9E3779B97F4A7C15ull) >> 58];
        if (kept.seconds != seconds || kept.family != family) {
            kept = {seconds, family, errorBounds(errors_, family, seconds), meanError(errors_, family, seconds)};
        }
        return kept;
    }

private:
    const StatedErrors& errors_;
    std::array<Missed, 64> kept_;
};

// Errors of operators are taken as fully correlated: a device that is slow on one is slow on all. So the sides add.
Sides addSides(const CostTable& costs, const OperatorEstimates& ops, const StatedErrors& errors,
               const DeviceView& device, IntervalKind kind) {
    Sides sum;
    double total = 0;
    MissedKernels kernels(errors);
    for (std::size_t i = 0; i < ops.size(); ++i) {
        const double repeat = costs.repeat[i];
        if (ops.seconds[i] <= 0 || repeat <= 0) {
            sum.low += ops.seconds[i];
            sum.high += ops.seconds[i];
            continue;
        }
        const OperatorFamily family = familyOf(costs, i);
        const auto f = static_cast<std::size_t>(family);
        const Missed& one = kernels.of(family, ops.seconds[i] / repeat);
        // A bound stays one wherever it is asked; its high end is what was measured.
        const double shift = kind == IntervalKind::Bound ? 0 : statedShift(device, costs, i);
        const ErrorBounds bounds = moved(one.bounds, ops.seconds[i] / repeat, shift);
        sum.low += repeat * bounds.low;
        sum.high += repeat * bounds.high;
        sum.seconds[f] += ops.seconds[i];
        sum.width[f] += repeat * (bounds.high - bounds.low);
        sum.error += ops.seconds[i] * std::hypot(one.error, shift / perMeanError);
        total += ops.seconds[i];
    }
    if (total > 0) sum.error /= total;
    return sum;
}

OperatorFamily largest(const std::array<double, operatorFamilyCount>& shares) {
    return static_cast<OperatorFamily>(std::max_element(shares.begin(), shares.end()) - shares.begin());
}

void setSupport(Estimate& answer, const Sides& sides, const StatedErrors& errors, const Ground& ground) {
    const OperatorFamily family = largest(sides.seconds);
    const auto& held = errors.heldOut[static_cast<std::size_t>(family)];
    Support support;
    support.error = sides.error;
    support.what = fmt::format("{:.0f} % error on kernels like these: {} {} of {}", 100 * std::expm1(sides.error),
                               held.rows, toText(family), held.device);
    support.outside = statedFor(ground.device) ? 0 : 1;
    if (ground.platform != Platform::Gpu) {
        support.error += std::log(unknownPlatformWidening);
        support.unmeasured = 1;
        support.outside = 0;
        support.what = "no measurement of a platform like this one";
    }
    answer.support = std::move(support);
}

// A method that was never compared with a measurement: a factor of two stands for what nobody knows.
void addGuess(Estimate& answer, IntervalKind kind) {
    const double latency = answer.latency.value;
    answer.interval = {Seconds(kind == IntervalKind::Bound ? latency : latency / guess), Seconds(latency * guess), kind,
                       "No error of this method was measured: the interval is a factor of two either way"};
    if (!answer.support)
        answer.support =
            Support{.error = std::log(guess), .unmeasured = 1, .what = "never compared with a measurement"};
    answer.warnings.push_back(warning("method.unmeasured", "the error of this method has never been measured",
                                      "Its interval is a guess: compare with another method or with a measurement of "
                                      "your own"));
}

void addInterval(Estimate& answer, const CostTable& costs, const Ground& ground, std::string_view method,
                 IntervalKind kind) {
    const auto& device = ground.device;
    const double latency = answer.latency.value;
    const auto* errors = statedErrors(method);
    if (!errors) {
        addGuess(answer, kind);
        return;
    }
    auto& interval = answer.interval;
    interval = {answer.latency, answer.latency, kind, {}};
    auto sides = addSides(costs, answer.operators, *errors, device, kind);
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
    setSupport(answer, sides, *errors, ground);
    // The low side of a bound is the bound itself, whatever was measured with warm caches.
    interval.low = kind == IntervalKind::Bound ? answer.latency : Seconds(std::min(sides.low, latency));
    if (answer.bound) {
        const double least = answer.bound->value;
        interval.low = kind == IntervalKind::Bound ? *answer.bound : Seconds(std::max(interval.low.value, least));
    }
    interval.high = Seconds(std::max(sides.high, latency));
    addWidth(answer, fmt::format("most of it comes from {}", toText(largest(sides.width))));
}

// No operator beats what its kernels take at peak rates.
void addLatency(Estimate& answer, const Ground& ground) {
    auto& seconds = answer.operators.seconds;
    const bool bounded = ground.least.size() == seconds.size();
    double latency = 0, least = 0;
    for (std::size_t i = 0; i < seconds.size(); ++i) {
        if (bounded) {
            seconds[i] = std::max(seconds[i], ground.least[i]);
            least += ground.least[i];
        }
        latency += seconds[i];
    }
    answer.latency = Seconds(latency);
    if (bounded) answer.bound = Seconds(least);
}

}  // namespace

void finishInterval(Estimate& answer) {
    auto& interval = answer.interval;
    const double latency = answer.latency.value;
    if (latency > 0 && !(interval.low < interval.high)) {
        const std::string basis = interval.basis;
        addGuess(answer, interval.kind);
        if (!basis.empty()) interval.basis += "; " + basis;
    }
    // Beyond every calibration nothing is known to a tenth, however alike the operators are to each other.
    if (answer.support && answer.support->outside + answer.support->unmeasured > 0.5) {
        interval.high = max(interval.high, answer.latency * leastOutside);
        const Seconds least = min(answer.bound.value_or(Seconds()), answer.latency);
        if (interval.kind != IntervalKind::Bound)
            interval.low = min(interval.low, max(answer.latency / leastOutside, least));
    }
    addWidth(answer, "it is no surer than that, see its basis");
}

void addWidth(Estimate& answer, const std::string& reason) {
    const double low = answer.interval.low.value, high = answer.interval.high.value;
    const auto said = [](const Diagnostic& each) { return each.code == "interval.wide"; };
    if (high <= widestUnsaid * low || std::any_of(answer.warnings.begin(), answer.warnings.end(), said)) return;
    answer.warnings.push_back(warning("interval.wide",
                                      low > 0
                                          ? fmt::format("the interval spans a factor of {:.0f}: {}", high / low, reason)
                                          : fmt::format("the interval has no lower end: {}", reason),
                                      "Compare with a method that has been measured on kernels like these"));
}

MethodOption fusionOption() {
    return {.key = "fusion",
            .title = "Fusion",
            .choices = {"epilogue", "none", "compile", "apart"},
            .fallback = "epilogue",
            .meaning =
                "Which operators form one kernel: as an inference engine fuses them, as an eager framework runs them "
                "(none), as a compiler fuses them, or every operator of the graph alone."};
}

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

Expected<Ground> prepare(const Scenario& scenario, const EstimateContext& context) {
    auto ground = prepare(scenario);
    if (!ground) return ground;
    const auto asked = context.options.find("fusion");
    const Fusion fusion = fusionOf(asked == context.options.end() ? std::string_view() : asked->second);
    const Workload& workload = *scenario.workload;
    ground->lowering = loweringOf(scenario.workload, fusion);
    ground->least = leastPerOperator(*ground->lowering, ground->device, workload.costs.size());
    const auto& said = ground->lowering->assumptions;
    ground->assumptions.insert(ground->assumptions.end(), said.begin(), said.end());
    return ground;
}

void addCopies(Estimate& answer, const DeviceView& device) {
    if (device.copies <= 1) return;
    answer.warnings.push_back(
        warning("plan.one-device", fmt::format("only one of {} devices '{}' is used", device.copies, device.name),
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
    const CostTable& costs = ground.costs(workload);
    addLatency(answer, ground);
    answer.assumptions.insert(answer.assumptions.end(), ground.assumptions.begin(), ground.assumptions.end());
    answer.warnings.insert(answer.warnings.end(), workload.warnings.begin(), workload.warnings.end());
    addInterval(answer, costs, ground, method, kind);
    addEnergy(answer, ground.device);
    PartsRead read = ground.read;
    if (!answer.energy) read.add(addPowerCapEnergy(answer, ground.device, costs, ground.rates, ground.design.get()));
    addMemory(answer, workload, ground.device);
    if (ground.design) addParts(answer, *ground.design, read);
    answer.ceilings = ceilingsFor(ground.device, workload.costs, answer.levels.size());
    addCopies(answer, ground.device);
    if (wantTimeline) answer.timeline = serialTimeline(workload, answer.operators, ground.device.name);
}

}  // namespace orrery
