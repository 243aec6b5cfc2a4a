#include "simulation/cluster/cluster_run.h"

#include <queue>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <tuple>
#include <unordered_map>

namespace orrery {

namespace {

/// What a rank does one at a time. From Exchange on: what it exchanges, everything together or each communicator on its
/// own (Exchange + 1 + group).
enum Unit : std::uint32_t { Host, Device, Free, Exchange };

Unit unitOf(const TraceNode& node, bool together) {
    if (node.onHost) return Host;
    switch (node.work) {
        case TraceWork::Compute:
            return Device;
        case TraceWork::Receive:
        case TraceWork::Nothing:
            return Free;
        case TraceWork::Collective:
            return together ? Exchange : static_cast<Unit>(Exchange + 1 + static_cast<std::uint32_t>(node.group + 1));
        case TraceWork::Send:
            return together ? Exchange : Free;
        default:
            return Exchange;
    }
}

struct TraceUsers {
    std::vector<std::uint32_t> begin, user;  ///< of node i: user[begin[i]] … user[begin[i + 1]]
};

TraceUsers usersOf(const ExecutionTrace& trace) {
    TraceUsers users;
    users.begin.assign(trace.nodes.size() + 1, 0);
    for (const std::uint32_t earlier : trace.waits) ++users.begin[earlier + 1];
    for (std::size_t i = 0; i < trace.nodes.size(); ++i) users.begin[i + 1] += users.begin[i];
    users.user.resize(trace.waits.size());
    std::vector<std::uint32_t> at(users.begin.begin(), users.begin.end() - 1);
    for (std::size_t i = 0; i < trace.nodes.size(); ++i)
        for (const std::uint32_t earlier : trace.waitsOf(trace.nodes[i]))
            users.user[at[earlier]++] = static_cast<std::uint32_t>(i);
    return users;
}

struct Rank {
    const ExecutionTrace* trace = nullptr;
    const TraceUsers* users = nullptr;
    std::vector<std::uint32_t> waits;  ///< left, by node
    std::vector<std::int32_t> group;   ///< of the job, by the trace's index
    struct Lane {
        std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> ready;
        bool busy = false;
        std::uint32_t doing = 0;
    };
    std::vector<Lane> lanes;  ///< by unit
    std::size_t left = 0;
    bool finished = false;
    // For exposed time: when the device fell idle with an exchange under way.
    std::int32_t exchanges = 0;
    SimTime exposedSince = -1, exchangeSince = -1;
};

class ClusterMachine final : public CollectiveHost {
public:
    ClusterMachine(ClusterJob& job, const ClusterSettings& settings, MessageFabric fabric, bool keepSpans)
        : job_(job), settings_(settings), fabric_(std::move(fabric)), keepSpans_(keepSpans) {}

    Expected<ClusterOutcome> run(const std::stop_token& stop);
    void collectiveDone(std::int32_t slot, std::uint32_t node) override {
        done(slot, node, unitOf(ranks_[static_cast<std::size_t>(slot)].trace->nodes[node], settings_.astraSim));
    }

private:
    enum Event : std::uint32_t { UnitDone = Collectives::events, DirectHop, DirectThere, ReceiveDone };
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

    Expected<void> prepare();
    void issue(std::int32_t slot);
    bool start(std::int32_t slot, std::uint32_t node, Unit unit);
    void compute(std::int32_t slot, const TraceNode& node, Unit unit);
    void exchange(std::int32_t slot, std::uint32_t index, Unit unit);
    void receive(std::int32_t slot, std::uint32_t index);
    void directThere(std::uint32_t message);
    void done(std::int32_t slot, std::uint32_t node, Unit unit);
    void exchangeBegins(std::int32_t slot);
    void exchangeEnds(std::int32_t slot);
    void watch(Rank& rank, RankResult& result);
    std::uint32_t channel(std::int32_t source, std::int32_t target, std::int32_t tag, std::int64_t bytes);
    std::int32_t slotOf(std::int32_t rank) const {
        return job_.slotOf.empty() ? rank : job_.slotOf[static_cast<std::size_t>(rank)];
    }
    static std::uint64_t key(std::int32_t slot, std::uint32_t node) {
        return std::uint64_t(static_cast<std::uint32_t>(slot)) << 32 | node;
    }
    double nanoseconds(const TraceNode& node) const;
    Unexpected deadlock() const;
    std::string waitsFor(std::int32_t slot) const;

