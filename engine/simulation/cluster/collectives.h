#pragma once

// Collectives in progress: chunks of every rank wait in the queues of the network's dimensions, pass their phases step
// by step, and send messages. The clockwork and the messages are the run's; here is what follows from what.

#include "simulation/cluster/cluster_settings.h"
#include "simulation/network/message_network.h"
#include "simulation/time_buckets.h"

#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

namespace orrery {

/// Who exchanges: the ranks of a list in its order.
struct RankGroup {
    std::string name;
    std::vector<std::int32_t> members;
    std::unordered_map<std::int32_t, std::int32_t> local;     ///< state by member's slot
    std::unordered_map<std::int32_t, std::int32_t> position;  ///< of a rank in `members`
    /// So many members beside each other stand in one node, and chunks (as many at least) take turns at who of them is
    /// the last in a ring: every member's way out is used, as NCCL's channels use all adapters. Divides the members.
    std::int32_t block = 1;
};

struct CollectiveRequest {
    TraceCollective op = TraceCollective::AllReduce;
    std::int64_t bytes = 0;
    std::int32_t group = -1;
    std::uint32_t dimensions = ~0U;
    std::int32_t priority = 0;
};

/// What the run does for its collectives.
class CollectiveHost {
public:
    virtual ~CollectiveHost() = default;
    virtual void collectiveDone(std::int32_t slot, std::uint32_t node) = 0;
};

class Collectives {
public:
    enum Event : std::uint32_t {
        StreamReady = 0,
        MessageHop = 1,
        MessageThere = 2,
        ReceiveNow = 3,
        Agreed = 4,
        AtSwitch = 5,
        events = 6
    };

    /// `rankOf`: the rank that a slot stands for; `slotOf` the reverse, empty where each rank has its own.
    Collectives(const ClusterSettings& settings, MessageFabric& fabric, TimeBuckets& queue, CollectiveHost& host,
                std::vector<std::int32_t> rankOf, const std::vector<std::int32_t>& slotOf,
                const std::vector<RankGroup>& groups);

    /// A rank takes part in its group's next collective. Fails with `cluster.mismatch` where the others of the group
    /// ask for something else, `cluster.not-member`, `cluster.chunks` where it would not fit into memory, and as
    /// collectivePhase() does.
    Expected<void> join(std::int32_t slot, std::uint32_t node, const CollectiveRequest& request);
    void handle(TimeBuckets::Event event);
    /// Messages go over this instead of the fabric's links, which outlives it.
    void carryBy(MessageNetwork& network) { network_ = &network; }
    /// Broadcast, reduce, gather, scatter: not all members send alike. They are not followed message by message.
    static bool hasRoot(TraceCollective op);

    /// For the report of a run that does not end: the collective in which this rank takes part and who is not there.
    std::string waitsFor(std::int32_t slot, std::uint32_t node) const;
    std::uint64_t messages() const { return sent_; }

private:
    static constexpr std::uint32_t none = ~0U, nobody = 3;

    struct Collective {
        CollectiveRequest request;
        std::vector<CollectivePhase> phases;  ///< of one order of dimensions after the other
        std::uint32_t phasesOfOrder = 0;
        std::vector<std::uint8_t> orderOf;    ///< by chunk; empty: all alike
        std::uint32_t chunks = 0, first = 0;  ///< stream of member m, chunk c: first + m·chunks + c
        std::uint32_t members = 0, joined = 0, left = 0;
        struct Member {
            std::int32_t slot = -1;
            std::uint32_t node = 0, chunksLeft = 0;
            std::int64_t priority = 0;
            bool done = false;  ///< of a collective without messages
        };
        std::vector<Member> member;
        bool agreed = false;  ///< an event that ends it for those who have joined is on its way
    };
    /// A chunk of one rank.
    struct Stream {
        std::uint32_t collective = none;
        std::uint32_t inserted = 0, sent = 0, free = 0, received = 0;
        std::int32_t peer = 0;  ///< rank to the next, of a ring
        std::uint32_t peerStream = 0;
        std::uint16_t phase = 0;
        bool running = false;
        std::uint8_t tree = 0, posted = 0;  ///< of trees: state, from whom messages are awaited
    };
    struct Message {
        MessageFabric::Place place;
        std::uint32_t stream = none;  ///< receiver's
        std::uint32_t step = 0;       ///< of the sender; of trees: who the sender is to the receiver
        std::uint32_t phase = 0;
        double bytes = 0;
    };
    struct Lane {
        std::deque<std::uint32_t> streams;  ///< those that run, then the others by priority and time
        std::int64_t running = 0;
    };

