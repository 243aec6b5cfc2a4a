#include "methods/system/training/pipeline_law.h"

#include <algorithm>

namespace orrery {

namespace {

Sides stageTurn(const PipelineTurns& turns, std::int64_t stage) {
    return turns.forward[static_cast<std::size_t>(stage)] + turns.backward[static_cast<std::size_t>(stage)];
}

/// A micro-batch forwards and backwards through the first stages and the messages among them; `sum`: their turns.
Sides roundTrip(const Sides& sum, const PipelineTurns& turns, std::int64_t stages) {
    if (turns.messages.size() == 1) return sum + turns.messages.front() * (2.0 * static_cast<double>(stages - 1));
    Sides all = sum;
    for (std::int64_t s = 0; s + 1 < stages; ++s) all += turns.messageBehind(s) * 2.0;
    return all;
}

Sides oneForwardOneBackwardLaw(const PipelineTurns& turns) {
    const std::int64_t stages = turns.stages, m = turns.microbatches;
    const Sides none;
    Sides all, before, worst, longest;
    for (std::int64_t s = 0; s < stages; ++s) all += stageTurn(turns, s);
    const Sides whole = roundTrip(all, turns, stages);
    Sides behind;  // of the stages behind, with the messages to them
    for (std::int64_t s = stages - 1; s >= 0; --s) {
        const Sides turn = stageTurn(turns, s);
        const Sides &forward = turns.forward[static_cast<std::size_t>(s)],
                    &backward = turns.backward[static_cast<std::size_t>(s)];
        worst = larger(worst, turn);
        before = whole - turn - behind;
        const std::int64_t warmup = std::min(stages - 1 - s, m - 1);
        const auto steady = static_cast<double>(m - 1 - warmup), times = static_cast<double>(m);
        // It is never idle once it has begun; or it waits for its first backward, or its last one, to come back.
        longest = larger(longest, before + turn * times);
        longest = larger(longest, before + behind + forward * (steady + 1) + backward * times);
        longest = larger(longest, before + behind + forward * times + backward * (steady + 1));
        // Every so many micro-batches wait for a round trip to the last stage.
        const std::int64_t round = stages - s, rounds = (m - 1) / round;
        longest = larger(longest, before + (turn + behind) * static_cast<double>(rounds + 1) +
                                      worst * static_cast<double>(m - 1 - rounds * round));
        behind += turn + turns.messageBehind(std::max<std::int64_t>(0, s - 1)) * 2.0;
    }
    // Round trips among the first stages, between the first and the last to the end.
    Sides front;
    for (std::int64_t s = 0; s + 1 < stages && m > stages; ++s) {
        front += stageTurn(turns, s);
        const std::int64_t rounds = (m - 1 - stages) / (s + 1), rest = m - 1 - stages - rounds * (s + 1);
        longest = larger(longest, whole * 2.0 + roundTrip(front, turns, s + 1) * static_cast<double>(rounds) +
                                      stageTurn(turns, 0) * static_cast<double>(rest));
    }
    return longest;
}

/// Fill; once around for each chunk but the last, forwards and backwards; between them one forward, one backward, in
/// which messages hide.
Sides interleavedLaw(const PipelineTurns& turns, std::int64_t interleave) {
    const std::int64_t stages = turns.stages, m = turns.microbatches;
    const auto p = static_cast<double>(stages);
    Sides before, longest, busiest;
    for (std::int64_t s = 0; s < stages; ++s) {
        Sides mine;
        for (std::int64_t k = 0; k < interleave; ++k) mine += stageTurn(turns, k * stages + s);
        busiest = larger(busiest, mine);
        longest = larger(longest, before + mine * static_cast<double>(m));
        before += stageTurn(turns, s) + turns.messages.front() * 2.0;
    }
    Sides fill, around, slowest, last;
    for (std::int64_t s = 0; s + 1 < stages; ++s) fill += stageTurn(turns, s) + turns.messages.front() * 2.0;
    for (std::int64_t k = 0; k < interleave; ++k) {
        Sides most[2], sum[2];
        for (std::int64_t s = 0; s < stages; ++s) {
            const auto c = static_cast<std::size_t>(k * stages + s);
            most[0] = larger(most[0], turns.forward[c]), sum[0] += turns.forward[c];
            most[1] = larger(most[1], turns.backward[c]), sum[1] += turns.backward[c];
        }
        last = most[0] + most[1];
        slowest += last;
        if (k + 1 == interleave) break;
        for (int way = 0; way < 2; ++way) around += larger(most[way] * p, sum[way] + turns.messages.front() * p);
    }
    const auto v = static_cast<double>(interleave), pairs = static_cast<double>(m) * v - (v - 1) * p;
    Sides steady = slowest * ((pairs - p) / v) + last * p;
    // Stages wait for each other chunk by chunk, and make up for some of it.
    const double made_up = m == stages ? 0.3 : 0.6;
    if (!turns.alike) steady = steady * (1 - made_up) + busiest * (pairs / v * made_up);
    return larger(longest, fill + around + steady);
}

Sides allForwardsFirstLaw(const PipelineTurns& turns) {
    Sides sum, forward, backward;
    for (std::int64_t s = 0; s < turns.stages; ++s) {
        sum += stageTurn(turns, s);
        forward = larger(forward, turns.forward[static_cast<std::size_t>(s)]);
        backward = larger(backward, turns.backward[static_cast<std::size_t>(s)]);
    }
    return roundTrip(sum, turns, turns.stages) + (forward + backward) * static_cast<double>(turns.microbatches - 1);
}

/// As one forward, one backward with the gradients of inputs alone; those of weights are among a stage's own turns, and
/// at the end of the first stage.
Sides zeroBubbleLaw(const PipelineTurns& turns) {
    const std::int64_t stages = turns.stages, m = turns.microbatches;
    const auto times = static_cast<double>(m);
    Sides all, longest;
    for (std::int64_t s = 0; s < stages; ++s) all += stageTurn(turns, s) - turns.weights[static_cast<std::size_t>(s)];
    const Sides whole = roundTrip(all, turns, stages);
    Sides behind, worst;
    for (std::int64_t s = stages - 1; s >= 0; --s) {
        const auto at = static_cast<std::size_t>(s);
        const Sides &forward = turns.forward[at], &weights = turns.weights[at];
        const Sides backward = turns.backward[at] - weights, turn = forward + backward;
        worst = larger(worst, turn);
        const Sides before = whole - turn - behind, last = s > 0 ? turns.weights[0] : weights;
        const std::int64_t warmup = std::min(stages - 1 - s, m - 1), lag = s;
        const auto steady = static_cast<double>(m - 1 - warmup);
        const auto put = static_cast<double>(std::max<std::int64_t>(0, m - 1 - lag)),
                   early = static_cast<double>(std::max<std::int64_t>(0, m - 1 - warmup - lag));
        longest = larger(longest, before + turn * times + weights * put + last);
        longest = larger(longest, before + behind + forward * (steady + 1) + backward * times + weights * put + last);
        longest = larger(longest, before + behind + forward * times + backward * (steady + 1) + weights * early + last);
        // Its own end, if the stages before it are done by then.
        Sides front;
        for (std::int64_t j = 0; j < s; ++j)
            front += turns.forward[static_cast<std::size_t>(j)] + turns.messageBehind(j);
        longest = larger(longest, front + (turn + weights) * times);
        const std::int64_t round = stages - s, rounds = (m - 1) / round;
        longest = larger(longest, before + (turn + behind) * static_cast<double>(rounds + 1) +
                                      worst * static_cast<double>(m - 1 - rounds * round) + last);
        behind += turn + turns.messageBehind(std::max<std::int64_t>(0, s - 1)) * 2.0;
    }
    return longest;
}

/// The turns of every device of every pair, in the order that schedule.cpp has for it: from when the first micro-batch
/// has come, until its last gradient has gone back to the end.
Sides bothEndsLaw(const PipelineTurns& turns) {
    const std::int64_t half = turns.stages / 2, m = turns.microbatches;
    Sides longest;
    for (std::int64_t s = 0; s < turns.stages; ++s) {
        const auto near = static_cast<std::size_t>(s), far = static_cast<std::size_t>(turns.stages - 1 - s);
        const std::int64_t place = std::min(s, turns.stages - 1 - s);
        const auto ahead = static_cast<double>(half - 1 - place), after = static_cast<double>(place + 1);
        const auto beside = [&](std::size_t forward, std::size_t backward) {
            // One computation at a time, one exchange of a group at a time.
            const Sides computed = turns.forwardComputed[forward] + turns.backwardComputed[backward];
            const Sides both = turns.forward[forward] + turns.backward[backward];
            return larger(larger(computed, both - computed), larger(turns.forward[forward], turns.backward[backward])) *
                   (turns.waits.empty() ? 1 : turns.waits[forward]);
        };
        const double pairs = static_cast<double>(m) / 2 - 2 * static_cast<double>(half) + after;
        Sides busy = turns.forward[near] * (2 * ahead + after) + turns.forward[far] * (after + ahead) +
                     beside(near, far) * pairs + beside(far, near) * (pairs + ahead) +
                     turns.backward[far] * (2 * ahead + after) + turns.backward[near] * (after + ahead);
        Sides come, back;
        for (std::int64_t before = 0; before < place; ++before) {
            const auto at = static_cast<std::size_t>(s < half ? before : turns.stages - 1 - before);
            come += turns.forward[at] + turns.messages.front();
            back += turns.backward[at] - turns.weights[at] + turns.messages.front();
        }
        longest = larger(longest, come + busy);
        // Gradients of weights that are put off are not on the way back.
        const Sides put = (turns.weights[near] + turns.weights[far]) * (after / 2);
        longest = larger(longest, come + busy - put + back + turns.weights[0]);
    }
    // No pair is quicker than what it computes.
    for (std::int64_t s = 0; s < half; ++s) {
        Sides computed;
        for (const std::int64_t c : {s, turns.stages - 1 - s})
            computed += turns.forwardComputed[static_cast<std::size_t>(c)] +
                        turns.backwardComputed[static_cast<std::size_t>(c)];
        longest = larger(longest, computed * (static_cast<double>(m) / 2));
    }
    return longest;
}

}  // namespace

double besideSeconds(std::span<const TurnBit> forward, std::span<const TurnBit> backward) {
    struct Chain {
        std::span<const TurnBit> bits;
        std::size_t next = 0;  ///< computing of bit next / 2, or its exchange
        double ready = 0;
        bool ended() const { return next == 2 * bits.size(); }
        double takes() const { return next % 2 == 0 ? bits[next / 2].computed : bits[next / 2].sent; }
    };
    Chain chains[2] = {{forward}, {backward}};
    double free[2] = {0, 0};  // the device, its exchanges
    for (;;) {
        Chain* first = nullptr;
        double earliest = 0;
        for (Chain& chain : chains) {
            while (!chain.ended() && chain.takes() <= 0) ++chain.next;
            if (chain.ended()) continue;
            const double begin = std::max(chain.ready, free[chain.next % 2]);
            if (!first || begin < earliest) first = &chain, earliest = begin;
        }
        if (!first) return std::max(chains[0].ready, chains[1].ready);
        first->ready = free[first->next % 2] = earliest + first->takes();
        ++first->next;
    }
}

Sides pipelineSeconds(const PipelineTurns& turns, const Plan& plan) {
    if (turns.stages > 1) {
        switch (plan.schedule) {
            case PipelineSchedule::GPipe:
                return allForwardsFirstLaw(turns);
            case PipelineSchedule::ZeroBubble:
                return zeroBubbleLaw(turns);
            case PipelineSchedule::DualPipe:
                return bothEndsLaw(turns);
            case PipelineSchedule::OneForwardOneBackward:
                return plan.interleave > 1 ? interleavedLaw(turns, plan.interleave) : oneForwardOneBackwardLaw(turns);
        }
    }
    Sides turn;
    for (std::size_t c = 0; c < turns.forward.size(); ++c) turn += turns.forward[c] + turns.backward[c];
    return turn * static_cast<double>(turns.microbatches);
}

std::int64_t mostInFlight(const Plan& plan, std::int64_t stage, std::int64_t microbatches) {
    switch (plan.schedule) {
        case PipelineSchedule::GPipe:
            return microbatches;
        case PipelineSchedule::ZeroBubble:
            return std::min(plan.pipeline, microbatches);
        case PipelineSchedule::DualPipe:
            return plan.pipeline + 1;
        case PipelineSchedule::OneForwardOneBackward:
            break;
    }
    const std::int64_t turns = microbatches * plan.interleave;
    std::int64_t warmup = plan.pipeline - stage - 1;
    if (plan.interleave > 1)
        warmup = microbatches == plan.pipeline ? turns : 2 * warmup + (plan.interleave - 1) * plan.pipeline;
    return std::min(warmup + 1, turns);
}

}  // namespace orrery
