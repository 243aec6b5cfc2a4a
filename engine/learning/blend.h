#pragma once

// The mean of several regressors over the same features. Kinds of models err in different places: on sets of a few
// thousand kernels a network and trees together missed by up to a tenth less than the better of them.

#include "base/text/json_cursor.h"
#include "learning/regressor.h"

#include <vector>

namespace orrery {

class Blend final : public Regressor {
public:
    /// One to `mostParts` regressors of equal inputs, none of them a blend.
    explicit Blend(std::vector<RegressorPtr> parts);
    std::string_view kind() const override { return "blend"; }
    std::size_t inputs() const override { return parts_.front()->inputs(); }
    double predict(std::span<const double> features) const override;
    std::string toJson() const override;

private:
    std::vector<RegressorPtr> parts_;
};

inline constexpr std::size_t mostParts = 16;

/// `[{"kind": "network", "model": {…}}, …]`, the kind before its model; null if it fails, which the cursor says.
RegressorPtr readBlend(JsonCursor& json);

}  // namespace orrery
