#pragma once

// A table of published training steps, and the correction of the closed form that is fitted to it
// (methods/system/training/step_correction.h).

#include "learning/calibration.h"
#include "methods/method.h"
#include "methods/system/training/step_correction.h"

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

namespace orrery {

/// A row of the table, asked as anybody would ask it.
struct PublishedStep {
    std::string publication;  ///< what is weighed, and left out, together
    std::string software, licence;
    WorkloadRecipe recipe;
    std::string hardware;  ///< of the catalogue, or a file
    Plan plan;
    Recompute recompute = Recompute::None;
    std::string fusion = "compile", launch = "graph";  ///< of the kernel method
    double seconds = 0;                                ///< as published
    std::string source, stack;                         ///< for a fit of stacks: the table it stands in, its software
    bool judged = false;                               ///< no number may be fitted to it
    int line = 0;                                      ///< of the table
};
struct PublishedSteps {
    std::vector<PublishedStep> rows;
    std::string path, hash;  ///< of the file
};

/// CSV with a header: `publication`, `software`, `licence`, `workload`, `hardware`, `plan`, `recompute` (`none`,
/// `selective`, `full`), `fusion`, `launch`, `flash` (`yes`, `no`), `type` (of weights and activations), `batch`,
/// `sequence` (0: the model's own), `seconds`; for a fit of stacks also `source`, `stack` and `half` (`fitted`,
/// `judged`), which other uses pass over. Workloads and hardware are those of the catalogue or files beside the
/// table. Fails with `steps.…` naming file and line, and as readCsv().
Expected<PublishedSteps> readPublishedSteps(const std::string& path);

/// The closed form of one row over kernels of tile-hybrid, with its features. Fails as closed-form-step does, with the
/// row's line.
Expected<StepCorrectionRow> stepCorrectionRow(const PublishedStep& step, const std::string& table,
                                              const std::stop_token& stop = {});

struct PublishedStepFit {
    Calibration calibration;  ///< of `learned-step`
    StepCorrection correction;
};
/// Fitted to every row. `date` as the file is to say it; `progress` with the number of rows that are done. Fails as
/// stepCorrectionRow() and fitStepCorrection().
Expected<PublishedStepFit> fitPublishedSteps(const PublishedSteps& steps, const std::string& date,
                                             const std::stop_token& stop = {},
                                             const std::function<void(std::size_t)>& progress = {});

}  // namespace orrery
