#include "serving/fleet/expert_routing.h"

#include "base/random.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace orrery {

std::string_view toText(RoutingKind kind) {
    switch (kind) {
        case RoutingKind::Balanced:
            return "balanced";
        case RoutingKind::Random:
            return "random";
        case RoutingKind::Zipf:
            return "zipf";
        case RoutingKind::Trace:
            return "trace";
    }
    return "";
}

Expected<void> check(const ExpertRouting& routing, std::int32_t experts) {
    if (!std::isfinite(routing.skew) || routing.skew < 0)
        return fail("routing.skew", fmt::format("the skew of expert routing is {}", routing.skew),
                    "a number from 0 on");
    if (routing.kind != RoutingKind::Trace) return {};
    if (routing.weights.size() != static_cast<std::size_t>(std::max(experts, 0)))
        return fail("routing.weights", fmt::format("the trace has {} experts", routing.weights.size()),
                    fmt::format("one weight for each of {} experts", experts));
    double sum = 0;
    for (const double weight : routing.weights) {
        if (!std::isfinite(weight) || weight < 0)
            return fail("routing.weights", fmt::format("an expert's weight is {}", weight), "numbers from 0 on");
        sum += weight;
    }
    if (sum <= 0)
        return fail("routing.weights", "no expert of the trace was ever chosen", "at least one weight over 0");
    return {};
}

namespace {

std::int32_t ownerOf(std::int32_t expert, std::int32_t experts, std::int32_t ranks) {
    return std::min(static_cast<std::int32_t>(std::int64_t{expert} * ranks / experts), ranks - 1);
}

// Expected values of an even gate that chooses distinct experts: a token misses a rank of m experts with probability
// C(E − m, k) ÷ C(E, k), an expert is missed by all T tokens with (1 − k ÷ E)^T.
ExpertLoad balanced(std::int32_t experts, std::int32_t perToken, std::int32_t ranks, std::int64_t tokens) {
    ExpertLoad load;
    const auto tokenCount = static_cast<double>(tokens);
    std::vector<std::int32_t> owned(static_cast<std::size_t>(ranks), 0);
    for (std::int32_t e = 0; e < experts; ++e) ++owned[static_cast<std::size_t>(ownerOf(e, experts, ranks))];
    const double reached = 1 - std::pow(1 - static_cast<double>(perToken) / experts, tokenCount);
    std::int64_t before = 0, pairsBefore = 0;
    for (const std::int32_t own : owned) {
        double miss = 1;
        for (std::int32_t i = 0; i < perToken; ++i)
            miss *= std::max(0.0, static_cast<double>(experts - own - i) / (experts - i));
        load.tokens.push_back(std::llround(tokenCount * (1 - miss)));
        // Whole pairs that add up: differences of rounded running sums.
        before += own;
        const auto pairsUntil = std::llround(tokenCount * perToken * static_cast<double>(before) / experts);
        load.pairs.push_back(pairsUntil - pairsBefore);
        pairsBefore = pairsUntil;
        load.activated.push_back(static_cast<std::int32_t>(std::lround(own * reached)));
    }
    return load;
}

std::vector<double> weightsOf(const ExpertRouting& routing, std::int32_t experts) {
    if (routing.kind == RoutingKind::Trace) return routing.weights;
    std::vector<double> weights(static_cast<std::size_t>(experts), 1.0);
    if (routing.kind == RoutingKind::Zipf) {
        for (std::size_t e = 0; e < weights.size(); ++e)
            weights[e] = std::pow(static_cast<double>(e + 1), -routing.skew);
        // The popular experts of a real model lie anywhere, not all on the first rank.
        RandomStream random(routing.seed, 0x5A17F);
        for (std::size_t e = weights.size(); e > 1; --e) std::swap(weights[e - 1], weights[random.below(e)]);
    }
    return weights;
}

}  // namespace

ExpertLoad routeTokens(const ExpertRouting& routing, std::int32_t experts, std::int32_t perToken, std::int32_t ranks,
                       std::int64_t tokens) {
    perToken = std::min(perToken, experts);
    if (routing.kind == RoutingKind::Balanced) return balanced(experts, perToken, ranks, tokens);

    std::vector<double> until = weightsOf(routing, experts);
    perToken = std::min(perToken, static_cast<std::int32_t>(std::count_if(until.begin(), until.end(),
                                                                          [](double weight) { return weight > 0; })));
    std::partial_sum(until.begin(), until.end(), until.begin());
    RandomStream random(routing.seed, static_cast<std::uint64_t>(tokens));
    ExpertLoad load;
    const auto rankCount = static_cast<std::size_t>(ranks);
    load.tokens.assign(rankCount, 0);
    load.pairs.assign(rankCount, 0);
    load.activated.assign(rankCount, 0);
    std::vector<std::int64_t> chosenBy(static_cast<std::size_t>(experts), -1), seenBy(rankCount, -1);
    std::vector<std::uint8_t> used(static_cast<std::size_t>(experts), 0);
    for (std::int64_t token = 0; token < tokens; ++token)
        for (std::int32_t i = 0; i < perToken; ++i) {
            std::size_t expert = 0;
            do {
                const double at = random.uniform() * until.back();
                expert = static_cast<std::size_t>(std::upper_bound(until.begin(), until.end(), at) - until.begin());
                expert = std::min(expert, until.size() - 1);
            } while (chosenBy[expert] == token);
            chosenBy[expert] = token;
            const auto rank = static_cast<std::size_t>(ownerOf(static_cast<std::int32_t>(expert), experts, ranks));
            ++load.pairs[rank];
            if (seenBy[rank] != token) ++load.tokens[rank];
            seenBy[rank] = token;
            if (!used[expert]) ++load.activated[rank];
            used[expert] = 1;
        }
    return load;
}

}  // namespace orrery
