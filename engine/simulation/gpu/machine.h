#pragma once

// A GPU as the cycle simulator runs it: numbers alone, read from the option files that Accel-Sim takes. Cycles are core
// cycles unless a comment says otherwise; sizes are bytes.

#include "base/diagnostic.h"
#include "simulation/gpu/generations.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace orrery::gpusim {

/// One bit per lane of a warp, or of a wavefront of 64.
using LaneMask = std::uint64_t;
constexpr LaneMask lanesUpTo(int count) {
    return count >= 64 ? ~LaneMask{0} : (LaneMask{1} << count) - 1;
}

/// Where an instruction is executed. The order is that in which operand collectors look at waiting instructions.
enum class Unit : std::uint8_t { Sp, Sfu, Mem, Tensor, Dp, Int, Special1, Special2, Special3, Special4 };
constexpr std::size_t unitCount = 10;

enum class Scheduler : std::uint8_t { LooseRoundRobin, GreedyThenOldest, OldestFirst, TwoLevel, GreedyThenYoungest };

struct UnitTiming {
    int latency = 1;
    int initiation = 1;
    bool present = true;
};

/// Of instructions whose name begins so, where it is not that of their unit: `HMMA.16816`, `IMMA`.
struct OpcodeTiming {
    std::string prefix;
    int latency = 1;
    int initiation = 1;
};

struct CacheShape {
    int sets = 1;
    int ways = 1;
    int mshrs = 1;   ///< sectors under fill
    int merges = 1;  ///< requests that wait for one of them
    int missQueue = 1;
    bool writeBack = false;
    char indexing = 'L';  ///< L plain bits, P polynomial, X exclusive or
};

/// In cycles of the command clock.
struct DramTiming {
    int banks = 16, groups = 4;
    int ccd = 1, rrd = 1, rcd = 1, ras = 1, rp = 1, rc = 1, cl = 1, wl = 1, cdlr = 1, wr = 1, ccdl = 1, rtpl = 1;
    int burst = 1;  ///< of 32 bytes
    int readToWrite = 1, writeToRead = 1, writeToPrecharge = 1, rowToWrite = 1;
    bool twoCommands = false;  ///< a row and a column command per cycle
};

/// In front of main memory, behind every L2: AMD's Infinity Cache. Its parts belong to the memory channels.
struct LastLevelCache {
    double bytes = 0;         ///< of the whole machine; 0: none
    int latency = 0;          ///< core cycles beyond L2
    int sectorsPerCycle = 1;  ///< of one channel and command cycle
};

struct Machine {
    std::string name;
    std::string origin;  ///< a digest of all options that it was read from; empty: it was made otherwise
    double coreMhz = 0, networkMhz = 0, l2Mhz = 0, dramMhz = 0;
    int launchLatency = 0, blockLaunchLatency = 0;
    int concurrentKernels = 1;  ///< of different streams at a time; 1: one after the other, whatever their streams
    int sms = 0, channels = 0, slicesPerChannel = 1;
    int lanes = 32;  ///< of a warp; 64 of a wavefront
    int dies = 1;    ///< each with an L2 of its own; blocks go to them in turn
    int maxThreads = 0, maxBlocks = 0, registers = 0, sharedBytes = 0;
    int schedulers = 4, collectors = 8, collectorPorts = 8, registerBanks = 8, registerPasses = 2, fetches = 4;
    int unitsPerClass = 4;
    Scheduler scheduler = Scheduler::LooseRoundRobin;
    std::array<UnitTiming, unitCount> units{};
    std::vector<OpcodeTiming> opcodes;  ///< the longest prefix holds
    int sharedLatency = 1, l1Latency = 1, l1Banks = 4;
    CacheShape l1, l2;
    int unifiedBytes = 0;  ///< L1 and shared memory together
    std::vector<int> sharedOptions;
    bool adaptiveL1 = true, invalidatesL1 = true, skipsL1 = false;
    double l1DirtyPercent = 0;    ///< clean lines are replaced first below it
    bool copiesBypassL1 = false;  ///< LDGSTS.BYPASS, as it says; Accel-Sim's machines put them through L1
    int sectorsPerCycle = 1;      ///< between an SM and the network, each way; Accel-Sim's machines have one
    int networkBuffers = 512;
    int ejectionBuffers = 32;
    int ropLatency = 0, dramLatency = 0;
    int toL2 = 64, toDram = 64, fromDram = 64, fromL2 = 64;
    int dramQueue = 64, dramReturnQueue = 192;
    bool firstReadyFirst = true;
    DramTiming dram;
    int channelBit = 8;
    std::uint64_t bankMask = 0, rowMask = 0, columnMask = 0;  ///< of an address without its channel bits
    int partitionIndexing = 0;                                ///< 0 plain, 2 polynomial
    /// A bank's bits are XORed with those of the row, so that rows of a matrix do not meet in one bank: Zhang, Zhu and
    /// Zhang, MICRO 2000. Accel-Sim's machines have it not.
    bool permutesBanks = false;
    bool warmsByCopies = true;
    bool idealMemory = false;
    LastLevelCache lastLevel;
    int issueEvery = 1;         ///< cycles from an instruction of a warp to its next, whatever it needs
    bool ordersMemory = false;  ///< loads of a warp return in the order of its loads and stores (CDNA's VM_CNT)
    bool fillsLines = false;    ///< a miss of L1 brings the whole line of 128 bytes
    bool modernCore = false;    ///< the setting `hardware`: issue by dependences alone, no collectors
    GpuGeneration generation;   ///< of the modern core
    /// Said by option files in place of the generation's.
    std::optional<GpuGeneration::CodeCaches> askedCode = {};
    std::optional<GpuGeneration::ConstantCaches> askedConstants = {};
    std::optional<double> askedGpc = {};  ///< SMs of a GPC
    bool coldCode =
        false;  ///< the first run of a kernel finds its instructions in L2; else as an earlier run left them
    int slices() const { return channels * slicesPerChannel; }
    int slicesPerDie() const { return slicesPerChannel / dies; }  ///< and channel
    int warps() const { return maxThreads / lanes; }
    const OpcodeTiming* timingOf(std::string_view opcode) const;
};

/// Further option lines (`-gpgpu_scheduler gto`) are read after the files and so win.
struct MachineQuestion {
    std::string folder;                ///< holds gpgpusim.config and, as a rule, trace.config
    std::vector<std::string> options;  ///< words
};

struct MachineAnswer {
    Machine machine;
    Diagnostics warnings;
};

/// Fails with `gpu.config…`: unreadable, a value that is no number, a machine without SMs or channels.
Expected<MachineAnswer> readMachine(const MachineQuestion& question);

}  // namespace orrery::gpusim
