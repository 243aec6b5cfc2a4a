// The steps of one chunk on one rank. A message is taken to the wire (`inserted`), sent, and answered by one that is
// awaited from the moment of sending; what has been received takes the next one to the wire.

#include "simulation/cluster/collectives.h"

#include <algorithm>

namespace orrery {

SimTime Collectives::reduction(std::int64_t bytes) const {
    if (settings_.memoryBandwidth <= 0) return 0;
    // Two operands read, one result written.
    return 3 * fabric_.ticks(static_cast<double>(bytes) / (settings_.memoryBandwidth / 1e9));
}

std::int64_t Collectives::indexInPhase(const Collective& collective, const CollectivePhase& phase, std::int32_t rank,
                                       std::uint32_t stream) const {
    if (collective.request.group < 0) return fabric_.indexIn(static_cast<std::size_t>(phase.dimension), rank);
    const RankGroup& group = groups_[static_cast<std::size_t>(collective.request.group)];
    const std::int64_t position = group.position.at(rank), block = group.block;
    if (block < 2) return position;
    const std::int64_t turn = (stream - collective.first) % collective.chunks % block;
    return position / block * block + (position + block - turn) % block;
}

std::int32_t Collectives::rankOfIndex(const Collective& collective, const CollectivePhase& phase, std::int32_t rank,
                                      std::int64_t index, std::uint32_t stream) const {
    if (collective.request.group >= 0) {
        const RankGroup& group = groups_[static_cast<std::size_t>(collective.request.group)];
        const std::int64_t block = group.block;
        if (block > 1)
            index = index / block * block + (index + (stream - collective.first) % collective.chunks) % block;
        return group.members[static_cast<std::size_t>(index)];
    }
    const auto d = static_cast<std::size_t>(phase.dimension);
    return static_cast<std::int32_t>(rank + (index - fabric_.indexIn(d, rank)) * fabric_.stride(d));
}

std::uint32_t Collectives::streamAt(const Collective& collective, std::int32_t rank, std::uint32_t like) const {
    const std::int32_t slot = slotOf_.empty() ? rank : slotOf_[static_cast<std::size_t>(rank)];
    return collective.first + memberOf(collective, slot) * collective.chunks +
           (like - collective.first) % collective.chunks;
}

void Collectives::begin(std::uint32_t stream) {
    Stream& mine = streams_[stream];
    const Collective& its = collectives_[mine.collective];
    const CollectivePhase& phase = phaseOf(its, stream);
    if (phase.choice.algorithm == StepAlgorithm::DoubleBinaryTree) {
        treeStep(stream, false);
        return;
    }
    if (phase.choice.algorithm >= StepAlgorithm::InNetwork) {
        if (phase.choice.algorithm == StepAlgorithm::Synthesised) planBegin(stream);
        queue_.schedule(queue_.now() + endpoint_ + (mine.phase == 0 ? start_ : 0), StreamReady, stream);
        return;
    }
    const std::int32_t rank = rankOf_[static_cast<std::size_t>(slotOfStream(stream))];
    if (phase.choice.algorithm == StepAlgorithm::Ring) {
        const std::int64_t index = indexInPhase(its, phase, rank, stream);
        mine.peer = rankOfIndex(its, phase, rank, phase.receiver(index, 0), stream);
        mine.peerStream = streamAt(its, mine.peer, stream);
    }
    insert(stream, static_cast<std::uint32_t>(phase.parallel));
}

void Collectives::insert(std::uint32_t stream, std::uint32_t count) {
    Stream& mine = streams_[stream];
    const CollectivePhase& phase = phaseOf(collectives_[mine.collective], stream);
    for (; count > 0; --count) {
        SimTime delay = endpoint_;
        if (mine.phase == 0 && mine.inserted < phase.parallel) delay += start_;
        if (const std::int64_t bytes = phase.reduced(mine.inserted, settings_.astraSim); bytes > 0)
            delay += reduction(bytes);
        ++mine.inserted;
        queue_.schedule(queue_.now() + delay, StreamReady, stream);
    }
}

void Collectives::sendNext(std::uint32_t stream) {
    Stream& mine = streams_[stream];
    const Collective& its = collectives_[mine.collective];
    const CollectivePhase& phase = phaseOf(its, stream);
    if (mine.sent >= phase.sends || mine.free == 0 || mine.sent == mine.inserted) return;
    const std::uint32_t step = mine.sent++;
    --mine.free;
    const std::int32_t rank = rankOf_[static_cast<std::size_t>(slotOfStream(stream))];
    std::int32_t to = mine.peer;
    std::uint32_t target = mine.peerStream;
    if (phase.choice.algorithm != StepAlgorithm::Ring) {
        to = rankOfIndex(its, phase, rank, phase.receiver(indexInPhase(its, phase, rank, stream), step), stream);
        target = streamAt(its, to, stream);
    }
    post(target, rank, to, step, mine.phase, static_cast<double>(phase.bytes(step)));
    await(stream, step);
}

std::uint32_t Collectives::messageFor(MessageFabric::Place place, std::uint32_t stream, std::uint32_t step,
                                      std::uint32_t phase, double bytes) {
    std::uint32_t at = 0;
    if (freeMessages_.empty()) {
        at = static_cast<std::uint32_t>(messages_.size());
        messages_.emplace_back();
    } else {
        at = freeMessages_.back();
        freeMessages_.pop_back();
    }
    ++sent_;
    messages_[at] = {place, stream, step, phase, bytes};
    return at;
}

void Collectives::post(std::uint32_t target, std::int32_t from, std::int32_t to, std::uint32_t step,
                       std::uint32_t phase, double bytes) {
    const std::uint32_t at = messageFor(fabric_.begin(from, to), target, step, phase, bytes);
    if (!settings_.network.congestion) {
        queue_.schedule(queue_.now() + fabric_.alone(from, to, bytes), MessageThere, at);
        return;
    }
    if (network_) return network_->send(from, to, bytes, {MessageThere, at});
    handle({MessageHop, at});
}

// From now on the message of this step may be received; it may have come already.
bool Collectives::await(std::uint32_t stream, std::uint32_t step) {
    if (early_.empty() || !takeEarly(stream, step)) return false;
    queue_.schedule(queue_.now(), ReceiveNow, stream);
    return true;
}

bool Collectives::awaited(const Stream& stream, const Message& message) const {
    if (!stream.running || stream.phase != message.phase) return false;
    const StepAlgorithm algorithm = phaseOf(collectives_[stream.collective], message.stream).choice.algorithm;
    if (algorithm >= StepAlgorithm::InNetwork) return true;
    if (algorithm == StepAlgorithm::DoubleBinaryTree) return (stream.posted >> message.step & 1U) != 0;
    return message.step < stream.sent;
}

void Collectives::there(std::uint32_t message) {
    const Message& come = messages_[message];
    const std::uint32_t stream = come.stream, step = come.step;
    freeMessages_.push_back(message);
    if (!awaited(streams_[stream], come)) {
        ++early_[earlyKey(stream, come.phase, step)];
        return;
    }
    receive(stream, step);
}

void Collectives::receive(std::uint32_t stream, std::uint32_t step) {
    const Stream& mine = streams_[stream];
    const StepAlgorithm algorithm = phaseOf(collectives_[mine.collective], stream).choice.algorithm;
    if (algorithm == StepAlgorithm::DoubleBinaryTree) {
        streams_[stream].posted &= static_cast<std::uint8_t>(~(1U << step));
        treeStep(stream, true);
        return;
    }
    if (algorithm == StepAlgorithm::InNetwork) return cameDown(stream);
    if (algorithm == StepAlgorithm::Synthesised) return planReceive(stream, step);
    ++streams_[stream].received;
    insert(stream, 1);
}

void Collectives::ready(std::uint32_t stream) {
    Stream& mine = streams_[stream];
    const CollectivePhase& phase = phaseOf(collectives_[mine.collective], stream);
    if (phase.choice.algorithm == StepAlgorithm::DoubleBinaryTree) {
        treeStep(stream, false);
        return;
    }
    if (phase.choice.algorithm == StepAlgorithm::InNetwork) return sendUp(stream);
    if (phase.choice.algorithm == StepAlgorithm::Synthesised) return planSend(stream);
    ++mine.free;
    std::int64_t times = 1;
    if (phase.choice.algorithm == StepAlgorithm::Direct && phase.op == TraceCollective::AllReduce &&
        mine.sent >= phase.size - 1) {
        // The second half of a direct all-reduce begins when all of the first has come.
        if (mine.received < phase.size - 1) return;
        times = phase.parallel;
    }
    for (; times > 0; --times) sendNext(stream);
    if (mine.sent == phase.sends && mine.free == phase.parallel) phaseDone(stream);
}

}  // namespace orrery
