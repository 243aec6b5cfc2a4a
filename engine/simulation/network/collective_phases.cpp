#include "simulation/network/collective_phases.h"

#include "base/text/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>

namespace orrery {

Expected<AlgorithmChoice> algorithmChoice(std::string_view text) {
    using enum StepAlgorithm;
    AlgorithmChoice choice;
    const std::string given = lower(text);
    if (given == "ring") return choice;
    if (given == "halvingdoubling") return AlgorithmChoice{HalvingDoubling, 0};
    if (given == "doublebinarytree") return AlgorithmChoice{DoubleBinaryTree, 0};
    if (given == "innetwork") return AlgorithmChoice{InNetwork, 0};
    if (given == "synthesized" || given == "synthesised") return AlgorithmChoice{Synthesised, 0};
    if (given.starts_with("direct")) {
        choice.algorithm = Direct;
        const std::string_view number = std::string_view(given).substr(6);
        if (number.empty()) return choice;
        const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), choice.window);
        if (error == std::errc() && end == number.data() + number.size() && choice.window > 0) return choice;
    }
    return fail(
        "network.algorithm", fmt::format("there is no algorithm `{}`", text),
        "ring, direct, direct with a window as in direct4, halvingDoubling, doubleBinaryTree, inNetwork or synthesized",
        {});
}

std::int64_t CollectivePhase::receiver(std::int64_t member, std::int64_t step) const {
    std::int64_t offset = 1;
    if (choice.algorithm == StepAlgorithm::Direct) offset = 1 + step % (size - 1);
    if (choice.algorithm == StepAlgorithm::HalvingDoubling) {
        const auto levels = static_cast<std::int64_t>(messages.size());
        const std::int64_t half = op == TraceCollective::AllReduce ? levels / 2 : levels;
        const bool doubling = op == TraceCollective::AllGather || step >= half;
        const std::int64_t level = step % half;
        offset = doubling ? (size / 2) >> level : std::int64_t{1} << level;
        return member ^ offset;
    }
    return (member + (backwards ? size - offset : offset)) % size;
}

namespace {

void setDirect(CollectivePhase& phase) {
    const std::int64_t all = phase.size - 1;
    phase.parallel = phase.choice.window > 0 ? std::min(phase.choice.window, all) : all;
    phase.cycle = 2 * phase.parallel;
    phase.sends = phase.op == TraceCollective::AllReduce ? 2 * all : all;
}

void setHalvingDoubling(CollectivePhase& phase, std::int64_t bytes) {
    const auto levels = static_cast<std::int64_t>(std::countr_zero(static_cast<std::uint64_t>(phase.size)));
    phase.cycle = std::max<std::int64_t>(1, levels);
    // Sizes are halved and doubled as whole numbers, one step after the other.
    if (phase.op != TraceCollective::AllGather) {
        for (std::int64_t i = 0, message = bytes / 2; i < levels; ++i, message /= 2) phase.messages.push_back(message);
    }
    if (phase.op != TraceCollective::ReduceScatter) {
        std::int64_t message = phase.op == TraceCollective::AllGather ? bytes : phase.messages.back() / 2 * 2;
        for (std::int64_t i = 0; i < levels; ++i, message *= 2) phase.messages.push_back(message);
    }
    phase.sends = static_cast<std::int64_t>(phase.messages.size());
    phase.message = phase.messages.front();
}

}  // namespace

Expected<CollectivePhase> collectivePhase(TraceCollective op, const AlgorithmChoice& choice, std::int32_t dimension,
                                          std::int64_t size, std::int64_t bytes, bool backwards) {
    using enum TraceCollective;
    CollectivePhase phase;
    phase.op = op;
    phase.choice = choice;
    phase.dimension = dimension;
    phase.size = size;
    phase.backwards = backwards;
    const bool known = op == AllReduce || op == AllGather || op == ReduceScatter || op == AllToAll;
    const auto refuse = [&](std::string expected) {
        return fail("network.algorithm",
                    fmt::format("no such algorithm for {} {} among {}",
                                op == AllToAll || op == AllReduce || op == AllGather ? "an" : "a", toText(op), size),
                    std::move(expected), "choose another algorithm");
    };
    if (!known) return refuse("all-reduce, all-gather, reduce-scatter or all-to-all");
    if (size < 2) return refuse("two members or more");
    if (bytes < 0 || bytes > (std::int64_t{1} << 62) / size)
        return fail("network.bytes", fmt::format("{} B among {} cannot be counted", bytes, size),
                    "a buffer of less than 4 EiB in all", "check the sizes of the trace's collectives");
    const bool two = std::has_single_bit(static_cast<std::uint64_t>(size));
    phase.message = op == AllGather ? bytes : bytes / size;
    phase.result = op == AllGather ? bytes * size : op == ReduceScatter ? bytes / size : bytes;
    switch (choice.algorithm) {
        case StepAlgorithm::Ring:
            phase.cycle = size;
            phase.sends = op == AllReduce ? 2 * (size - 1) : op == AllToAll ? size * (size - 1) / 2 : size - 1;
            break;
        case StepAlgorithm::Direct:
            setDirect(phase);
            break;
        case StepAlgorithm::HalvingDoubling:
            if (!two || op == AllToAll)
                return refuse("halving and doubling of a reduction or gathering among a power of two");
            setHalvingDoubling(phase, bytes);
            break;
        case StepAlgorithm::DoubleBinaryTree:
            if (!two || op != AllReduce) return refuse("trees for an all-reduce among a power of two");
            phase.message = bytes;
            break;
        case StepAlgorithm::InNetwork:
            if (op == AllToAll) return refuse("in a switch a sum or a gathering");
            phase.message = bytes;
            phase.sends = 1;
            break;
        case StepAlgorithm::Synthesised: {
            if (op != AllGather && op != ReduceScatter) return refuse("a schedule for a sum or a gathering");
            const std::int64_t share = op == AllGather ? bytes : bytes / size;
            phase.message = (share + synthesised_pieces - 1) / synthesised_pieces;
            phase.sends = synthesised_pieces * size;
            break;
        }
    }
    if (phase.sends >= most_phase_sends)
        return refuse(fmt::format("fewer than {} messages a member", most_phase_sends));
    return phase;
}

TreePlace treePlace(std::int64_t member, std::int64_t size, bool rootLast) {
    // Below the root stands a full tree of the other n-1 in order: node k of 1 … n-1 is a multiple of 2^h at height h.
    const std::int64_t first = rootLast ? 0 : 1;
    TreePlace place;
    if (member == (rootLast ? size - 1 : 0)) {
        (rootLast ? place.left : place.right) = first + size / 2 - 1;
        return place;
    }
    const std::int64_t k = member - first + 1;
    const std::int64_t height = k & -k;
    if (height > 1) {
        place.left = first + k - height / 2 - 1;
        place.right = first + k + height / 2 - 1;
    }
    if (height == size / 2) {
        place.parent = rootLast ? size - 1 : 0;
    } else {
        const bool leftChild = (k / height / 2) % 2 == 0;
        place.parent = first + (leftChild ? k + height : k - height) - 1;
    }
    return place;
}

}  // namespace orrery
