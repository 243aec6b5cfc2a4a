#pragma once

// A table over a few of the features, linear between its knots and constant beyond them: what a slow model says, asked
// once per knot. Made monotone in total, it keeps a price from falling where a kernel grows. As in Gupta et al.,
// "Monotonic Calibrated Interpolated Look-Up Tables", JMLR 17 (2016), with knots where the data have them.

#include "base/text/json_cursor.h"
#include "learning/regressor.h"

#include <span>
#include <vector>

namespace orrery {

struct LatticeAxis {
    std::size_t feature = 0;    ///< which input
    std::vector<double> knots;  ///< rising, one or more
};

inline constexpr std::size_t mostLatticeAxes = 4, mostLatticePoints = 1 << 18;

class Lattice final : public Regressor {
public:
    /// One value per point, those of the last axis side by side; kept to three decimals.
    Lattice(std::size_t inputs, std::vector<LatticeAxis> axes, std::span<const double> values);
    std::string_view kind() const override { return "lattice"; }
    std::size_t inputs() const override { return inputs_; }
    double predict(std::span<const double> features) const override;
    std::string toJson() const override;

private:
    std::size_t inputs_;
    std::vector<LatticeAxis> axes_;
    std::vector<float> values_;
};

std::size_t pointsOf(std::span<const LatticeAxis> axes);

/// Raises values until none falls along any axis.
void raise(std::span<const LatticeAxis> axes, std::vector<double>& values);

/// Moves values until none falls along an axis by more than `slack` allows: of each axis, for each knot, what may be
/// lost from the first knot to it (rising, from 0). The mean of the least such table above and of the largest below
/// them: no value moves by more than half of the deepest fall that was too deep.
void makeMonotone(std::span<const LatticeAxis> axes, std::span<const std::vector<double>> slack,
                  std::vector<double>& values);

/// `{"inputs": n, "axes": [{"feature": i, "knots": […]}, …], "values": […]}`; null if it fails, which the cursor says.
RegressorPtr readLattice(JsonCursor& json);

}  // namespace orrery
