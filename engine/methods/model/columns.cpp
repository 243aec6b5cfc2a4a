#include "methods/model/columns.h"

#include <algorithm>

namespace orrery {

double latencyOf(const Composition& c) {
    return std::max(0.0, c.pipelined.total + c.graphLaunch - c.overlapped - c.turns);
}

namespace {

// Traffic past every level that the method speaks of; where it does not, the operands of the kernel past the first.
void addLevelBytes(const Composition& c, OperatorEstimates& ops) {
    const std::size_t levels = std::min(c.pricer->levels().size(), mostPricedLevels);
    ops.levelBytes.assign(levels, std::vector<double>(ops.size(), 0.0));
    for (std::size_t i = 0; i < c.prices.size(); ++i) {
        const Launch& launch = c.list().launches[i];
        const auto& said = c.prices[i].price.levelBytes;
        const auto at = static_cast<std::size_t>(launch.op);
        const double times = launch.count * launch.scale;
        const double extra = launch.count * launch.kernel.epilogue.bytes;
        if (said[0] < 0) {
            ops.levelBytes[0][at] += times * launch.kernel.bytes() + extra;
            continue;
        }
        for (std::size_t l = 0; l < levels; ++l) ops.levelBytes[l][at] += times * static_cast<double>(said[l]);
        if (!c.pricer->takesEpilogue()) ops.levelBytes[0][at] += extra;
    }
    if (levels > 0) ops.bytes = ops.levelBytes.front();
}

}  // namespace

OperatorEstimates operatorColumns(const Workload& workload, const Composition& c) {
    OperatorEstimates ops;
    const std::size_t rows = workload.costs.size();
    ops.seconds.assign(rows, 0.0);
    ops.bound.assign(rows, Bound{});
    ops.flops.assign(rows, 0.0);
    ops.bytes.assign(rows, 0.0);
    ops.lowSeconds.assign(rows, 0.0);
    ops.highSeconds.assign(rows, 0.0);
    const auto& launches = c.list().launches;
    const bool training = std::any_of(launches.begin(), launches.end(), [](const Launch& one) { return one.part != Part::Forward; });
    if (training) {
        ops.forwardSeconds.assign(rows, 0.0);
        ops.updateSeconds.assign(rows, 0.0);
    }
    std::vector<double> longest(rows, -1.0);
    const bool spoken = !c.pricer->levels().empty();
    for (std::size_t i = 0; i < c.prices.size(); ++i) {
        const Launch& launch = c.list().launches[i];
        const PricedLaunch& p = c.prices[i];
        const auto at = static_cast<std::size_t>(launch.op);
        const double busy = launch.count * p.seconds;
        ops.seconds[at] += busy + c.pipelined.idle[i];
        if (training && launch.part != Part::Backward)
            (launch.part == Part::Optimizer ? ops.updateSeconds : ops.forwardSeconds)[at] += busy + c.pipelined.idle[i];
        // Of the kernels of one operator errors are alike: their sides add.
        ops.lowSeconds[at] += launch.count * p.low;
        ops.highSeconds[at] += launch.count * p.high + c.pipelined.idle[i];
        ops.flops[at] += launch.count * (launch.scale * launch.kernel.flops + launch.kernel.epilogue.operations);
        ops.bytes[at] += launch.count * (launch.scale * launch.kernel.bytes() + launch.kernel.epilogue.bytes);
        if (busy <= longest[at]) continue;
        longest[at] = busy;
        const bool waits = c.pipelined.idle[i] > busy;
        ops.bound[at] = waits ? Bound{BoundKind::Overhead, -1} : p.price.bound;
        if (ops.bound[at].kind == BoundKind::Memory && !spoken) ops.bound[at].level = 0;
    }
    if (spoken) addLevelBytes(c, ops);
    if (!c.list().launches.empty()) {
        const auto first = static_cast<std::size_t>(c.list().launches.front().op);
        ops.seconds[first] += c.graphLaunch;
        ops.highSeconds[first] += c.graphLaunch;
    }
    if (c.overlapped + c.turns > 0) {
        double sum = 0;
        for (const double seconds : ops.seconds) sum += seconds;
        const double share = sum > 0 ? latencyOf(c) / sum : 1;
        for (auto* column : {&ops.seconds, &ops.lowSeconds}) {
            for (double& seconds : *column) seconds *= share;
        }
    }
    return ops;
}

}  // namespace orrery
