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
    // Half as many trees at twice the usual rate: files half as large, for a twentieth more error.
    training.steps = 100;
    training.rate = 0.2;
    training.depth = 8;
    training.leaves = 24;
    training.minimumLeaf = 3;
    return fitLearned(id, version, rows, options, training);
}

}  // namespace

KernelMethod boosterKernels() {
    return {id, version, bind, fit};
}

}  // namespace orrery
