#pragma once

// Iteration times by a law that a test can add up by hand, and fleets of them.

#include "methods/system/planned_fleet.h"
#include "serving/serving_simulation.h"

#include <memory>

namespace orrery::test {

/// seconds = (fixed + perToken · tokens + perContext · tokens in the caches) · scale
class LawTime : public IterationTime {
public:
    double fixed = 0.004, perToken = 2e-5, perContext = 1e-7, scale = 1;
    IterationPrice price(const IterationWork& work) const override {
        double context = static_cast<double>(work.decodeContext);
        for (const PromptChunk& chunk : work.prompts) context += chunk.context;
        IterationPrice price;
        price.seconds = price.lastSeconds = (fixed + perToken * work.tokens + perContext * context) * scale;
        return price;
    }
};

inline ReplicaSpec replicaOf(const std::string& scheduler, std::int64_t blocks, double scale = 1) {
    auto time = std::make_shared<LawTime>();
    time->scale = scale;
    ReplicaSpec replica;
    replica.name = scheduler;
    replica.pool = "replicas";
    replica.time = time;
    replica.scheduler.id = scheduler;
    replica.kvBlocks = blocks;
    replica.kvBytesPerToken = 1 << 17;
    return replica;
}

inline std::shared_ptr<FleetSpec> fleetOf(const std::string& scheduler, int replicas, std::int64_t blocks) {
    auto fleet = std::make_shared<FleetSpec>();
    for (int i = 0; i < replicas; ++i) fleet->replicas.push_back(replicaOf(scheduler, blocks));
    return fleet;
}

}  // namespace orrery::test
