#pragma once

// The first network model: closed forms without congestion. Every phase costs steps × latency + bytes ÷ bandwidth on
// each tier that it crosses; of rings, trees and (for all-to-all) direct sends the fastest way counts, as NCCL's tuner
// chooses. Tiers are worked through hierarchically: of a reduction what is left after the inner tier goes over the next
// (reduce-scatter inwards, all-gather outwards: Cho et al. 2019; ASTRA-sim, Won et al. 2023).

#include "simulation/network/collective_software.h"
#include "simulation/network/network_model.h"

namespace orrery {

/// Bytes that one device sends over each tier, of a hierarchical algorithm that moves no byte twice. With M ranks
/// inside an endpoint of the tier and r endpoints: f·(r-1)/r·bytes/M, f = 2 for an all-reduce; all-to-all: bytes × the
/// share of ranks that stand in other endpoints of this tier; broadcast: bytes/M; send: all, over the outermost tier
/// alone.
std::vector<double> wireBytesPerTier(const CollectiveCall& call);

class ClosedFormNetwork final : public NetworkModel {
public:
    explicit ClosedFormNetwork(std::vector<NetworkTier> tiers, const CollectiveSoftware& software = ncclTuning());

    std::string_view id() const override { return "closed-form"; }
    /// `low`: the busiest tier's bytes at full rate and the drawn latencies, which nothing beats. `high`: one tier
    /// after the other, and bytes 1.2 and latencies 3 times as slow as tuned, as the worst of the published
    /// measurements (README).
    Expected<CollectivePrice> price(const CollectiveCall& call, const std::stop_token& stop = {}) const override;

    const std::vector<NetworkTier>& tiers() const { return tiers_; }

private:
    std::vector<NetworkTier> tiers_;
    const CollectiveSoftware* software_;
};

}  // namespace orrery
