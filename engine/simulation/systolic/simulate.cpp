#include "simulation/systolic/simulate.h"

#include "simulation/systolic/bound_buffer.h"
#include "simulation/systolic/drain_buffer.h"
#include "simulation/systolic/layout.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery::systolic {

namespace {

// What a read buffer answers to one cycle's demand.
struct Answer {
    std::int64_t wait = 0, fetched = 0;
};

// The four read buffers, with one interface: demand(cycle, lanes, fold data) → Answer. `cycle` counts stalls.
struct IdealDistinct {
    IdealBuffer buffer;
    std::int64_t ago = 0;
    void enter(std::int64_t, std::int64_t reuse, std::int64_t foldCycles) { ago = reuse * foldCycles; }
    Answer demand(std::int64_t cycle, const Lanes& lanes, bool) {
        return {0, buffer.demand(cycle, lanes.lo, lanes.hi, ago)};
    }
};

struct BoundDistinct {
    BoundBuffer buffer;
    FetchOrder order;
    std::int64_t loadsPerTile = 1;  ///< row folds within one tile of an operand that is loaded
    std::int64_t rows = 0;
    std::int64_t tile = 0, firstRow = 0;
    void enter(std::int64_t fetchTile, std::int64_t, std::int64_t) {
        tile = order.diagonal ? fetchTile : fetchTile / loadsPerTile;
        firstRow = order.diagonal ? 0 : fetchTile % loadsPerTile * rows;
    }
    Answer demand(std::int64_t cycle, const Lanes& lanes, bool loads) {
        if (lanes.hi < lanes.lo || buffer.holdsAll()) return {};
        const std::int64_t before = buffer.exchanges();
        const std::int64_t row = loads ? firstRow + lanes.step : lanes.step - lanes.lo;
        const std::int64_t first = order.position(tile, row, lanes.lo);
        const std::int64_t wait = buffer.demand(cycle, first, first + lanes.hi - lanes.lo);
        return {wait, buffer.exchanges() - before};
    }
};

struct IdealRepeating {
    const FoldPlan& plan;
    const InputWords& words;
    IdealBuffer buffer;
    std::int64_t tile = 0, real = 0;
    void enter(std::int64_t fetchTile, std::int64_t, std::int64_t) { tile = fetchTile; }
    Answer demand(std::int64_t cycle, const Lanes& lanes, bool) {
        std::int64_t misses = 0;
        real = 0;
        words.sweep(inputRun(plan, tile, lanes), [&](const Stretch& stretch) {
            real += stretch.count;
            misses += buffer.sweep(cycle, stretch);
            return true;
        });
        return {0, misses};
    }
};

struct BoundRepeating {
    const FoldPlan& plan;
    const InputWords& words;
    BoundInput buffer;
    std::int64_t tile = 0, real = 0;
    void enter(std::int64_t fetchTile, std::int64_t, std::int64_t) { tile = fetchTile; }
    Answer demand(std::int64_t cycle, const Lanes& lanes, bool) {
        const std::int64_t before = buffer.exchanges();
        std::int64_t wait = 0;
        real = 0;
        words.sweep(inputRun(plan, tile, lanes), [&](const Stretch& stretch) {
            real += stretch.count;
            wait = buffer.sweep(cycle, wait, stretch);
            return true;
        });
        return {wait, buffer.exchanges() - before};
    }
};

struct BankedInput {
    const FoldPlan& plan;
    const InputWords& words;
    BankedBuffer buffer;
    std::int64_t tile = 0, real = 0;
    void enter(std::int64_t fetchTile, std::int64_t, std::int64_t) { tile = fetchTile; }
    Answer demand(std::int64_t cycle, const Lanes& lanes, bool) {
        const std::int64_t before = buffer.exchanges();
        buffer.begin(cycle);
        real = 0;
        words.sweep(inputRun(plan, tile, lanes), [&](const Stretch& stretch) {
            real += stretch.count;
            for (std::int64_t i = 0; i < stretch.count; ++i)
                buffer.word(static_cast<std::int64_t>(stretch.first) + i * stretch.step);
            return true;
        });
        return {buffer.end(), buffer.exchanges() - before};
    }
};

struct BankedFilter {
    const FoldPlan& plan;
    BankedBuffer buffer;
    std::int64_t tile = 0;
    void enter(std::int64_t fetchTile, std::int64_t, std::int64_t) { tile = fetchTile; }
    Answer demand(std::int64_t cycle, const Lanes& lanes, bool) {
        const std::int64_t before = buffer.exchanges();
        buffer.begin(cycle);
        visitFilter(plan, tile, lanes, [&](std::int64_t address) { buffer.word(address); });
        return {buffer.end(), buffer.exchanges() - before};
    }
};

template <class T>
constexpr bool conflicts = requires(T buffer) {
    buffer.buffer.conflictCycles();
};
template <class T>
constexpr bool repeats = requires(T buffer) {
    buffer.real;
};

struct Span {
    std::int64_t first = -1, last = -1;
    void see(std::int64_t cycle) {
        if (first < 0) first = cycle;
        last = cycle;
    }
    void into(Access& access, std::int64_t latency) const {
        if (first < 0) return;
        access.start = static_cast<double>(first + latency);
        access.stop = static_cast<double>(last + latency);
    }
};

template <class Ifmap, class Filter>
Expected<LayerReport> run(const Array& array, const Layer& layer, const FoldPlan& plan, const SimulateOptions& options,
                          Ifmap& ifmap, Filter& filter) {
    LayerReport report = beginReport(array, layer, plan);
    DrainBuffer ofmap(array.ofmapWords, array.idealBandwidth ? array.cols : array.ofmapBandwidth);
    Span ifmapSpan, filterSpan, ofmapSpan;
    std::int64_t stalls = 0;
    std::int64_t lastWrite = 0;
    for (std::int64_t index = 0; index < plan.folds(); ++index) {
        const Fold fold = plan.fold(index);
        const Stream ifmapStream = plan.ifmap(fold);
        const Stream filterStream = plan.filter(fold);
        const Stream ofmapStream = plan.ofmap(fold);
        ifmap.enter(plan.ifmapTile(fold), plan.ifmapReuse(fold), plan.foldCycles);
        filter.enter(plan.filterTile(fold), plan.filterReuse(fold), plan.foldCycles);
        for (std::int64_t local = 0; local < plan.foldCycles; ++local) {
            const std::int64_t step = fold.begin + local;
            if ((step & 0xffff) == 0 && options.stop.stop_requested()) {
                return fail("study.cancelled", "the run was cancelled", {}, {}, {.path = layer.name});
            }
            const std::int64_t cycle = step + stalls;
            const Lanes in = ifmapStream.at(local);
            const Answer inAnswer = ifmap.demand(cycle, in, ifmapStream.loads);
            const Lanes weights = filterStream.at(local);
            const Answer weightAnswer = filter.demand(cycle, weights, filterStream.loads);
            const std::int64_t writes = ofmapStream.at(local).count();
            const std::int64_t writeWait = ofmap.write(cycle, writes);

            std::int64_t inReads = in.count();
            if constexpr (repeats<Ifmap>) inReads = ifmap.real;
            if (inReads > 0) {
                ifmapSpan.see(cycle + inAnswer.wait);
            }
            if (weights.hi >= weights.lo) filterSpan.see(cycle + weightAnswer.wait);
            if (writes > 0) ofmapSpan.see(cycle + writeWait);
            lastWrite = cycle + writeWait;
            report.totalCycles = std::max(report.totalCycles, lastWrite);
            const std::int64_t stall = std::max({inAnswer.wait, weightAnswer.wait, writeWait});
            stalls += stall;
            if (options.sink && !options.sink->cycle({cycle, index, inReads, weights.count(), writes, inAnswer.fetched,
                                                      weightAnswer.fetched, plan.activePes(fold, local), stall})) {
                return fail("systolic.trace", "the trace could not be written", {}, "is the disk full?",
                            {.path = layer.name});
            }
        }
    }
    ofmap.finish(lastWrite);
    report.stallCycles = stalls;
    if constexpr (conflicts<Ifmap>) report.ifmapConflictCycles = ifmap.buffer.conflictCycles();
    if constexpr (conflicts<Filter>) report.filterConflictCycles = filter.buffer.conflictCycles();
    constexpr std::int64_t hitLatency = 1;
    ifmapSpan.into(report.sramIfmap, hitLatency);
    filterSpan.into(report.sramFilter, hitLatency);
    ofmapSpan.into(report.sramOfmap, 0);
    finishReport(report, array, ifmap.buffer.transfer(), filter.buffer.transfer(), ofmap.transfer());
    return report;
}

BoundDistinct boundDistinct(const FoldPlan& plan, const FetchOrder& order, std::int64_t words, std::int64_t bandwidth,
                            bool waitsTwice) {
    return {.buffer = BoundBuffer(words, bandwidth, order.elements(), order.places(), waitsTwice),
            .order = order,
            .loadsPerTile = plan.rowFolds,
            .rows = plan.rows};
}

Expected<LayerReport> simulateBanked(const Array& array, const Layer& layer, const FoldPlan& plan,
                                     const SimulateOptions& options) {
    if (auto good = checkLayouts(array, layer); !good) return tl::unexpected(good.error());
    const InputWords words(layer, plan,
                           array.ifmapBanks ? InputWords::Numbers::AsAddresses : InputWords::Numbers::Askew);
    const auto withFilter = [&](auto& ifmap) {
        if (array.filterBanks) {
            BankedFilter filter{plan, BankedBuffer(layOut(layer.filterLayout, {layer.filters, layer.channels,
                                                                               layer.filterHeight, layer.filterWidth}),
                                                   array.filterWords, array.filterBandwidth, *array.filterBanks,
                                                   array.waitsCountTwice)};
            return run(array, layer, plan, options, ifmap, filter);
        }
        auto filter =
            boundDistinct(plan, filterOrder(plan), array.filterWords, array.filterBandwidth, array.waitsCountTwice);
        return run(array, layer, plan, options, ifmap, filter);
    };
    if (array.ifmapBanks) {
        BankedInput ifmap{
            plan, words,
            BankedBuffer(layOut(layer.ifmapLayout, {layer.ifmapHeight, layer.ifmapWidth, layer.channels}),
                         array.ifmapWords, array.ifmapBandwidth, *array.ifmapBanks, array.waitsCountTwice)};
        return withFilter(ifmap);
    }
    if (words.distinct()) {
        auto ifmap =
            boundDistinct(plan, ifmapOrder(plan), array.ifmapWords, array.ifmapBandwidth, array.waitsCountTwice);
        return withFilter(ifmap);
    }
    BoundRepeating ifmap{plan, words,
                         BoundInput(plan, words, array.ifmapWords, array.ifmapBandwidth, array.waitsCountTwice)};
    return withFilter(ifmap);
}

}  // namespace

