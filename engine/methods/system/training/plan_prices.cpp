#include "methods/system/training/plan_prices.h"

#include <algorithm>
#include <cmath>

namespace orrery {

CollectiveOp collectiveOf(TraceCollective op) {
    switch (op) {
        case TraceCollective::AllGather:
            return CollectiveOp::AllGather;
        case TraceCollective::ReduceScatter:
            return CollectiveOp::ReduceScatter;
        case TraceCollective::AllToAll:
            return CollectiveOp::AllToAll;
        case TraceCollective::Broadcast:
            return CollectiveOp::Broadcast;
        default:
            return CollectiveOp::AllReduce;
    }
}

Expected<PlanPrices> PlanPrices::make(const ClusterJob& job, const Placement& placement, const NetworkModel& network,
                                      const std::stop_token& stop) {
    const Communicator* groups[] = {&placement.tensor, &placement.context,         &placement.gradients,
                                    &placement.expert, &placement.expertGradients, &placement.replicas,
                                    &placement.ends,   &placement.pipeline};
    return priced(
        job,
        [&](std::int32_t kind, std::int32_t) {
            return Way{&network, 0, groups[kind]};
        },
        false, stop);
}

Expected<PlanPrices> PlanPrices::make(const ClusterJob& job, const WayOf& way, const std::stop_token& stop) {
    return priced(job, way, true, stop);
}

Expected<PlanPrices> PlanPrices::priced(const ClusterJob& job, const WayOf& way, bool bySlot,
                                        const std::stop_token& stop) {
    PlanPrices made;
    std::map<std::string_view, std::size_t> named;
    for (const RankGroup& group : job.groups) {
        named[group.name] = made.kindOfGroup_.size();
        made.kindOfGroup_.push_back(static_cast<std::int32_t>(programGroupOf(group.name)));
        made.slotOfGroup_.push_back(job.slotOf[static_cast<std::size_t>(group.members.front())]);
    }
    if (bySlot) made.slotOf_ = job.slotOf;
    for (std::size_t slot = 0; slot < job.traces.size(); ++slot) {
        const ExecutionTrace& trace = *job.traces[slot];
        for (const TraceNode& node : trace.nodes) {
            const bool collective = node.work == TraceWork::Collective;
            if (!collective && node.work != TraceWork::Send) continue;
            std::int32_t kind = pipeline, place = static_cast<std::int32_t>(slot);
            if (collective) {
                const std::size_t group = named.at(trace.groups[static_cast<std::size_t>(node.group)]);
                kind = made.kindOfGroup_[group];
                place = made.slotOfGroup_[group];
            } else {  // over the same links both ways
                place = std::min(place, job.slotOf[static_cast<std::size_t>(node.peer)]);
            }
            auto [at, isNew] = made.exchanges_.try_emplace({kind, node.collective, node.bytes, made.placeOf(place)});
            if (isNew) {
                const Way its = way(kind, place);
                double bytes = static_cast<double>(node.bytes);
                if (collective && node.collective == TraceCollective::AllGather)
                    bytes *= static_cast<double>(its.group->size);
                auto price = its.network->price(
                    {collective ? collectiveOf(node.collective) : CollectiveOp::SendReceive, bytes, *its.group}, stop);
                if (!price) return Unexpected(std::move(price.error()));
                at->second.price = std::move(*price);
                at->second.network = its.index;
                at->second.times.assign(job.traces.size(), 0);
            }
            ++at->second.times[slot];
        }
    }
    return made;
}

double PlanPrices::secondsOf(const Key& key, double place) const {
    const auto at = exchanges_.find(key);
    if (at == exchanges_.end()) return 0;
    const CollectivePrice& price = at->second.price;
    const auto kind = static_cast<ProgramGroup>(std::get<0>(key));
    const bool gathers = kind == ProgramGroup::Gradients && std::get<1>(key) == TraceCollective::AllGather;
    const bool copies =
        kind == ProgramGroup::Gradients || kind == ProgramGroup::ExpertGradients || kind == ProgramGroup::Replicas;
    const double hidden = kind == ProgramGroup::Tensor ? hiddenTensor_ : gathers ? hiddenGather_ : 0;
    // At their low side they take what they take alone.
    const double slower = copies ? place <= -1 ? std::min(slower_, 1.0) : slower_ : 1;
    const double shown = (1 - hidden) * slower;
    if (place == 0 || price.seconds <= 0) return shown * price.seconds;
    if (place <= -1) return shown * price.low;
    if (place == 1) return shown * price.high;
    const double side = place < 0 ? price.low : price.high;
    return shown * std::max(price.low, price.seconds * std::pow(side / price.seconds, std::abs(place)));
}

double PlanPrices::besideSeconds() const {
    double seconds = 0;
    for (const auto& [key, exchange] : exchanges_) {
        const auto kind = static_cast<ProgramGroup>(std::get<0>(key));
        if (kind != ProgramGroup::Gradients && kind != ProgramGroup::Replicas) continue;
        for (const std::int64_t times : exchange.times) seconds += static_cast<double>(times) * exchange.price.seconds;
    }
    return seconds;
}

double PlanPrices::Taken::collective(TraceCollective op, double bytes, std::int32_t group) const {
    const auto at = static_cast<std::size_t>(group);
    return prices_.secondsOf(
        {prices_.kindOfGroup_[at], op, static_cast<std::int64_t>(bytes), prices_.placeOf(prices_.slotOfGroup_[at])},
        place_);
}

double PlanPrices::Taken::message(std::int32_t source, std::int32_t target, double bytes) const {
    std::int32_t place = 0;
    if (!prices_.slotOf_.empty())
        place = std::min(prices_.slotOf_[static_cast<std::size_t>(source)],
                         prices_.slotOf_[static_cast<std::size_t>(target)]);
    return prices_.secondsOf({pipeline, TraceCollective::AllReduce, static_cast<std::int64_t>(bytes), place}, place_);
}

}  // namespace orrery
