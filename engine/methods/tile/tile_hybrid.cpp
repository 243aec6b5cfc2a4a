#include "methods/tile/tile_hybrid.h"

#include "learning/fit_section.h"
#include "learning/foreign.h"
#include "methods/tile/hybrid_family.h"
#include "methods/tile/tile_hybrid_fit.h"
#include "methods/tile/tile_pricer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <utility>

namespace orrery {

namespace {

/// Where nothing was seen, the correction may not lead further away from physics than this; towards faster prices the
/// units and the memory, of which physics uses most, leave little room.
constexpr double mostFaster = 1.15, mostSlower = 1.6;

class TileHybridPricer final : public TilePricer {
public:
    using TilePricer::TilePricer;

private:
    void tell(KernelStory& story, const Kernel& kernel, const TileBinding& binding,
              const TilePhysics& physics) const override {
        if (!binding.section || !binding.section->model) return;
        const SectionPrice corrected = sectionPrice(kernel, binding, physics);
        story.terms.push_back(
            {"learned correction",
             corrected.seconds / physics.seconds,
             Dimension::Number,
             {},
             "what was learned from the physical features, as far as the device is near: measured ÷ physical"});
    }

    SectionPrice sectionPrice(const Kernel& kernel, const TileBinding& binding,
                              const TilePhysics& physics) const override {
        std::array<double, mostHybridFeatures> row;
        const HybridFamily* hybrid = hybridFamilyOf(*binding.family);
        if (!binding.section) return unfittedPrice(physics.seconds);
        if (!hybrid) return priceWith(*binding.section, physics.seconds, {}, 0, binding.distance);
        // A section of one device has no features of devices; they stand last.
        const std::size_t all = hybrid->featureNames.size(), count = std::min(binding.section->features.size(), all);
        const std::size_t filled = std::max(count, all - hybrid->deviceFeatures);
        hybrid->features(kernel, bindings_.gpu, physics, std::span(row.data(), filled));
        SectionPrice price = priceWith(*binding.section, physics.seconds, std::span<const double>(row.data(), count),
                                       physics.clockDoubt, binding.distance);
        // Of an unseen device the device's own features are outside by themselves: only the others tell of the shape.
        if (binding.distance > 0 && count == all && binding.section->domain) {
            const std::span row0(row.data(), all);
            std::copy_n(binding.section->domain->mean.end() - std::ptrdiff_t(hybrid->deviceFeatures),
                        hybrid->deviceFeatures, row0.end() - std::ptrdiff_t(hybrid->deviceFeatures));
            if (binding.section->domain->check(row0) == DomainVerdict::Outside) doubtShape(price);
        }
        const double ratio = price.seconds / physics.seconds;
        double held = std::pow(ratio, binding.faith);
        if (price.shape == DomainVerdict::Outside) held = std::clamp(held, 1 / mostFaster, mostSlower);
        // Nothing is faster than the units at their peak, whatever was learned.
        const double peak = kernel.kind == KernelKind::Gemm ? bindings_.gpu.peak(true, kernel.type) : 0;
        if (peak > 0) held = std::max(held, kernel.flops / (physics.seconds * peak));
        held /= ratio;
        price.seconds *= held, price.low *= held, price.high *= held;
        return price;
    }
};

Expected<KernelPricerPtr> bindTileHybrid(const GpuView& gpu, const CalibrationSet& calibrations) {
    return std::make_shared<const TileHybridPricer>(bindTiles(tileHybridId, gpu, calibrations));
}

// Findings are those of `orrery-cli evaluate` and of tests/methods/tst_model_end_to_end.cpp.
MethodCard tileHybridCard() {
    return {
        .title = "Tiles and waves, corrected",
        .methodology = Methodology::Hybrid,
        .summary =
            "The physical model of tiles and waves, with a learned correction. The most accurate method if a "
            "calibration covers device and shape; flags what it does not cover.",
        .evidence = {{"matrix products", "GPU",
                      "MAPE 3.1 / 4.1 / 5.6 / 4.4 % on the bf16 products of H100 / A100 / L40S / B200 that its "
                      "calibrations were "
                      "not fitted to (aiconfigurator 2026-08-21)"},
                     {"whole transformers", "GPU",
                      "MAPE 5.6 %, 38 of 41 inside the interval: fp32 inference, compiled inference and training steps "
                      "of BERT, GPT and OPT on one A100, V100, P100 or P4, none used to fit (NeuSight 6945927d)"}},
        .failureMode =
            "For shapes and devices outside the calibration it uses the physical model with a wider interval.",
        .lineage = {"Lee, Phanishayee, Mahajan: NeuSight, ASPLOS 2025"},
        .cost = {.fixed = 3.7e-5, .perOperator = 4.8e-8, .perKernel = 6.9e-7},
        .live = true,
    };
}

}  // namespace

KernelMethod tileHybridKernels() {
    return {.id = tileHybridId,
            .version = "2.1",  // fits are as of 2
            .binder = bindTileHybrid,
            .fit = fitTileHybrid,
            .card = tileHybridCard()};
}

}  // namespace orrery