    const CollectivePhase& phaseOf(const Collective& its, std::uint32_t stream) const {
        const std::uint32_t phase = streams_[stream].phase;
        if (its.orderOf.empty()) return its.phases[phase];
        return its.phases[its.orderOf[(stream - its.first) % its.chunks] * its.phasesOfOrder + phase];
    }
    /// Who sends what when a schedule was found for the links: by member.
    struct MemberPlan {
        struct Send {
            std::int32_t piece = 0, to = 0;
        };
        std::vector<std::vector<Send>> queues;  ///< of its links
        std::vector<std::int32_t> needs;        ///< by piece: messages that come before it goes on
        std::int64_t sends = 0, receives = 0;
    };
    struct PlanState {
        std::vector<std::int32_t> got;    ///< by piece
        std::vector<std::uint32_t> next;  ///< by queue
        std::deque<std::int32_t> adding;  ///< pieces that have come and are being added
        std::int64_t sent = 0, received = 0, pending = 1;
        bool begun = false;
    };
    struct Cut {
        std::int64_t chunks = 0, bytes = 0;  ///< of each chunk
    };
    Expected<std::uint32_t> open(const CollectiveRequest& request);
    Cut cutOf(const CollectiveRequest& request) const;
    Expected<void> fits(const std::vector<CollectivePhase>& phases, std::int64_t chunks, std::int64_t members) const;
    SimTime rooted(const CollectiveRequest& request) const;
    Expected<std::vector<CollectivePhase>> phasesOf(const CollectiveRequest& request, std::int64_t chunk,
                                                    const std::vector<std::int32_t>& dimensions);
    std::vector<std::int32_t> dimensionsOf(const CollectiveRequest& request) const;
    Expected<void> addOrders(Collective& made, const CollectiveRequest& request, const Cut& cut);
    Expected<std::int32_t> planOf(TraceCollective op, std::int32_t dimension, std::int64_t piece);
    std::uint32_t memberOf(const Collective& collective, std::int32_t slot) const;
    std::uint32_t membersOf(std::int32_t group) const;
    std::int64_t priorityOf(std::int32_t slot, const CollectiveRequest& request);

    Lane& lane(std::int32_t slot, std::int32_t dimension) {
        return lanes_[static_cast<std::size_t>(slot) * dimensions_ + static_cast<std::size_t>(dimension)];
    }
    std::int32_t slotOfStream(std::uint32_t stream) const;
    std::int64_t priorityOfStream(std::uint32_t stream) const;
    void enter(std::uint32_t stream);
    void startWaiting(std::int32_t slot, std::int32_t dimension);
    void phaseDone(std::uint32_t stream);
    void close(std::uint32_t collective);

