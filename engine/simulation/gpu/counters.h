#pragma once

// What a run counts, of one kernel. Plain numbers that add up: a power model multiplies them by energies.

#include <array>
#include <cstdint>

namespace orrery::gpusim {

/// Sector requests. Refused tries are not accesses.
struct CacheCounts {
    std::uint64_t reads = 0, readHits = 0, readPending = 0, readMisses = 0;
    std::uint64_t writes = 0, writeHits = 0, writeMisses = 0;
    std::uint64_t atomics = 0;  ///< among the reads
    std::uint64_t refused = 0;
    void add(const CacheCounts& o) {
        reads += o.reads, readHits += o.readHits, readPending += o.readPending, readMisses += o.readMisses;
        writes += o.writes, writeHits += o.writeHits, writeMisses += o.writeMisses;
        atomics += o.atomics, refused += o.refused;
    }
};

struct Counters {
    std::uint64_t warpInstructions = 0, threadInstructions = 0;
    std::array<std::uint64_t, 13> lanes{};                ///< by `Energy`
    std::uint64_t memoryInstructions = 0;                 ///< warp instructions
    std::uint64_t registerReads = 0, registerWrites = 0;  ///< lanes × operands
    std::uint64_t sharedPasses = 0;
    std::uint64_t blocks = 0;
    std::uint64_t activeSmCycles = 0;  ///< with blocks on the SM
    std::uint64_t residentWarpCycles = 0;
    /// Scheduler cycles without issue: no warp had an instruction; registers were pending; the unit's register was
    /// full; of the modern core also: instructions, or an operand from constant memory, were still to come.
    std::uint64_t stallNoInstruction = 0, stallDependence = 0, stallUnit = 0, stallCode = 0, stallConstant = 0;
    /// Lines of code that an L0 or its stream buffer asked for; those that L1 had not, and that came from L2. Lines of
    /// constants that missed.
    std::uint64_t codeRequests = 0, codeL1Misses = 0, codeFromL2 = 0, constantMisses = 0;
    std::uint64_t sharedConflictCycles = 0, l1BankCycles = 0;
    CacheCounts l1, l2;
    std::uint64_t bypassReads = 0;  ///< sectors that no L1 looked up
    std::uint64_t dramReads = 0, dramWrites = 0, dramActivations = 0, dramPrecharges = 0;
    std::uint64_t lastLevelReads = 0, lastLevelHits = 0, lastLevelWrites = 0;  ///< sectors; write-backs of lines
    std::uint64_t networkPackets = 0;                                          ///< requests and replies
    void add(const Counters& o) {
        warpInstructions += o.warpInstructions, threadInstructions += o.threadInstructions;
        for (std::size_t i = 0; i < lanes.size(); ++i) lanes[i] += o.lanes[i];
        memoryInstructions += o.memoryInstructions, registerReads += o.registerReads;
        registerWrites += o.registerWrites, sharedPasses += o.sharedPasses, blocks += o.blocks;
        activeSmCycles += o.activeSmCycles, residentWarpCycles += o.residentWarpCycles;
        stallNoInstruction += o.stallNoInstruction, stallDependence += o.stallDependence, stallUnit += o.stallUnit;
        stallCode += o.stallCode, stallConstant += o.stallConstant;
        codeRequests += o.codeRequests, codeL1Misses += o.codeL1Misses, codeFromL2 += o.codeFromL2;
        constantMisses += o.constantMisses;
        sharedConflictCycles += o.sharedConflictCycles, l1BankCycles += o.l1BankCycles;
        l1.add(o.l1), l2.add(o.l2);
        bypassReads += o.bypassReads, dramReads += o.dramReads, dramWrites += o.dramWrites;
        dramActivations += o.dramActivations, dramPrecharges += o.dramPrecharges, networkPackets += o.networkPackets;
        lastLevelReads += o.lastLevelReads, lastLevelHits += o.lastLevelHits, lastLevelWrites += o.lastLevelWrites;
    }
};

/// Counts of a part, for the whole: the schedulers' causes still add up to their cycles, and SMs are at work for no
/// more than `mostActive` cycles, of all of them together.
void scaleCounts(Counters& counts, double scale, int schedulers, double mostActive);

}  // namespace orrery::gpusim
