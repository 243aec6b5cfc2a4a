#pragma once

// The ways to write one dimension's extent as factors of its loops, inner to outer, counted and numbered exactly.
// Perfect factors are divisors. Imperfect ones (Horeni et al., "Ruby", ISPASS 2022) may leave a last partial iteration:
// after a factor b, ceil(n / b) iterations are left to the loops outside; of the factors that leave equally many, only
// the smallest is kept, since the others hold more for no fewer steps.

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace orrery {

class RandomStream;

class FactorSpace {
public:
    /// `largest(i, inner)`: the largest factor that free loop i may take when the free loops inside it have a product
    /// of at least `inner`; 0 refuses all.
    using Limit = std::function<std::int64_t(std::size_t, std::int64_t)>;

    /// All factorisations of `extent` over `loops` loops, the innermost first.
    FactorSpace(std::int64_t extent, std::size_t loops, bool imperfect, const Limit& largest);

    std::uint64_t size() const { return nodes_[root_].count; }  ///< saturates at 2^64 - 1
    std::size_t loops() const { return loops_; }
    /// The factorisation with a number in [0, size).
    void at(std::uint64_t number, std::span<std::int32_t> factors) const;
    /// Draws the factors of loops first … loops-1 anew, uniformly; the inner ones stay.
    void redraw(std::span<std::int32_t> factors, std::size_t first, RandomStream& random) const;
    /// Whether these factors are one of the space.
    bool contains(std::span<const std::int32_t> factors) const;

private:
    struct Choice {
        std::int32_t factor;
        std::uint32_t next;
        std::uint64_t before;  ///< factorisations of the earlier choices of this node
    };
    struct Node {
        std::uint32_t first = 0, last = 0;
        std::uint64_t count = 0;
    };
    const Choice* find(std::uint32_t node, std::int32_t factor) const;
    void walk(std::uint32_t node, std::uint64_t number, std::size_t loop, std::span<std::int32_t> factors) const;

    std::size_t loops_;
    std::uint32_t root_ = 0;
    std::vector<Node> nodes_;  ///< node 0: nothing left after the last loop
    std::vector<Choice> choices_;
};

}  // namespace orrery
