#pragma once

// What the loops inside every boundary cost at least, whatever lies outside: dynamic programming from the arithmetic
// outwards. A state is a boundary between the temporal loops of two levels, the temporal extents inside it (a divisor
// of every dimension) and, per tensor, which of its interfaces still wait for a loop that moves the tensor. What waits
// is priced by the loops outside; with that a state needs to know nothing of the loops inside it but their product.

#include "mapping/mappers/optimal/chain.h"

#include <functional>

namespace orrery::optimal {

class ToGo {
public:
    /// Leaves out what cannot be part of a mapping below `threshold`. False where nothing is left, or where there are
    /// too many states (then `tooLarge`).
    bool build(const Chain& chain, const Skeleton& skeleton, Orders& orders, double threshold,
               const std::function<bool()>& stop);
    bool tooLarge() const { return tooLarge_; }

    using Extents = std::array<std::int64_t, maxNestDimensions>;
    struct State {
        std::uint32_t number;  ///< among all products of divisors
        Extents extents;
    };
    /// Inside boundary b, below the temporal loops of level b; b = levels: everything.
    const std::vector<State>& states(std::size_t b) const { return states_[b]; }
    /// Calls `use(state number at b, active dimensions)` for all that the loops of level b may leave inside.
    void inside(std::size_t b, const Extents& outside,
                const std::function<void(std::uint32_t, std::uint32_t)>& use) const;

    /// Interfaces of a tensor that exist at boundary b: the first of them, how many.
    std::size_t interfaces(std::size_t b, std::size_t tensor) const { return count_[b][tensor]; }
    std::size_t openings(std::size_t b) const { return openings_[b]; }
    /// Which interfaces of a tensor wait: those from this one on.
    std::size_t firstOpen(std::size_t b, std::size_t opening, std::size_t tensor) const {
        return opening / scale_[b][tensor] % (count_[b][tensor] + 1);
    }
    /// Least measures of everything closed; infinite where nothing leads there.
    const Measures& cost(std::size_t b, std::uint32_t state, std::size_t opening) const {
        return cost_[b][state * openings_[b] + opening];
    }
    std::uint64_t transitions() const { return transitions_; }

private:
    /// Calls `use(state number at b + 1, active dimensions)` for all that the loops of level b may lead to.
    void outside(std::size_t b, const State& state, const std::function<void(std::uint32_t, std::uint32_t)>& use) const;
    bool listStates(const std::function<bool()>& stop);
    bool step(std::size_t b);
    void prune(std::size_t b);
    void boundOutermost();
    /// What everything costs at least that begins at suffixFrom() or further out, before a step inside it is made.
    void boundSuffix();
    Measures rest(std::size_t b, std::size_t opening) const;
    std::size_t suffixFrom() const { return levels_ >= 3 ? levels_ - 2 : levels_ - 1; }
    const Facts& facts() const { return *chain_->facts; }

    const Chain* chain_ = nullptr;
    const Skeleton* skeleton_ = nullptr;
    Orders* orders_ = nullptr;
    std::size_t levels_ = 0, dimensions_ = 0;
    bool tooLarge_ = false;
    double threshold_ = 0;
    /// [boundary][state], from suffixFrom() on: all interfaces that begin there or further out, together at least.
    std::vector<std::vector<Measures>> suffix_;
    Measures suffixLeast_{};  ///< of all states at suffixFrom()
    std::uint64_t transitions_ = 0;
    std::vector<std::vector<std::int64_t>> divisors_;  ///< per dimension, ascending
    std::array<std::uint32_t, maxNestDimensions> scale0_{};
    std::vector<std::vector<State>> states_;
    std::vector<std::vector<std::int32_t>> compact_;  ///< [boundary][number]: state or -1
    /// [boundary][dimension][divisor outside]: divisors that may be inside it.
    std::vector<std::vector<std::vector<std::vector<std::uint32_t>>>> down_, up_;
    std::vector<std::array<std::size_t, maxNestTensors>> count_, scale_;
    std::vector<std::size_t> openings_;
    std::vector<std::vector<Measures>> cost_;
};

}  // namespace orrery::optimal
