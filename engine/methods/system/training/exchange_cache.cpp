#include "methods/system/training/exchange_cache.h"

#include "methods/system/training/plan_prices.h"

namespace orrery {

std::size_t ExchangeCache::Hash::operator()(const Key& key) const {
    std::uint64_t mixed = static_cast<std::uint64_t>(key.op) + 1;
    for (const std::int64_t part :
         {key.bytes, key.group.size, key.group.stride, key.group.stages, key.group.stageStride}) {
        mixed = (mixed ^ static_cast<std::uint64_t>(part)) * 0x9E3779B97F4A7C15ULL;
        mixed ^= mixed >> 29;
    }
    return mixed;
}

Expected<ExchangePrice> ExchangeCache::price(std::optional<TraceCollective> op, std::int64_t bytes,
                                             const ExchangeGroup& group, const std::stop_token& stop) const {
    if (group.members() < 2 || bytes <= 0) return ExchangePrice{};
    const Key key{op ? static_cast<std::int32_t>(*op) : -1, bytes, group};
    {
        const std::shared_lock lock(mutex_);
        if (const auto at = known_.find(key); at != known_.end()) return at->second;
    }
    Communicator members = communicator(devices_.tiers, group.size, group.stride);
    if (group.stages > 1) {  // as placementOf() has it
        const int apart = communicator(devices_.tiers, group.stages, group.stageStride).outermost();
        if (apart >= 0) {
            members.size *= 2;
            members.ranks[static_cast<std::size_t>(apart)] *= 2;
        }
    }
    auto made = ask(op, bytes, members, stop);
    if (!made) return made;
    const std::unique_lock lock(mutex_);
    known_.emplace(key, *made);
    return made;
}

Expected<ExchangePrice> ExchangeCache::priceAmong(std::optional<TraceCollective> op, std::int64_t bytes,
                                                  const Communicator& group, const std::stop_token& stop) const {
    if (group.size < 2 || bytes <= 0) return ExchangePrice{};
    Placed key{op ? static_cast<std::int32_t>(*op) : -1, bytes, group.size, group.ranks};
    {
        const std::shared_lock lock(mutex_);
        if (const auto at = placed_.find(key); at != placed_.end()) return at->second;
    }
    auto made = ask(op, bytes, group, stop);
    if (!made) return made;
    const std::unique_lock lock(mutex_);
    placed_.emplace(std::move(key), *made);
    return made;
}

Expected<ExchangePrice> ExchangeCache::ask(std::optional<TraceCollective> op, std::int64_t bytes,
                                           const Communicator& group, const std::stop_token& stop) const {
    CollectiveCall call;
    call.op = op ? collectiveOf(*op) : CollectiveOp::SendReceive;
    call.bytes = static_cast<double>(bytes);
    // A trace states the shard.
    if (op == TraceCollective::AllGather) call.bytes *= static_cast<double>(group.size);
    call.group = group;
    const auto priced = network_->price(call, stop);
    if (!priced) return Unexpected(priced.error());
    ExchangePrice made;
    made.seconds.at = {priced->low, bound_ ? priced->low : priced->seconds, priced->high, priced->low};
    for (const TierLoad& load : priced->loads)
        made.joules += load.wireBytes * devices_.tiers[static_cast<std::size_t>(load.tier)].energy.value;
    return made;
}

}  // namespace orrery
