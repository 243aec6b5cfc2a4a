#include "mapping/mapspace_factors.h"

#include "base/random.h"

#include <algorithm>
#include <limits>
#include <map>

namespace orrery {
namespace {

/// Factors that may come off `left`, ascending, each with what is left after it.
std::vector<std::pair<std::int64_t, std::int64_t>> steps(std::int64_t left, bool imperfect) {
    std::vector<std::pair<std::int64_t, std::int64_t>> out;
    if (imperfect) {
        for (std::int64_t rest = left;;) {
            const std::int64_t factor = (left + rest - 1) / rest;
            rest = (left + factor - 1) / factor;
            out.emplace_back(factor, rest);
            if (rest == 1) break;
            rest = std::min(rest - 1, (left + factor) / (factor + 1));
        }
    } else {
        for (std::int64_t factor = 1; factor * factor <= left; ++factor) {
            if (left % factor) continue;
            out.emplace_back(factor, left / factor);
            if (factor * factor != left) out.emplace_back(left / factor, factor);
        }
        std::sort(out.begin(), out.end());
    }
    return out;
}

std::uint64_t saturatingSum(std::uint64_t a, std::uint64_t b) {
    return a > std::numeric_limits<std::uint64_t>::max() - b ? std::numeric_limits<std::uint64_t>::max() : a + b;
}

}  // namespace

FactorSpace::FactorSpace(std::int64_t extent, std::size_t loops, bool imperfect, const Limit& largest) : loops_(loops) {
    nodes_.push_back({0, 0, 1});
    const std::uint32_t none = 1;
    nodes_.push_back({0, 0, 0});
    std::vector<std::map<std::int64_t, std::uint32_t>> known(loops + 1);
    std::map<std::int64_t, std::vector<std::pair<std::int64_t, std::int64_t>>> stepsOf;
    // Outermost loop first, so that a node's successors exist; the rests that can be reached are found beforehand.
    std::vector<std::vector<std::int64_t>> rests(loops + 1);
    rests[0] = {extent};
    for (std::size_t loop = 0; loop < loops; ++loop) {
        for (const std::int64_t left : rests[loop]) {
            auto [found, added] = stepsOf.try_emplace(left);
            if (added) found->second = steps(left, imperfect);
            for (const auto& [factor, after] : found->second) rests[loop + 1].push_back(after);
        }
        auto& next = rests[loop + 1];
        std::sort(next.begin(), next.end());
        next.erase(std::unique(next.begin(), next.end()), next.end());
    }
    for (const std::int64_t left : rests[loops]) known[loops][left] = left == 1 ? 0 : none;
    for (std::size_t loop = loops; loop-- > 0;) {
        for (const std::int64_t left : rests[loop]) {
            const std::int64_t limit = largest(loop, (extent + left - 1) / left);
            Node node{static_cast<std::uint32_t>(choices_.size()), 0, 0};
            for (const auto& [factor, after] : stepsOf[left]) {
                if (factor > limit) break;
                const std::uint32_t next = known[loop + 1][after];
                if (nodes_[next].count == 0) continue;
                choices_.push_back({static_cast<std::int32_t>(factor), next, node.count});
                node.count = saturatingSum(node.count, nodes_[next].count);
            }
            node.last = static_cast<std::uint32_t>(choices_.size());
            known[loop][left] = static_cast<std::uint32_t>(nodes_.size());
            nodes_.push_back(node);
        }
    }
    root_ = known[0][extent];
}

void FactorSpace::walk(std::uint32_t node, std::uint64_t number, std::size_t loop,
                       std::span<std::int32_t> factors) const {
    for (; loop < loops_; ++loop) {
        const Choice* first = choices_.data() + nodes_[node].first;
        const Choice* last = choices_.data() + nodes_[node].last;
        const Choice* chosen =
            last - first <= 8 ? first : std::upper_bound(first, last, number, [](std::uint64_t n, const Choice& c) {
                                            return n < c.before;
                                        }) - 1;
        while (chosen + 1 < last && chosen[1].before <= number) ++chosen;
        number -= chosen->before;
        factors[loop] = chosen->factor;
        node = chosen->next;
    }
}

void FactorSpace::at(std::uint64_t number, std::span<std::int32_t> factors) const {
    walk(root_, number, 0, factors);
}

const FactorSpace::Choice* FactorSpace::find(std::uint32_t node, std::int32_t factor) const {
    for (std::uint32_t i = nodes_[node].first; i < nodes_[node].last; ++i) {
        if (choices_[i].factor == factor) return &choices_[i];
    }
    return nullptr;
}

void FactorSpace::redraw(std::span<std::int32_t> factors, std::size_t first, RandomStream& random) const {
    std::uint32_t node = root_;
    for (std::size_t loop = 0; loop < first; ++loop) {
        const Choice* choice = find(node, factors[loop]);
        if (!choice) {
            first = 0;
            node = root_;
            break;
        }
        node = choice->next;
    }
    walk(node, random.below(nodes_[node].count), first, factors);
}

bool FactorSpace::contains(std::span<const std::int32_t> factors) const {
    std::uint32_t node = root_;
    for (std::size_t loop = 0; loop < loops_; ++loop) {
        const Choice* choice = find(node, factors[loop]);
        if (!choice) return false;
        node = choice->next;
    }
    return node == 0;
}

}  // namespace orrery