    void begin(std::uint32_t stream);
    void ready(std::uint32_t stream);
    void receive(std::uint32_t stream, std::uint32_t step);
    void insert(std::uint32_t stream, std::uint32_t count);
    void sendNext(std::uint32_t stream);
    void treeStep(std::uint32_t stream, bool received);
    void treeUp(std::uint32_t stream, bool received, const TreePlace& place, SimTime sum, std::uint32_t asChild);
    void treeDown(std::uint32_t stream, bool received, const TreePlace& place, SimTime sum);
    void treeExpect(std::uint32_t stream, std::uint32_t from);
    /// The next state; with a delay of 0 or more, the next step after it.
    void treeBecome(std::uint32_t stream, std::uint8_t state, SimTime delay = -1);
    void treeSend(std::uint32_t stream, std::int64_t to, std::uint32_t as);
    // collective_in_network.cpp
    void sendUp(std::uint32_t stream);
    void atSwitch(std::uint32_t message);
    void cameDown(std::uint32_t stream);
    /// Members of a collective, or of its phase, that share a switch with a rank.
    std::vector<std::int32_t> besideSwitch(const Collective& collective, const CollectivePhase& phase,
                                           std::int32_t rank) const;
    AlgorithmChoice choiceFor(std::size_t kind, std::int32_t dimension) const;
    /// The dimension whose switch sums for a group: one in which it lies, and whose collectives go so; -1: none.
    std::int32_t switchOf(std::int32_t group, std::size_t kind) const;
    // collective_synthesised.cpp
    void planBegin(std::uint32_t stream);
    void planSend(std::uint32_t stream);
    void planReceive(std::uint32_t stream, std::uint32_t piece);
    std::uint32_t messageFor(MessageFabric::Place place, std::uint32_t stream, std::uint32_t step, std::uint32_t phase,
                             double bytes);
    bool await(std::uint32_t stream, std::uint32_t step);
    void post(std::uint32_t target, std::int32_t from, std::int32_t to, std::uint32_t step, std::uint32_t phase,
              double bytes);
    void there(std::uint32_t message);
    bool awaited(const Stream& stream, const Message& message) const;

    std::int32_t rankOfIndex(const Collective& collective, const CollectivePhase& phase, std::int32_t rank,
                             std::int64_t index, std::uint32_t stream) const;
    std::int64_t indexInPhase(const Collective& collective, const CollectivePhase& phase, std::int32_t rank,
                              std::uint32_t stream) const;
    /// A message that came before it was awaited; it is no longer kept.
    bool takeEarly(std::uint32_t stream, std::uint32_t step) {
        const auto found = early_.find(earlyKey(stream, streams_[stream].phase, step));
        if (found == early_.end()) return false;
        if (--found->second == 0) early_.erase(found);
        return true;
    }
    std::uint32_t streamAt(const Collective& collective, std::int32_t rank, std::uint32_t like) const;
    SimTime reduction(std::int64_t bytes) const;
    static std::uint64_t earlyKey(std::uint32_t stream, std::uint32_t phase, std::uint32_t step) {
        return std::uint64_t(stream) << 32 | std::uint64_t(phase) << 26 | step;
    }

    const ClusterSettings& settings_;
    MessageFabric& fabric_;
    TimeBuckets& queue_;
    MessageNetwork* network_ = nullptr;
    CollectiveHost& host_;
    std::vector<std::int32_t> rankOf_;
    const std::vector<std::int32_t>& slotOf_;
    const std::vector<RankGroup>& groups_;
    std::size_t dimensions_ = 1;
    SimTime endpoint_ = 0, start_ = 0;

    std::vector<Collective> collectives_;
    std::vector<std::uint32_t> freeCollectives_;
    std::vector<Stream> streams_;
    std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> freeBlocks_;  ///< first streams by size
    std::vector<Message> messages_;
    std::vector<std::uint32_t> freeMessages_;
    std::vector<Lane> lanes_;
    std::vector<std::int64_t> nextPriority_;                                ///< by slot
    std::vector<std::vector<std::uint64_t>> joinedCount_;                   ///< [group + 1][member]
    std::vector<std::unordered_map<std::uint64_t, std::uint32_t>> openOf_;  ///< [group + 1]: number → collective
    std::vector<std::uint32_t> treesTaken_;                                 ///< by slot and dimension
    std::unordered_map<std::uint64_t, std::uint32_t> early_;                ///< messages that nobody awaits yet
    std::unordered_map<std::uint64_t, std::uint32_t> atSwitch_;  ///< sums under way in switches: who has come
    std::vector<std::vector<MemberPlan>> plans_;                 ///< of synthesised schedules, by member
    std::unordered_map<std::uint64_t, std::int32_t> planIndex_;
    std::unordered_map<std::uint32_t, PlanState> planState_;  ///< by stream
    std::vector<double> dimensionLoad_;                       ///< of the Themis order, s
    std::uint64_t sent_ = 0;
};

}  // namespace orrery
