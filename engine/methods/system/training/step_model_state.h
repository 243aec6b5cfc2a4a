#pragma once

// Inside of step_model.h: shards, pieces and exchanges, each priced once for what it depends on.

#include "hardware/views/cluster_view.h"
#include "mapping/placement.h"
#include "methods/system/network_slot.h"
#include "methods/system/sharded_workload.h"
#include "methods/system/training/closed_step.h"
#include "methods/system/training/step_model.h"
#include "methods/system/training/training_stack.h"

#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <unordered_map>
#include <vector>

namespace orrery {

/// What a shard depends on, and what its layers' pieces depend on besides.
struct ShardKey {
    std::int64_t group = 0, tensor = 1, context = 1, expert = 1, samples = 1;
    std::int64_t sequence = 0, recompute = 0, piped = 0, divided = 0;
    bool operator==(const ShardKey&) const = default;
};
struct ShardHash {
    std::size_t operator()(const ShardKey& key) const {
        std::uint64_t mixed = 0;
        for (const std::int64_t part : {key.group, key.tensor, key.context, key.expert, key.samples,
                                        key.sequence * 16 + key.recompute * 4 + key.piped * 2 + key.divided}) {
            mixed = (mixed ^ static_cast<std::uint64_t>(part)) * 0x9E3779B97F4A7C15ULL;
            mixed ^= mixed >> 31;
        }
        return mixed;
    }
};

/// A shard as the method priced it.
struct PricedShard {
    ShardedWorkload sharded;
    Estimate alone, estimate;  ///< kernels alone; as they are in a step of the stack
    ShardFacts facts;
    double bandwidth = 0;              ///< B/s, of main memory
    std::optional<Diagnostic> noHost;  ///< why plans cannot offload
};

/// Filled once, by whoever comes first; what has been stopped is asked again.
template <class Value>
class OnceEach {
public:
    template <class Make>
    Expected<std::shared_ptr<const Value>> get(const ShardKey& key, const Make& make) {
        std::shared_ptr<Slot> slot;
        {
            const std::shared_lock lock(mutex_);
            if (const auto at = slots_.find(key); at != slots_.end()) slot = at->second;
        }
        if (slot && slot->ready.load(std::memory_order_acquire)) return slot->answer;
        if (!slot) {
            const std::unique_lock lock(mutex_);
            auto& place = slots_[key];
            if (!place) place = std::make_shared<Slot>();
            slot = place;
        }
        const std::lock_guard alone(slot->making);
        if (slot->ready.load(std::memory_order_acquire)) return slot->answer;
        Expected<Value> made = make();
        if (made) {
            slot->answer = std::make_shared<const Value>(std::move(*made));
        } else {
            if (made.error().code == "study.cancelled") return Unexpected(std::move(made.error()));
            slot->answer = Unexpected(std::move(made.error()));
        }
        slot->ready.store(true, std::memory_order_release);
        return slot->answer;
    }

private:
    struct Slot {
        std::mutex making;
        std::atomic<bool> ready{false};
        Expected<std::shared_ptr<const Value>> answer;
    };
    std::shared_mutex mutex_;
    std::unordered_map<ShardKey, std::shared_ptr<Slot>, ShardHash> slots_;
};

/// As a plan leaves it: `microbatches` 0 means as many as stages, while the batch lasts.
std::int64_t microbatchesOf(const Plan& plan, std::int64_t batch);

/// What a StepModel was made for, and what it has priced so far.
struct StepModel::State {
    Method method;
    Scenario scenario;
    TrainingStep step;
    OptionValues options;
    const CalibrationSet* calibrations = nullptr;
    std::uint64_t seed = 0;
    DevicePrices prices;
    ClusterView cluster;
    std::vector<double> dollarsPerHour;  ///< of one device, by group
    std::int64_t batch = 1;
    mutable OnceEach<PricedShard> shards;
    mutable OnceEach<StepPieces> pieces;
    mutable std::mutex networks;
    mutable std::vector<std::unique_ptr<ExchangeCache>> exchanges;  ///< by group, made when first asked

    Expected<PricedShard> shardOf(const Plan& plan, const ShardKey& key, const std::stop_token& stop) const;
    /// From kernels alone to a step of the stack.
    void dress(PricedShard& made, const StackHere& here, std::size_t group, std::int64_t context) const;
    /// Of plans on several kinds of device, by what decides where they stand; and the networks between kinds.
    mutable std::map<std::string, std::shared_ptr<const MixedPlacement>> placements;
    mutable std::map<std::vector<std::size_t>, std::pair<DeviceGroup, std::unique_ptr<ExchangeCache>>> between;

    Expected<const ExchangeCache*> exchangesOf(std::size_t group, bool bound) const;
    Expected<std::shared_ptr<const MixedPlacement>> placementOf(const Plan& plan) const;
    Expected<const ExchangeCache*> exchangesBetween(const MixedPlacement& placement, bool bound) const;
    Expected<std::unique_ptr<NetworkModel>> networkOf(const DeviceGroup& group) const;
    Expected<StepPieces> piecesOf(const Plan& plan, const PricedShard& shard, const ExchangeCache& priced,
                                  Recompute recompute, const std::stop_token& stop) const;
};

}  // namespace orrery
