#include "simulation/cluster/collectives.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery {

Collectives::Collectives(const ClusterSettings& settings, MessageFabric& fabric, TimeBuckets& queue,
                         CollectiveHost& host, std::vector<std::int32_t> rankOf,
                         const std::vector<std::int32_t>& slotOf, const std::vector<RankGroup>& groups)
    : settings_(settings),
      fabric_(fabric),
      queue_(queue),
      host_(host),
      rankOf_(std::move(rankOf)),
      slotOf_(slotOf),
      groups_(groups),
      dimensions_(settings.network.dimensions.size()),
      endpoint_(fabric.ticks(settings.endpointDelay)),
      start_(fabric.ticks(settings.startDelay)) {
    lanes_.resize(rankOf_.size() * dimensions_);
    nextPriority_.assign(rankOf_.size(), 0);
    treesTaken_.assign(rankOf_.size() * dimensions_, 0);
    openOf_.resize(groups_.size() + 1);
    joinedCount_.resize(groups_.size() + 1);
    for (std::size_t g = 0; g <= groups_.size(); ++g)
        joinedCount_[g].assign(membersOf(static_cast<std::int32_t>(g) - 1), 0);
}

std::uint32_t Collectives::membersOf(std::int32_t group) const {
    return static_cast<std::uint32_t>(group < 0 ? rankOf_.size()
                                                : groups_[static_cast<std::size_t>(group)].local.size());
}

std::uint32_t Collectives::memberOf(const Collective& collective, std::int32_t slot) const {
    if (collective.request.group < 0) return static_cast<std::uint32_t>(slot);
    return static_cast<std::uint32_t>(groups_[static_cast<std::size_t>(collective.request.group)].local.at(slot));
}

std::int64_t Collectives::priorityOf(std::int32_t slot, const CollectiveRequest& request) {
    std::int64_t& next = nextPriority_[static_cast<std::size_t>(slot)];
    switch (settings_.order) {
        case CollectiveOrder::Lifo:
            return next++;
        case CollectiveOrder::Fifo:
            return next--;
        case CollectiveOrder::Explicit:
            return request.priority > 0 ? request.priority : next--;
    }
    return 0;
}

std::vector<std::int32_t> Collectives::dimensionsOf(const CollectiveRequest& request) const {
    std::vector<std::int32_t> used;
    for (std::size_t d = 0; d < dimensions_; ++d)
        if (d >= 32 || (request.dimensions >> d & 1U) != 0) used.push_back(static_cast<std::int32_t>(d));
    return used;
}

Expected<std::vector<CollectivePhase>> Collectives::phasesOf(const CollectiveRequest& request, std::int64_t chunk,
                                                             const std::vector<std::int32_t>& used) {
    using enum TraceCollective;
    std::vector<CollectivePhase> phases;
    std::int64_t bytes = chunk;
    // A barrier is an all-reduce of nothing.
    const TraceCollective what = request.op == Barrier ? AllReduce : request.op;
    const std::size_t kind = what == AllReduce ? 0 : what == AllGather ? 1 : what == ReduceScatter ? 2 : 3;
    const auto add = [&](TraceCollective op, std::int32_t dimension, std::int64_t size, const AlgorithmChoice& choice,
                         bool backwards) -> Expected<void> {
        auto phase = collectivePhase(op, choice, dimension, size, bytes, backwards);
        if (!phase) return Unexpected(std::move(phase.error()));
        if (choice.algorithm == StepAlgorithm::Synthesised && request.group >= 0)
            return fail("network.algorithm", "a part of the ranks cannot use a schedule of its own",
                        "ring, direct, halvingDoubling, doubleBinaryTree or inNetwork", {});
        const FabricDimension& its = settings_.network.dimensions[static_cast<std::size_t>(dimension)];
        if (choice.algorithm == StepAlgorithm::InNetwork && (its.routes || its.shape != TopologyShape::Switch))
            return fail("network.algorithm", "sums are made in a switch, and the dimension has none",
                        "a dimension that is a switch", "choose ring or direct there");
        if (choice.algorithm == StepAlgorithm::Synthesised) {
            const auto plan = planOf(op, dimension, phase->message);
            if (!plan) return Unexpected(plan.error());
            phase->plan = *plan;
        }
        bytes = phase->result;
        phases.push_back(std::move(*phase));
        return {};
    };
    if (request.group >= 0) {
        const auto size = static_cast<std::int64_t>(groups_[static_cast<std::size_t>(request.group)].members.size());
        if (size < 2) return phases;
        const std::int32_t d = what == AllToAll ? -1 : switchOf(request.group, kind);
        if (auto added = d < 0 ? add(what, 0, size, settings_.groupAlgorithms[kind], false)
                               : add(what, d, size, {StepAlgorithm::InNetwork, 0}, false);
            !added)
            return Unexpected(std::move(added.error()));
        return phases;
    }
    const auto one = [&](TraceCollective op, std::int32_t d, bool backwards = false) -> Expected<void> {
        const AlgorithmChoice choice = choiceFor(kind, d);
        const std::int64_t size = fabric_.size(static_cast<std::size_t>(d));
        if (choice.algorithm != StepAlgorithm::Synthesised || op != AllReduce)
            return add(op, d, size, choice, backwards);
        // Found for halves: scattered sums, then gathered.
        if (auto half = add(ReduceScatter, d, size, choice, backwards); !half) return half;
        return add(AllGather, d, size, choice, backwards);
    };
    Expected<void> added;
    if (what == AllReduce && settings_.bandwidthAware && !used.empty()) {
        for (std::size_t i = 0; added && i + 1 < used.size(); ++i) added = one(ReduceScatter, used[i]);
        if (added) added = one(AllReduce, used.back());
        for (std::size_t i = used.size() - 1; added && i-- > 0;) added = one(AllGather, used[i], true);
    } else if (what == AllGather) {
        for (std::size_t i = used.size(); added && i-- > 0;) added = one(AllGather, used[i]);
    } else {
        for (std::size_t i = 0; added && i < used.size(); ++i) added = one(what, used[i]);
    }
    if (!added) return Unexpected(std::move(added.error()));
    return phases;
}

