#include "simulation/cpu/block/block.h"

#include <algorithm>
#include <bit>

namespace orrery::block {

namespace {

// Sums by distinct set; the sets that occur are few.
struct Sets {
    std::array<std::uint16_t, 64> mask;
    std::array<double, 64> sum;
    int count = 0;
    void add(std::uint16_t ports, double uops) {
        for (int i = 0; i < count; ++i) {
            if (mask[static_cast<std::size_t>(i)] == ports) {
                sum[static_cast<std::size_t>(i)] += uops;
                return;
            }
        }
        if (count == 64) return;  // more sets than a core has: left out, so that the answer stays a lower bound
        mask[static_cast<std::size_t>(count)] = ports;
        sum[static_cast<std::size_t>(count++)] = uops;
    }
};

// The set of ports that binds and its cycles: sets closed under union are enough (Hall's condition). `left` are the
// ports still free.
std::pair<std::uint16_t, double> binding(const Sets& sets) {
    thread_local std::vector<std::uint16_t> unions;
    unions.clear();
    for (int i = 0; i < sets.count; ++i) {
        const std::uint16_t mask = sets.mask[static_cast<std::size_t>(i)];
        if (!mask || sets.sum[static_cast<std::size_t>(i)] <= 0) continue;
        const std::size_t before = unions.size();
        bool fresh = true;
        for (std::size_t k = 0; k < before; ++k) fresh &= unions[k] != mask;
        if (fresh) unions.push_back(mask);
        for (std::size_t k = 0; k < before; ++k) {
            const auto joined = static_cast<std::uint16_t>(unions[k] | mask);
            if (std::find(unions.begin(), unions.end(), joined) == unions.end()) unions.push_back(joined);
        }
    }
    std::uint16_t best = 0;
    double most = 0;
    for (const std::uint16_t joined : unions) {
        double inside = 0;
        for (int i = 0; i < sets.count; ++i) {
            if ((sets.mask[static_cast<std::size_t>(i)] & ~joined) == 0)
                inside += sets.sum[static_cast<std::size_t>(i)];
        }
        const double cycles = inside / std::popcount(joined);
        if (cycles > most) most = cycles, best = joined;
    }
    return {best, most};
}

Sets setsOf(const std::vector<PortUse>& uses) {
    Sets sets;
    for (const auto& use : uses) {
        if (use.ports && use.uops > 0) sets.add(use.ports, use.uops);
    }
    return sets;
}

}  // namespace

double portBound(const std::vector<PortUse>& uses) {
    const Sets sets = setsOf(uses);
    return binding(sets).second;
}

void balancePorts(const std::vector<PortUse>& uses, std::array<double, mostPorts>& load) {
    load.fill(0);
    Sets sets = setsOf(uses);
    // Fill the set that binds evenly, take it away, and go on with the rest: the most even spread there is.
    for (;;) {
        const auto [mask, cycles] = binding(sets);
        if (!mask) return;
        for (std::size_t p = 0; p < mostPorts; ++p) {
            if (mask >> p & 1) load[p] = cycles;
        }
        Sets rest;
        for (int i = 0; i < sets.count; ++i) {
            const auto at = static_cast<std::size_t>(i);
            const auto left = static_cast<std::uint16_t>(sets.mask[at] & ~mask);
            if (left) rest.add(left, sets.sum[at]);
        }
        sets = rest;
    }
}

}  // namespace orrery::block
