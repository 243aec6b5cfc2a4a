#pragma once

// Orders of one level's temporal loops that can differ in what they cost. Of a tensor only the loops count that run
// innermost without moving it (its tile stays), and for sliding windows the loops up to the first that moves the tile
// along another rank. All orders are generated; of those that agree in all of this one is kept, and none that another
// one beats.

#include "mapping/mappers/optimal/skeleton.h"

#include <map>

namespace orrery::optimal {

struct OrderClass {
    std::array<std::uint32_t, maxNestTensors> run{};    ///< dimensions inside the first loop that moves the tensor
    std::array<std::int8_t, maxNestTensors> first{};    ///< the innermost loop, where it slides a window, or -1
    std::array<std::uint32_t, maxNestTensors> moved{};  ///< dimensions that slide the window along its first rank,
    std::array<bool, maxNestTensors> leaves{};          ///< before a loop moves the tile along another one, if any does
    std::array<std::uint32_t, maxNestTensors> inside{};  ///< dimensions inside the loop that moves no window,
    std::array<bool, maxNestTensors> outside{};          ///< if there is one
    std::vector<std::vector<std::uint8_t>> orders;       ///< active dimensions, inner to outer; differ for windows only

    /// No step brings a window back onto words that it holds, whatever loops lie outside.
    bool exact(std::size_t tensor) const {
        return moved[tensor] == 0 || (leaves[tensor] && (moved[tensor] & (moved[tensor] - 1)) == 0);
    }
};

class Orders {
public:
    Orders(const Mapspace& space, const std::vector<TensorFacts>& tensors, const std::vector<std::uint8_t>& active);
    /// Of the loops `dimensions` (bits of active ones) at a level. `linked`: tensors that neighbours may hand on, of
    /// which every order of the windows counts.
    const std::vector<OrderClass>& of(std::size_t level, std::uint32_t dimensions, std::uint32_t linked);
    /// Whether some level had too many loops for all their orders to be seen.
    bool incomplete() const { return incomplete_; }

private:
    std::vector<OrderClass> make(std::size_t level, std::uint32_t dimensions, std::uint32_t linked);
    OrderClass classify(const std::vector<std::uint8_t>& order) const;

    const Mapspace& space_;
    const std::vector<TensorFacts>& tensors_;
    const std::vector<std::uint8_t>& active_;
    std::array<std::uint8_t, maxNestDimensions> number_{};  ///< of a problem's dimension among the active
    std::map<std::array<std::uint32_t, 3>, std::vector<OrderClass>> known_;
    bool incomplete_ = false;
};

}  // namespace orrery::optimal