Collectives::Cut Collectives::cutOf(const CollectiveRequest& request) const {
    const std::int64_t ranks = fabric_.devices();
    std::int64_t splits = settings_.splits;
    if (request.group >= 0)
        splits = std::max<std::int64_t>(splits, groups_[static_cast<std::size_t>(request.group)].block);
    std::int64_t bytes = request.op == TraceCollective::Barrier ? 1 : request.bytes, chunk = bytes / splits;
    if (!settings_.astraSim) chunk += bytes % splits != 0;
    if (settings_.astraSim && request.op != TraceCollective::AllGather && ranks > chunk) {
        chunk = ranks;
        bytes = splits * chunk;
    }
    chunk = std::max<std::int64_t>(1, chunk);
    return {(bytes + chunk - 1) / chunk, chunk};
}

// 2^26 chunks of ranks take 2.4 GB, as many messages under way and their events 2.7 GB.
Expected<void> Collectives::fits(const std::vector<CollectivePhase>& phases, std::int64_t chunks,
                                 std::int64_t members) const {
    constexpr std::int64_t most_chunks = 1 << 20, most = 1 << 26;
    const auto refuse = [&](std::string what) {
        return fail("cluster.chunks", fmt::format("a collective of {} chunks among {}{}", chunks, members, what),
                    "what fits into memory",
                    "cut it into fewer splits, with fewer active chunks, or use another algorithm");
    };
    if (chunks > most_chunks || static_cast<std::int64_t>(streams_.size()) + chunks * members > most) return refuse("");
    for (const CollectivePhase& phase : phases)
        if (std::min(chunks, settings_.activeChunks) * members > most / phase.parallel)
            return refuse(fmt::format(", each with {} messages at once", phase.parallel));
    return {};
}

Expected<std::uint32_t> Collectives::open(const CollectiveRequest& request) {
    const Cut cut = cutOf(request);
    auto phases = settings_.prices || hasRoot(request.op) ? Expected<std::vector<CollectivePhase>>()
                                                          : phasesOf(request, cut.bytes, dimensionsOf(request));
    if (!phases) return Unexpected(std::move(phases.error()));
    const std::uint32_t members = membersOf(request.group);
    const std::int64_t chunks = phases->empty() ? 0 : cut.chunks;
    if (auto good = fits(*phases, chunks, members); !good) return Unexpected(std::move(good.error()));
    std::uint32_t at = 0;
    if (freeCollectives_.empty()) {
        at = static_cast<std::uint32_t>(collectives_.size());
        collectives_.emplace_back();
    } else {
        at = freeCollectives_.back();
        freeCollectives_.pop_back();
    }
    Collective& made = collectives_[at];
    made.request = request;
    made.phases = std::move(*phases);
    made.phasesOfOrder = static_cast<std::uint32_t>(made.phases.size());
    made.orderOf.clear();
    made.chunks = static_cast<std::uint32_t>(chunks);
    if (chunks > 0)
        if (auto added = addOrders(made, request, cut); !added) {
            freeCollectives_.push_back(at);
            made.left = 0;
            return Unexpected(std::move(added.error()));
        }
    made.members = made.left = members;
    made.joined = 0;
    made.member.assign(members, {});
    const std::uint32_t count = made.members * made.chunks;
    if (auto& blocks = freeBlocks_[count]; !blocks.empty()) {
        made.first = blocks.back();
        blocks.pop_back();
    } else {
        made.first = static_cast<std::uint32_t>(streams_.size());
        streams_.resize(streams_.size() + count);
    }
    for (std::uint32_t s = made.first; s < made.first + count; ++s) {
        streams_[s] = {};
        streams_[s].collective = at;
    }
    return at;
}

