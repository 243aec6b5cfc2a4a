#pragma once

// y = intercept + Σ coefficientᵢ·(xᵢ − meanᵢ).

#include "base/text/json_cursor.h"
#include "learning/regressor.h"

#include <vector>

namespace orrery {

class Linear final : public Regressor {
public:
    Linear(double intercept, std::vector<double> mean, std::vector<double> coefficients);
    std::string_view kind() const override { return "linear"; }
    std::size_t inputs() const override { return mean_.size(); }
    double predict(std::span<const double> features) const override;
    std::string toJson() const override;

private:
    double intercept_;
    std::vector<double> mean_, coefficients_;
};

/// `{"intercept": b, "mean": […], "coefficients": […]}`; null if it fails, which the cursor says.
RegressorPtr readLinear(JsonCursor& json);

}  // namespace orrery
