#pragma once

// The ranks of a run and what happens to them: which nodes are ready, what a device does now, which messages are under
// way. For cluster_run.cpp alone.

#include "simulation/cluster/cluster_run.h"

#include <queue>

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace orrery {

class Ns3Network;
class PacketNetwork;

class ClusterMachine final : public CollectiveHost {
public:
    ClusterMachine(ClusterJob& job, const ClusterSettings& settings, MessageFabric fabric, bool keepSpans)
        : job_(job), settings_(settings), fabric_(std::move(fabric)), keepSpans_(keepSpans) {}

    Expected<ClusterOutcome> run(const std::stop_token& stop);
    // The same in steps, once each but for advance().
    Expected<void> begin();
    /// Everything up to this tick, and no more than so many events of the whole run.
    Expected<void> advance(SimTime until, const std::stop_token& stop, std::uint64_t events = ~std::uint64_t{0});
    Expected<ClusterOutcome> finish();
    bool ended() const { return queue_.empty(); }
    SimTime next() const { return queue_.empty() ? MessageFabric::furthest : queue_.next(); }
    const ClusterOutcome& soFar() const { return outcome_; }
    std::uint64_t events() const { return queue_.taken(); }
    SimTime now() const { return queue_.now(); }
    const MessageFabric& fabric() const { return fabric_; }

    /// All that a run changes, between two events. Of this machine alone, and not after finish().
    struct Moment;
    std::shared_ptr<const Moment> moment() const;
    void goBack(const Moment& moment);

    void collectiveDone(std::int32_t slot, std::uint32_t node) override {
        done(slot, node, unitOf(ranks_[static_cast<std::size_t>(slot)].trace->nodes[node]));
    }

private:
    /// What a rank does one at a time. From Exchange on: what it exchanges, everything together or each communicator
    /// on its own (Exchange + 1 + group).
    enum Unit : std::uint32_t { Host, Device, Free, Exchange };
    enum Event : std::uint32_t { UnitDone = Collectives::events, DirectHop, DirectThere, ReceiveDone };
    static_assert(ReceiveDone < MessageNetwork::first_event);

    struct Users {
        std::vector<std::uint32_t> begin, user;  ///< of node i: user[begin[i]] … user[begin[i + 1]]
    };
    struct Lane {
        std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> ready;
        bool busy = false;
        std::uint32_t doing = 0;
    };
    struct Rank {
        const ExecutionTrace* trace = nullptr;
        const Users* users = nullptr;
        std::vector<std::uint32_t> waits;  ///< left, by node
        std::vector<std::int32_t> group;   ///< of the job, by the trace's index; -1: all ranks, -2: not stated
        std::vector<Lane> lanes;           ///< by unit
        std::size_t left = 0;
        bool finished = false;
        // For exposed time: when the device fell idle with an exchange under way.
        std::int32_t exchanges = 0;
        SimTime exposedSince = -1, exchangeSince = -1;
    };
    struct Direct {  ///< a message of a send
        MessageFabric::Place place;
        std::int32_t source = 0, target = 0;  ///< slots
        std::uint32_t node = 0;
        std::uint32_t channel = 0;
        double bytes = 0;
    };
    struct Channel {  ///< messages of one tag and size between two ranks
        std::deque<std::uint32_t> receivers;
        std::uint32_t come = 0;
    };
    struct Receiver {
        std::int32_t slot = 0;
        std::uint32_t node = 0;
    };

    static Users usersOf(const ExecutionTrace& trace);
    Unit unitOf(const TraceNode& node) const;
    Expected<void> prepare();
    Expected<void> prepareGroups();
    void prepareRank(std::size_t slot, const std::map<std::string, std::int32_t, std::less<>>& groups);
    void handle(TimeBuckets::Event event);

    void issue(std::int32_t slot);
    void start(std::int32_t slot, std::uint32_t node, Unit unit);
    void compute(std::int32_t slot, double nanoseconds, Unit unit);
    void release(std::int32_t slot, std::uint32_t node);
    void done(std::int32_t slot, std::uint32_t node, Unit unit);
    void exchangeBegins(std::int32_t slot);
    void exchangeEnds(std::int32_t slot);
    void watch(Rank& rank, RankResult& result);
    double nanoseconds(const TraceNode& node) const;

    // cluster_exchanges.cpp
    void exchange(std::int32_t slot, std::uint32_t index, Unit unit);
    void occupy(std::int32_t slot, Unit unit, double nanoseconds);
    void load(std::int32_t slot, std::uint32_t index, Unit unit);
    void send(std::int32_t slot, std::uint32_t index, Unit unit);
    void receive(std::int32_t slot, std::uint32_t index);
    void collective(std::int32_t slot, std::uint32_t index, Unit unit);
    void directThere(std::uint32_t message);
    void received(const Receiver& its);
    std::uint32_t channel(std::int32_t source, std::int32_t target, std::int32_t tag, std::int64_t bytes);
    bool isPeer(std::int32_t slot, std::int32_t peer) const;
    void refuse(std::int32_t slot, std::uint32_t index, const char* code, std::string message, std::string expected,
                std::string hint = {});
    Unexpected deadlock() const;
    std::string waitsFor(std::int32_t slot) const;

    std::int32_t slotOf(std::int32_t rank) const {
        return job_.slotOf.empty() ? rank : job_.slotOf[static_cast<std::size_t>(rank)];
    }
    bool keepsSpan(std::int32_t slot) const {
        return keepSpans_ && (settings_.spansOf.empty() || watched_[static_cast<std::size_t>(slot)]);
    }
    static std::uint64_t key(std::int32_t slot, std::uint32_t node) {
        return std::uint64_t(static_cast<std::uint32_t>(slot)) << 32 | node;
    }

    ClusterJob& job_;
    const ClusterSettings& settings_;
    MessageFabric fabric_;
    TimeBuckets queue_;
    std::unique_ptr<MessageNetwork> network_;  ///< none where links store and forward
    const PacketNetwork* packets_ = nullptr;
    const Ns3Network* ns3_ = nullptr;
    std::unique_ptr<Collectives> collectives_;
    std::vector<Rank> ranks_;
    std::vector<std::int32_t> rankOf_;
    std::map<const ExecutionTrace*, Users> users_;
    std::vector<Direct> directs_;
    std::vector<std::uint32_t> freeDirects_;
    std::map<std::tuple<std::int32_t, std::int32_t, std::int32_t, std::int64_t>, std::uint32_t> channelOf_;
    std::vector<Channel> channels_;
    std::vector<Receiver> receivers_;
    ClusterOutcome outcome_;
    std::optional<Diagnostic> problem_;
    std::size_t unfinished_ = 0, rooted_ = 0;
    bool keepSpans_ = false;     ///< what stands above this line but the traces and ranks' numbers is in a Moment
    std::vector<bool> watched_;  ///< slots of ClusterSettings::spansOf
    std::uint32_t units_ = 0;
    std::unordered_map<std::uint64_t, SimTime> since_;  ///< start of a node that runs, by key()
};

}  // namespace orrery
