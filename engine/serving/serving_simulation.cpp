#include "serving/serving_simulation.h"

#include "serving/serving_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

namespace orrery {

struct ServingSimulation::Parts : ServingState {};

namespace {

constexpr SimTime never = std::numeric_limits<SimTime>::max();
constexpr int gap_decades = 12;  // from a microsecond up

void countGaps(ServingState& state, SimTime gap, std::uint64_t count) {
    auto& result = state.result;
    if (result.gapHistogram.empty() || count == 0) return;
    if (gap != state.gapTicks) {
        const double decades = std::log10(std::max(toSeconds(gap), 1e-6)) + 6;
        state.gapTicks = gap;
        state.gapBin = std::min(static_cast<std::size_t>(decades * result.gapBins), result.gapHistogram.size() - 1);
    }
    result.gapHistogram[state.gapBin] += count;
    result.gapSum += toSeconds(gap) * static_cast<double>(count);
    result.gaps += count;
}

// Tokens of the text that come out together share the iteration's end: the first has the gap, the others none.
void yieldTokens(ServingState& state, RequestIndex r, std::int32_t tokens, std::int32_t replica) {
    auto& requests = state.requests();
    requests.generated[r] += tokens;
    if (requests.firstToken[r] < 0) {
        requests.firstToken[r] = state.now;
        state.record(ServingEvent::Kind::FirstToken, r, replica);
    } else {
        countGaps(state, state.now - requests.lastToken[r], 1);
    }
    countGaps(state, 0, static_cast<std::uint64_t>(tokens - 1));
    requests.lastToken[r] = state.now;
}

// Every sequence decodes one token: nearly all iterations of a run. Returns how many requests are done.
std::size_t countDecodes(ServingState& state, const Batch& batch) {
    auto& requests = state.requests();
    std::size_t done = 0;
    SimTime since = -1;
    std::uint64_t count = 0;
    for (const RequestIndex r : batch.requests) {
        ++requests.computed[r];
        if (requests.lastToken[r] != since) {
            countGaps(state, state.now - since, count);
            since = requests.lastToken[r];
            count = 0;
        }
        ++count;
        requests.lastToken[r] = state.now;
        if (++requests.generated[r] >= requests.output[r]) {
            requests.state[r] = RequestState::Done;
            ++done;
        }
    }
    countGaps(state, state.now - since, count);
    return done;
}

std::size_t countTokens(ServingState& state, Replica& replica, std::int32_t index) {
    auto& requests = state.requests();
    const Iteration& iteration = replica.oldest();
    const Batch& batch = iteration.batch;
    if (iteration.promptTokens == 0 && iteration.decodeTokens == iteration.decodes) return countDecodes(state, batch);
    std::size_t done = 0;
    for (std::size_t i = 0; i < batch.requests.size(); ++i) {
        const RequestIndex r = batch.requests[i];
        const std::int32_t tokens = batch.tokens[i];
        if (tokens > 1 && requests.decoding(r)) {
            const std::int32_t yielded = replica.committed(tokens - 1);
            requests.computed[r] += yielded;
            yieldTokens(state, r, yielded, index);
        } else {
            requests.computed[r] += tokens;
            assert(requests.left(r) >= 0);
            if (requests.left(r) == 0)
                yieldTokens(state, r, 1, index);
            else
                requests.lastChunk[r] = state.now;
        }
        if (!requests.finished(r)) continue;
        requests.state[r] = RequestState::Done;
        ++done;
    }
    return done;
}

void endIteration(ServingState& state, std::uint32_t index) {
    Replica& replica = *state.replicas[index];
    auto& requests = state.requests();
    const std::size_t done = countTokens(state, replica, static_cast<std::int32_t>(index));
    replica.account(state.now);
    const Batch& batch = replica.oldest().batch;
    const auto lost = requests.lostTokens;
    replica.scheduler().finish(batch, state.now);
    replica.totals().recomputedTokens += requests.lostTokens - lost;
    if (replica.oldest().promptTokens > 0 || state.transfers) departPrefilled(state, index, batch);
    for (std::size_t i = 0; done > 0 && i < batch.requests.size(); ++i) {
        const RequestIndex r = batch.requests[i];
        if (requests.state[r] == RequestState::Done) endRequest(state, r, static_cast<std::int32_t>(index));
    }
    replica.retire(state.now);
    state.touch(index);
    noticeEmpty(state, index);
}

void handle(ServingState& state, const SimEvent& event) {
    const auto code = static_cast<ServingCode>(event.code & 0xFFu);
    const std::uint32_t epoch = event.code >> 8;
    switch (code) {
        case ServingCode::IterationEnd:
            if (state.replicas[event.subject]->epoch == epoch) endIteration(state, event.subject);
            break;
        case ServingCode::Arrive:
            arrive(state, event.subject);
            break;
        case ServingCode::Moves:
            state.nextMove = never;
            break;
        case ServingCode::Fleet:
            handleFleetEvent(state, state.fleetEvents[event.subject]);
            break;
    }
}

void logIteration(ServingState& state, const Replica& replica, const Iteration& iteration, std::int32_t index) {
    auto& log = state.result.batches;
    const Batch& batch = iteration.batch;
    log.replica.push_back(index);
    log.begin.push_back(iteration.begin.ticks);
    log.end.push_back(iteration.end.ticks);
    log.sequences.push_back(static_cast<std::int32_t>(batch.requests.size()));
    log.promptTokens.push_back(iteration.promptTokens);
    log.decodeTokens.push_back(iteration.decodeTokens);
    log.usedBlocks.push_back(replica.memory().used());
    log.waiting.push_back(replica.scheduler().waiting());
    log.preempted.push_back(static_cast<std::int32_t>(batch.dropped.size()));
    if (!state.options.members) return;
    if (log.memberBegin.empty()) log.memberBegin.push_back(0);
    log.member.insert(log.member.end(), batch.requests.begin(), batch.requests.end());
    log.memberTokens.insert(log.memberTokens.end(), batch.tokens.begin(), batch.tokens.end());
    log.memberBegin.push_back(log.member.size());
}

void recordDropped(ServingState& state, const std::vector<RequestIndex>& dropped, std::int32_t replica) {
    auto& requests = state.requests();
    for (const RequestIndex r : dropped) {
        if (requests.state[r] == RequestState::Rejected) {
            if (requests.ended[r] < 0) endRequest(state, r, replica);
        } else {
            const bool swapped = requests.state[r] == RequestState::Swapped;
            state.record(swapped ? ServingEvent::Kind::Swap : ServingEvent::Kind::Preempt, r, replica);
        }
    }
}

// An iteration that has its time: its end is an event.
void launch(ServingState& state, std::uint32_t index, const Iteration& iteration) {
    Replica& replica = *state.replicas[index];
    state.view.batchEnd[index] = iteration.end.ticks;
    state.schedule(iteration.end.ticks, ServingCode::IterationEnd, index, replica.epoch);
    if (state.options.batches) logIteration(state, replica, iteration, static_cast<std::int32_t>(index));
}

// Ranks that share experts: none begins before all have ended, all are padded to the largest and wait for the slowest
// (vLLM's data-parallel engines; ranks without requests run along and take no longer than the others).
void scheduleWave(ServingState& state, std::int32_t wave) {
    const auto ranks = [&](auto&& visit) {
        for (std::uint32_t i = 0; i < state.replicas.size(); ++i)
            if (state.replicas[i]->spec().wave == wave) visit(i, *state.replicas[i]);
    };
    bool busy = false;
    ranks([&](std::uint32_t, Replica& replica) { busy |= replica.underWay() > 0; });
    if (busy) return;
    std::int32_t most = 0;
    ranks([&](std::uint32_t i, Replica& replica) {
        const std::vector<RequestIndex>* dropped = nullptr;
        const Iteration* iteration = replica.dispatch(state.now, dropped);
        if (dropped) recordDropped(state, *dropped, static_cast<std::int32_t>(i));
        if (iteration) most = std::max(most, iteration->promptTokens + iteration->decodeTokens);
    });
    double slowest = 0;
    ranks([&](std::uint32_t, Replica& replica) {
        if (replica.underWay() > 0) slowest = std::max(slowest, replica.priceNewest(most));
    });
    ranks([&](std::uint32_t i, Replica& replica) {
        if (replica.underWay() == 0) return;
        const double own = replica.priceNewest(most);
        launch(state, i, replica.startNewest(state.now, slowest - own));
    });
}

void scheduleReplica(ServingState& state, std::uint32_t index) {
    Replica& replica = *state.replicas[index];
    if (replica.inWave()) return scheduleWave(state, replica.spec().wave);
    const auto id = static_cast<std::int32_t>(index);
    while (true) {
        const std::vector<RequestIndex>* dropped = nullptr;
        const Iteration* iteration = replica.dispatch(state.now, dropped);
        if (dropped) recordDropped(state, *dropped, id);
        // A sequence that had to make room for itself comes back at once: nothing else would ask for it again. (Vidur
        // leaves it until the next event.)
        const bool again = dropped && replica.spec().scheduler.compatibility.empty() &&
                           std::any_of(dropped->begin(), dropped->end(), [&](RequestIndex r) {
                               return state.requests().state[r] == RequestState::Preempted;
                           });
        if (!iteration && again) continue;
        if (!iteration) return;
        launch(state, index, *iteration);
    }
}

// Whoever has not ended when nothing is left to happen can never end.
void closeBooks(ServingState& state) {
    auto& requests = state.requests();
    std::size_t stuck = 0;
    for (std::size_t r = 0; r < requests.size() && state.ended < requests.size(); ++r) {
        if (requests.state[r] == RequestState::Done || requests.state[r] == RequestState::Rejected) continue;
        const bool unplaced = requests.replica[r] < 0;
        requests.state[r] = RequestState::Rejected;
        requests.reason[r] = unplaced ? RejectReason::NoReplica : RejectReason::Failed;
        requests.ended[r] = state.now;
        ++state.ended;
        ++stuck;
    }
    if (stuck > 0) {
        state.result.warnings.push_back(warning(
            "serving.stuck", fmt::format("{} requests could not be served and nothing was left to wait for", stuck),
            "give the replicas more memory, or look at failures and rules of admission"));
    }
    double low = 0, high = 0, seconds = 0;
    for (std::size_t i = 0; i < state.replicas.size(); ++i) {
        const auto& replica = state.replicas[i];
        replica->account(state.now);
        auto& totals = replica->totals();
        if (state.offSince[i] >= 0) totals.off += state.now - state.offSince[i];
        state.offSince[i] = -1;
        const SimTime idle = std::max<SimTime>(0, state.now - totals.busy - totals.off);
        totals.joules += toSeconds(idle) * replica->spec().power.idle;
        low += replica->lowSeconds;
        high += replica->highSeconds;
        seconds += replica->pricedSeconds;
        state.result.outsideDomain += replica->outside;
    }
    if (seconds > 0) {
        state.result.low = low / seconds;
        state.result.high = high / seconds;
    }
    state.result.end = state.now;
}

#ifndef NDEBUG
// Blocks are conserved: those that requests hold are those that are not free. (Vidur's static batches lose some.)
void checkBlocks(ServingState& state) {
    std::vector<std::int64_t> held(state.replicas.size());
    const auto& requests = state.requests();
    for (std::size_t r = 0; r < requests.size(); ++r) {
        assert(requests.blocks[r] >= 0);
        if (requests.replica[r] >= 0) held[static_cast<std::size_t>(requests.replica[r])] += requests.blocks[r];
    }
    for (std::size_t i = 0; i < held.size(); ++i) {
        assert(state.replicas[i]->memory().free() >= 0);
        // Requests that share a prefix hold the same blocks.
        assert(held[i] <= state.replicas[i]->memory().used() || state.replicas[i]->spec().scheduler.prefixCache);
    }
}
#endif

}  // namespace

ServingSimulation::ServingSimulation(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
ServingSimulation::~ServingSimulation() = default;

Expected<std::unique_ptr<ServingSimulation>> ServingSimulation::make(std::shared_ptr<const FleetSpec> fleet,
                                                                     std::shared_ptr<const RequestStream> requests,
                                                                     const ServingOptions& options) {
    if (!fleet || !requests) return fail("serving.nothing", "a simulation needs a fleet and requests");
    if (auto good = check(*fleet); !good) return tl::unexpected(std::move(good.error()));
    if (auto good = requests->check(); !good) return tl::unexpected(std::move(good.error()));
    if (options.gapBins < 0 || options.gapBins > 100'000) {
        return fail("serving.gap-bins", fmt::format("{} bins per decade", options.gapBins), "0 to 100000");
    }
    auto parts = std::make_unique<Parts>();
    ServingState& state = *parts;
    state.fleet = std::move(fleet);
    state.stream = std::move(requests);
    state.options = options;
    const std::size_t count = state.fleet->replicas.size();
    state.result.requests.reset(*state.stream);
    state.result.stream = state.stream;
    state.result.replicas.resize(count);
    state.result.gapBins = options.gapBins;
    state.result.gapHistogram.assign(static_cast<std::size_t>(options.gapBins) * gap_decades, 0);
    state.isTouched.assign(count, 0);
    state.view.fleet = state.fleet.get();
    state.view.requests = &state.result.requests;
    state.view.seed = options.seed;
    state.view.accepts.assign(count, 1);
    state.view.expected.assign(count, 0);
    state.view.batchEnd.assign(count, 0);
    for (std::size_t i = 0; i < count; ++i) {
        state.replicas.push_back(std::make_unique<Replica>(state.fleet->replicas[i], static_cast<std::int32_t>(i),
                                                           state.result.requests, state.result.replicas[i],
                                                           options.seed));
        state.view.schedulers.push_back(&state.replicas.back()->scheduler());
        state.view.memory.push_back(&state.replicas.back()->memory());
    }
    state.router = findRouter(state.fleet->router.id)->make(state.fleet->router, state.view);
    if (options.progress) options.progress->setTotal(state.stream->size());
    bool decodesApart = false;
    for (const ReplicaSpec& replica : state.fleet->replicas) decodesApart |= replica.role == ReplicaRole::Decode;
    if (decodesApart) state.transfers = std::make_unique<Transfers>(state.fleet->transfer, count);
    beginFleetEvents(state);
    beginArrivals(state);
    return std::unique_ptr<ServingSimulation>(new ServingSimulation(std::move(parts)));
}

bool ServingSimulation::step() {
    ServingState& state = *parts_;
    if ((++state.instants & 255u) == 0 && state.options.stop.stop_requested()) state.result.cancelled = true;
    if (state.result.cancelled) return false;
    const auto& stream = *state.stream;
    const SimTime arrival = nextArrivalTime(state);
    const SimTime event = state.queue.empty() ? never : state.queue.next();
    const SimTime time = std::min(arrival, event);
    if (time == never) return false;
    state.now = time;
    state.queue.advance(time);
    while (nextArrivalTime(state) == time) {
        const RequestIndex r = state.nextArrival++;
        if (stream.after.empty() || stream.after[r] == no_request) arrive(state, r);
    }
    while (!state.queue.empty() && state.queue.next() == time) handle(state, state.queue.pop());
    if (state.transfers) progressMoves(state);
    for (std::size_t i = 0; i < state.touched.size(); ++i) {
        const std::uint32_t replica = state.touched[i];
        state.isTouched[replica] = 0;
        scheduleReplica(state, replica);
    }
    state.touched.clear();
#ifndef NDEBUG
    if ((state.instants & (state.requests().size() > 1000 ? 1023u : 15u)) == 0) checkBlocks(state);
#endif
    // What is left may be fleet events alone: they concern nobody when all have ended.
    const bool over = state.ended == state.requests().size();
    if (!over && (!state.queue.empty() || nextArrivalTime(state) != never)) return true;
    state.queue.clear();
    closeBooks(state);
    return false;
}

bool ServingSimulation::advance(SimTime until) {
    const ServingState& state = *parts_;
    while (true) {
        const SimTime event = state.queue.empty() ? never : state.queue.next();
        const SimTime time = std::min(nextArrivalTime(state), event);
        if (time == never || state.result.cancelled) return false;
        if (time > until) return true;
        step();
    }
}

SimTime ServingSimulation::now() const {
    return parts_->now;
}
std::size_t ServingSimulation::replicaCount() const {
    return parts_->replicas.size();
}

ServingSimulation::ReplicaNow ServingSimulation::replica(std::size_t index) const {
    const Replica& replica = *parts_->replicas[index];
    ReplicaNow out;
    out.waiting = replica.scheduler().waiting();
    out.running = replica.scheduler().running();
    out.usedBlocks = replica.memory().used();
    out.totalBlocks = replica.memory().total();
    out.busy = replica.underWay() > 0;
    out.up = replica.up;
    if (out.busy) {
        const Iteration& newest = replica.newest();
        out.batchBegin = newest.begin.ticks;
        out.batchEnd = newest.end.ticks;
        out.batch = &newest.batch;
    }
    return out;
}

const RequestTable& ServingSimulation::requests() const {
    return parts_->result.requests;
}
const ServingResult& ServingSimulation::soFar() const {
    return parts_->result;
}

ServingResult ServingSimulation::take() {
    parts_->result.end = parts_->now;
    return std::move(parts_->result);
}

Expected<ServingResult> simulate(std::shared_ptr<const FleetSpec> fleet, std::shared_ptr<const RequestStream> requests,
                                 const ServingOptions& options) {
    auto simulation = ServingSimulation::make(std::move(fleet), requests, options);
    if (!simulation) return tl::unexpected(std::move(simulation.error()));
    while ((*simulation)->step()) {
    }
    return (*simulation)->take();
}

}  // namespace orrery
