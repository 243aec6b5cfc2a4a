#include "store/export/export_parts.h"

#include <algorithm>
#include <array>

namespace orrery::store {

std::string_view toText(BoundKind kind) {
    switch (kind) {
        case BoundKind::Compute:
            return "compute";
        case BoundKind::Memory:
            return "memory";
        case BoundKind::Overhead:
            return "overhead";
        case BoundKind::Network:
            return "network";
        case BoundKind::None:
            break;
    }
    return "none";
}

std::string_view toText(IntervalKind kind) {
    switch (kind) {
        case IntervalKind::StatedError:
            return "stated-error";
        case IntervalKind::Bound:
            return "bound";
        case IntervalKind::Ensemble:
            return "ensemble";
        case IntervalKind::Residuals:
            return "residuals";
        case IntervalKind::Sampling:
            return "sampling";
    }
    return "stated-error";
}

std::string_view workText(std::int32_t work) {
    switch (work) {
        case SpanForward:
            return "forward";
        case SpanBackward:
            return "backward";
        case SpanExchange:
            return "exchange";
        case SpanUpdate:
            return "optimizer";
        default:
            return "span";
    }
}

std::string boundText(const Estimate& estimate, std::size_t op) {
    if (op >= estimate.operators.bound.size()) return "none";
    const Bound bound = estimate.operators.bound[op];
    const auto level = static_cast<std::size_t>(std::max<std::int16_t>(bound.level, 0));
    if (bound.kind == BoundKind::Memory && bound.level >= 0 && level < estimate.levels.size()) {
        return estimate.levels[level];
    }
    return std::string(toText(bound.kind));
}

OperatorLabel operatorLabel(const Scenario& scenario, std::size_t op) {
    if (!scenario.workload || op >= scenario.workload->graph.operators.size()) {
        return {"operator " + std::to_string(op), "", "", OperatorKind::Other, 1};
    }
    const Operator& found = scenario.workload->graph.operators[op];
    return {found.name, found.type, found.block, found.kind, found.repeat};
}

std::vector<KindShare> timeByKind(const Scenario& scenario, const Estimate& estimate) {
    std::array<double, operatorKindCount> sums{};
    for (std::size_t i = 0; i < estimate.operators.size(); ++i) {
        sums[static_cast<std::size_t>(operatorLabel(scenario, i).kind)] += estimate.operators.seconds[i];
    }
    std::vector<KindShare> shares;
    for (std::size_t kind = 0; kind < sums.size(); ++kind) {
        if (sums[kind] > 0) shares.push_back({static_cast<OperatorKind>(kind), sums[kind]});
    }
    std::stable_sort(shares.begin(), shares.end(), [](const auto& a, const auto& b) { return a.seconds > b.seconds; });
    return shares;
}

}  // namespace orrery::store
