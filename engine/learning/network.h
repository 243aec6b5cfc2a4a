#pragma once

// A small multi-layer perceptron. Inputs are standardised inside; hidden units are x·(1 + x ⁄ (1 + |x|)) ⁄ 2, a smooth
// rectifier without exponentials; the output is linear. Weights are 32-bit floats.

#include "base/text/json_cursor.h"
#include "learning/regressor.h"

#include <vector>

namespace orrery {

inline constexpr std::size_t widestLayer = 256;

struct NetworkLayer {
    std::size_t inputs = 0, outputs = 0;
    std::vector<float> weights;  ///< inputs × outputs, row-major: what one input adds to all outputs stands together
    std::vector<float> bias;
};

struct NetworkWeights {
    std::vector<float> mean, scale;  ///< of each input; scale 0: it does not count
    std::vector<NetworkLayer> layers;
    float targetMean = 0, targetScale = 1;
};

class Network final : public Regressor {
public:
    explicit Network(NetworkWeights weights);
    std::string_view kind() const override { return "network"; }
    std::size_t inputs() const override { return weights_.mean.size(); }
    double predict(std::span<const double> features) const override;
    std::string toJson() const override;
    const NetworkWeights& weights() const { return weights_; }

private:
    NetworkWeights weights_;
};

template <class Real>
Real rectify(Real x) {
    const Real size = x < 0 ? -x : x;
    return Real(0.5) * x * (Real(1) + x / (Real(1) + size));
}
/// Its slope.
template <class Real>
Real rectifySlope(Real x) {
    const Real size = x < 0 ? -x : x, below = Real(1) / (Real(1) + size);
    return Real(0.5) * (Real(1) + x * below + x * below * below);
}

/// `{"activation": "smooth-rectifier", "mean": […], "scale": […], "target_mean": a, "target_scale": b, "layers":
/// [{"outputs": n, "weights": [inputs × n], "bias": [n]}, …]}`; null if it fails, which the cursor says.
RegressorPtr readNetwork(JsonCursor& json);

}  // namespace orrery
