#pragma once

// A Gaussian process: y = Σ weightᵢ · exp(−Σ |x − pointᵢ| ÷ scale), which follows about a hundred measured rows closely
// and falls back to 0, what was known before, far from all of them (Rasmussen and Williams, "Gaussian Processes for
// Machine Learning", 2006, chapter 2; the kernel is a product of Matérn kernels of order ½, which forgive jumps).

#include "base/text/json_cursor.h"
#include "learning/regressor.h"

#include <vector>

namespace orrery {

class GaussianProcess final : public Regressor {
public:
    /// `scales`: one per input, 0 where it does not count, and at least one above 0. `points`: one per weight, with the
    /// inputs that count, side by side.
    GaussianProcess(std::vector<double> scales, std::vector<double> points, std::vector<double> weights);
    std::string_view kind() const override { return "gaussian-process"; }
    std::size_t inputs() const override { return scales_.size(); }
    double predict(std::span<const double> features) const override;
    std::string toJson() const override;

private:
    std::vector<double> scales_, points_, weights_;
    std::vector<std::size_t> columns_;  // of inputs that count
    std::vector<double> scaled_;        // points over scales
};

inline constexpr std::size_t mostProcessPoints = 400;
inline constexpr std::size_t mostProcessInputs = 64;  ///< that count

/// `{"scales": […], "points": […], "weights": […]}`; null if it fails, which the cursor says.
RegressorPtr readGaussianProcess(JsonCursor& json);

}  // namespace orrery
