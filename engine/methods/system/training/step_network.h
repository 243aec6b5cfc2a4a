#pragma once

// A training step whose exchanges are followed, message by message, over the drawn network: copies, stages and
// micro-batches share its links as they are there. One device of a stage stands for all of it where the network looks
// the same to all of them, or one of a node for its node; else every device is run.

#include "methods/estimate.h"
#include "methods/system/training/training_program.h"
#include "simulation/network/drawn_fabric.h"

#include <stop_token>
#include <string>
#include <vector>

namespace orrery {

class StepNetwork {
public:
    /// Devices are those of the tiers, of which the plan takes the first ones. NCCL's rings, its start and steps, links
    /// at its share. Fails with `network.messages` where the step has more messages than can be followed,
    /// `training.ranks` where more than 4,096 devices would have to be run, and as drawnFabric(). Without `fold` every
    /// device is run, with the same result.
    static Expected<StepNetwork> make(const TrainingProgram& program, const std::vector<NetworkTier>& tiers,
                                      LinkCarrying carrying, bool fold = true);

    /// Ranks and spans of the outcome are those of the stages, by stage. Fails as runCluster().
    Expected<ClusterOutcome> run(const TrainingProgram& program, bool spans, const std::stop_token& stop) const;
    /// Of a run with spans.
    NetworkUse useOf(const ClusterOutcome& outcome, const std::vector<NetworkTier>& tiers) const;

    bool stagesFolded() const { return folded_; }
    std::int64_t alike() const { return alike_; }  ///< devices beside each other for which one is run
    std::string assumption() const;

private:
    Expected<ClusterJob> jobOf(const TrainingProgram& program) const;

    ClusterSettings settings_;
    std::int64_t devices_ = 1, alike_ = 1;
    bool folded_ = false;
};

}  // namespace orrery
