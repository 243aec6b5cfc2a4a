#include "methods/answer/compute_rates.h"

#include <algorithm>

namespace orrery {

namespace {

bool onTensorUnit(const DeviceView& device, FlopsPerSecond rate) {
    const auto& peaks = device.peaks[static_cast<std::size_t>(UnitKind::Tensor)];
    return std::find(peaks.begin(), peaks.end(), rate) != peaks.end();
}

std::string typesOf(const DeviceView& device) {
    std::string text;
    for (std::size_t t = 0; t < dtypeCount; ++t) {
        if (std::none_of(device.peaks.begin(), device.peaks.end(),
                         [t](const auto& unit) { return unit[t].value > 0; })) {
            continue;
        }
        text.append(text.empty() ? "" : ", ").append(toText(static_cast<DType>(t)));
    }
    return text;
}

}  // namespace

ComputeRates ratesOf(const DeviceView& device) {
    ComputeRates rates;
    for (std::size_t t = 0; t < dtypeCount; ++t) {
        const auto matrix = device.peak(true, static_cast<DType>(t));
        const auto vector = device.peak(false, static_cast<DType>(t));
        rates.matrix[t] = matrix.value > 0 ? 1 / matrix.value : 0;
        rates.vector[t] = vector.value > 0 ? 1 / vector.value : 0;
        rates.shared[t] = matrix.value > 0 && !onTensorUnit(device, matrix);
    }
    return rates;
}

Diagnostic missingPeak(const DeviceView& device, DType type) {
    const std::string word(toText(type));
    return fail("hardware.missing-peak",
                device.name + " has no unit that multiplies matrices in " + word + " or a wider type",
                "one of the types that it has: " + typesOf(device),
                "Choose one of " + typesOf(device) + " for the workload, or add a row '" + word +
                    "' to the rates of a unit",
                Place{{}, 0, 0, device.path})
        .value();
}

std::optional<DType> ownType(const DeviceView& device) {
    std::optional<DType> own;
    const auto better = [&](DType type) {
        if (!own) return true;
        const double mine = device.peak(true, type).value, known = device.peak(true, *own).value;
        return mine != known ? mine > known : bits(type) > bits(*own);
    };
    for (std::size_t t = 0; t < dtypeCount; ++t) {
        const auto type = static_cast<DType>(t);
        const bool stated =
            std::any_of(device.peaks.begin(), device.peaks.end(), [t](const auto& unit) { return unit[t].value > 0; });
        if (stated && device.peak(true, type).value > 0 && better(type)) own = type;
    }
    return own;
}

Expected<ComputeRatesResult> computeRates(const DeviceView& device, const CostTable& costs) {
    std::array<bool, dtypeCount> products{};
    std::array<bool, dtypeCount> others{};
    for (std::size_t i = 0; i < costs.size(); ++i) {
        const auto t = static_cast<std::size_t>(costs.type[i]);
        products[t] |= costs.macs[i] > 0;
        others[t] |= costs.flops[i] > 2 * costs.macs[i];
    }
    ComputeRatesResult result{ratesOf(device), {}};
    std::string unpriced;
    for (std::size_t t = 0; t < dtypeCount; ++t) {
        const auto type = static_cast<DType>(t);
        if (products[t] && result.rates.matrix[t] <= 0) return Unexpected(missingPeak(device, type));
        if (others[t] && result.rates.vector[t] <= 0) {
            unpriced.append(unpriced.empty() ? "" : ", ").append(toText(type));
        }
    }
    if (!unpriced.empty()) {
        result.assumptions.push_back("No unit of " + device.name + " does element-wise work in " + unpriced +
                                     ", so the time of that work is that of its bytes");
    }
    return result;
}

}  // namespace orrery
