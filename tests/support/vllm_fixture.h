#pragma once

// Small fleets with made-up but simple times, so that a test can say on paper what must come out.

#include "serving/serving_simulation.h"
#include "support/arrivals.h"

#include <memory>

namespace orrery::testing {

/// `base` + `perToken` · tokens, seconds.
class LinearTime : public IterationTime {
public:
    explicit LinearTime(double base, double perToken = 0) : base_(base), perToken_(perToken) {}
    IterationPrice price(const IterationWork& work) const override {
        IterationPrice price;
        price.seconds = price.lastSeconds = base_ + perToken_ * work.tokens;
        return price;
    }

private:
    double base_, perToken_;
};

inline ReplicaSpec replicaOf(SchedulerSpec scheduler, std::int64_t blocks, IterationTimePtr time) {
    ReplicaSpec replica;
    replica.time = std::move(time);
    replica.scheduler = std::move(scheduler);
    replica.kvBlocks = blocks;
    return replica;
}

inline Expected<ServingResult> run(ReplicaSpec replica, std::shared_ptr<const RequestStream> stream,
                                   std::uint64_t seed = 42) {
    FleetSpec fleet;
    fleet.replicas.push_back(std::move(replica));
    ServingOptions options;
    options.seed = seed;
    options.batches = options.members = true;
    return simulate(std::make_shared<FleetSpec>(std::move(fleet)), std::move(stream), options);
}

}  // namespace orrery::testing
