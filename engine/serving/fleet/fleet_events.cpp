#include "serving/serving_state.h"

#include <algorithm>

namespace orrery {

namespace {

void at(ServingState& state, SimTime time, FleetEvent::Kind kind, std::int32_t replica) {
    state.fleetEvents.push_back({kind, replica});
    state.schedule(time, ServingCode::Fleet, static_cast<std::uint32_t>(state.fleetEvents.size() - 1));
}

void placeAgain(ServingState& state, const std::vector<RequestIndex>& requests, std::int32_t from) {
    for (const RequestIndex r : requests) {
        state.router->withdrawn(r, from, state.now);
        state.requests().replica[r] = -1;
        state.requests().decodeOn[r] = -1;
        place(state, r);
    }
}

void closeTo(ServingState& state, std::int32_t replica) {
    state.view.accepts[static_cast<std::size_t>(replica)] = 0;
    state.replicas[static_cast<std::size_t>(replica)]->draining = true;
}

void switchOff(ServingState& state, std::int32_t replica) {
    const auto i = static_cast<std::size_t>(replica);
    state.replicas[i]->up = false;
    if (state.offSince[i] < 0) state.offSince[i] = state.now;
}

// Power and price count again.
void switchOn(ServingState& state, std::size_t i) {
    if (state.offSince[i] >= 0) state.replicas[i]->totals().off += state.now - state.offSince[i];
    state.offSince[i] = -1;
}

void join(ServingState& state, std::int32_t replica) {
    const auto i = static_cast<std::size_t>(replica);
    Replica& one = *state.replicas[i];
    one.account(state.now);
    one.up = true;
    one.draining = false;
    state.leaving[i] = 0;
    state.view.accepts[i] = 1;
    switchOn(state, i);
    const std::vector<RequestIndex> unplaced = std::exchange(state.unplaced, {});
    for (const RequestIndex r : unplaced) place(state, r);
    state.touch(static_cast<std::uint32_t>(replica));
}

void drain(ServingState& state, std::int32_t replica) {
    closeTo(state, replica);
    std::vector<RequestIndex> out;
    Replica& one = *state.replicas[static_cast<std::size_t>(replica)];
    one.account(state.now);
    one.scheduler().evict(out, false);
    // Caches that came from elsewhere have nowhere to go back to: they lose what they brought.
    for (const RequestIndex r : out)
        if (state.requests().computed[r] > 0) state.requests().lose(r);
    placeAgain(state, out, replica);
    noticeEmpty(state, static_cast<std::uint32_t>(replica));
}

void fail(ServingState& state, std::int32_t replica) {
    const auto i = static_cast<std::size_t>(replica);
    Replica& one = *state.replicas[i];
    if (!one.up) return;
    one.account(state.now);
    one.interrupt(state.now);
    closeTo(state, replica);
    ++one.epoch;
    while (one.underWay() > 0) {
        one.scheduler().finish(one.oldest().batch, state.now);
        one.retire(state.now);
    }
    std::vector<RequestIndex> out;
    one.scheduler().evict(out, true);
    cancelMoves(state, replica, out);
    switchOff(state, replica);
    state.router->lost(replica, state.now);
    for (const RequestIndex r : out) state.record(ServingEvent::Kind::Fail, r, replica);
    placeAgain(state, out, replica);
}

double load(const ServingState& state, std::size_t i) {
    const Replica& one = *state.replicas[i];
    const double requests = one.scheduler().waiting() + one.scheduler().running() + state.view.expected[i];
    const double memory = static_cast<double>(one.memory().used()) / static_cast<double>(one.memory().total());
    return std::max(memory, requests / one.spec().scheduler.maxSequences);
}

struct PoolNow {
    std::vector<std::size_t> on, off, starting;
    double load = 0;
};

PoolNow poolOf(const ServingState& state, const std::string& name) {
    PoolNow pool;
    for (std::size_t i = 0; i < state.replicas.size(); ++i) {
        if (state.replicas[i]->spec().pool != name) continue;
        if (state.view.accepts[i]) {
            pool.on.push_back(i);
            pool.load += load(state, i);
        } else if (state.leaving[i] == 2) {
            pool.starting.push_back(i);
        } else if (!state.replicas[i]->up || state.leaving[i] == 1) {
            pool.off.push_back(i);
        }
    }
    return pool;
}

// One step per pool and decision: grow by one, or shrink by one.
void decide(ServingState& state) {
    const AutoscaleSpec& rules = state.fleet->autoscale;
    std::vector<std::string> names;
    for (const ReplicaSpec& replica : state.fleet->replicas) {
        if (replica.devices == 0) continue;  // workers on hosts stay
        if (std::find(names.begin(), names.end(), replica.pool) == names.end()) names.push_back(replica.pool);
    }
    for (const std::string& name : names) {
        const PoolNow pool = poolOf(state, name);
        const std::size_t all = pool.on.size() + pool.off.size() + pool.starting.size();
        const std::size_t most = rules.most > 0 ? std::min(all, static_cast<std::size_t>(rules.most)) : all;
        const double mean = pool.on.empty() ? 1e9 : pool.load / static_cast<double>(pool.on.size());
        if (mean > rules.up && pool.on.size() + pool.starting.size() < most && !pool.off.empty()) {
            const std::size_t i = pool.off.front();
            const auto replica = static_cast<std::int32_t>(i);
            state.record(ServingEvent::Kind::ScaleUp, no_request, replica);
            // One that has not finished leaving still holds the model.
            const bool warm = state.leaving[i] == 1 && state.replicas[i]->up;
            state.leaving[i] = 2;
            switchOn(state, i);
            at(state, state.now + (warm ? 0 : toTicks(rules.spinUp)), FleetEvent::Kind::Join, replica);
        } else if (mean < rules.down && pool.on.size() > static_cast<std::size_t>(std::max(1, rules.least))) {
            const auto replica = static_cast<std::int32_t>(pool.on.back());
            state.record(ServingEvent::Kind::ScaleDown, no_request, replica);
            state.leaving[pool.on.back()] = 1;
            drain(state, replica);
        }
    }
    if (state.ended < state.requests().size()) {
        ++state.decisions;
        at(state, toTicks(rules.interval) * static_cast<SimTime>(state.decisions + 1), FleetEvent::Kind::Decide, -1);
    }
}

}  // namespace

void beginFleetEvents(ServingState& state) {
    const std::size_t count = state.replicas.size();
    state.offSince.assign(count, -1);
    state.leaving.assign(count, 0);
    for (const ReplicaFailure& failure : state.fleet->failures) {
        const auto kind = failure.drain ? FleetEvent::Kind::Drain : FleetEvent::Kind::Fail;
        at(state, toTicks(failure.at), kind, failure.replica);
        if (failure.lasting > 0)
            at(state, toTicks(failure.at + failure.lasting), FleetEvent::Kind::Recover, failure.replica);
    }
    const AutoscaleSpec& rules = state.fleet->autoscale;
    if (rules.interval <= 0) return;
    for (std::size_t i = 0; i < count; ++i) {
        if (state.fleet->replicas[i].devices == 0) continue;
        std::int32_t before = 0;
        for (std::size_t j = 0; j < i; ++j) before += state.fleet->replicas[j].pool == state.fleet->replicas[i].pool;
        if (before < std::max(1, rules.least)) continue;
        closeTo(state, static_cast<std::int32_t>(i));
        switchOff(state, static_cast<std::int32_t>(i));
    }
    at(state, toTicks(rules.interval), FleetEvent::Kind::Decide, -1);
}

void handleFleetEvent(ServingState& state, FleetEvent event) {
    switch (event.kind) {
        case FleetEvent::Kind::Fail:
            fail(state, event.replica);
            break;
        case FleetEvent::Kind::Drain:
            drain(state, event.replica);
            break;
        case FleetEvent::Kind::Recover:
            state.record(ServingEvent::Kind::Recover, no_request, event.replica);
            join(state, event.replica);
            break;
        case FleetEvent::Kind::Join:
            join(state, event.replica);
            break;
        case FleetEvent::Kind::Decide:
            decide(state);
            break;
    }
}

void noticeEmpty(ServingState& state, std::uint32_t index) {
    const Replica& replica = *state.replicas[index];
    const Scheduler& scheduler = replica.scheduler();
    if (replica.underWay() > 0 || scheduler.running() > 0 || scheduler.waiting() > 0) return;
    const auto here = static_cast<std::int32_t>(index);
    state.router->emptied(here, state.now);
    // Blocks that are left belong to caches that wait for their way out, or are on their way in.
    if (state.leaving[index] == 1 && replica.memory().used() == 0) switchOff(state, here);
}

}  // namespace orrery
