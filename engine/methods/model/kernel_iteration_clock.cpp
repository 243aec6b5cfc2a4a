#include "hardware/views/power_limit.h"
#include "methods/model/kernel_iteration.h"

#include <algorithm>

namespace orrery {

KernelIterationTime::Running KernelIterationTime::runningAt(const IterationCost& cost, double clockShare) const {
    const GridPrice& all = cost.all;
    const double slower = 1 / clockShare - 1;
    const auto stages = static_cast<double>(spec_.model.plan.pipeline);
    const double device = all.seconds + slower * all.clocked;
    const double head = cost.headSeconds + slower * cost.headClocked;
    Running running;
    // The host is ahead or behind throughout: the layers are alike.
    const double layers = cost.start + std::max(device - head, cost.issued) / stages;
    running.last = layers + head;
    running.stage = layers + cost.handOver;
    running.lasting = std::max(device, stages * running.last);
    const double voltage = voltageAt(clockShare);
    const double memory = std::max(0.0, all.joules - power_.staticWatts * all.seconds - all.switched);
    running.joules = power_.staticWatts * running.lasting + memory + voltage * voltage * all.switched;
    return running;
}

KernelIterationTime::Running KernelIterationTime::runningCapped(const IterationCost& cost, double clockShare) const {
    Running running = runningAt(cost, clockShare);
    const double cap = spec_.powerCap;
    if (!(cap > 0) || !power_.known() || running.joules <= cap * running.lasting) return running;
    constexpr double lowestShare = 0.1;
    double low = std::min(lowestShare, clockShare), high = clockShare;
    running = runningAt(cost, low);
    if (running.joules > cap * running.lasting) {
        // What is left above static power is spread over as long as it takes.
        const double above = running.joules - power_.staticWatts * running.lasting;
        const double lasting = above / (cap - power_.staticWatts), factor = lasting / running.lasting;
        return {running.stage * factor, running.last * factor, lasting, cap * lasting};
    }
    for (int i = 0; i < 24; ++i) {
        const double middle = 0.5 * (low + high);
        const Running there = runningAt(cost, middle);
        if (there.joules > cap * there.lasting) {
            high = middle;
        } else {
            low = middle;
            running = there;
        }
    }
    return running;
}

IterationPrice KernelIterationTime::price(const IterationCost& cost, double clockShare) const {
    IterationPrice price;
    const GridPrice& all = cost.all;
    if (all.seconds <= 0) return price;
    const auto stages = static_cast<double>(spec_.model.plan.pipeline);
    const Running running = runningCapped(cost, std::clamp(clockShare, 0.1, 1.0));
    price.seconds = running.stage;
    price.lastSeconds = running.last;
    price.host = cost.host;
    const double whole = price.lastSeconds * stages;
    price.low = std::max(0.0, 1 - std::max(spec_.software.below, cost.below / whole));
    price.high = 1 + std::max(spec_.software.above, cost.above / whole);
    price.domain = all.doubt > 0.25 * all.seconds   ? DomainVerdict::Outside
                   : all.doubt > 0.05 * all.seconds ? DomainVerdict::Edge
                                                    : DomainVerdict::Inside;
    if (power_.known()) price.watts = spec_.model.plan.tensor * stages * running.joules / running.lasting;
    return price;
}

IterationPrice KernelIterationTime::price(const IterationWork& work) const {
    return price(costOf(work), spec_.clockShare);
}
IterationPrice KernelIterationTime::price(const IterationWork& work, double clockShare) const {
    return price(costOf(work), clockShare);
}

}  // namespace orrery
