#pragma once

// Which experts tokens choose, counted per rank of expert parallelism: a rank computes the (token, expert) pairs whose
// expert it owns, and all wait for the slowest. Owner of expert e of E on R ranks: min(e · R ÷ E, R − 1), whole numbers
// (vLLM's linear placement).

#include "base/diagnostic.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace orrery {

enum class RoutingKind : std::uint8_t {
    Balanced,  ///< every expert gets the same share; expected numbers of distinct experts
    Random,    ///< each token draws distinct experts evenly; a different draw per number of tokens
    Zipf,      ///< as Random, the k-th expert with weight k^−skew
    Trace      ///< weights of the experts from a trace
};
std::string_view toText(RoutingKind kind);

struct ExpertRouting {
    RoutingKind kind = RoutingKind::Balanced;
    double skew = 1;              ///< Zipf
    std::vector<double> weights;  ///< Trace: one per expert, how often it was chosen; any scale
    std::uint64_t seed = 42;
    bool operator==(const ExpertRouting&) const = default;
};
Expected<void> check(const ExpertRouting& routing, std::int32_t experts);

/// Of one layer and iteration.
struct ExpertLoad {
    std::vector<std::int64_t> tokens;     ///< per rank: tokens with at least one expert there
    std::vector<std::int64_t> pairs;      ///< per rank: (token, expert) pairs
    std::vector<std::int32_t> activated;  ///< per rank: distinct experts with work
};
/// Deterministic: the same arguments give the same load. Σ pairs = tokens · perToken.
ExpertLoad routeTokens(const ExpertRouting& routing, std::int32_t experts, std::int32_t perToken, std::int32_t ranks,
                       std::int64_t tokens);

}  // namespace orrery
