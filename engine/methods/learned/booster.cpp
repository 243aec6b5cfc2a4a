#include "methods/learned/booster.h"

#include "methods/learned/learned_method.h"

namespace orrery {

namespace {

constexpr std::string_view id = "booster", version = "1";

Expected<KernelPricerPtr> bindBooster(const GpuView& gpu, const CalibrationSet& calibrations) {
    return bindLearned(id, gpu, calibrations);
}

Expected<Calibration> fitBooster(std::span<const KernelRows> rows, const FitOptions& options) {
    TrainingOptions training;
    training.kind = "trees";
    training.loss = "squared";
    // Fewer trees at a higher rate: files stay small, for a tenth more error.
    training.steps = 60;
    training.rate = 0.3;
    training.depth = 8;
    training.leaves = 16;
    training.minimumLeaf = 3;
    return fitLearned(id, version, rows, options, training);
}

// Findings are those of `orrery-cli evaluate` and of tests/methods/tst_model_end_to_end.cpp.
MethodCard boosterCard() {
    return {
        .title = "Boosted trees",
        .methodology = Methodology::Learned,
        .summary =
            "Boosted trees over plain features of kernel and device, latency directly. For comparison with the "
            "physical methods in and out of their domain.",
        .evidence =
            {{"matrix products", "GPU",
              "mean error 5.1 / 8.0 / 9.9 % on the held-out 80 % of bf16 products on H100 / A100 / L40S, 161 / "
              "38 / 34 % on each when fitted to the other two; on B200, scaled from H100 by nominal physics, 12 % "
              "(aiconfigurator)"}},
        .failureMode =
            "Does not extrapolate: a size beyond its rows gets the nearest one's time, and on a device that it has not "
            "seen it is as good as the nominal physics that scales it.",
        .lineage = {"Chen, Guestrin: XGBoost, KDD 2016"},
        .cost = {.fixed = 2.4e-5, .perOperator = 2.7e-8, .perKernel = 7.6e-8},
        .live = true,
    };
}

}  // namespace

KernelMethod boosterKernels() {
    return {.id = id, .version = version, .binder = bindBooster, .fit = fitBooster, .card = boosterCard()};
}

}  // namespace orrery
