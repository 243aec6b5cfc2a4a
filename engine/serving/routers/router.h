#pragma once

// Where a request goes. One file per policy in routers/, listed in routers.cpp. A router sees the fleet as it is at the
// instant of its decision and keeps books of its own where the policy needs them.

#include "serving/fleet/fleet.h"
#include "serving/request_table.h"

#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace orrery {

/// What routers may look at; owned by the simulation, one entry per replica, changed as time passes.
struct FleetView {
    const FleetSpec* fleet = nullptr;
    const RequestTable* requests = nullptr;
    std::vector<const Scheduler*> schedulers;
    std::vector<const KvBlocks*> memory;
    std::vector<std::uint8_t> accepts;   ///< 1: up and not draining
    std::vector<std::int32_t> expected;  ///< requests that are on their way to it from a prefill replica
    std::vector<SimTime> batchEnd;       ///< end of its newest iteration; in the past: idle
    std::uint64_t seed = 42;
    std::size_t size() const { return schedulers.size(); }
};

/// `decode` −1: the same replica, or chosen by decodeOn() when the prompt is done.
struct Route {
    std::int32_t replica = -1;
    std::int32_t decode = -1;
    RejectReason refused = RejectReason::None;
};

class Router {
public:
    virtual ~Router() = default;
    /// A request arrives, or comes back from a replica that failed. Among replicas of role Whole or Prefill that
    /// accept; `replica` −1 without a reason: none accepts, the simulation asks again when one does.
    virtual Route place(RequestIndex r, SimTime now) = 0;
    /// Where a prompt that is done on a prefill replica goes; −1: none accepts now.
    virtual std::int32_t decodeOn(RequestIndex r, std::int32_t from, SimTime now) = 0;

    // Told as they happen, for policies that keep books.
    virtual void prefillDone(RequestIndex, std::int32_t /*replica*/, SimTime) {}
    virtual void moved(RequestIndex, std::int32_t /*from*/, std::int32_t /*to*/, SimTime) {}  ///< its cache has arrived
    virtual void ended(RequestIndex, std::int32_t /*replica*/, SimTime) {}
    virtual void withdrawn(RequestIndex, std::int32_t /*replica*/, SimTime) {
    }                                                           ///< placed again: it was lost or drained
    virtual void lost(std::int32_t /*replica*/, SimTime) {}     ///< it failed, its memory is gone
    virtual void emptied(std::int32_t /*replica*/, SimTime) {}  ///< it has nothing left to do
};

struct RouterCard {
    std::string_view id;  ///< `round-robin`
    std::string_view title;
    std::string_view summary;  ///< a sentence or two for a person choosing
    std::string_view lineage;
    std::unique_ptr<Router> (*make)(const RouterSpec&, const FleetView&);
};
/// In the order in which lists show them.
std::span<const RouterCard> routers();
const RouterCard* findRouter(std::string_view id);

}  // namespace orrery
