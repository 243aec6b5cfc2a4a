#include "simulation/cluster/followed_network.h"

#include "simulation/cluster/cluster_run.h"
#include "simulation/cluster/network_groups.h"
#include "simulation/network/drawn_fabric.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace orrery {

double mostMessages(LinkCarrying carrying) {
    if (carrying == LinkCarrying::Ns3) return double(1 << 18);
    return carrying == LinkCarrying::Fluid ? double(1 << 23) : double(1 << 24);
}

double messageWeight(LinkCarrying carrying, double bytes) {
    return inPackets(carrying) ? std::max(1.0, std::ceil(bytes / PacketSettings().payload)) : 1;
}

double libraryStart(const CollectiveSoftware& software) {
    double least = software.ring.front().base;
    for (const CollectiveProtocol& one : software.ring) least = std::min(least, one.base);
    return least * 1e9;
}

FollowedNetwork::FollowedNetwork(std::vector<NetworkTier> tiers, LinkCarrying carrying)
    : closed_(tiers), carrying_(carrying), fabric_(drawnFabric(tiers, ncclTuning())) {}

std::string_view FollowedNetwork::id() const {
    return carrying_ == LinkCarrying::StoreAndForward ? "messages" : toText(carrying_);
}

Expected<CollectivePrice> FollowedNetwork::price(const CollectiveCall& call, const std::stop_token& stop) const {
    auto price = closed_.price(call, stop);
    if (!price || call.group.size <= 1 || call.bytes <= 0 || call.op == CollectiveOp::Broadcast) return price;
    if (!fabric_) return Unexpected(fabric_.error());
    const auto seconds = follow(call, stop);
    if (!seconds) return Unexpected(seconds.error());
    price->seconds = std::max(price->low, *seconds);
    price->high = std::max(price->high, price->seconds);
    price->algorithm = call.op == CollectiveOp::AllToAll || call.op == CollectiveOp::SendReceive ? "direct, followed"
                                                                                                 : "ring, followed";
    return price;
}

namespace {

TraceCollective traceOp(CollectiveOp op) {
    switch (op) {
        case CollectiveOp::AllGather:
            return TraceCollective::AllGather;
        case CollectiveOp::ReduceScatter:
            return TraceCollective::ReduceScatter;
        case CollectiveOp::AllToAll:
            return TraceCollective::AllToAll;
        default:
            return TraceCollective::AllReduce;
    }
}

ExecutionTrace handedOn(std::int64_t bytes, std::int32_t from, std::int32_t to) {
    TraceBuilder builder;
    for (const bool receives : {false, true}) {
        if ((receives ? from : to) < 0) continue;
        TraceNode node;
        node.id = receives ? 1 : 2;
        node.work = receives ? TraceWork::Receive : TraceWork::Send;
        node.peer = receives ? from : to;
        node.bytes = bytes;
        builder.add(node, "message", {});
    }
    return *builder.finish("call");
}

ExecutionTrace called(TraceCollective op, std::int64_t bytes) {
    TraceBuilder builder;
    TraceNode node;
    node.id = 1;
    node.work = TraceWork::Collective;
    node.collective = op;
    node.bytes = bytes;
    node.group = builder.groupNamed("group");
    builder.add(node, "call", {});
    return *builder.finish("call");
}

}  // namespace

// All groups of this size and stride that the devices hold; those beyond do nothing.
Expected<double> FollowedNetwork::follow(const CollectiveCall& call, const std::stop_token& stop) const {
    const std::int64_t n = call.group.size, stride = call.group.stride, tile = n * stride;
    ClusterSettings settings;
    settings.network = *fabric_;
    settings.network.carrying = carrying_;
    settings.splits = settings.activeChunks = carrying_ == LinkCarrying::StoreAndForward ? 4 : 1;
    settings.startDelay = libraryStart(ncclTuning());
    settings.groupAlgorithms[3] = {StepAlgorithm::Direct, 0};
    settings.algorithms[3] = {settings.groupAlgorithms[3]};
    std::int64_t devices = 1;
    for (const FabricDimension& one : settings.network.dimensions) devices *= one.size;
    const std::int64_t busy = devices / tile * tile;
    const auto& dimensions = settings.network.dimensions;
    const bool sends = call.op == CollectiveOp::SendReceive;
    auto bytes = static_cast<std::int64_t>(call.bytes);
    if (call.op == CollectiveOp::AllGather) bytes = std::max<std::int64_t>(1, bytes / n);
    ClusterJob job;
    const auto idle = std::make_shared<const ExecutionTrace>();
    if (sends) {
        for (std::int64_t r = 0; r < devices; ++r) {
            const std::int64_t member = r / stride % n;
            if (r >= busy)
                job.traces.push_back(idle);
            else
                job.traces.push_back(std::make_shared<const ExecutionTrace>(
                    handedOn(bytes, static_cast<std::int32_t>(member > 0 ? r - stride : -1),
                             static_cast<std::int32_t>(member + 1 < n ? r + stride : -1))));
        }
    } else {
        const auto trace = std::make_shared<const ExecutionTrace>(called(traceOp(call.op), bytes));
        const bool folds = busy == devices && call.op != CollectiveOp::AllToAll && !inPackets(carrying_) &&
                           ringsAlike(dimensions, 0, devices, n, stride);
        const std::int64_t groups = folds ? 1 : busy / n;
        for (std::int64_t g = 0; g < groups; ++g) {
            RankGroup group;
            group.name = fmt::format("group {}", g);
            const std::int64_t first = g / stride * tile + g % stride;
            for (std::int64_t m = 0; m < n; ++m) group.members.push_back(static_cast<std::int32_t>(first + m * stride));
            group.block = blockOf(dimensions, group.members);
            job.groups.push_back(std::move(group));
        }
        const double chunks = std::max<double>(static_cast<double>(settings.splits), job.groups.front().block);
        settings.activeChunks = static_cast<std::int64_t>(chunks);
        const double part = call.bytes / static_cast<double>(n) / chunks;
        const double messages = ringMessages(traceOp(call.op), n) * chunks * messageWeight(carrying_, part) *
                                (folds ? 1 : static_cast<double>(busy));
        if (messages > mostMessages(carrying_))
            return fail("network.messages",
                        fmt::format("a collective of {} on {} devices takes {:.3g} million {}", n, devices,
                                    messages / 1e6, inPackets(carrying_) ? "packets" : "messages"),
                        fmt::format("at most {:.3g} million", mostMessages(carrying_) / 1e6),
                        "take network=closed-form, or a smaller cluster");
        if (folds) {
            job.traces = {trace};
            job.slotOf.assign(static_cast<std::size_t>(devices), 0);
            job.groupOf = {{n == devices ? -1 : 0}};
        } else {
            for (std::int64_t r = 0; r < devices; ++r) {
                job.traces.push_back(r < busy ? trace : idle);
                job.groupOf.push_back({});
                if (r < busy) job.groupOf.back() = {static_cast<std::int32_t>(r / tile * stride + r % stride)};
            }
        }
    }
    auto outcome = runCluster(std::move(job), settings, false, stop, false);
    if (!outcome) return Unexpected(std::move(outcome.error()));
    SimTime last = 0;
    for (const RankResult& rank : outcome->ranks) last = std::max(last, rank.finish);
    return toSeconds(last);
}

}  // namespace orrery
