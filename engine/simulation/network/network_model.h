#pragma once

// The slot for networks: who prices what devices send each other. A model is bound to the tiers of one kind of device
// in a drawing (hardware/views/cluster_view.h) and answers call by call.

#include "base/diagnostic.h"
#include "mapping/placement.h"
#include "workload/kernel.h"

#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

struct CollectiveCall {
    CollectiveOp op = CollectiveOp::AllReduce;
    /// Of the larger buffer of one rank, as NCCL's tests count: all that an all-gather yields, all that a
    /// reduce-scatter and an all-to-all take.
    double bytes = 0;
    /// Who takes part. Ranks along each tier of the network that the model is bound to; the other groups of the same
    /// dimension are taken to call at the same time.
    Communicator group;
};

/// What one tier carries of a call.
struct TierLoad {
    int tier = -1;         ///< index into the network's tiers
    double wireBytes = 0;  ///< that one device sends over it
    double seconds = 0;    ///< of those bytes and their steps, alone
};

struct CollectivePrice {
    double seconds = 0;
    double low = 0, high = 0;              ///< an interval that holds `seconds`
    std::vector<TierLoad> loads;           ///< of the tiers that are crossed, innermost first
    int boundBy = -1;                      ///< tier that takes longest; -1: latency, or nothing is sent
    std::string algorithm;                 ///< `ring`, `tree`
    std::vector<std::string> assumptions;  ///< one sentence each
};

class NetworkModel {
public:
    virtual ~NetworkModel() = default;
    virtual std::string_view id() const = 0;  ///< `closed-form`
    /// Thread-safe. A group of one, or no bytes to send, costs nothing. Fails with `network.not-drawn` where the group
    /// crosses a tier without bandwidth, naming its place; `network.group` where the group has another number of tiers
    /// than the network; `study.cancelled` when stopped.
    virtual Expected<CollectivePrice> price(const CollectiveCall& call, const std::stop_token& stop = {}) const = 0;
};

/// What every model checks first: tiers, numbers, bandwidth.
Expected<void> checkCall(const CollectiveCall& call, const std::vector<NetworkTier>& tiers);

/// Bytes that each rank must send (or receive) at least, whatever the algorithm: 2(n-1)/n of an all-reduce's buffer,
/// (n-1)/n of the others', all of a broadcast's and a send's.
double leastBytes(CollectiveOp op, double bytes, std::int64_t ranks);

}  // namespace orrery
