#pragma once

// The array cycle by cycle. Every cycle the array asks its three SRAMs for the lanes that its fold demands then; a
// buffer that does not hold them makes the whole array wait; the three wait at the same time. Nothing is done per
// processing element: demand follows from the geometry of the fold, so a cycle costs the same on any array.

#include "simulation/systolic/report.h"

#include <cstdint>
#include <stop_token>

namespace orrery::systolic {

/// One cycle of the array, as a trace shows it. `cycle` counts stalls that happened before it; `stall` follows it.
struct CycleRow {
    std::int64_t cycle = 0, fold = 0;
    std::int64_t ifmapReads = 0, filterReads = 0, ofmapWrites = 0;  ///< words asked of SRAM
    std::int64_t ifmapFetched = 0, filterFetched = 0;               ///< ideal: words missing; else changes of halves
    std::int64_t activePes = 0;
    std::int64_t stall = 0;
};

/// Called with every cycle, in order; false ends the run with code `systolic.trace`.
struct CycleSink {
    virtual ~CycleSink() = default;
    virtual bool cycle(const CycleRow& row) = 0;
};

struct SimulateOptions {
    std::stop_token stop;       ///< polled once per 65,536 cycles; ends with `study.cancelled`
    CycleSink* sink = nullptr;  ///< a trace slows the run down
    /// Refuse longer runs with `systolic.too-long`, without stalls counted.
    std::int64_t mostCycles = std::int64_t{1} << 40;
    /// Refuse inputs of more words with `systolic.too-large`, where words repeat and each must be remembered.
    std::int64_t mostWords = std::int64_t{1} << 28;
};

Expected<LayerReport> simulate(const Array& array, const Layer& layer, const SimulateOptions& options = {});

}  // namespace orrery::systolic
