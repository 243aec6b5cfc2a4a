#pragma once

// Speculative decoding (Leviathan, Kalman, Matias: "Fast Inference from Transformers via Speculative Decoding", ICML
// 2023): a cheap drafter proposes k tokens, one iteration of the target model verifies them all, the longest accepted
// prefix and one token of the target's own are kept. The scheduler plans 1 + k tokens for a decoding sequence
// (SchedulerSpec::lookahead = k); how many of them stay is drawn here; what drafting costs is a wrapper of the slot.

#include "base/random.h"
#include "serving/fleet/fleet.h"

#include <span>
#include <string_view>

namespace orrery {

/// Drafts that can still be useful to a sequence which may yield `remaining` more tokens: min(k, remaining − 1), as the
/// verification yields one token itself.
constexpr std::int32_t plannedDrafts(std::int32_t drafts, std::int32_t remaining) {
    return drafts < remaining - 1 ? drafts : (remaining > 1 ? remaining - 1 : 0);
}

/// Tokens that an iteration commits to one sequence of which it verified `planned` drafts: 1 … 1 + planned. Independent
/// acceptance: the first rejection ends the run. A trace: accepted drafts of `step` (repeating), never more than
/// planned (Frontier's rule: committed = min(source, 1 + planned, remaining)).
std::int32_t committedTokens(const Speculation& speculation, std::int32_t planned, std::uint64_t step,
                             RandomStream& random);

/// E[tokens per step] = (1 − a^(k+1)) / (1 − a) of independent acceptance (Leviathan et al., equation 1); of a trace,
/// one more than its mean.
double expectedTokens(const Speculation& speculation);

/// How long an iteration takes with its drafts: the target's price with all tokens to verify, and before it one step of
/// the drafter per draft token (`draft`, priced as plain decoding, and `draftSeconds` each). Iterations that verify
/// nothing cost what the target costs. Returns `target` if nothing is drafted.
IterationTimePtr withDrafts(IterationTimePtr target, const Speculation& speculation);

/// A kind of drafter, with the numbers that its paper reports.
struct DrafterPreset {
    std::string_view id, title;
    std::int32_t drafts;
    double acceptance;  ///< of each draft
    double cost;        ///< of one draft token, as a share of one decoding iteration of the target
    std::string_view source;
};
std::span<const DrafterPreset> drafterPresets();
/// Fills drafts and acceptance; the cost is the share times `iteration`, seconds of one decoding iteration.
Speculation speculationOf(const DrafterPreset& preset, double iteration);

}  // namespace orrery
