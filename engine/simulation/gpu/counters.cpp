#include "simulation/gpu/counters.h"

#include <algorithm>
#include <cmath>

namespace orrery::gpusim {

void scaleCounts(Counters& c, double scale, int schedulers, double mostActive) {
    const auto by = [&](std::uint64_t& count) {
        count = static_cast<std::uint64_t>(std::llround(static_cast<double>(count) * scale));
    };
    for (auto* count :
         {&c.warpInstructions,     &c.threadInstructions, &c.memoryInstructions, &c.registerReads,   &c.registerWrites,
          &c.sharedPasses,         &c.activeSmCycles,     &c.residentWarpCycles, &c.stallDependence, &c.stallUnit,
          &c.sharedConflictCycles, &c.l1BankCycles,       &c.bypassReads,        &c.dramReads,       &c.dramWrites,
          &c.dramActivations,      &c.dramPrecharges,     &c.lastLevelReads,     &c.lastLevelHits,   &c.lastLevelWrites,
          &c.networkPackets,       &c.stallCode,          &c.stallConstant,      &c.codeRequests,    &c.codeL1Misses,
          &c.codeFromL2,           &c.constantMisses})
        by(*count);
    for (auto& count : c.lanes) by(count);
    for (auto* cache : {&c.l1, &c.l2}) {
        for (auto* count : {&cache->readHits, &cache->readPending, &cache->readMisses, &cache->writeHits,
                            &cache->writeMisses, &cache->atomics, &cache->refused})
            by(*count);
        cache->reads = cache->readHits + cache->readPending + cache->readMisses;
        cache->writes = cache->writeHits + cache->writeMisses;
    }
    // Later waves overlap: no more multiprocessors are at work than there are.
    c.activeSmCycles = std::min(c.activeSmCycles, static_cast<std::uint64_t>(mostActive));
    // The causes add up to the cycles of schedulers, whatever was rounded.
    const auto slots = c.activeSmCycles * static_cast<std::uint64_t>(schedulers);
    const auto named = c.warpInstructions + c.stallDependence + c.stallUnit + c.stallCode + c.stallConstant;
    c.stallNoInstruction = slots > named ? slots - named : 0;
}

}  // namespace orrery::gpusim
