#include "serving/serving_state.h"

#include <limits>

namespace orrery {

namespace {

bool waitsForAnother(const RequestStream& stream, RequestIndex r) {
    return !stream.after.empty() && stream.after[r] != no_request;
}
SimTime thinkOf(const RequestStream& stream, RequestIndex r) {
    return stream.think.empty() ? 0 : stream.think[r];
}

// Closed loop: a request takes its seat in order; if it waits for another one, it does so in its seat.
void takeSeat(ServingState& state) {
    const auto& stream = *state.stream;
    const RequestIndex r = state.nextArrival++;
    ++state.inFlight;
    if (waitsForAnother(stream, r)) {
        const SimTime ended = state.requests().ended[stream.after[r]];
        if (ended < 0) return;
        state.schedule(ended + thinkOf(stream, r), ServingCode::Arrive, r);
        return;
    }
    state.schedule(state.now, ServingCode::Arrive, r);
}

}  // namespace

void beginArrivals(ServingState& state) {
    const auto& stream = *state.stream;
    if (!stream.after.empty()) {
        state.firstDependent.assign(stream.size(), no_request);
        state.nextDependent.assign(stream.size(), no_request);
        for (std::size_t i = stream.size(); i-- > 0;) {
            const RequestIndex before = stream.after[i];
            if (before == no_request) continue;
            state.nextDependent[i] = state.firstDependent[before];
            state.firstDependent[before] = static_cast<RequestIndex>(i);
        }
    }
    while (stream.concurrency > 0 && state.inFlight < stream.concurrency && state.nextArrival < stream.size()) {
        takeSeat(state);
    }
}

SimTime nextArrivalTime(const ServingState& state) {
    const auto& stream = *state.stream;
    if (stream.concurrency > 0 || state.nextArrival >= stream.size()) return std::numeric_limits<SimTime>::max();
    return stream.arrival[state.nextArrival];
}

void arrive(ServingState& state, RequestIndex r) {
    state.requests().arrived[r] = state.now;
    state.record(ServingEvent::Kind::Arrive, r, -1);
    place(state, r);
}

void place(ServingState& state, RequestIndex r) {
    auto& requests = state.requests();
    requests.state[r] = RequestState::Waiting;
    const Route placement = state.router->place(r, state.now);
    if (placement.refused != RejectReason::None) {
        requests.state[r] = RequestState::Rejected;
        requests.reason[r] = placement.refused;
        endRequest(state, r, -1);
        return;
    }
    if (placement.replica < 0) {
        state.unplaced.push_back(r);
        return;
    }
    requests.replica[r] = placement.replica;
    requests.decodeOn[r] = placement.decode;
    if (placement.decode >= 0 && !state.transfers)
        state.transfers = std::make_unique<Transfers>(state.fleet->transfer, state.replicas.size());
    state.record(ServingEvent::Kind::Route, r, placement.replica);
    const auto replica = static_cast<std::uint32_t>(placement.replica);
    state.replicas[replica]->scheduler().add(r, state.now);
    state.touch(replica);
}

void endRequest(ServingState& state, RequestIndex r, std::int32_t replica) {
    auto& requests = state.requests();
    const auto& stream = *state.stream;
    requests.ended[r] = state.now;
    ++state.ended;
    const bool done = requests.state[r] == RequestState::Done;
    state.record(done ? ServingEvent::Kind::End : ServingEvent::Kind::Reject, r, replica);
    if (state.options.progress) state.options.progress->advance();
    state.router->ended(r, replica, state.now);
    if (!state.firstDependent.empty()) {
        for (RequestIndex next = state.firstDependent[r]; next != no_request; next = state.nextDependent[next]) {
            // In a closed loop one that has no seat yet finds this one ended when it takes it.
            if (stream.concurrency > 0 && next >= state.nextArrival) continue;
            SimTime at = state.now + thinkOf(stream, next);
            if (stream.concurrency == 0) at = std::max(at, stream.arrival[next]);
            state.schedule(at, ServingCode::Arrive, next);
        }
    }
    if (stream.concurrency > 0) {
        --state.inFlight;
        if (state.nextArrival < stream.size()) takeSeat(state);
    }
}

}  // namespace orrery
