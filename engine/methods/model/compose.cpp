#include "methods/model/compose.h"

#include "methods/answer/stated_errors.h"

#include <algorithm>
#include <cmath>

namespace orrery {

namespace {

// What PyTorch's dispatch takes on the host per operation; 5 to 25 µs are reported (jiahuanglin.xyz, lesson 18).
constexpr double eagerIssue = 10e-6;
// Without any known error: a factor of two either way.
constexpr double guess = 2.0;

OperatorFamily familyOf(KernelKind kind) {
    switch (kind) {
        case KernelKind::Gemm:
            return OperatorFamily::MatrixProduct;
        case KernelKind::PrefillAttention:
            return OperatorFamily::PrefillAttention;
        case KernelKind::DecodeAttention:
            return OperatorFamily::DecodeAttention;
        case KernelKind::Convolution:
            return OperatorFamily::Convolution;
        default:
            return OperatorFamily::Elementwise;
    }
}

// Every distinct kernel is priced once: an open-addressed table from identity to the first launch of it.
std::size_t priceAll(Composition& c) {
    const auto& launches = c.list.launches;
    std::size_t slotCount = 16;
    while (slotCount < 2 * launches.size()) slotCount *= 2;
    std::vector<std::int32_t> table(slotCount, -1);
    c.prices.resize(launches.size());
    std::size_t distinct = 0;
    for (std::size_t i = 0; i < launches.size(); ++i) {
        const Kernel& kernel = launches[i].kernel;
        std::size_t at = identity(kernel) & (slotCount - 1);
        while (table[at] >= 0 && !sameKernel(launches[static_cast<std::size_t>(table[at])].kernel, kernel)) {
            at = (at + 1) & (slotCount - 1);
        }
        if (table[at] >= 0) {
            c.prices[i] = pricedLaunch(c.prices[static_cast<std::size_t>(table[at])].price, launches[i], c.gpu);
            continue;
        }
        table[at] = static_cast<std::int32_t>(i);
        ++distinct;
        KernelPrice price = c.pricer->price(kernel);
        if (!std::isfinite(price.seconds) || price.seconds < 0) price = rooflinePrice(c.gpu, kernel);
        c.prices[i] = pricedLaunch(price, launches[i], c.gpu);
    }
    return distinct;
}

void composeInterval(Composition& c) {
    std::vector<PartInterval> parts;
    parts.reserve(c.prices.size());
    for (std::size_t i = 0; i < c.prices.size(); ++i) {
        const PricedLaunch& p = c.prices[i];
        parts.push_back({p.seconds, p.low, p.high, c.list.launches[i].count,
                         static_cast<std::int32_t>(c.list.launches[i].kernel.kind)});
    }
    std::array<double, kernelKindCount> correlation{};
    for (int kind = 0; kind < kernelKindCount; ++kind) {
        correlation[static_cast<std::size_t>(kind)] = c.pricer->correlation(static_cast<KernelKind>(kind));
    }
    c.interval = composeIntervals(parts, correlation, betweenFamilies);
}

}  // namespace

PricedLaunch pricedLaunch(const KernelPrice& price, const Launch& launch, const GpuView& gpu) {
    PricedLaunch result;
    result.price = price;
    double low = price.low, high = price.high;
    if (!price.priced) {
        const StatedErrors* errors = statedErrors("roofline");
        const auto bounds = errors ? errorBounds(*errors, familyOf(launch.kernel.kind), price.seconds)
                                   : ErrorBounds{price.seconds, guess * price.seconds};
        low = price.seconds;
        high = std::max(price.seconds, bounds.high);
    } else if (!(price.low < price.high)) {
        low = price.seconds / guess;
        high = price.seconds * guess;
        result.known = false;
    }
    const double extra = launch.extraBytes > 0 && gpu.dramBandwidth > 0 ? launch.extraBytes / gpu.dramBandwidth : 0;
    result.seconds = launch.scale * price.seconds + extra;
    result.low = std::min(result.seconds, launch.scale * low + extra);
    result.high = std::max(result.seconds, launch.scale * high + extra);
    return result;
}

Doubts doubtsOf(const Composition& c) {
    Doubts doubts;
    double busy = 0;
    for (std::size_t i = 0; i < c.prices.size(); ++i) {
        const PricedLaunch& p = c.prices[i];
        const double seconds = p.seconds * c.list.launches[i].count;
        busy += seconds;
        if (!p.price.priced) {
            doubts.notCovered += seconds;
            doubts.notCoveredByKind[static_cast<std::size_t>(c.list.launches[i].kernel.kind)] += seconds;
            continue;
        }
        if (p.price.domain == DomainVerdict::Outside) doubts.outside += seconds;
        if (p.price.domain == DomainVerdict::Edge) doubts.edge += seconds;
        if (!p.known) doubts.unknown += seconds;
    }
    if (busy <= 0) return doubts;
    for (double* share : {&doubts.notCovered, &doubts.outside, &doubts.edge, &doubts.unknown}) *share /= busy;
    for (double& share : doubts.notCoveredByKind) share /= busy;
    return doubts;
}

Expected<Composition> compose(const Scenario& scenario, const KernelMethod& method, const ModelOptions& options,
                              const CalibrationSet& calibrations, const std::stop_token& stop) {
    const Workload& workload = *scenario.workload;
    Composition c;
    auto gpu = gpuView(*scenario.hardware);
    if (!gpu) return Unexpected(std::move(gpu.error()));
    c.gpu = std::move(*gpu);
    if (workload.costs.size() == 0) {
        return fail("workload.empty", "workload '" + workload.name + "' has no operators", "at least one",
                    "Import a model or choose a built-in one");
    }
    if (c.gpu.dramBandwidth <= 0) {
        const auto& main = c.gpu.device.main();
        return fail("hardware.missing-bandwidth", "the main memory of " + c.gpu.device.name + " has no bandwidth",
                    "an attribute 'bandwidth', e.g. 3.35 TB/s", "Set the bandwidth of " + main.path,
                    Place{{}, 0, 0, main.path + ".bandwidth"});
    }
    auto pricer = method.bind(c.gpu, calibrations);
    if (!pricer) return Unexpected(std::move(pricer.error()));
    c.pricer = std::move(*pricer);
    if (stop.stop_requested()) return fail("study.cancelled", "cancelled");
    c.list = launchesOf(workload, options);
    c.distinct = priceAll(c);
    if (stop.stop_requested()) return fail("study.cancelled", "cancelled");
    c.runs = runsOf(workload.graph, c.list.launches);
    std::vector<double> seconds;
    seconds.reserve(c.prices.size());
    for (const PricedLaunch& p : c.prices) seconds.push_back(p.seconds);
    if (options.launch == LaunchMode::Eager) {
        c.issue = std::max(eagerIssue, c.gpu.device.launchOverhead.value);
    } else {
        c.graphLaunch = c.gpu.device.launchOverhead.value;
    }
    c.pipelined = pipeline(c.runs, seconds, c.issue);
    if (options.streams) c.overlapped = overlappedSeconds(workload, c);
    for (const Launch& launch : c.list.launches) c.launched += launch.count;
    composeInterval(c);
    return c;
}

}  // namespace orrery
