#pragma once

// A trace of requests through one ruled channel: who arrives when, and what the run says at its end.

#include "simulation/dram/ruled/ruled_controller.h"

#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

/// From an address to a place. `RoBaRaCoCh`: column, rank or pseudo-channel, stack, bank group, bank, row from the
/// least significant bit; `MOP4CLXOR`: four columns, then rank … bank, the other columns, row, each field from the rank
/// on XORed with bits of the column.
class RuledAddressMap {
public:
    static Expected<RuledAddressMap> make(const DramRules& rules, std::string_view name);
    RuledPlace place(std::uint64_t address) const;

private:
    std::vector<std::int32_t> bankOf_;  ///< of the bits of all levels from the second to the bank
    int offsetBits_ = 0, bankBits_ = 0, columnBits_ = 0, rowBits_ = 0;
    bool xorred_ = false;
};

struct DramTraceRequest {
    std::uint64_t address = 0;
    bool write = false;
};

/// `R 0x1f40` or `W 0x1f40` per line. Code `dram.trace` with the line.
Expected<std::vector<DramTraceRequest>> readDramTrace(const std::string& path);
Expected<std::vector<DramTraceRequest>> readDramTrace(std::string_view text, const std::string& path);

struct RuledInjection {
    std::int64_t every = 1;  ///< cycles between two requests at least
    bool chain = false;      ///< one at a time: the next when the read before has returned
    /// `asap`, `everyK`, `chain`.
    static Expected<RuledInjection> parse(std::string_view text);
};

struct RuledResult {
    std::int64_t cycles = 0;      ///< until every read returned and every write was issued
    std::int64_t lastAccept = 0;  ///< cycle
    std::int64_t reads = 0, writes = 0;
    double bytesPerSecond = 0;
    double meanLatency = 0;  ///< of reads, cycles from acceptance to the last beat
    std::int64_t leastLatency = 0, medianLatency = 0, latency95 = 0, mostLatency = 0;
    RuledCounts counts;
    int ranks = 1;                             ///< that stand by for themselves
    std::int64_t activeCycles = 0;             ///< with a row open or in refresh, summed over ranks
    std::int64_t rankRefreshes = 0;            ///< of all banks of a rank
    std::vector<std::int64_t> accepted, done;  ///< per request, cycles
    std::vector<std::int64_t> waits;           ///< RuledDramController::waits()
};

/// The commands of a run, as long as there is room.
struct RuledRecord {
    std::size_t most = 50'000;
    std::vector<RuledIssued> issued;
    bool cut = false;  ///< there were more
};

/// Fails with `dram.stopped`, or `dram.stuck` where rules never let a request go on. A record makes its part of the run
/// slower.
Expected<RuledResult> runRuledDram(const DramRules& rules, const RuledAddressMap& map, bool refresh,
                                   const RuledInjection& injection, const std::vector<DramTraceRequest>& trace,
                                   std::stop_token stop = {}, RuledRecord* record = nullptr);

}  // namespace orrery
