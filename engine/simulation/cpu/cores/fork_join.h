#pragma once

// What it takes that several cores begin a kernel together and that the last one is waited for.

#include "simulation/cpu/cores/cores.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace orrery::pipeline {

/// Seconds to begin a kernel on `active` cores whose threads spin, and to know that all are done. Both go along a
/// binary tree, ⌈log2 n⌉ lines from core to core one after another (Mellor-Crummey and Scott, "Algorithms for Scalable
/// Synchronization on Shared-Memory Multiprocessors", ACM TOCS 9(1), 1991), first within the caches that cores share. A
/// line from another core takes twice the latency of the innermost cache that both share, there and to its owner;
/// beside such caches that of memory. On a Ryzen 9 7950X that is 22 and 90 ns, where AnandTech measured 15 to 19
/// and 79.5 ns. `sharedBy`: cores of one cache of each level. 0 for one core. Threads that sleep take microseconds
/// more.
inline double forkJoinSeconds(const Machine& machine, std::span<const double> sharedBy, std::int64_t active) {
    const auto rounds = [](std::int64_t parties) {
        return double(std::bit_width(static_cast<std::uint64_t>(std::max<std::int64_t>(1, parties) - 1)));
    };
    double seconds = 0;
    std::int64_t joined = 1;  // cores that one of the tree so far stands for
    for (std::size_t c = 0; c < machine.caches.size() && c < sharedBy.size(); ++c) {
        const std::int64_t within = std::clamp<std::int64_t>(static_cast<std::int64_t>(sharedBy[c]), 1, active);
        if (within <= joined) continue;
        seconds += rounds((within + joined - 1) / joined) * 2 * machine.caches[c].latency / machine.clock;
        joined = within;
    }
    if (active > joined) seconds += rounds((active + joined - 1) / joined) * machine.memoryLatency;
    return 2 * seconds;
}

/// Of the cores that ran a kernel: caches between cores that are far from each other are shared by few of them.
inline double forkJoinSeconds(const Chip& chip, std::span<const CoreResult> ran) {
    std::vector<double> sharedBy;
    for (const int cores : chip.sharedBy) {
        std::map<int, int> of;  // each cache of the level
        int most = 1;
        for (const CoreResult& each : ran) most = std::max(most, ++of[each.core / std::max(1, cores)]);
        sharedBy.push_back(most);
    }
    return forkJoinSeconds(chip.core, sharedBy, static_cast<std::int64_t>(ran.size()));
}

}  // namespace orrery::pipeline
