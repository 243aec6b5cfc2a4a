#pragma once

// Cycles of a kernel on an out-of-order core from windows of it (simulation/cpu/core/windows), shared out among what
// its resources demand of them: after Concorde (Nasr-Esfahany et al., ISCA 2025), which composes bounds by a learned
// function. Here the pipeline runs the windows, and what is learned only corrects them, where it helps.

#include "learning/regressor.h"
#include "simulation/cpu/core/kernels/kernel.h"
#include "simulation/cpu/core/windows/windows.h"

#include <array>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

namespace orrery {

/// The learned part: how much longer its kernel's windows take than the one that ran.
struct WindowModel {
    RegressorPtr regressor;    ///< features of windowFeatures() to the logarithm of cycles by `together`; may be none
    double low = 1, high = 1;  ///< cycles of the pipeline by those predicted: nine of ten judged runs lie between
    std::string source;        ///< what taught it, what judged it
};
/// `presets/pipelines/windows-model.json`, or another file. Codes `core.model`, `learning.…`.
Expected<WindowModel> loadWindowModel(const std::string& path = {});
std::string toJson(const WindowModel& model);

const std::vector<std::string>& windowFeatureNames();
void windowFeatures(const pipeline::WindowBounds& bounds, const pipeline::Machine& machine, std::vector<double>& out);

struct CoreEstimate {
    double cycles = 0, low = 0, high = 0, instructions = 0, operations = 0;
    /// Cycles by resource; with `interplay` they sum to `cycles` exactly. Each class's largest bound is shared out by
    /// Shapley's value of the game in which a set of resources costs its largest bound.
    std::array<double, pipeline::resourceCount> by{};
    double interplay = 0;  ///< beyond the largest bound of each window: resources that get in each other's way
    std::vector<double> classCycles;
};
CoreEstimate estimateCore(const pipeline::KernelWindows& windows, const pipeline::Machine& machine,
                          const WindowModel& model);
CoreEstimate estimateCore(const pipeline::LoopNest& nest, const pipeline::Machine& machine, const WindowModel& model,
                          const pipeline::WindowOptions& options = {});

/// Shares the largest of some bounds: by rising bound, each step is paid in equal parts by all that reach it (the
/// airport game; Littlechild and Owen, Management Science 1973).
std::array<double, pipeline::resourceCount> shareLargest(const std::array<double, pipeline::resourceCount>& bounds);

struct WindowFitOptions {
    int runs = 900;
    std::uint64_t seed = 1;
    std::vector<std::string> unseenCores{"zen4", "neoverse-v1"};
    std::vector<std::string> unseenKernels{"attention", "norm"};
    std::stop_token stop;
    std::function<void(int done, int all)> onRun;
};
struct WindowJudgement {
    std::string core, kernel;
    double cycles = 0, predicted = 0, together = 0;
};
struct WindowFit {
    WindowModel model;
    std::vector<WindowJudgement> judged;  ///< unseen kernels on unseen cores
};
/// Runs kernels on cores whose numbers are shaken, teaches, and judges by kernels and cores that were left out.
Expected<WindowFit> fitWindowModel(const WindowFitOptions& options);

}  // namespace orrery
