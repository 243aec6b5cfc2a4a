#include "methods/learned/forest.h"

#include "methods/learned/learned_method.h"

namespace orrery {

namespace {

constexpr std::string_view id = "forest", version = "1";

Expected<KernelPricerPtr> bind(const GpuView& gpu, const CalibrationSet& calibrations) {
    return bindLearned(id, gpu, calibrations);
}

Expected<Calibration> fit(std::span<const KernelRows> rows, const FitOptions& options) {
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

}  // namespace

KernelMethod forestKernels() {
    return {id, version, bind, fit};
}

}  // namespace orrery
