#include "serving/serving_state.h"

#include <algorithm>

namespace orrery {

namespace {

void askForMove(ServingState& state, RequestIndex r, std::int32_t from, std::int32_t to) {
    auto& requests = state.requests();
    Replica& source = *state.replicas[static_cast<std::size_t>(from)];
    const KvBlocks& memory = state.replicas[static_cast<std::size_t>(to)]->memory();
    const Scheduler& policy = state.replicas[static_cast<std::size_t>(to)]->scheduler();
    const std::int64_t blocks = policy.blocksToArrive(r, memory.blocksFor(requests.text(r)));
    if (blocks > memory.total()) {
        source.account(state.now);
        source.memory().release(requests, r);
        state.touch(static_cast<std::uint32_t>(from));
        requests.state[r] = RequestState::Rejected;
        requests.reason[r] = RejectReason::TooLong;
        endRequest(state, r, from);
        return;
    }
    requests.decodeOn[r] = to;
    ++state.view.expected[static_cast<std::size_t>(to)];
    // Copies on several devices (latent caches, heads fewer than devices) are those of the side that has fewer.
    const double each =
        std::min(source.spec().kvBytesPerToken, state.replicas[static_cast<std::size_t>(to)]->spec().kvBytesPerToken);
    state.transfers->ask({r, from, to, blocks, requests.computed[r] * each}, state.now);
}

void handOver(ServingState& state, const Move& move) {
    auto& requests = state.requests();
    Replica& source = *state.replicas[static_cast<std::size_t>(move.from)];
    Replica& target = *state.replicas[static_cast<std::size_t>(move.to)];
    const RequestIndex r = move.request;
    source.account(state.now);
    target.account(state.now);
    source.memory().release(requests, r);
    if (target.scheduler().adoptsBlocks())
        requests.blocks[r] = static_cast<std::int32_t>(move.blocks);
    else
        target.memory().reserve(-move.blocks);
    --state.view.expected[static_cast<std::size_t>(move.to)];
    requests.replica[r] = move.to;
    requests.state[r] = RequestState::Waiting;
    state.record(ServingEvent::Kind::TransferEnd, r, move.to);
    state.router->moved(r, move.from, move.to, state.now);
    target.scheduler().add(r, state.now);
    state.touch(static_cast<std::uint32_t>(move.from));
    state.touch(static_cast<std::uint32_t>(move.to));
    noticeEmpty(state, static_cast<std::uint32_t>(move.from));
}

}  // namespace

void departPrefilled(ServingState& state, std::uint32_t index, const Batch& batch) {
    auto& requests = state.requests();
    Replica& replica = *state.replicas[index];
    const auto here = static_cast<std::int32_t>(index);
    for (const RequestIndex r : batch.requests) {
        if (requests.generated[r] == 1 && requests.firstToken[r] == state.now)
            state.router->prefillDone(r, here, state.now);
        if (!state.transfers || requests.decodeOn[r] == here || requests.finished(r)) continue;
        if (requests.generated[r] == 0 || requests.left(r) != 1) continue;
        if (requests.decodeOn[r] < 0 && replica.spec().role != ReplicaRole::Prefill) continue;
        std::int32_t to = requests.decodeOn[r];
        if (to < 0 || !state.view.accepts[static_cast<std::size_t>(to)])
            to = state.router->decodeOn(r, here, state.now);
        if (to == here) {
            requests.decodeOn[r] = here;
            continue;
        }
        if (!replica.scheduler().depart(r)) {
            requests.decodeOn[r] = here;
            if (!std::exchange(state.stays, true))
                state.result.warnings.push_back(warning(
                    "serving.cannot-depart", "the policy " + replica.spec().scheduler.id + " cannot hand requests over",
                    "choose another policy for prefill replicas; its requests decode where their prompt was computed"));
            continue;
        }
        requests.state[r] = RequestState::Moving;
        if (to < 0)
            state.homeless.push_back(r);
        else
            askForMove(state, r, here, to);
    }
}

void progressMoves(ServingState& state) {
    auto& requests = state.requests();
    Transfers& transfers = *state.transfers;
    if (!state.homeless.empty()) {
        std::erase_if(state.homeless, [&](RequestIndex r) {
            const std::int32_t to = state.router->decodeOn(r, requests.replica[r], state.now);
            if (to >= 0) askForMove(state, r, requests.replica[r], to);
            return to >= 0;
        });
    }
    state.moves.clear();
    transfers.arrivals(state.now, state.moves);
    for (const Move& move : state.moves) handOver(state, move);
    transfers.begin(state.now, [&](const Move& move) {
        Replica& target = *state.replicas[static_cast<std::size_t>(move.to)];
        if (target.memory().free() < move.blocks) return false;
        target.account(state.now);
        target.memory().reserve(move.blocks);
        state.record(ServingEvent::Kind::TransferBegin, move.request, move.to);
        return true;
    });
    // What takes no time arrives in the instant in which it begins.
    state.moves.clear();
    transfers.arrivals(state.now, state.moves);
    for (const Move& move : state.moves) handOver(state, move);
    const SimTime next = transfers.next();
    if (next == Transfers::never || next >= state.nextMove) return;
    state.nextMove = std::max(next, state.now + 1);
    state.schedule(state.nextMove, ServingCode::Moves, 0);
}

void cancelMoves(ServingState& state, std::int32_t replica, std::vector<RequestIndex>& lost) {
    if (!state.transfers) return;
    auto& requests = state.requests();
    std::vector<Move> onTheirWay, waiting;
    state.transfers->cancel(replica, state.now, onTheirWay, waiting);
    for (const Move& move : onTheirWay) {
        Replica& target = *state.replicas[static_cast<std::size_t>(move.to)];
        target.account(state.now);
        target.memory().reserve(-move.blocks);
    }
    waiting.insert(waiting.end(), onTheirWay.begin(), onTheirWay.end());
    for (const Move& move : waiting) {
        --state.view.expected[static_cast<std::size_t>(move.to)];
        requests.decodeOn[move.request] = -1;
        if (move.from != replica) state.homeless.push_back(move.request);
    }
    for (const Move& move : waiting)
        if (move.from == replica) lost.push_back(move.request);
    std::erase_if(state.homeless, [&](RequestIndex r) {
        if (requests.replica[r] != replica) return false;
        lost.push_back(r);
        return true;
    });
    KvBlocks& memory = state.replicas[static_cast<std::size_t>(replica)]->memory();
    for (const RequestIndex r : lost) {
        memory.release(requests, r);
        requests.lose(r);
    }
}

}  // namespace orrery
