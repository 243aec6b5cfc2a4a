#include "methods/answer/stated_errors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace orrery {

OperatorFamily familyOf(const CostTable& costs, std::size_t i) {
    switch (costs.kind[i]) {
        case OperatorKind::MatMul:
            return OperatorFamily::MatrixProduct;
        case OperatorKind::Conv:
        case OperatorKind::ConvTranspose:
            return OperatorFamily::Convolution;
        case OperatorKind::Attention:
            return costs.kvReadBytes[i] > 0 ? OperatorFamily::DecodeAttention : OperatorFamily::PrefillAttention;
        default:
            return OperatorFamily::Elementwise;
    }
}

std::string_view toText(OperatorFamily family) {
    switch (family) {
        case OperatorFamily::MatrixProduct:
            return "matrix products";
        case OperatorFamily::PrefillAttention:
            return "prefill attention";
        case OperatorFamily::DecodeAttention:
            return "decode attention";
        case OperatorFamily::Elementwise:
            return "element-wise";
        case OperatorFamily::Convolution:
            return "convolutions";
    }
    return "unknown";
}

const StatedErrors* statedErrors(std::string_view method) {
    const auto table = statedErrorsTable();
    const auto found = std::find_if(table.begin(), table.end(),
                                    [method](const StatedErrors& errors) { return errors.method == method; });
    return found == table.end() ? nullptr : &*found;
}

std::string coverageText(const StatedErrors& errors) {
    std::string text;
    for (std::size_t f = 0; f < errors.heldOut.size(); ++f) {
        const auto& held = errors.heldOut[f];
        text += fmt::format("{}{:.0f} % of {} {} rows on {}", f == 0 ? "held out: " : ", ", 100 * held.inside,
                            held.rows, toText(static_cast<OperatorFamily>(f)), held.device);
    }
    return text;
}

ErrorBounds errorBounds(const StatedErrors& errors, OperatorFamily family, double predictedSeconds) {
    const int c = errorClass(predictedSeconds);
    const auto& q = errors.quantiles[static_cast<std::size_t>(family)][static_cast<std::size_t>(c)];
    ErrorBounds bounds = c == 0 ? ErrorBounds{predictedSeconds + q.p5, predictedSeconds + q.p95}
                                : ErrorBounds{predictedSeconds * q.p5, predictedSeconds * q.p95};
    bounds.low = std::clamp(bounds.low, 0.0, predictedSeconds);
    bounds.high = std::max(bounds.high, predictedSeconds);
    return bounds;
}

double meanError(double predicted, double low, double high) {
    constexpr double perHalfWidth = 0.798 / 1.645;  // of a normal error: its mean absolute value, where 90 % are inside
    const double bias = std::log(std::sqrt(low) * std::sqrt(high) / predicted);
    const double half = perHalfWidth * std::log(high / low) / 2;
    return std::sqrt(bias * bias + half * half);
}

double meanError(const StatedErrors& errors, OperatorFamily family, double predictedSeconds) {
    const int c = errorClass(predictedSeconds);
    const auto& q = errors.quantiles[static_cast<std::size_t>(family)][static_cast<std::size_t>(c)];
    const auto measured = [&](double quantile) {
        return std::max(1e-12, c == 0 ? predictedSeconds + quantile : predictedSeconds * quantile);
    };
    return meanError(predictedSeconds, measured(q.p5), measured(q.p95));
}

bool statedFor(const DeviceView& device) {
    // tests/evaluation/tst_evaluation_stated.cpp says which.
    static constexpr std::array<std::string_view, 6> measured{"a100", "l40s", "v100", "t4", "h100", "l4"};
    return std::find(measured.begin(), measured.end(), device.name) != measured.end();
}

double statedShift(const DeviceView& device, const CostTable& costs, std::size_t i) {
    // As learning/section_price.cpp has them: a device one unit away, other formats, another stack's attention.
    constexpr double ofDevice = 0.35, ofFormat = 1.0, ofAttention = 0.8;
    const GemmShape& gemm = costs.gemm[i];
    const double elements = double(gemm.n) * double(gemm.k);
    const bool product = familyOf(costs, i) == OperatorFamily::MatrixProduct;
    const bool narrowWeights = product && costs.weightBytes[i] > 0 && costs.weightBytes[i] < 1.5 * elements;
    const bool narrow = bits(costs.type[i]) < 16 || narrowWeights;
    return std::hypot(statedFor(device) ? 0 : ofDevice, narrow ? ofFormat : 0,
                      costs.kind[i] == OperatorKind::Attention ? ofAttention : 0);
}

ErrorBounds moved(const ErrorBounds& bounds, double predictedSeconds, double shift) {
    if (shift <= 0 || !(predictedSeconds > 0)) return bounds;
    ErrorBounds out = bounds;
    const double low = std::max(bounds.low, predictedSeconds / 20);
    out.low = std::min(bounds.low, predictedSeconds * std::exp(-std::hypot(std::log(predictedSeconds / low), shift)));
    out.high = predictedSeconds * std::exp(std::hypot(std::log(bounds.high / predictedSeconds), shift));
    return out;
}

Platform platformOf(const DeviceView& device) {
    return device.platform == "gpu" ? Platform::Gpu : Platform::Other;
}

}  // namespace orrery
