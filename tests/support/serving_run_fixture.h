#pragma once

// A small run for views: one or more replicas under a straight law, so that every number can be checked by hand.

#include "serving/traffic/traffic.h"
#include "widgets/serving/serving_run.h"

namespace orrery::test {

/// 5 ms, 20 us per token, 1 us per thousand tokens of context.
class StraightLaw final : public IterationTime {
public:
    IterationPrice price(const IterationWork& work) const override {
        IterationPrice price;
        price.seconds = price.lastSeconds = 5e-3 + 20e-6 * work.tokens + 1e-9 * static_cast<double>(work.decodeContext);
        return price;
    }
};

inline std::shared_ptr<const RequestStream> smallTraffic(std::int64_t requests = 120, double rate = 12) {
    TrafficSpec traffic;
    traffic.requests = requests;
    traffic.arrivals.rate = rate;
    return std::make_shared<const RequestStream>(makeTraffic(traffic, 7).value());
}

inline ui::ServingRunPtr smallRun(const std::string& scheduler = "vllm-v0", int replicas = 2, std::int64_t blocks = 400,
                                  std::shared_ptr<const RequestStream> stream = smallTraffic()) {
    auto fleet = std::make_shared<FleetSpec>();
    for (int i = 0; i < replicas; ++i) {
        ReplicaSpec replica;
        replica.name = "replica " + std::to_string(i + 1);
        replica.time = std::make_shared<StraightLaw>();
        replica.scheduler.id = scheduler;
        replica.kvBlocks = blocks;
        fleet->replicas.push_back(std::move(replica));
    }
    fleet->promise = {.ttft = 0.2, .tpot = 0.02};
    ServingOptions how;
    how.batches = how.members = true;
    auto run = std::make_shared<ui::ServingRun>();
    run->name = QString::fromStdString(scheduler);
    run->fleet = fleet;
    run->stream = stream;
    run->result = simulate(fleet, stream, how).value();
    run->metrics = measure(run->result, *fleet);
    return run;
}

}  // namespace orrery::test
