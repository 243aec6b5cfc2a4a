#pragma once

// An out-of-order core, operation by operation. Each operation is carried through fetch, dispatch, issue, completion
// and retirement in program order, and takes what it needs in time: slots of the front end, entries of queues, the
// first free cycle of a port, entries for misses. Since older operations choose first, ports serve the oldest that is
// ready, as a scheduler with age order does cycle by cycle. See README.md for what follows from that.

#include "simulation/cpu/core/machine.h"
#include "simulation/cpu/core/memory.h"
#include "simulation/cpu/core/predictor.h"

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace orrery::pipeline {

/// Why a slot of retirement was used, or was not: what the oldest operation waited for.
enum class Cause : std::uint8_t {
    Retiring,    ///< used
    FrontEnd,    ///< fetch and dispatch
    Mispredict,  ///< from fetching wrongly to refilling
    Window,      ///< no entry of a queue
    Ports,       ///< ready, and no port free
    Execution,   ///< latency of units
    Divide,      ///< latency of dividers
    Forward,     ///< data of a store before
    Level1,
    Level2,
    Level3,
    Memory,
    Stores  ///< store queue full
};
inline constexpr std::size_t causeCount = 13;
std::string_view toText(Cause cause);

struct Counters {
    std::uint64_t cycles = 0, instructions = 0, operations = 0;
    int retireWidth = 1;
    /// Slots of retirement by cause; they sum to cycles × retireWidth exactly.
    std::array<std::uint64_t, causeCount> slotsBy{};
    std::array<std::uint64_t, mostPorts> portCycles{};
    std::uint64_t loads = 0, stores = 0, forwarded = 0, blocked = 0, branches = 0, mispredicted = 0;
    MemoryCounts memory;

    double cpi() const { return instructions ? static_cast<double>(cycles) / static_cast<double>(instructions) : 0.0; }
    /// Cycles by cause; they sum to `cycles`.
    std::array<double, causeCount> stack() const;
};

/// When an operation was where, in cycles from 0.
struct Passage {
    std::uint64_t fetch = 0, dispatch = 0, issue = 0, complete = 0, retire = 0;
    int port = -1;
};

class Pipeline {
public:
    /// Keeps the machine's numbers; the operations must outlive it.
    Pipeline(const Machine& machine, const std::vector<BoundOp>& ops);
    /// One of several: `machine` has the caches of this core alone, and what they miss is asked of `beyond`, which must
    /// outlive it.
    Pipeline(const Machine& machine, const std::vector<BoundOp>& ops, Beyond& beyond, int core);
    ~Pipeline();
    Pipeline(Pipeline&&) noexcept;
    /// Runs the operations of the chunk; nothing is allocated.
    void run(const OpChunk& chunk);
    /// The same, and tells when each was where; one entry per operation is added.
    void run(const OpChunk& chunk, std::vector<Passage>& passages);
    /// Contents of caches and predictor only, as if the chunk had run in no time.
    void warm(const OpChunk& chunk);
    /// For what is run in part: contents that the rest would have left (memory.h).
    Memory& memory();
    /// Nothing more is fetched before this cycle: for cores that go on together.
    void holdUntil(std::uint64_t cycle);
    /// Nothing that runs later asks caches before this cycle.
    std::uint64_t now() const;
    /// Of all that ran so far; the cycle of the last retirement ends it.
    Counters counters() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace orrery::pipeline
