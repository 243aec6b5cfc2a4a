#pragma once

// Prices of the exchanges of many plans over one kind of device: each distinct one is asked of the network model once.

#include "hardware/views/cluster_view.h"
#include "mapping/placement.h"
#include "methods/system/training/sides.h"
#include "simulation/network/network_model.h"
#include "workload/traces/execution_trace.h"

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace orrery {

/// Who exchanges: members so many devices apart.
struct ExchangeGroup {
    std::int64_t size = 1, stride = 1;
    /// Of a pipeline from both ends: twice as many, the others as far away as stages can be. 1: no others.
    std::int64_t stages = 1, stageStride = 1;
    std::int64_t members() const { return stages > 1 ? 2 * size : size; }
    bool operator==(const ExchangeGroup&) const = default;
};

struct ExchangePrice {
    Sides seconds;
    double joules = 0;  ///< of one device
};

/// Thread-safe.
class ExchangeCache {
public:
    /// `devices` must outlive the cache. `bound`: the likely price is the least, as for methods that answer bounds.
    ExchangeCache(const DeviceGroup& devices, std::unique_ptr<NetworkModel> network, bool bound)
        : devices_(devices), network_(std::move(network)), bound_(bound) {}

    /// `bytes` as a trace states them (TraceNode); nothing: a message from one device to another. Free for a group of
    /// one. Fails as the network model does.
    Expected<ExchangePrice> price(std::optional<TraceCollective> op, std::int64_t bytes, const ExchangeGroup& group,
                                  const std::stop_token& stop) const;

    /// The same for a group that stands anywhere in the tiers.
    Expected<ExchangePrice> priceAmong(std::optional<TraceCollective> op, std::int64_t bytes, const Communicator& group,
                                       const std::stop_token& stop) const;

private:
    Expected<ExchangePrice> ask(std::optional<TraceCollective> op, std::int64_t bytes, const Communicator& group,
                                const std::stop_token& stop) const;
    struct Key {
        std::int32_t op;
        std::int64_t bytes;
        ExchangeGroup group;
        bool operator==(const Key&) const = default;
    };
    struct Hash {
        std::size_t operator()(const Key& key) const;
    };

    const DeviceGroup& devices_;
    std::unique_ptr<NetworkModel> network_;
    bool bound_;
    mutable std::shared_mutex mutex_;
    mutable std::unordered_map<Key, ExchangePrice, Hash> known_;
    using Placed = std::tuple<std::int32_t, std::int64_t, std::int64_t, std::vector<std::int64_t>>;
    mutable std::map<Placed, ExchangePrice> placed_;
};

}  // namespace orrery
