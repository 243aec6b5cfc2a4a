#include "methods/tile/tile_wave.h"

#include "learning/fit_section.h"
#include "methods/tile/tile_fit.h"
#include "methods/tile/tile_pricer.h"

#include <memory>
#include <utility>

namespace orrery {

namespace {

constexpr std::string_view id = "tile-wave", version = "2";

class TileWavePricer final : public TilePricer {
public:
    using TilePricer::TilePricer;

private:
    SectionPrice sectionPrice(const Kernel&, const TileBinding& binding, const TilePhysics& physics) const override {
        return binding.section ? priceWith(*binding.section, physics.seconds, {}, 0, binding.distance)
                               : unfittedPrice(physics.seconds);
    }
};

Expected<KernelPricerPtr> bindTileWave(const GpuView& gpu, const CalibrationSet& calibrations) {
    return std::make_shared<const TileWavePricer>(bindTiles(id, gpu, calibrations));
}

Expected<CalibrationSection> fitWave(const TileRowGroup& group, const FitOptions& options) {
    SectionOptions how;
    how.kind = group.kind;
    how.variant = group.variant;
    how.learn = false;
    how.candidates.front().seed = options.seed;
    how.candidates.front().stop = options.stop;
    const TileFamily& family = *group.family;
    const PrepareRows prepare = [&](std::span<const std::size_t> fitTo,
                                    std::map<std::string, double, std::less<>>& parameters) -> Expected<SectionRows> {
        std::vector<TileRow> rows;
        for (const std::size_t i : fitTo) rows.push_back(group.rows[i]);
        const auto values = fitTileParameters(family, rows, parametersOf(family, parameters), options.stop,
                                              group.device < 0 ? family.outlier : 0);
        SectionRows result;
        for (std::size_t i = 0; i < values.size(); ++i) parameters[std::string(family.parameters[i].name)] = values[i];
        if (group.hostTimed) parameters[std::string(graphLaunchName)] = family.graphLaunch;
        for (const TileRow& row : group.rows) {
            const TilePhysics physics = family.physics(*row.kernel, *row.gpu, values);
            result.baseline.push_back(secondsOfRow(family, physics, row, group.hostTimed));
            result.measured.push_back(row.seconds);
            if (group.device < 0) result.group.push_back(row.device);
        }
        return result;
    };
    auto fit = fitSection(group.rows.size(), prepare, how);
    if (!fit) return Unexpected(std::move(fit.error()));
    return std::move(fit->section);
}

Expected<Calibration> fitTileWave(std::span<const KernelRows> rows, const FitOptions& options) {
    return fitTileSections(id, version, rows, options,
                           [&](const TileRowGroup& group) { return fitWave(group, options); });
}

// Findings are those of `orrery-cli evaluate` and of tests/methods/tst_model_end_to_end.cpp.
MethodCard tileWaveCard() {
    return {
        .title = "Tiles and waves",
        .methodology = Methodology::Analytical,
        .summary =
            "Models kernels as libraries run them: tiles, waves of blocks over the multiprocessors, traffic through "
            "the caches, with few fitted parameters. Shows why a shape is slow.",
        .evidence = {{"matrix products", "GPU",
                      "MAPE 6.9 / 9.8 / 12.0 % on the bf16 products of H100 / A100 / L40S that its calibrations were "
                      "not fitted to (aiconfigurator 2026-08-21)"},
                     {"whole transformers", "GPU",
                      "MAPE 6.8 %, 41 of 41 inside the interval: fp32 inference, compiled inference and training steps "
                      "of BERT, GPT and OPT on one A100, V100, P100 or P4, none used to fit (NeuSight 6945927d)"}},
        .failureMode =
            "Libraries that choose another tile than the assumed one; power limits that the design does not state.",
        .lineage = {"Lee, Phanishayee, Mahajan: NeuSight, ASPLOS 2025 (tiles and waves)",
                    "Osama et al.: Stream-K, PPoPP 2023 (split work)"},
        .cost = {.fixed = 2.8e-5, .perOperator = 3.8e-8, .perKernel = 3.2e-7},
        .live = true,
    };
}

}  // namespace

KernelMethod tileWaveKernels() {
    // Fits are as of 2.
    return {.id = id, .version = "2.1", .binder = bindTileWave, .fit = fitTileWave, .card = tileWaveCard()};
}

}  // namespace orrery
