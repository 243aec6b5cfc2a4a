// Sums and copies made in a switch: everyone sends up once, and what comes down has passed the switch's adders. A chunk
// is stored whole there; several chunks follow each other up and down.

#include "simulation/cluster/collectives.h"
#include "simulation/cluster/network_groups.h"

#include <algorithm>

namespace orrery {

namespace {
/// Of a phase of a chunk, among those who share a switch: the first of them says which.
std::uint64_t switchKey(std::uint32_t firstStream, std::uint32_t phase) {
    return std::uint64_t(firstStream) << 32 | phase;
}
}  // namespace

AlgorithmChoice Collectives::choiceFor(std::size_t kind, std::int32_t dimension) const {
    const auto& choices = settings_.algorithms[kind];
    return choices.empty() ? AlgorithmChoice{}
                           : choices[std::min(choices.size() - 1, static_cast<std::size_t>(dimension))];
}

std::int32_t Collectives::switchOf(std::int32_t group, std::size_t kind) const {
    const RankGroup& its = groups_[static_cast<std::size_t>(group)];
    const auto& dimensions = settings_.network.dimensions;
    const std::int32_t d = ringDimension(dimensions, its.members);
    if (d < 0 || choiceFor(kind, d).algorithm != StepAlgorithm::InNetwork) return -1;
    const FabricDimension& one = dimensions[static_cast<std::size_t>(d)];
    if (one.routes || one.shape != TopologyShape::Switch) return -1;
    // Those who are run: all of them, or one who does for all.
    std::size_t present = 0;
    for (const std::int32_t rank : its.members)
        present +=
            slotOf_.empty() || rankOf_[static_cast<std::size_t>(slotOf_[static_cast<std::size_t>(rank)])] == rank;
    return present == its.members.size() || present == 1 ? d : -1;
}

std::vector<std::int32_t> Collectives::besideSwitch(const Collective& collective, const CollectivePhase& phase,
                                                    std::int32_t rank) const {
    if (collective.request.group >= 0) return groups_[static_cast<std::size_t>(collective.request.group)].members;
    const auto d = static_cast<std::size_t>(phase.dimension);
    const auto first = static_cast<std::int32_t>(rank - fabric_.indexIn(d, rank) * fabric_.stride(d));
    std::vector<std::int32_t> ranks;
    for (std::int64_t i = 0; i < phase.size; ++i)
        ranks.push_back(static_cast<std::int32_t>(first + i * fabric_.stride(d)));
    return ranks;
}

void Collectives::sendUp(std::uint32_t stream) {
    Stream& mine = streams_[stream];
    const Collective& its = collectives_[mine.collective];
    const CollectivePhase& phase = phaseOf(its, stream);
    if (mine.sent > 0) return phaseDone(stream);  // everything has come down
    mine.sent = 1;
    const std::int32_t rank = rankOf_[static_cast<std::size_t>(slotOfStream(stream))];
    const auto d = static_cast<std::size_t>(phase.dimension);
    // To the switch, on the way to any other one there.
    const auto other = static_cast<std::int32_t>(
        rank + ((fabric_.indexIn(d, rank) + 1) % fabric_.size(d) - fabric_.indexIn(d, rank)) * fabric_.stride(d));
    const auto bytes = static_cast<double>(phase.message);
    const std::uint32_t at = messageFor(fabric_.begin(rank, other), stream, 0, mine.phase, bytes);
    if (!settings_.network.congestion)
        queue_.schedule(queue_.now() + fabric_.aloneToSwitch(d, bytes), AtSwitch, at);
    else if (network_)
        network_->sendPart(rank, other, WayPart::First, bytes, {AtSwitch, at});
    else
        queue_.schedule(fabric_.hop(messages_[at].place, bytes, queue_.now()), AtSwitch, at);
    while (!early_.empty() && takeEarly(stream, 0)) queue_.schedule(queue_.now(), ReceiveNow, stream);
}

void Collectives::atSwitch(std::uint32_t message) {
    const Message come = messages_[message];
    freeMessages_.push_back(message);
    const Collective& its = collectives_[streams_[come.stream].collective];
    const CollectivePhase& phase = phaseOf(its, come.stream);
    const std::int32_t sender = rankOf_[static_cast<std::size_t>(slotOfStream(come.stream))];
    const std::vector<std::int32_t> ranks = besideSwitch(its, phase, sender);
    // Those who stand for others are there once.
    std::vector<std::int32_t> present;
    for (const std::int32_t rank : ranks)
        if (slotOf_.empty() || rankOf_[static_cast<std::size_t>(slotOf_[static_cast<std::size_t>(rank)])] == rank)
            present.push_back(rank);
    const bool gathers = phase.op == TraceCollective::AllGather;
    if (!gathers) {
        const std::uint64_t key = switchKey(streamAt(its, present.front(), come.stream), come.phase);
        if (++atSwitch_[key] < present.size()) return;
        atSwitch_.erase(key);
    }
    const auto d = static_cast<std::size_t>(phase.dimension);
    const double bytes = phase.op == TraceCollective::ReduceScatter
                             ? static_cast<double>(phase.message) / static_cast<double>(phase.size)
                             : static_cast<double>(phase.message);
    const auto down = [&](std::int32_t rank) {
        const std::uint32_t stream = streamAt(its, rank, come.stream);
        const std::int32_t from = rank == ranks.front() ? ranks.back() : ranks.front();
        MessageFabric::Place place = fabric_.begin(from, rank);
        place.inSwitch = static_cast<std::uint8_t>(d);
        const std::uint32_t at = messageFor(place, stream, 0, come.phase, bytes);
        if (!settings_.network.congestion)
            queue_.schedule(queue_.now() + fabric_.aloneToSwitch(d, bytes), MessageThere, at);
        else if (network_)
            network_->sendPart(from, rank, WayPart::Last, bytes, {MessageThere, at});
        else
            handle({MessageHop, at});
    };
    if (!gathers) {
        for (const std::int32_t rank : present) down(rank);
        return;
    }
    // A copy for everyone but the sender; who stands for all gets as many.
    if (present.size() == ranks.size()) {
        for (const std::int32_t rank : present)
            if (rank != sender) down(rank);
    } else {
        for (std::int64_t i = 1; i < phase.size; ++i) down(present.front());
    }
}

void Collectives::cameDown(std::uint32_t stream) {
    Stream& mine = streams_[stream];
    const CollectivePhase& phase = phaseOf(collectives_[mine.collective], stream);
    const std::int64_t all = phase.op == TraceCollective::AllGather ? phase.size - 1 : 1;
    if (++mine.received == all) queue_.schedule(queue_.now() + endpoint_, StreamReady, stream);
}

}  // namespace orrery
