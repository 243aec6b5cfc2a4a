#pragma once

// A learned function from a row of features to one number, evaluated without allocation, and how it stands in a file.
// Kinds: `trees` (boosted or averaged, XGBoost's own JSON), `compact-trees` (the same in a shorter form), `network`
// (small multi-layer perceptron, our JSON), `linear`, `lattice`, `gaussian-process`, `matern-process`, `blend` (the mean
// of others), `sum`.

#include "base/diagnostic.h"

#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace orrery {

class Regressor {
public:
    virtual ~Regressor() = default;
    virtual std::string_view kind() const = 0;  ///< `trees`, `network`, …
    virtual std::size_t inputs() const = 0;
    /// Thread-safe, allocates nothing. `features` has inputs() numbers.
    virtual double predict(std::span<const double> features) const = 0;
    virtual std::string toJson() const = 0;
};
using RegressorPtr = std::shared_ptr<const Regressor>;

class JsonCursor;
/// From the cursor on, inside a longer text; null if it fails, which the cursor says.
RegressorPtr readRegressor(std::string_view kind, JsonCursor& json);
/// Fails with `learning.…`.
Expected<RegressorPtr> parseRegressor(std::string_view kind, std::string_view json);

}  // namespace orrery
