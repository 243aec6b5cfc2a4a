#pragma once

#include "base/random.h"
#include "simulation/dram/memory.h"

#include <QtTest/QtTest>

#include <map>
#include <vector>

namespace orrery::dramtest {

inline DramConfig configOf(const char* id) {
    DramConfig config;
    auto standard = dramStandard(id);
    if (standard) config.standard = *standard;
    return config;
}

inline DramMemory memoryOf(const DramConfig& config) {
    auto memory = DramMemory::make(config);
    if (!memory) qFatal("%s", toText(memory.error()).c_str());
    return std::move(*memory);
}

/// A read or write of one burst by its index.
inline DramRequest burst(const DramMemory& memory, std::int64_t index, DramCycle arrival, std::uint64_t tag,
                         bool write = false) {
    const int bytes = memory.config().standard.organisation.burstBytes();
    return {std::uint64_t(index) * std::uint64_t(bytes), bytes, arrival, tag, 0, write};
}

/// Seeded traffic: runs of neighbouring bursts and jumps, reads and writes, dense and sparse arrivals, a few ports.
inline std::vector<DramRequest> traffic(const DramMemory& memory, int count, std::uint64_t seed, double writes = 0.3,
                                        double gap = 2) {
    RandomStream random(seed);
    std::vector<DramRequest> requests;
    const auto bytes = std::uint64_t(memory.config().standard.organisation.burstBytes());
    const auto bursts = std::uint64_t(memory.map().bursts());
    DramCycle now = 0;
    std::uint64_t at = 0;
    for (int i = 0; i < count; ++i) {
        at = random.uniform() < 0.5 ? at + 1 : random.below(bursts);
        if (random.uniform() < 0.05) at = random.below(64);  // the same few bursts again
        now += DramCycle(random.uniform() * 2 * gap);
        if (random.uniform() < 0.002) now += 3000;
        requests.push_back({at % bursts * bytes, std::int64_t(bytes), now, std::uint64_t(i),
                            std::uint16_t(random.below(3)), random.uniform() < writes});
    }
    return requests;
}

/// One dependent read after another; cycles that each took, from arrival to its last data.
inline double meanLatency(DramMemory& memory, int count, std::uint64_t seed, int pause = 0) {
    RandomStream random(seed);
    std::vector<DramCompletion> done;
    double sum = 0;
    for (int i = 0; i < count; ++i) {
        const DramCycle arrival = memory.now() + pause;
        memory.submit(burst(memory, std::int64_t(random.below(std::uint64_t(memory.map().bursts()))), arrival, 0));
        done.clear();
        if (!memory.runToCompletion(arrival + 1'000'000, done)) return -1;
        sum += double(done.front().cycle - arrival);
    }
    return sum / count;
}

/// Bytes per second of reads, all at once: one long transfer, or single bursts at random.
inline double bandwidth(const DramConfig& config, int bursts, bool random) {
    auto memory = memoryOf(config);
    const int bytes = config.standard.organisation.burstBytes();
    RandomStream stream(7);
    if (!random) memory.submit({0, std::int64_t(bursts) * bytes});
    if (random)
        for (int i = 0; i < bursts; ++i)
            memory.submit(burst(memory, std::int64_t(stream.below(std::uint64_t(memory.map().bursts()))), 0, 0));
    std::vector<DramCompletion> done;
    const DramCycle end = memory.drain(done);
    return double(bursts) * bytes / (double(end) * memory.secondsPerCycle());
}

}  // namespace orrery::dramtest
