// Who is on which port in the balanced assignment: a flow from sets of ports to ports whose capacities are what
// balancePorts() puts on each. The sums agree, so the largest flow fills every port.

#include "simulation/cpu/block/block.h"

#include <algorithm>

namespace orrery::block {

namespace {

constexpr double nothing = 1e-9;  ///< cycles

struct PortFlow {
    std::vector<std::uint16_t> sets;  ///< that occur
    std::vector<double> left;         ///< of each set, not placed yet
    std::vector<std::array<double, mostPorts>> on;
    std::array<double, mostPorts> room{};

    std::size_t setOf(std::uint16_t ports) {
        const auto at = std::find(sets.begin(), sets.end(), ports);
        const auto index = static_cast<std::size_t>(at - sets.begin());
        if (at == sets.end()) {
            sets.push_back(ports);
            left.push_back(0);
            on.emplace_back();
        }
        return index;
    }

    /// One shortest way from a set with something left to a port with room, over sets that can move. False: none.
    bool augment() {
        std::vector<int> portBefore(sets.size(), -2);  // that a set was reached from; -1: it has something left
        std::array<int, mostPorts> setBefore;
        setBefore.fill(-1);
        std::vector<std::size_t> queue;
        for (std::size_t s = 0; s < sets.size(); ++s) {
            if (left[s] > nothing) portBefore[s] = -1, queue.push_back(s);
        }
        for (std::size_t q = 0; q < queue.size(); ++q) {
            const std::size_t s = queue[q];
            for (std::size_t p = 0; p < mostPorts; ++p) {
                if (!(sets[s] >> p & 1) || setBefore[p] >= 0) continue;
                setBefore[p] = static_cast<int>(s);
                if (room[p] > nothing) {
                    push(p, setBefore, portBefore);
                    return true;
                }
                for (std::size_t other = 0; other < sets.size(); ++other) {
                    if (portBefore[other] != -2 || on[other][p] <= nothing) continue;
                    portBefore[other] = static_cast<int>(p);
                    queue.push_back(other);
                }
            }
        }
        return false;
    }

    void push(std::size_t last, const std::array<int, mostPorts>& setBefore, const std::vector<int>& portBefore) {
        double most = room[last];
        for (std::size_t p = last;;) {
            const auto s = static_cast<std::size_t>(setBefore[p]);
            if (portBefore[s] < 0) {
                most = std::min(most, left[s]);
                break;
            }
            p = static_cast<std::size_t>(portBefore[s]);
            most = std::min(most, on[s][p]);
        }
        room[last] -= most;
        for (std::size_t p = last;;) {
            const auto s = static_cast<std::size_t>(setBefore[p]);
            on[s][p] += most;
            if (portBefore[s] < 0) {
                left[s] -= most;
                return;
            }
            p = static_cast<std::size_t>(portBefore[s]);
            on[s][p] -= most;
        }
    }
};

}  // namespace

std::vector<std::array<double, mostPorts>> spreadPorts(const std::vector<PortUse>& uses) {
    PortFlow flow;
    for (const PortUse& use : uses) {
        if (use.ports && use.uops > 0) flow.left[flow.setOf(use.ports)] += use.uops;
    }
    const std::vector<double> total = flow.left;
    balancePorts(uses, flow.room);
    while (flow.augment()) {
    }
    std::vector<std::array<double, mostPorts>> spread(uses.size());
    for (std::size_t u = 0; u < uses.size(); ++u) {
        if (!uses[u].ports || uses[u].uops <= 0) continue;
        const std::size_t s = flow.setOf(uses[u].ports);
        for (std::size_t p = 0; p < mostPorts; ++p) spread[u][p] = flow.on[s][p] * uses[u].uops / total[s];
    }
    return spread;
}

}  // namespace orrery::block
