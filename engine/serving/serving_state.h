#pragma once

// The inside of a running simulation, shared by its parts: the loop (serving_simulation.cpp), arrivals (placing.cpp),
// and what happens to replicas and caches on their way.

#include "serving/fleet/replica.h"
#include "serving/routers/router.h"
#include "serving/serving_simulation.h"
#include "serving/fleet/transfers.h"

namespace orrery {

/// What heap events mean; the subject is a replica or a request. Bits from 8 on: the replica's epoch.
enum class ServingCode : std::uint32_t { IterationEnd, Arrive, Moves, Fleet };

/// Something that happens to replicas.
struct FleetEvent {
    enum class Kind : std::uint8_t { Fail, Drain, Recover, Decide, Join };
    Kind kind = Kind::Fail;
    std::int32_t replica = -1;
};

struct ServingState {
    std::shared_ptr<const FleetSpec> fleet;
    std::shared_ptr<const RequestStream> stream;
    ServingOptions options;
    ServingResult result;
    RequestTable& requests() { return result.requests; }

    std::vector<std::unique_ptr<Replica>> replicas;
    FleetView view;
    std::unique_ptr<Router> router;
    EventQueue queue;
    SimTime now = 0;

    RequestIndex nextArrival = 0;  ///< of those whose time is known from the start, in order
    std::int32_t inFlight = 0;     ///< closed loop
    /// Requests that wait for request i: firstDependent[i], then nextDependent of that one, …
    std::vector<RequestIndex> firstDependent, nextDependent;
    std::vector<RequestIndex> unplaced;  ///< no replica accepted them
    std::size_t ended = 0;

    std::unique_ptr<Transfers> transfers;  ///< null: every request stays where its prompt is computed
    SimTime nextMove = Transfers::never;   ///< when the loop will look at them again by itself
    std::vector<RequestIndex> homeless;    ///< prompts that are done and that no replica takes
    std::vector<Move> moves;               ///< kept for its memory
    bool stays = false;                    ///< warned of a policy that lets nobody go

    std::vector<FleetEvent> fleetEvents;
    std::vector<SimTime> offSince;      ///< of each replica; −1: it is there
    std::vector<std::uint8_t> leaving;  ///< scaled away, still finishing
    std::size_t decisions = 0;          ///< of the autoscaler

    std::vector<std::uint32_t> touched;  ///< replicas to be scheduled when this instant is over
    std::vector<std::uint8_t> isTouched;
    SimTime gapTicks = -1;  ///< the gap counted last, and its bin
    std::size_t gapBin = 0;
    std::uint64_t instants = 0;

    void touch(std::uint32_t replica) {
        if (isTouched[replica]) return;
        isTouched[replica] = 1;
        touched.push_back(replica);
    }
    void schedule(SimTime at, ServingCode code, std::uint32_t subject, std::uint32_t epoch = 0) {
        queue.schedule(at, static_cast<std::uint32_t>(code) | epoch << 8, subject);
    }
    void record(ServingEvent::Kind kind, RequestIndex r, std::int32_t replica) {
        if (options.events) result.events.push_back({now, kind, r, replica});
    }
};

/// Prepares dependencies and the first requests of a closed loop.
void beginArrivals(ServingState& state);
/// Time of the next arrival that needs no heap event; the largest SimTime if there is none.
SimTime nextArrivalTime(const ServingState& state);
/// A request is there: it is placed.
void arrive(ServingState& state, RequestIndex r);
/// Puts a request where the router says; to be called again for those that no replica accepted.
void place(ServingState& state, RequestIndex r);
/// A batch has been counted and its policy told: whoever decodes elsewhere departs. (moving.cpp)
void departPrefilled(ServingState& state, std::uint32_t replica, const Batch& batch);
/// Caches that have arrived are handed over, others begin to move. To be called at the end of every instant.
void progressMoves(ServingState& state);
/// A replica has failed: caches on their way from it are lost, those on their way to it turn round. `lost` gets the
/// former.
void cancelMoves(ServingState& state, std::int32_t replica, std::vector<RequestIndex>& lost);
/// Failures, drains and the autoscaler. (fleet_events.cpp)
void beginFleetEvents(ServingState& state);
void handleFleetEvent(ServingState& state, FleetEvent event);
/// Has it anything left to do? Tells the router and lets it go if it was to leave.
void noticeEmpty(ServingState& state, std::uint32_t replica);
/// It is done or rejected: lets those that wait for it come.
void endRequest(ServingState& state, RequestIndex r, std::int32_t replica);

}  // namespace orrery
