#pragma once

// A core as numbers: widths, queues, ports and units, caches, memory. Times are in cycles of the core unless stated.

#include "base/diagnostic.h"
#include "simulation/cpu/core/op.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace orrery::pipeline {

inline constexpr std::size_t mostPorts = 16, mostCaches = 3;

/// Where operations of one kind run.
struct UnitUse {
    std::uint16_t ports = 0;  ///< bit i is port i
    int latency = 1;          ///< cycles to the result
    int occupancy = 1;        ///< cycles until the port takes the next
};

enum class PredictorKind : std::uint8_t { Perfect, Taken, Gshare, Tage };

struct CacheSpec {
    std::string name;
    double bytes = 0;
    int ways = 8;
    int latency = 4;            ///< from the issue of a load to its data
    int misses = 10;            ///< in flight at once (MSHRs)
    double bytesPerCycle = 64;  ///< to the cache inside; of the first what its load ports take counts
    bool nextLine = false;      ///< prefetches the line after a miss
    bool stride = false;        ///< prefetches by the strides of instructions
    bool stream = false;        ///< prefetches ahead of streams within a page
};

struct Machine {
    std::string id, title, source;
    double clock = 3e9;   ///< Hz
    int fetchWidth = 4;   ///< slots per cycle; a taken branch ends the cycle's group
    int issueWidth = 4;   ///< slots that are renamed and dispatched per cycle
    int retireWidth = 4;  ///< slots
    int frontDepth = 10;  ///< cycles from fetch to dispatch
    int decodeQueue = 64;
    int reorderBuffer = 224;
    int scheduler = 97;
    int loadQueue = 72, storeQueue = 56;
    int integerRegisters = 150, vectorRegisters = 140;  ///< beyond the architectural ones
    bool fusesLoads = true;                             ///< a load and what uses it take one slot
    int vectorBytes = 32;  ///< widest that a unit takes at once; wider operations hold it longer
    std::vector<std::string> portNames;
    /// Wide: of so many bytes or more, where it differs (ports not 0).
    std::array<UnitUse, opKindCount> units{}, wideUnits{};
    int wideBytes = 64;
    std::uint16_t storeDataPorts = 0;                       ///< 0: data leave with the address
    int vectorLoadExtra = 1;                                ///< cycles of a vector load over a general one
    int forward = 5;                                        ///< cycles from a store's data to a load of it
    int blocked = 12;  ///< cycles after the store has left for a load that overlaps it in part
    int storesPerCycle = 1;
    PredictorKind predictor = PredictorKind::Tage;
    int predictorBits = 12;  ///< log2 of the entries of a table
    std::vector<CacheSpec> caches;
    double memoryLatency = 70e-9;   ///< s beyond the outermost cache
    double memoryBandwidth = 15e9;  ///< B/s of this core
    std::vector<std::string> instructionSets;

    bool has(std::string_view instructionSet) const;
};

/// Codes `core.…`: widths and sizes that no core has, kinds without a port.
Expected<void> check(const Machine& machine);
/// The operations of a program on the ports of a machine.
std::vector<BoundOp> boundOps(const Machine& machine, const std::vector<StaticOp>& ops);

/// `presets/pipelines/<id>.yaml` or a file. Codes `core.…` with file and line.
Expected<Machine> loadMachine(const std::string& id);
std::vector<std::string> machineIds();

}  // namespace orrery::pipeline