    ClusterJob& job_;
    const ClusterSettings& settings_;
    MessageFabric fabric_;
    TimeBuckets queue_;
    std::unique_ptr<Collectives> collectives_;
    std::vector<Rank> ranks_;
    std::vector<std::int32_t> rankOf_;
    std::map<const ExecutionTrace*, TraceUsers> users_;
    std::vector<Direct> directs_;
    std::vector<std::uint32_t> freeDirects_;
    std::map<std::tuple<std::int32_t, std::int32_t, std::int32_t, std::int64_t>, std::uint32_t> channelOf_;
    std::vector<Channel> channels_;
    std::vector<Receiver> receivers_;
    ClusterOutcome outcome_;
    std::optional<Diagnostic> problem_;
    std::size_t unfinished_ = 0;
    bool keepSpans_ = false;
    std::uint32_t units_ = 0;
    std::unordered_map<std::uint64_t, SimTime> since_;  ///< start of a node, by key()
};

Expected<void> ClusterMachine::prepare() {
    const auto devices = fabric_.devices();
    const std::size_t slots = job_.traces.size();
    const bool fits = job_.slotOf.empty() ? static_cast<std::int64_t>(slots) <= devices
                                          : static_cast<std::int64_t>(job_.slotOf.size()) == devices;
    if (slots == 0 || !fits)
        return fail("cluster.ranks", fmt::format("{} traces for a network of {} devices", slots, devices),
                    "a trace for every device", "change the sizes of the network, or record the missing ranks");
    if (job_.slotOf.empty() && static_cast<std::int64_t>(slots) < devices)
        return fail("cluster.ranks", fmt::format("{} traces for a network of {} devices", slots, devices),
                    "a trace for every device", "change the sizes of the network, or record the missing ranks");
    rankOf_.assign(slots, -1);
    for (std::int32_t r = 0; r < static_cast<std::int32_t>(devices); ++r)
        if (std::int32_t& first = rankOf_[static_cast<std::size_t>(slotOf(r))]; first < 0) first = r;
    std::map<std::string, std::int32_t, std::less<>> groups;
    for (std::size_t g = 0; g < job_.groups.size(); ++g) {
        RankGroup& group = job_.groups[g];
        groups.emplace(group.name, static_cast<std::int32_t>(g));
        for (std::size_t m = 0; m < group.members.size(); ++m) {
            const std::int32_t rank = group.members[m];
            if (rank < 0 || rank >= devices || !group.position.emplace(rank, static_cast<std::int32_t>(m)).second)
                return fail(
                    "cluster.group",
                    fmt::format("group `{}` names rank {} twice or beyond the {} devices", group.name, rank, devices),
                    "different ranks of the network", {});
            group.local.emplace(slotOf(rank), static_cast<std::int32_t>(group.local.size()));
        }
    }
    collectives_ = std::make_unique<Collectives>(settings_, fabric_, queue_, *this, rankOf_, job_.slotOf, job_.groups);
    ranks_.resize(slots);
    outcome_.ranks.resize(slots);
    for (std::size_t s = 0; s < slots; ++s) {
        Rank& rank = ranks_[s];
        rank.trace = job_.traces[s].get();
        auto found = users_.find(rank.trace);
        if (found == users_.end()) found = users_.emplace(rank.trace, usersOf(*rank.trace)).first;
        rank.users = &found->second;
        rank.left = rank.trace->nodes.size();
        for (const std::string& name : rank.trace->groups) {
            const auto at = groups.find(name);
            std::int32_t index = at == groups.end() ? -2 : at->second;
            // A group of all ranks in their order is no group of its own.
            if (!settings_.prices && index >= 0 &&
                job_.groups[static_cast<std::size_t>(index)].members.size() == static_cast<std::size_t>(devices))
                index = -1;
            rank.group.push_back(index);
        }
        rank.lanes.resize(Exchange + 2 + rank.trace->groups.size());
        units_ = std::max(units_, static_cast<std::uint32_t>(rank.lanes.size()));
        rank.waits.reserve(rank.left);
        for (std::size_t i = 0; i < rank.trace->nodes.size(); ++i) {
            const TraceNode& node = rank.trace->nodes[i];
            rank.waits.push_back(node.waitsEnd - node.waitsBegin);
            if (rank.waits.back() == 0)
                rank.lanes[unitOf(node, settings_.astraSim)].ready.push(static_cast<std::uint32_t>(i));
        }
    }
    for (Rank& rank : ranks_) {
        rank.finished = rank.left == 0;
        unfinished_ += rank.finished ? 0 : 1;
    }
    return {};
}

Expected<ClusterOutcome> ClusterMachine::run(const std::stop_token& stop) {
    if (auto good = prepare(); !good) return Unexpected(std::move(good.error()));
    for (std::size_t s = 0; s < ranks_.size() && !problem_; ++s) issue(static_cast<std::int32_t>(s));
    while (!queue_.empty() && !problem_) {
        if ((queue_.taken() & 0xFFFF) == 0 && stop.stop_requested())
            return fail("study.cancelled", "the run was stopped");
        const TimeBuckets::Event event = queue_.pop();
        switch (event.code) {
            case UnitDone: {
                const auto slot = static_cast<std::int32_t>(event.subject / units_);
                const auto unit = static_cast<Unit>(event.subject % units_);
                done(slot, ranks_[static_cast<std::size_t>(slot)].lanes[unit].doing, unit);
                break;
            }
            case DirectHop: {
                Direct& message = directs_[event.subject];
                const SimTime when = fabric_.hop(message.place, message.bytes, queue_.now());
                queue_.schedule(when, MessageFabric::arrived(message.place) ? DirectThere : DirectHop, event.subject);
                break;
            }
            case DirectThere:
                directThere(event.subject);
                break;
            case ReceiveDone: {
                const Receiver receiver = receivers_[event.subject];
                done(receiver.slot, receiver.node, Free);
                break;
            }
            default:
                collectives_->handle(event);
        }
    }
    if (problem_) return Unexpected(std::move(*problem_));
    if (unfinished_ > 0) return deadlock();
    outcome_.links = fabric_.use();
    outcome_.events = queue_.taken();
    outcome_.messages += collectives_->messages();
    return std::move(outcome_);
}

// The device is idle and waits while something is under way.
void ClusterMachine::watch(Rank& rank, RankResult& result) {
    const bool waits = rank.exchanges > 0 && !rank.lanes[Device].busy;
    if (waits == (rank.exposedSince >= 0)) return;
    if (waits) {
        rank.exposedSince = queue_.now();
    } else {
        result.exposed += queue_.now() - rank.exposedSince;
        rank.exposedSince = -1;
    }
}

void ClusterMachine::exchangeBegins(std::int32_t slot) {
    Rank& rank = ranks_[static_cast<std::size_t>(slot)];
    if (rank.exchanges++ == 0) rank.exchangeSince = queue_.now();
    watch(rank, outcome_.ranks[static_cast<std::size_t>(slot)]);
}

void ClusterMachine::exchangeEnds(std::int32_t slot) {
    Rank& rank = ranks_[static_cast<std::size_t>(slot)];
    RankResult& result = outcome_.ranks[static_cast<std::size_t>(slot)];
    if (--rank.exchanges == 0) result.exchange += queue_.now() - rank.exchangeSince;
    watch(rank, result);
}

double ClusterMachine::nanoseconds(const TraceNode& node) const {
    if (settings_.peak > 0 && !node.onHost) {
        if (node.flops <= 0 || node.tensorBytes <= 0)
            return node.flops > 0 && !settings_.astraSim ? node.flops / settings_.peak * 1e9 : -1;
        const double intensity = node.flops / node.tensorBytes;
        const double rate = settings_.memoryBandwidth > 0
                                ? std::min(settings_.memoryBandwidth * intensity, settings_.peak)
                                : settings_.peak;
        return node.flops / rate * 1e9;
    }
    if (node.microseconds > 0) return node.microseconds * 1000;
    // Without a record ASTRA-sim passes over what has no operations either, and takes a nanosecond for the rest.
    if (settings_.astraSim && node.flops <= 0) return -1;
    return settings_.astraSim ? 1 : 0;
}

// Nodes start in the order of their ids, as far as what they need is free.
void ClusterMachine::issue(std::int32_t slot) {
    Rank& rank = ranks_[static_cast<std::size_t>(slot)];
    for (;;) {
        constexpr std::uint32_t none = ~0U;
        std::uint32_t least = none;
        std::size_t unit = 0;
        for (std::size_t u = 0; u < rank.lanes.size(); ++u) {
            const Rank::Lane& lane = rank.lanes[u];
            if (lane.ready.empty() || (u != Free && lane.busy) || lane.ready.top() >= least) continue;
            least = lane.ready.top();
            unit = u;
        }
        if (least == none || problem_) return;
        rank.lanes[unit].ready.pop();
        start(slot, least, static_cast<Unit>(unit));
    }
}

bool ClusterMachine::start(std::int32_t slot, std::uint32_t index, Unit unit) {
    Rank& rank = ranks_[static_cast<std::size_t>(slot)];
    const TraceNode& node = rank.trace->nodes[index];
    const auto skip = [&] {
        --rank.left;
        for (std::uint32_t u = rank.users->begin[index]; u < rank.users->begin[index + 1]; ++u) {
            const std::uint32_t user = rank.users->user[u];
            if (--rank.waits[user] == 0)
                rank.lanes[unitOf(rank.trace->nodes[user], settings_.astraSim)].ready.push(user);
        }
        if (rank.left == 0) {
            rank.finished = true;
            --unfinished_;
            outcome_.ranks[static_cast<std::size_t>(slot)].finish = queue_.now();
        }
    };
    if (node.work == TraceWork::Nothing) {
        skip();
        return false;
    }
    rank.lanes[unit].doing = index;
    if (keepSpans_) since_[key(slot, index)] = queue_.now();
    if (node.work == TraceWork::Compute) {
        if (const double time = nanoseconds(node); time < 0) {
            skip();
            return false;
        }
        compute(slot, node, unit);
        return true;
    }
    if (node.work == TraceWork::Receive) {
        receive(slot, index);
        return true;
    }
    exchange(slot, index, unit);
    return true;
}

void ClusterMachine::compute(std::int32_t slot, const TraceNode& node, Unit unit) {
    Rank& rank = ranks_[static_cast<std::size_t>(slot)];
    RankResult& result = outcome_.ranks[static_cast<std::size_t>(slot)];
    const SimTime time = fabric_.ticks(nanoseconds(node));
    (unit == Host ? result.host : result.compute) += time;
    rank.lanes[unit].busy = true;
    watch(rank, result);
    queue_.schedule(queue_.now() + time, UnitDone, static_cast<std::uint32_t>(slot) * units_ + unit);
}

std::uint32_t ClusterMachine::channel(std::int32_t source, std::int32_t target, std::int32_t tag, std::int64_t bytes) {
    const auto [at, made] =
        channelOf_.try_emplace({source, target, tag, bytes}, static_cast<std::uint32_t>(channels_.size()));
    if (made) channels_.emplace_back();
    return at->second;
}

void ClusterMachine::exchange(std::int32_t slot, std::uint32_t index, Unit unit) {
    Rank& rank = ranks_[static_cast<std::size_t>(slot)];
    const TraceNode& node = rank.trace->nodes[index];
    const std::int32_t number = rankOf_[static_cast<std::size_t>(slot)];
    const auto refuse = [&](const char* code, std::string message, std::string expected, std::string hint = {}) {
        problem_ = fail(code, std::move(message), std::move(expected), std::move(hint),
                        {{}, 0, 0, fmt::format("rank {}, node {} ({})", number, node.id, rank.trace->name(node))})
                       .value();
    };
    const std::uint32_t subject = static_cast<std::uint32_t>(slot) * units_ + unit;
    if (node.work == TraceWork::Load || node.work == TraceWork::Store) {
        if (settings_.remote.bandwidth <= 0) {
            refuse("cluster.remote-memory", "the trace uses memory outside the device and there is none",
                   "a remote memory with a bandwidth", "state it in memory.json");
            return;
        }
        rank.lanes[unit].busy = unit != Free;
        exchangeBegins(slot);
        const double bytes = node.tensorBytes > 0 ? node.tensorBytes : static_cast<double>(node.bytes);
        queue_.schedule(
            queue_.now() + fabric_.ticks(settings_.remote.latency + bytes / (settings_.remote.bandwidth / 1e9)),
            UnitDone, subject);
        return;
    }
    if (node.work == TraceWork::Send) {
        if (node.peer >= fabric_.devices() || node.peer == number) {
            refuse("cluster.peer", fmt::format("a send to rank {}", node.peer),
                   fmt::format("another one of {} ranks", fabric_.devices()));
            return;
        }
        rank.lanes[unit].busy = unit != Free;
        exchangeBegins(slot);
        std::uint32_t at = 0;
        if (freeDirects_.empty()) {
            at = static_cast<std::uint32_t>(directs_.size());
            directs_.emplace_back();
        } else {
            at = freeDirects_.back();
            freeDirects_.pop_back();
        }
        const std::int32_t target = slotOf(node.peer);
        const auto bytes = static_cast<double>(node.bytes);
        directs_[at] = {{number, node.peer, MessageFabric::on_device}, slot, target, index,
                        channel(slot, target, node.tag, node.bytes),   bytes};
        ++outcome_.messages;
        if (settings_.prices) {
            queue_.schedule(queue_.now() + fabric_.ticks(settings_.prices->message(number, node.peer, bytes) * 1e9),
                            DirectThere, at);
        } else if (settings_.network.congestion) {
            const SimTime when = fabric_.hop(directs_[at].place, bytes, queue_.now());
            queue_.schedule(when, MessageFabric::arrived(directs_[at].place) ? DirectThere : DirectHop, at);
        } else {
            queue_.schedule(queue_.now() + fabric_.alone(number, node.peer, bytes), DirectThere, at);
        }
        return;
    }
    using enum TraceCollective;
    if (node.collective == Broadcast && settings_.astraSim) {
        rank.lanes[unit].busy = unit != Free;
        exchangeBegins(slot);
        queue_.schedule(queue_.now() + fabric_.ticks(node.microseconds > 0 ? node.microseconds * 1000 : 1), UnitDone,
                        subject);
        return;
    }
    if (node.collective != AllReduce && node.collective != AllGather && node.collective != ReduceScatter &&
        node.collective != AllToAll) {
        refuse("cluster.collective", fmt::format("a {} cannot be simulated", toText(node.collective)),
               "all-reduce, all-gather, reduce-scatter or all-to-all");
        return;
    }
    CollectiveRequest request{node.collective, node.bytes, -1, node.dimensions, node.priority};
    if (node.group >= 0) request.group = rank.group[static_cast<std::size_t>(node.group)];
    if (request.group < -1) {
        refuse("cluster.group",
               fmt::format("group `{}` is not stated", rank.trace->groups[static_cast<std::size_t>(node.group)]),
               "a list of its ranks", "name it in the file of communicators");
        return;
    }
    rank.lanes[unit].busy = unit != Free;
    exchangeBegins(slot);
    if (auto joined = collectives_->join(slot, index, request); !joined) {
        problem_ = std::move(joined.error());
        if (problem_->place.path.empty())
            problem_->place.path = fmt::format("rank {}, node {} ({})", number, node.id, rank.trace->name(node));
    }
}

void ClusterMachine::receive(std::int32_t slot, std::uint32_t index) {
    Rank& rank = ranks_[static_cast<std::size_t>(slot)];
    const TraceNode& node = rank.trace->nodes[index];
    if (node.peer >= fabric_.devices() || node.peer == rankOf_[static_cast<std::size_t>(slot)]) {
        problem_ = fail("cluster.peer", fmt::format("a receive from rank {}", node.peer),
                        fmt::format("another one of {} ranks", fabric_.devices()), {},
                        {{},
                         0,
                         0,
                         fmt::format("rank {}, node {} ({})", rankOf_[static_cast<std::size_t>(slot)], node.id,
                                     rank.trace->name(node))})
                       .value();
        return;
    }
    exchangeBegins(slot);
    Channel& its = channels_[channel(slotOf(node.peer), slot, node.tag, node.bytes)];
    const auto at = static_cast<std::uint32_t>(receivers_.size());
    receivers_.push_back({slot, index});
    if (its.come > 0) {
        --its.come;
        queue_.schedule(queue_.now(), ReceiveDone, at);
    } else {
        its.receivers.push_back(at);
    }
}

void ClusterMachine::directThere(std::uint32_t message) {
    const Direct come = directs_[message];
    freeDirects_.push_back(message);
    done(come.source, come.node, settings_.astraSim ? Exchange : Free);
    Channel& its = channels_[come.channel];
    if (its.receivers.empty()) {
        ++its.come;
        return;
    }
    const Receiver receiver = receivers_[its.receivers.front()];
    its.receivers.pop_front();
    done(receiver.slot, receiver.node, Free);
}

void ClusterMachine::done(std::int32_t slot, std::uint32_t node, Unit unit) {
    Rank& rank = ranks_[static_cast<std::size_t>(slot)];
    RankResult& result = outcome_.ranks[static_cast<std::size_t>(slot)];
    rank.lanes[unit].busy = false;
    if (unit >= Free) exchangeEnds(slot);
    if (unit == Device) watch(rank, result);
    if (keepSpans_) outcome_.spans.push_back({slot, node, since_[key(slot, node)], queue_.now()});
    --rank.left;
    for (std::uint32_t u = rank.users->begin[node]; u < rank.users->begin[node + 1]; ++u) {
        const std::uint32_t user = rank.users->user[u];
        if (--rank.waits[user] == 0) rank.lanes[unitOf(rank.trace->nodes[user], settings_.astraSim)].ready.push(user);
    }
    issue(slot);
    if (rank.left == 0 && !rank.finished) {
        rank.finished = true;
        --unfinished_;
        result.finish = queue_.now();
    }
}

std::string ClusterMachine::waitsFor(std::int32_t slot) const {
    const Rank& rank = ranks_[static_cast<std::size_t>(slot)];
    for (std::size_t u = Exchange; u < rank.lanes.size(); ++u) {
        if (!rank.lanes[u].busy) continue;
        const TraceNode& node = rank.trace->nodes[rank.lanes[u].doing];
        return fmt::format("for {} (node {}, {})",
                           node.work == TraceWork::Collective ? collectives_->waitsFor(slot, rank.lanes[u].doing)
                                                              : fmt::format("a message to rank {}", node.peer),
                           node.id, rank.trace->name(node));
    }
    for (const Channel& one : channels_) {
        for (const std::uint32_t at : one.receivers) {
            if (receivers_[at].slot != slot) continue;
            const TraceNode& node = rank.trace->nodes[receivers_[at].node];
            return fmt::format("for {} B with tag {} from rank {} (node {}, {})", node.bytes, node.tag, node.peer,
                               node.id, rank.trace->name(node));
        }
    }
    return "for nothing that is under way";
}

Unexpected ClusterMachine::deadlock() const {
    std::string who;
    std::size_t count = 0;
    constexpr std::size_t most = 4;
    for (std::size_t s = 0; s < ranks_.size(); ++s) {
        if (ranks_[s].finished) continue;
        if (++count <= most)
            who += fmt::format("{}rank {} waits {}", who.empty() ? "" : "; ", rankOf_[s],
                               waitsFor(static_cast<std::int32_t>(s)));
    }
    if (count > most) who += fmt::format("; {} more ranks wait", count - most);
    return fail("cluster.deadlock", "the run cannot go on: " + who, "exchanges in which all sides take part",
                "compare the traces of these ranks at these nodes");
}

}  // namespace

bool equalRanks(const ClusterJob& job, const ClusterSettings& settings) {
    if (!job.slotOf.empty() || job.traces.empty() || job.traces.size() < 2) return false;
    const TracePtr& first = job.traces.front();
    if (std::any_of(job.traces.begin(), job.traces.end(), [&](const TracePtr& one) { return one != first; }))
        return false;
    const bool alone = std::any_of(first->nodes.begin(), first->nodes.end(), [&](const TraceNode& node) {
        return node.work == TraceWork::Send || node.work == TraceWork::Receive ||
               (node.work == TraceWork::Collective && node.group >= 0);
    });
    if (alone) return false;
    for (const auto& choices : settings.algorithms) {
        for (std::size_t d = 0; d < choices.size(); ++d) {
            if (choices[d].algorithm == StepAlgorithm::DoubleBinaryTree) return false;
            // Partners at 1, 2, 4, … lie either way of a ring: its links are not used alike.
            if (choices[d].algorithm != StepAlgorithm::HalvingDoubling || !settings.network.congestion) continue;
            for (const FabricDimension& one : settings.network.dimensions)
                if (one.shape == TopologyShape::Ring) return false;
        }
    }
    return true;
}

Expected<ClusterOutcome> runCluster(ClusterJob job, const ClusterSettings& settings, bool keepSpans,
                                    const std::stop_token& stop, bool fold) {
    if (settings.splits < 1 || settings.activeChunks < 1 || settings.endpointDelay < 0)
        return fail("cluster.settings", "splits and active chunks begin at 1, delays at 0", {}, {});
    const std::size_t ranks = job.traces.size();
    std::int64_t devices = 1;
    for (const FabricDimension& one : settings.network.dimensions)
        devices = one.size > 0 && devices < 1 << 24 ? devices * one.size : devices;
    const bool folds = fold && !keepSpans && static_cast<std::int64_t>(ranks) == devices && equalRanks(job, settings);
    if (folds) {
        job.traces.resize(1);
        job.slotOf.assign(ranks, 0);
    }
    auto fabric = MessageFabric::make(settings.network, job.slotOf);
    if (!fabric) return Unexpected(std::move(fabric.error()));
    auto outcome = ClusterMachine(job, settings, std::move(*fabric), keepSpans).run(stop);
    if (outcome && folds) {
        outcome->ranks.resize(ranks, RankResult(outcome->ranks.front()));
        outcome->messages *= ranks;
    }
    return outcome;
}

}  // namespace orrery
