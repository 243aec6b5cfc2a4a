#include "evaluation/error_measurement.h"

#include "base/maths.h"
#include "evaluation/error_metrics.h"

#include <algorithm>
#include <limits>

namespace orrery {

namespace {
constexpr std::size_t leastRows = 20;
constexpr double largerThanCaches = 192e6;  // twice the largest L2 of the data sets, 96 MB of the L40S
}  // namespace

ReferenceSet withoutWarmRows(const ReferenceSet& set, const DeviceView& device) {
    const auto outermost = std::find_if(device.levels.begin(), device.levels.end(),
                                        [](const MemoryLevel& level) { return level.kind == ComponentKind::Cache; });
    if (outermost == device.levels.end()) return set;
    const auto costs = costTable(set.graph);
    ReferenceSet kept = set;
    kept.graph.operators.clear();
    kept.seconds.clear();
    for (std::size_t i = 0; i < costs.size(); ++i) {
        const double peak = device.peak(costs.macs[i] > 0, costs.type[i]).value;
        const bool memoryBound = costs.bytes(i) / device.main().bandwidth.value >= costs.flops[i] / peak;
        if (memoryBound && costs.bytes(i) <= outermost->capacity.value) continue;
        kept.graph.operators.push_back(set.graph.operators[i]);
        kept.seconds.push_back(set.seconds[i]);
    }
    return kept;
}

Expected<Comparison> compare(const Method& method, const ReferenceSet& set, const HardwarePtr& hardware,
                             Executor& executor) {
    EstimateContext context{executor, {}, nullptr, 0, false};
    auto answer = estimate(method, Scenario{hardware, set.workload()}, context);
    if (!answer) return tl::unexpected(std::move(answer.error()));
    return Comparison{set.family, std::move(answer->operators.seconds), set.seconds};
}

ClassQuantiles measureQuantiles(const Comparison& comparison) {
    std::array<std::vector<double>, errorClassCount> errors;
    for (std::size_t i = 0; i < comparison.predicted.size(); ++i) {
        const double predicted = comparison.predicted[i];
        if (predicted <= 0) continue;
        const int c = errorClass(predicted);
        errors[static_cast<std::size_t>(c)].push_back(c == 0 ? comparison.measured[i] - predicted
                                                             : comparison.measured[i] / predicted);
    }
    ClassQuantiles quantiles{};
    for (std::size_t c = 0; c < errors.size(); ++c) {
        if (errors[c].size() < leastRows) continue;
        quantiles[c] = {quantileType7(errors[c], 0.05), quantileType7(errors[c], 0.5), quantileType7(errors[c], 0.95),
                        static_cast<int>(errors[c].size())};
    }
    return quantiles;
}

ClassQuantiles envelope(std::span<const ClassQuantiles> devices) {
    ClassQuantiles all{};
    for (std::size_t c = 0; c < all.size(); ++c) {
        double low = std::numeric_limits<double>::infinity();
        double high = -low;
        double middle = 0;
        int having = 0;
        int rows = 0;
        for (const auto& device : devices) {
            const auto& q = device[c];
            if (q.rows == 0) continue;
            low = std::min(low, q.p5);
            high = std::max(high, q.p95);
            middle += q.p50;
            rows += q.rows;
            ++having;
        }
        if (having > 0) all[c] = {low, middle / having, high, rows};
    }
    // Only ratios may stand in for each other: the first class is a difference.
    for (std::size_t c = all.size() - 1; c-- > 1;) {
        if (all[c].rows == 0) all[c] = all[c + 1], all[c].rows = 0;
    }
    for (std::size_t c = 2; c < all.size(); ++c) {
        if (all[c].p95 == 0) all[c] = all[c - 1], all[c].rows = 0;
    }
    return all;
}

Coverage coverage(const StatedErrors& errors, std::span<const Comparison> comparisons) {
    Coverage result;
    std::size_t inside = 0;
    std::size_t below = 0;
    for (const auto& comparison : comparisons) {
        for (std::size_t i = 0; i < comparison.predicted.size(); ++i) {
            const auto bounds = errorBounds(errors, comparison.family, comparison.predicted[i]);
            const double measured = comparison.measured[i];
            inside += measured >= bounds.low && measured <= bounds.high;
            below += measured < bounds.low;
        }
        result.rows += comparison.predicted.size();
    }
    if (result.rows > 0) {
        result.inside = static_cast<double>(inside) / static_cast<double>(result.rows);
        result.below = static_cast<double>(below) / static_cast<double>(result.rows);
    }
    return result;
}

AchievedShares achievedShares(const ReferenceSet& set, const DeviceView& device) {
    const auto costs = costTable(set.graph);
    std::vector<double> compute;
    std::vector<double> memory;
    for (std::size_t i = 0; i < costs.size(); ++i) {
        const double work = 2 * costs.macs[i] / device.peak(true, costs.type[i]).value;
        const double move = costs.bytes(i) / device.main().bandwidth.value;
        if (work >= 1e-3 && work >= 2 * move) compute.push_back(work / set.seconds[i]);
        if (costs.bytes(i) > largerThanCaches && move >= 4 * work) memory.push_back(move / set.seconds[i]);
    }
    AchievedShares shares;
    shares.computeRows = compute.size();
    shares.memoryRows = memory.size();
    if (compute.size() >= leastRows) shares.compute = quantileType7(compute, 0.5);
    if (memory.size() >= leastRows) shares.memory = quantileType7(memory, 0.5);
    return shares;
}

}  // namespace orrery
