#pragma once

// Prices on a grid of extents, and what lies between by interpolation: an iteration is priced without looking at its
// kernels.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace orrery {

/// What kernels of one group cost together.
struct GridPrice {
    double seconds = 0;
    double below = 0, above = 0;  ///< half-widths of the 90 % interval, seconds
    double joules = 0;            ///< of one device, static power while they run included
    double switched = 0;          ///< of `joules`, what falls with the square of the voltage
    double clocked = 0;           ///< of `seconds`, the part that a slower clock makes longer
    double doubt = 0;             ///< share of `seconds` outside of what was measured
    double beside = 0;            ///< of `seconds`, on units beside the device (KernelPricer::beside)

    GridPrice& add(const GridPrice& other, double times) {
        seconds += times * other.seconds;
        below += times * other.below;
        above += times * other.above;
        joules += times * other.joules;
        switched += times * other.switched;
        clocked += times * other.clocked;
        doubt += times * other.doubt;
        beside += times * other.beside;
        return *this;
    }
};

/// Points from 1 (or 0) on, in stretches of equal steps; places beyond the last follow its last step.
class GridAxis {
public:
    struct Stretch {
        double begin = 0, step = 1;
        int steps = 1;
    };
    GridAxis() = default;
    explicit GridAxis(std::vector<Stretch> stretches);
    int points() const { return static_cast<int>(values_.size()); }  ///< 0: no axis
    double value(int i) const { return values_.empty() ? 0 : values_[static_cast<std::size_t>(i)]; }
    struct Between {
        int index = 0;        ///< of the point below
        double fraction = 0;  ///< 0 at that point, 1 at the next; more beyond the last
    };
    Between locate(double x) const;

private:
    std::vector<Stretch> stretches_;
    std::vector<int> first_;
    std::vector<double> values_;
};

/// Up to three axes. Points are priced when they are first asked for, and kept: thread-safe, and nothing is allocated.
class PriceGrid {
public:
    PriceGrid() = default;
    PriceGrid(GridAxis a, GridAxis b, GridAxis c);
    bool empty() const { return !cells_; }
    /// Linear in every axis; `price(a, b, c)` gives the price of a point.
    template <class Price>
    GridPrice at(double a, double b, double c, const Price& price) const {
        GridPrice result;
        if (!cells_) return result;
        const std::array<GridAxis::Between, 3> place{axes_[0].locate(a), axes_[1].locate(b), axes_[2].locate(c)};
        for (int corner = 0; corner < 8; ++corner) {
            double weight = 1;
            std::array<int, 3> at{};
            for (std::size_t i = 0; i < 3; ++i) {
                const int step = corner >> i & 1;
                weight *= step == 1 ? place[i].fraction : 1 - place[i].fraction;
                at[i] = place[i].index + step;
            }
            if (weight != 0) result.add(point(at, price), weight);
        }
        if (result.seconds < 0) result.seconds = 0;
        return result;
    }

private:
    struct alignas(64) Cell {                // one line of the cache, and no more than one
        std::atomic<std::uint8_t> state{0};  // 0 empty, 1 being written, 2 there
        GridPrice price;
    };
    template <class Price>
    GridPrice point(const std::array<int, 3>& at, const Price& price) const {
        Cell& cell = cells_[(static_cast<std::size_t>(at[0]) * size_[1] + static_cast<std::size_t>(at[1])) * size_[2] +
                            static_cast<std::size_t>(at[2])];
        if (cell.state.load(std::memory_order_acquire) == 2) return cell.price;
        const GridPrice made = price(axes_[0].value(at[0]), axes_[1].value(at[1]), axes_[2].value(at[2]));
        std::uint8_t none = 0;
        if (cell.state.compare_exchange_strong(none, 1)) {
            cell.price = made;
            cell.state.store(2, std::memory_order_release);
        }
        return made;
    }
    std::array<GridAxis, 3> axes_;
    std::array<std::size_t, 3> size_{1, 1, 1};
    // Megabytes, of which an iteration's work asks for little: pages of zeros from the system (an empty cell is all
    // zeros), of which only those that are priced take memory.
    struct Unmap {
        std::size_t bytes;
        void operator()(Cell* cells) const;
    };
    std::unique_ptr<Cell[], Unmap> cells_;
};

}  // namespace orrery
