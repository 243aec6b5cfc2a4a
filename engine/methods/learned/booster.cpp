#include "methods/learned/booster.h"

#include "methods/learned/learned_method.h"

namespace orrery {

namespace {

constexpr std::string_view id = "booster", version = "1";

Expected<KernelPricerPtr> bind(const GpuView& gpu, const CalibrationSet& calibrations) {
    return bindLearned(id, gpu, calibrations);
}

Expected<Calibration> fit(std::span<const KernelRows> rows, const FitOptions& options) {
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

}  // namespace

KernelMethod boosterKernels() {
    return {id, version, bind, fit};
}

}  // namespace orrery
