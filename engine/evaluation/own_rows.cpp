#include "evaluation/own_rows.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

namespace orrery {

std::vector<RowFamily> familiesOf(std::span<const KernelRows> all) {
    std::vector<RowFamily> families;
    for (const KernelRows& device : all) {
        std::map<std::pair<KernelKind, std::string>, RowFamily> byName;
        for (std::size_t i = 0; i < device.kernels.size(); ++i) {
            const Kernel& kernel = device.kernels[i];
            RowFamily& family = byName[{kernel.kind, kernelVariant(kernel)}];
            family.rows.kernels.push_back(kernel);
            family.rows.seconds.push_back(device.seconds[i]);
            if (!device.byHost.empty()) family.rows.byHost.push_back(device.byHost[i]);
        }
        for (auto& [name, family] : byName) {
            family.kind = name.first;
            family.variant = name.second;
            family.rows.gpu = device.gpu;
            family.rows.deviceId = device.deviceId;
            family.rows.source = device.source;
            family.rows.source.rows = std::int64_t(family.rows.kernels.size());
            families.push_back(std::move(family));
        }
    }
    return families;
}

std::vector<double> pricesOf(const KernelPricer& pricer, const KernelRows& rows) {
    std::vector<double> prices;
    for (std::size_t i = 0; i < rows.kernels.size(); ++i) {
        const bool byHost = !rows.byHost.empty() && rows.byHost[i] != 0;
        const KernelPrice price = byHost ? pricer.priceByHost(rows.kernels[i]) : pricer.price(rows.kernels[i]);
        if (!price.priced || !(price.seconds > 0 && price.seconds < 1e12)) return {};
        prices.push_back(price.seconds);
    }
    return prices;
}

std::vector<double> absoluteErrors(const std::vector<double>& prices, const std::vector<double>& measured) {
    std::vector<double> errors;
    for (std::size_t i = 0; i < prices.size(); ++i) errors.push_back(std::abs(prices[i] / measured[i] - 1));
    return errors;
}
std::vector<double> absoluteErrors(const std::vector<double>& residuals) {
    std::vector<double> errors;
    for (const double residual : residuals) errors.push_back(std::abs(std::expm1(-residual)));
    return errors;
}
double meanError(const std::vector<double>& values) {
    return values.empty() ? -1 : std::accumulate(values.begin(), values.end(), 0.0) / double(values.size());
}

bool surelyLess(const std::vector<double>& now, const std::vector<double>& then) {
    const auto count = double(now.size());
    double sum = 0, squares = 0;
    for (std::size_t i = 0; i < now.size(); ++i) {
        const double gain = then[i] - now[i];
        sum += gain;
        squares += gain * gain;
    }
    const double mean = sum / count, variance = std::max(0.0, squares / count - mean * mean);
    return mean > surelyBetter * std::sqrt(variance / count);
}

}  // namespace orrery
