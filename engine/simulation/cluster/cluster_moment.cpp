// A run as it is between two events, and back to it. Copies hold on to the same fabric, queue and host: they are put
// back into the machine that they were taken from.

#include "simulation/cluster/cluster_machine.h"
#include "simulation/network/packet_network.h"

namespace orrery {

struct ClusterMachine::Moment {
    MessageFabric fabric;
    TimeBuckets queue;
    std::unique_ptr<MessageNetwork> network;
    Collectives collectives;
    std::vector<Rank> ranks;
    std::vector<Direct> directs;
    std::vector<std::uint32_t> freeDirects;
    std::map<std::tuple<std::int32_t, std::int32_t, std::int32_t, std::int64_t>, std::uint32_t> channelOf;
    std::vector<Channel> channels;
    std::vector<Receiver> receivers;
    std::vector<RankResult> results;
    std::size_t spans = 0;  ///< they are only added: as many are kept
    std::uint64_t messages = 0;
    std::size_t unfinished = 0, rooted = 0;
    std::unordered_map<std::uint64_t, SimTime> since;
};

std::shared_ptr<const ClusterMachine::Moment> ClusterMachine::moment() const {
    return std::make_shared<const Moment>(Moment{fabric_, queue_, network_ ? network_->copy() : nullptr, *collectives_,
                                                 ranks_, directs_, freeDirects_, channelOf_, channels_, receivers_,
                                                 outcome_.ranks, outcome_.spans.size(), outcome_.messages, unfinished_,
                                                 rooted_, since_});
}

void ClusterMachine::goBack(const Moment& moment) {
    fabric_ = moment.fabric;
    queue_ = moment.queue;
    collectives_ = std::make_unique<Collectives>(moment.collectives);
    network_ = moment.network ? moment.network->copy() : nullptr;
    if (network_) collectives_->carryBy(*network_);
    if (packets_) packets_ = dynamic_cast<const PacketNetwork*>(network_.get());
    ranks_ = moment.ranks;
    directs_ = moment.directs;
    freeDirects_ = moment.freeDirects;
    channelOf_ = moment.channelOf;
    channels_ = moment.channels;
    receivers_ = moment.receivers;
    outcome_.ranks = moment.results;
    outcome_.spans.resize(moment.spans);
    outcome_.messages = moment.messages;
    unfinished_ = moment.unfinished;
    rooted_ = moment.rooted;
    since_ = moment.since;
    problem_.reset();
}

}  // namespace orrery
