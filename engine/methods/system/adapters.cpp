#include "methods/system/adapters.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery {

namespace {

// PCIe 4.0 × 16 after encoding and headers, B/s: the way to a host, which no drawing has, where none is stated.
constexpr double usualHostBandwidth = 25e9;

// Assumed between two short kernels that follow one another.
constexpr double launchGap = 1e-6;

class AdapterTime final : public IterationTime {
public:
    AdapterTime(std::vector<AdaptedProduct> products, double rank, double width, double flops, double bandwidth,
                int stages)
        : products_(std::move(products)),
          rank_(rank),
          width_(width),
          flops_(flops),
          bandwidth_(bandwidth),
          stages_(stages) {}
    IterationPrice price(const IterationWork& work) const override {
        IterationPrice price;
        if (work.adapters <= 0 || work.adapterTokens <= 0) return price;
        const double tokens = work.adapterTokens, adapters = work.adapters;
        double seconds = 0;
        for (const AdaptedProduct& product : products_) {
            seconds += product.layers *
                       (launch(tokens, adapters, product.in, rank_) + launch(tokens, adapters, rank_, product.out));
        }
        price.seconds = price.lastSeconds = seconds / stages_;
        return price;
    }
    int stages() const override { return stages_; }

private:
    double launch(double tokens, double adapters, double in, double out) const {
        const double bytes = (tokens * (in + out) + adapters * in * out) * width_;
        return launchGap + std::max(2 * tokens * in * out / flops_, bytes / bandwidth_);
    }
    std::vector<AdaptedProduct> products_;
    double rank_, width_, flops_, bandwidth_;
    int stages_;
};

}  // namespace

std::vector<AdaptedProduct> adaptedProducts(const TransformerConfig& config, AdapterTargets targets,
                                            std::int64_t tensor) {
    std::vector<AdaptedProduct> products;
    const auto parts = static_cast<double>(tensor);
    const auto wide = [](std::int64_t value) { return static_cast<double>(value); };
    const double hidden = wide(config.hidden), layers = wide(config.layers);
    const auto byColumns = [&](double in, double out, double count) {
        products.push_back({in, std::max(1.0, out / parts), count});
    };
    const auto byRows = [&](double in, double out, double count) {
        products.push_back({std::max(1.0, in / parts), out, count});
    };
    if (config.latent()) {
        const double queries = wide(config.heads * (config.nopeDim + config.ropeDim));
        if (config.latentQuery > 0) products.push_back({hidden, wide(config.latentQuery), layers});
        byColumns(config.latentQuery > 0 ? wide(config.latentQuery) : hidden, queries, layers);
        products.push_back({hidden, wide(config.latentKv + config.ropeDim), layers});  // every device has the latent
        byColumns(wide(config.latentKv), wide(config.heads * (config.nopeDim + config.valueDim)), layers);
        byRows(wide(config.heads * config.valueDim), hidden, layers);
    } else {
        // Key-value heads fewer than the devices are held more than once.
        const double keys = wide(config.kvHeads * config.headDim);
        byColumns(hidden, wide(config.heads * config.headDim), layers);
        for (int i = 0; i < 2; ++i) products.push_back({hidden, std::max(wide(config.headDim), keys / parts), layers});
        byRows(wide(config.heads * config.headDim), hidden, layers);
    }
    if (targets == AdapterTargets::Attention) return products;
    const auto feedForward = [&](double inner, double count) {
        for (int i = 0; i < (config.gated ? 2 : 1); ++i) byColumns(hidden, inner, count);
        byRows(inner, hidden, count);
    };
    double routed = config.experts > 0 ? layers : 0;
    if (config.experts > 0 && !config.expertLayer.empty())
        routed = static_cast<double>(std::count(config.expertLayer.begin(), config.expertLayer.end(), true));
    if (layers > routed) feedForward(wide(config.intermediate), layers - routed);
    if (routed > 0 && config.sharedIntermediate > 0) feedForward(wide(config.sharedIntermediate), routed);
    return products;
}

double adapterParameters(const std::vector<AdaptedProduct>& products, std::int32_t rank) {
    double sum = 0;
    for (const AdaptedProduct& product : products) sum += product.layers * rank * (product.in + product.out);
    return sum;
}

IterationTimePtr adapterTime(std::vector<AdaptedProduct> products, std::int32_t rank, DType type,
                             const AdapterRates& device, int stages) {
    return std::make_shared<const AdapterTime>(std::move(products), rank, bits(type) / 8.0, device.flops,
                                               device.bandwidth, stages);
}

AdapterSlots adapterSlots(const PoolSpec& pool, const IterationLaunches& launches, const PoolDevice& device,
                          double& bytes, std::vector<std::string>& assumptions) {
    const AdapterChoice& choice = pool.adapters;
    // Adapters stay in 16 bits where the model has fewer.
    const DType type = bits(launches.model().activations) < 16 ? DType::BF16 : launches.model().activations;
    auto products = adaptedProducts(launches.model().config, choice.targets, pool.plan.tensor);
    const double each = adapterParameters(products, choice.rank) * bits(type) / 8.0 / pool.plan.pipeline;
    const double bandwidth = choice.hostBandwidth > 0 ? choice.hostBandwidth : usualHostBandwidth;
    AdapterSlots held;
    held.count = choice.resident;
    held.loadSeconds = each / bandwidth * (1 - choice.hidden);
    held.extra = adapterTime(std::move(products), choice.rank, type,
                             {device.device.peak(true, type).value, device.bandwidth()}, pool.plan.pipeline);
    bytes = each * choice.resident;
    assumptions.push_back(fmt::format(
        "LoRA: {} resident adapters of rank {} take {:.3g} MB each of a device; another one comes at {:.3g} GB/s in "
        "{:.3g} ms. Their products take as long as their FLOPs or bytes ask for (Punica's counts), and 1 µs a launch",
        choice.resident, choice.rank, each / 1e6, bandwidth / 1e9, held.loadSeconds * 1e3));
    return held;
}

}  // namespace orrery
