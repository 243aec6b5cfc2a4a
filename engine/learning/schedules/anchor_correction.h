#pragma once

// What a few measured rows of a new device say beside an answer that other devices gave: a level, and a Gaussian
// process over what the operators are. Far from all rows it falls back to the level (Rasmussen and Williams, "Gaussian
// Processes for Machine Learning", 2006, chapter 2).

#include "learning/schedules/tuning_log.h"

#include <array>
#include <span>
#include <vector>

namespace orrery {

/// c with the least mean |exp(c − rᵢ) − 1| over rᵢ = ln(measured ÷ said): the factor exp(c) on what was said that makes
/// relative errors least. The median of r weighed by exp(−r). `weights` multiply these; empty: all 1.
double leastRelativeShift(std::span<const double> r, std::span<const double> weights = {});

/// Which of a new device's rows say most of all others, before any is measured: places in `rows`, `count` at most. By
/// what operators are alone (next_samples.h over the process of AnchorCorrection); of 400 at most, evenly over `rows`.
std::vector<std::size_t> chosenAnchors(std::span<const TunedRow* const> rows, std::size_t count);

class AnchorCorrection {
public:
    AnchorCorrection() = default;  ///< adds nothing
    /// `off`: ln(measured ÷ said), one per anchor and at least one.
    AnchorCorrection(std::span<const TunedRow* const> anchors, std::span<const double> off);
    double at(const TunedRow& row) const;  ///< to add to ln(said)
    /// ln(measured ÷ corrected) of each anchor by a process of the others.
    const std::vector<double>& leftOut() const { return leftOut_; }

private:
    friend std::vector<std::size_t> chosenAnchors(std::span<const TunedRow* const> rows, std::size_t count);
    static constexpr std::size_t columns = 8;
    using Point = std::array<double, columns>;
    static Point pointOf(const TensorWork& work);
    static double likeness(const Point& a, const Point& b);

    double level_ = 0;
    std::vector<Point> points_;
    std::vector<double> weights_, leftOut_;
};

}  // namespace orrery