Expected<void> Collectives::join(std::int32_t slot, std::uint32_t node, const CollectiveRequest& request) {
    const std::size_t group = static_cast<std::size_t>(request.group + 1);
    std::uint32_t member = static_cast<std::uint32_t>(slot);
    if (request.group >= 0) {
        const RankGroup& its = groups_[group - 1];
        const auto at = its.local.find(slot);
        if (at == its.local.end())
            return fail("cluster.not-member",
                        fmt::format("rank {} calls a collective of group `{}`, to which it does not belong",
                                    rankOf_[static_cast<std::size_t>(slot)], its.name),
                        "members of the group", "put the rank into the group");
        member = static_cast<std::uint32_t>(at->second);
    }
    const std::uint64_t number = joinedCount_[group][member]++;
    auto found = openOf_[group].find(number);
    if (found == openOf_[group].end()) {
        auto opened = open(request);
        if (!opened) return Unexpected(std::move(opened.error()));
        found = openOf_[group].emplace(number, *opened).first;
    }
    const std::uint32_t at = found->second;
    Collective& collective = collectives_[at];
    const CollectiveRequest& asked = collective.request;
    if (asked.op != request.op || asked.bytes != request.bytes || asked.dimensions != request.dimensions)
        return fail(
            "cluster.mismatch",
            fmt::format("rank {} calls {} of {} B where others of its group call {} of {} B{}",
                        rankOf_[static_cast<std::size_t>(slot)], toText(request.op), request.bytes, toText(asked.op),
                        asked.bytes, asked.dimensions != request.dimensions ? " over other dimensions" : ""),
            "the same collectives in the same order on every rank of a group", "compare the traces at that place");
    auto& mine = collective.member[member];
    mine.slot = slot;
    mine.node = node;
    mine.chunksLeft = collective.chunks;
    mine.priority = priorityOf(slot, request);
    if (++collective.joined == collective.members) openOf_[group].erase(found);
    if (collective.chunks == 0) {
        SimTime end = queue_.now();
        if (settings_.prices || hasRoot(request.op)) {
            if (collective.joined < collective.members) return {};
            end += settings_.prices ? fabric_.ticks(settings_.prices->collective(
                                                        request.op, static_cast<double>(request.bytes), request.group) *
                                                    1e9)
                                    : rooted(request);
        }
        // One event for all who come at this tick: a second one might find another collective in this place.
        if (!collective.agreed) queue_.schedule(end, Agreed, at);
        collective.agreed = true;
        return {};
    }
    const std::uint32_t chunks = collective.chunks, first = collective.first + member * chunks;
    for (std::uint32_t c = 0; c < chunks; ++c) {
        streams_[first + c].phase = 0;
        enter(first + c);
    }
    return {};
}

std::int32_t Collectives::slotOfStream(std::uint32_t stream) const {
    const Collective& its = collectives_[streams_[stream].collective];
    return its.member[(stream - its.first) / its.chunks].slot;
}

std::int64_t Collectives::priorityOfStream(std::uint32_t stream) const {
    const Collective& its = collectives_[streams_[stream].collective];
    return its.member[(stream - its.first) / its.chunks].priority;
}

// Into its phase's queue: behind those that run and those of the same or a higher priority.
void Collectives::enter(std::uint32_t stream) {
    Stream& entering = streams_[stream];
    Collective& its = collectives_[entering.collective];
    const auto& member = its.member[(stream - its.first) / its.chunks];
    const CollectivePhase& phase = phaseOf(its, stream);
    if (phase.choice.algorithm == StepAlgorithm::DoubleBinaryTree) {
        std::uint32_t& taken = treesTaken_[static_cast<std::size_t>(member.slot) * dimensions_ +
                                           static_cast<std::size_t>(phase.dimension)];
        entering.tree = static_cast<std::uint8_t>((taken++ % 2) << 7);
    } else {
        entering.tree = 0;
    }
    entering.running = false;
    entering.posted = 0;
    entering.inserted = entering.sent = entering.free = entering.received = 0;
    Lane& queue = lane(member.slot, phase.dimension);
    const auto place = std::upper_bound(
        queue.streams.begin() + queue.running, queue.streams.end(), member.priority,
        [&](std::int64_t priority, std::uint32_t other) { return priorityOfStream(other) < priority; });
    queue.streams.insert(place, stream);
    startWaiting(member.slot, phase.dimension);
}