Expected<LayerReport> simulate(const Array& array, const Layer& layer, const SimulateOptions& options) {
    const auto plan = planFolds(array, layer);
    if (!plan) return tl::unexpected(plan.error());
    if (plan->cycles() > options.mostCycles) {
        return fail("systolic.too-long",
                    fmt::format("the run would take {:.3g} cycles of the array", static_cast<double>(plan->cycles())),
                    fmt::format("at most {:.3g}", static_cast<double>(options.mostCycles)),
                    "ask the closed form, or raise the limit", {.path = layer.name});
    }
    const double inputWords = static_cast<double>(layer.ifmapHeight) * static_cast<double>(layer.ifmapWidth) *
                              static_cast<double>(layer.channels);
    const bool remembered = !inputDistinct(layer) || (array.ifmapBanks && !array.idealBandwidth);
    if (remembered && inputWords > static_cast<double>(options.mostWords)) {
        return fail("systolic.too-large", fmt::format("the input has {:.3g} words", inputWords),
                    fmt::format("at most {:.3g} where its words repeat or lie in banks",
                                static_cast<double>(options.mostWords)),
                    "ask the closed form, or split the layer", {.path = layer.name});
    }
    if (!array.idealBandwidth && array.layouts()) return simulateBanked(array, layer, *plan, options);
    const InputWords words(layer, *plan);
    if (array.idealBandwidth) {
        IdealDistinct filter{IdealBuffer(array.filterWords, array.filterBandwidth)};
        IdealBuffer buffer(array.ifmapWords, array.ifmapBandwidth);
        if (words.distinct()) {
            IdealDistinct ifmap{buffer};
            return run(array, layer, *plan, options, ifmap, filter);
        }
        buffer.trackWords(words.numbers());
        IdealRepeating ifmap{*plan, words, std::move(buffer)};
        return run(array, layer, *plan, options, ifmap, filter);
    }
    auto filter =
        boundDistinct(*plan, filterOrder(*plan), array.filterWords, array.filterBandwidth, array.waitsCountTwice);
    if (words.distinct()) {
        auto ifmap =
            boundDistinct(*plan, ifmapOrder(*plan), array.ifmapWords, array.ifmapBandwidth, array.waitsCountTwice);
        return run(array, layer, *plan, options, ifmap, filter);
    }
    BoundRepeating ifmap{*plan, words,
                         BoundInput(*plan, words, array.ifmapWords, array.ifmapBandwidth, array.waitsCountTwice)};
    return run(array, layer, *plan, options, ifmap, filter);
}

}  // namespace orrery::systolic
