#include "simulation/systolic/closed_form.h"

#include "simulation/systolic/drain_buffer.h"
#include "simulation/systolic/operand.h"

#include <algorithm>

namespace orrery::systolic {

namespace {

// Outputs of a fold, many cycles at a time: up to the cycle in which the buffer does something, then that cycle alone.
void writeFold(DrainBuffer& buffer, const Stream& stream, std::int64_t begin) {
    std::int64_t cycle = stream.first();
    const std::int64_t end = stream.last() + 1;
    while (cycle < end) {
        const std::int64_t room = buffer.quietWords(begin + cycle);
        const std::int64_t base = stream.before(cycle);
        // While the buffer writes out, more fits in than afterwards: stop there at the latest.
        const std::int64_t busy = buffer.busyUntil() - begin;
        const std::int64_t limit = cycle < busy ? std::min(end, busy) : end;
        std::int64_t low = cycle;
        std::int64_t high = limit;
        while (low < high) {
            const std::int64_t middle = low + (high - low + 1) / 2;
            if (stream.before(middle) - base <= room)
                low = middle;
            else
                high = middle - 1;
        }
        buffer.store(stream.before(low) - base);
        cycle = low;
        if (cycle < limit) {
            buffer.write(begin + cycle, stream.at(cycle).count());
            ++cycle;
        }
    }
}

void sramCycles(LayerReport& report, const FoldPlan& plan) {
    const Fold first = plan.fold(0);
    const Fold last = plan.fold(plan.folds() - 1);
    constexpr std::int64_t hitLatency = 1;
    const auto fill = [&](Access& access, const Stream& from, const Stream& to, std::int64_t latency) {
        access.start = static_cast<double>(from.first() + latency);
        access.stop = static_cast<double>(last.begin + to.last() + latency);
    };
    fill(report.sramIfmap, plan.ifmap(first), plan.ifmap(last), hitLatency);
    fill(report.sramFilter, plan.filter(first), plan.filter(last), hitLatency);
    fill(report.sramOfmap, plan.ofmap(first), plan.ofmap(last), 0);
}

}  // namespace

std::int64_t closedFormCycles(const FoldPlan& plan) {
    return plan.cycles() - 1;
}

Expected<LayerReport> closedForm(const Array& array, const Layer& layer, const ClosedFormOptions& options) {
    const auto plan = planFolds(array, layer);
    if (!plan) return tl::unexpected(plan.error());
    LayerReport report = beginReport(array, layer, *plan);
    report.totalCycles = closedFormCycles(*plan);
    sramCycles(report, *plan);
    report.dramKnown = options.traffic && inputDistinct(layer);
    if (!report.dramKnown) {
        finishReport(report, array, {}, {}, {});
        return report;
    }
    IdealBuffer ifmap(array.ifmapWords, array.ifmapBandwidth);
    IdealBuffer filter(array.filterWords, array.filterBandwidth);
    DrainBuffer ofmap(array.ofmapWords, array.cols);
    for (std::int64_t index = 0; index < plan->folds(); ++index) {
        const Fold fold = plan->fold(index);
        ifmap.demandFold(plan->ifmap(fold), fold.begin, plan->ifmapReuse(fold) * plan->foldCycles);
        filter.demandFold(plan->filter(fold), fold.begin, plan->filterReuse(fold) * plan->foldCycles);
        writeFold(ofmap, plan->ofmap(fold), fold.begin);
    }
    ofmap.finish(report.totalCycles);
    finishReport(report, array, ifmap.transfer(), filter.transfer(), ofmap.transfer());
    return report;
}

}  // namespace orrery::systolic