void Collectives::startWaiting(std::int32_t slot, std::int32_t dimension) {
    for (;;) {
        Lane& queue = lane(slot, dimension);
        if (queue.running >= settings_.activeChunks || static_cast<std::size_t>(queue.running) >= queue.streams.size())
            return;
        const std::uint32_t stream = queue.streams[static_cast<std::size_t>(queue.running++)];
        streams_[stream].running = true;
        begin(stream);
    }
}

void Collectives::phaseDone(std::uint32_t stream) {
    const std::uint32_t at = streams_[stream].collective;
    const std::uint32_t member = (stream - collectives_[at].first) / collectives_[at].chunks;
    const std::int32_t slot = collectives_[at].member[member].slot;
    const std::int32_t dimension = phaseOf(collectives_[at], stream).dimension;
    const bool last = streams_[stream].phase + 1U == collectives_[at].phasesOfOrder;
    streams_[stream].running = false;
    // The rank hears of the end before the queue goes on: what it issues then is there to choose from.
    bool closes = false;
    if (last && --collectives_[at].member[member].chunksLeft == 0) {
        closes = --collectives_[at].left == 0;
        host_.collectiveDone(slot, collectives_[at].member[member].node);
    }
    Lane& queue = lane(slot, dimension);
    queue.streams.erase(std::find(queue.streams.begin(), queue.streams.end(), stream));
    --queue.running;
    if (!last) {
        ++streams_[stream].phase;
        enter(stream);
    }
    startWaiting(slot, dimension);
    if (closes) close(at);
}

void Collectives::close(std::uint32_t at) {
    Collective& done = collectives_[at];
    if (done.chunks > 0) freeBlocks_[done.members * done.chunks].push_back(done.first);
    freeCollectives_.push_back(at);
}

void Collectives::handle(TimeBuckets::Event event) {
    switch (event.code) {
        case StreamReady:
            ready(event.subject);
            break;
        case ReceiveNow:
            receive(event.subject, nobody);
            break;
        case MessageThere:
            there(event.subject);
            break;
        case AtSwitch:
            atSwitch(event.subject);
            break;
        case MessageHop: {
            Message& message = messages_[event.subject];
            const SimTime when = fabric_.hop(message.place, message.bytes, queue_.now());
            queue_.schedule(when, MessageFabric::arrived(message.place) ? MessageThere : MessageHop, event.subject);
            break;
        }
        case Agreed: {
            // Every member that has joined since the last such event is done.
            const std::uint32_t at = event.subject;
            collectives_[at].agreed = false;
            for (std::size_t m = 0; m < collectives_[at].member.size(); ++m) {
                const auto member = collectives_[at].member[m];
                if (member.slot < 0 || member.done) continue;
                collectives_[at].member[m].done = true;
                const bool closes = --collectives_[at].left == 0;
                host_.collectiveDone(member.slot, member.node);
                if (closes) {
                    close(at);
                    break;
                }
            }
            break;
        }
        default:
            break;
    }
}

std::string Collectives::waitsFor(std::int32_t slot, std::uint32_t node) const {
    for (const Collective& one : collectives_) {
        if (one.left == 0) continue;
        const auto mine = std::find_if(one.member.begin(), one.member.end(), [&](const Collective::Member& member) {
            return member.slot == slot && member.node == node;
        });
        if (mine == one.member.end()) continue;
        std::string absent;
        std::size_t missing = 0;
        constexpr std::size_t most = 4;
        for (std::int32_t s = 0; s < static_cast<std::int32_t>(rankOf_.size()); ++s) {
            if (one.request.group >= 0 && !groups_[static_cast<std::size_t>(one.request.group)].local.contains(s))
                continue;
            if (one.member[memberOf(one, s)].slot >= 0) continue;
            if (++missing <= most)
                absent += fmt::format("{}{}", absent.empty() ? "" : ", ", rankOf_[static_cast<std::size_t>(s)]);
        }
        if (missing == 0) return fmt::format("{} of {} B", toText(one.request.op), one.request.bytes);
        return fmt::format("{} of {} B in which rank{} {}{} never take{} part", toText(one.request.op),
                           one.request.bytes, missing > 1 ? "s" : "", absent,
                           missing > most ? fmt::format(" and {} more", missing - most) : "", missing > 1 ? "" : "s");
    }
    return "a collective";
}

}  // namespace orrery
