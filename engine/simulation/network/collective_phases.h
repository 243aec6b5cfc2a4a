#pragma once

// How a collective is done: cut into chunks, each of which passes phases, one dimension of the network after the other,
// in each by the steps of one algorithm. Here is what is sent to whom in which step; simulation/cluster gives it time.

#include "base/diagnostic.h"
#include "workload/traces/execution_trace.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace orrery {

enum class StepAlgorithm : std::uint8_t {
    Ring,              ///< to the next one, n-1 times (twice of an all-reduce)
    Direct,            ///< to all others, `window` at a time
    HalvingDoubling,   ///< with partners at 1, 2, 4, … (Thakur et al. 2005); n a power of two
    DoubleBinaryTree,  ///< all-reduce up and down one of two trees (Sanders et al. 2009); n a power of two
    InNetwork,   ///< up to the switch, which sums and sends copies down (NVLS, SHARP: Graham et al. 2016); of a switch
    Synthesised  ///< a schedule for the links that are there (synthesis.h); of a graph without switches
};

struct AlgorithmChoice {
    StepAlgorithm algorithm = StepAlgorithm::Ring;
    std::int64_t window = 0;  ///< of direct sends; 0: everyone at once
    bool operator==(const AlgorithmChoice&) const = default;
};
/// `ring`, `direct`, `direct4`, `halvingDoubling`, `doubleBinaryTree`, `inNetwork`, `synthesized`.
Expected<AlgorithmChoice> algorithmChoice(std::string_view text);

/// One phase, the same for all members of a group. Members are counted by their index in the phase's dimension.
struct CollectivePhase {
    TraceCollective op = TraceCollective::AllReduce;
    AlgorithmChoice choice;
    std::int32_t dimension = 0;          ///< of the network; of a group that has its own order: 0
    std::int64_t size = 2;               ///< members, n
    bool backwards = false;              ///< to the previous one instead of the next
    std::int64_t message = 0;            ///< bytes; of halving and doubling: of the first step
    std::int64_t sends = 0;              ///< of each member
    std::int64_t parallel = 1;           ///< messages that start at once
    std::int64_t cycle = 1;              ///< see reduced()
    std::int64_t result = 0;             ///< bytes that a member holds afterwards
    std::vector<std::int64_t> messages;  ///< of halving and doubling: bytes of every step
    std::int32_t plan = -1;              ///< of a synthesised schedule: index at whoever runs it

    std::int64_t bytes(std::int64_t step) const {
        return messages.empty() ? message : messages[static_cast<std::size_t>(step) % messages.size()];
    }
    /// Index of the member to whom `member` sends in a step.
    std::int64_t receiver(std::int64_t member, std::int64_t step) const;
    /// Bytes that are reduced before a member's message number `step` can go to the wire: of what was received last.
    /// As ASTRA-sim counts them: of the message that goes, after the first `parallel` of every `cycle`, and of an
    /// all-reduce in every other cycle only.
    std::int64_t reduced(std::int64_t step, bool astraSim) const {
        const bool scatters = op == TraceCollective::ReduceScatter, sums = op == TraceCollective::AllReduce;
        if (!scatters && !sums) return 0;
        if (astraSim) return step % cycle >= parallel && (scatters || step / cycle % 2 == 0) ? bytes(step) : 0;
        const std::int64_t received = step - parallel;
        return received >= 0 && (scatters || received < sends / 2) ? bytes(received) : 0;
    }
};

/// A member's place in one of the two trees of double binary trees, by index; -1 where there is none.
struct TreePlace {
    std::int64_t parent = -1, left = -1, right = -1;
};
/// In-order numbering; the root is the last member, or the first one, and has one child.
TreePlace treePlace(std::int64_t member, std::int64_t size, bool rootLast);

/// Messages that one member sends in a phase at most: steps are counted in 25 bits.
inline constexpr std::int64_t most_phase_sends = std::int64_t{1} << 25;
/// Pieces that a synthesised schedule cuts a member's share into.
inline constexpr std::int64_t synthesised_pieces = 4;

/// Fails with `network.algorithm` where an algorithm cannot do the operation among so many or takes too many steps, and
/// with `network.bytes` where the bytes that a member then holds cannot be counted.
Expected<CollectivePhase> collectivePhase(TraceCollective op, const AlgorithmChoice& choice, std::int32_t dimension,
                                          std::int64_t size, std::int64_t bytes, bool backwards = false);

}  // namespace orrery
