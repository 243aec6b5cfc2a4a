#include "methods/learned/forest.h"

#include "methods/learned/learned_method.h"

namespace orrery {

namespace {

constexpr std::string_view id = "forest", version = "1";

Expected<KernelPricerPtr> bindForest(const GpuView& gpu, const CalibrationSet& calibrations) {
    return bindLearned(id, gpu, calibrations);
}

Expected<Calibration> fitForest(std::span<const KernelRows> rows, const FitOptions& options) {
    TrainingOptions training;
    training.kind = "forest";
    training.loss = "squared";
    training.steps = 12;
    training.depth = 16;
    training.leaves = 96;  // files stay small
    training.minimumLeaf = 1;
    training.ridge = 0;
    training.subsample = 0.7;
    training.featureShare = 0.7;
    return fitLearned(id, version, rows, options, training);
}

// Findings are those of `orrery-cli evaluate` and of tests/methods/tst_model_end_to_end.cpp.
MethodCard forestCard() {
    return {
        .title = "Random forest",
        .methodology = Methodology::Learned,
        .summary =
            "Trees over plain features of kernel and device, latency directly, averaged. For comparison with the "
            "physical methods in and out of their domain.",
        .evidence = {{"matrix products", "GPU",
                      "mean error 6.4 / 10.5 / 11.6 % on the held-out 80 % of bf16 products on H100 / A100 / L40S "
                      "(aiconfigurator)"}},
        .failureMode =
            "Does not extrapolate: a size beyond its rows gets the nearest one's time, and on a device that it has not "
            "seen it is as good as the nominal physics that scales it.",
        .lineage = {"Breiman: Random Forests, Machine Learning 45, 2001"},
        .cost = {.fixed = 2.2e-5, .perOperator = 2.6e-8, .perKernel = 7.0e-8},
        .live = true,
    };
}

}  // namespace

KernelMethod forestKernels() {
    return {.id = id, .version = version, .binder = bindForest, .fit = fitForest, .card = forestCard()};
}

}  // namespace orrery
