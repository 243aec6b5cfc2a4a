#pragma once

// The mean, or the sum, of several regressors over the same features. Kinds of models err in different places: on sets
// of a few thousand kernels a network and trees together missed by up to a tenth less than the better of them. A sum is
// what was known before and the corrections that own rows add to it.

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

/// y = Σ of its parts: a model and what corrects it.
class Sum final : public Regressor {
public:
    /// One to `mostParts` regressors of equal inputs, none of them a sum.
    explicit Sum(std::vector<RegressorPtr> parts);
    std::string_view kind() const override { return "sum"; }
    std::size_t inputs() const override { return parts_.front()->inputs(); }
    double predict(std::span<const double> features) const override;
    std::string toJson() const override;
    const std::vector<RegressorPtr>& parts() const { return parts_; }

private:
    std::vector<RegressorPtr> parts_;
};

inline constexpr std::size_t mostParts = 16;

/// `[{"kind": "network", "model": {…}}, …]`, the kind before its model; null if it fails, which the cursor says.
RegressorPtr readBlend(JsonCursor& json);
/// The same list, of which a part may be a blend.
RegressorPtr readSum(JsonCursor& json);

}  // namespace orrery
