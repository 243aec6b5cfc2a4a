#include "methods/stated_errors.h"

#include <algorithm>

namespace orrery {

OperatorFamily familyOf(OperatorKind kind) {
    switch (kind) {
        case OperatorKind::MatMul:
        case OperatorKind::Conv:
        case OperatorKind::ConvTranspose:
            return OperatorFamily::MatrixProduct;
        case OperatorKind::Attention:
            return OperatorFamily::Attention;
        default:
            return OperatorFamily::Elementwise;
    }
}

std::string_view toText(OperatorFamily family) {
    switch (family) {
        case OperatorFamily::MatrixProduct:
            return "matrix products";
        case OperatorFamily::Attention:
            return "attention";
        case OperatorFamily::Elementwise:
            return "element-wise";
    }
    return "unknown";
}

const StatedErrors* statedErrors(std::string_view method) {
    const auto table = statedErrorsTable();
    const auto found = std::find_if(table.begin(), table.end(),
                                    [method](const StatedErrors& errors) { return errors.method == method; });
    return found == table.end() ? nullptr : &*found;
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

Platform platformOf(const DeviceView& device) {
    // Many cores, each with its own scratchpad or cache below a shared one, fed by launched kernels: a GPU.
    const bool launched = device.launchOverhead.value > 0;
    const bool replicated = std::any_of(device.levels.begin(), device.levels.end(),
                                        [](const MemoryLevel& level) { return level.instances >= 8; });
    return launched && replicated && device.cores >= 8 ? Platform::Gpu : Platform::Other;
}

}  // namespace orrery
