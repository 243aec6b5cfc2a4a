#pragma once

// KV caches on their way from the replica that computed a prompt to the one that decodes it: they wait for room at
// their destination, share links, arrive. Knows nothing of schedulers; the simulation asks it for its next instant.
//
// A move keeps its blocks at the source until it has arrived, and those at the destination from its start on, so
// neither side can overcommit: a full decode pool holds prompts back where they are (back-pressure). The first token
// has been yielded by the prompt's iteration: time to first token holds no transfer, the gap to the second token does.

#include "serving/fleet/fleet.h"
#include "serving/request_table.h"
#include "simulation/network/fluid_flows.h"

#include <cstdint>
#include <vector>

namespace orrery {

struct Move {
    RequestIndex request = no_request;
    std::int32_t from = -1, to = -1;
    std::int64_t blocks = 0;  ///< at the destination
    double bytes = 0;         ///< of KV cache
};

class Transfers {
public:
    static constexpr SimTime never = FluidFlows::never;

    Transfers(const TransferSpec& spec, std::size_t replicas);

    /// Queues a move. Destinations serve those who ask first, first.
    void ask(const Move& move, SimTime now);
    /// Begins the queued moves for which `room(move)` reserves blocks at the destination and says true.
    template <class Room>
    void begin(SimTime now, Room&& room) {
        for (Waiting& one : waiting_) {
            if (one.gone || one.next > now || (spec_.retry <= 0 && full_[static_cast<std::size_t>(one.move.to)]))
                continue;
            if (room(static_cast<const Move&>(one.move))) {
                one.gone = true;
                launch(one.move, now);
            } else if (spec_.retry > 0) {
                one.next = now + toTicks(spec_.retry);
            } else {
                full_[static_cast<std::size_t>(one.move.to)] = 1;
            }
        }
        settle();
    }
    /// Moves that have arrived by `now`, in the order of arrival.
    void arrivals(SimTime now, std::vector<Move>& out);
    /// When something happens by itself: an arrival, a link that falls free, another look for room. `never`: nothing.
    SimTime next() const;

    /// Stops every move from or to a replica that failed. Those still on their way or waiting are handed out.
    void cancel(std::int32_t replica, SimTime now, std::vector<Move>& onTheirWay, std::vector<Move>& waiting);

    std::size_t waiting() const { return waiting_.size(); }
    std::size_t moving() const { return flows_.size(); }

private:
    struct Waiting {
        Move move;
        SimTime next = 0;
        bool gone = false;
    };
    void launch(const Move& move, SimTime now);
    void settle();
    /// Moves whose flows have ended or were stopped, in their order; their places are free again.
    void take(std::vector<Move>& out);

    TransferSpec spec_;
    FluidFlows flows_;         ///< link 2r: the way out of replica r; 2r + 1: the way in
    std::vector<Move> moves_;  ///< by the flows' subjects
    std::vector<std::uint32_t> free_, ended_;
    std::vector<Waiting> waiting_;
    std::vector<std::uint8_t> full_;  ///< destinations that had no room in this round
};

}  // namespace orrery
