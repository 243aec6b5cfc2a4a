#pragma once

// What the live views ask, and how it is answered.

#include "app/document/workload_cache.h"
#include "base/executor.h"
#include "evaluation/reference_index.h"
#include "learning/calibration.h"
#include "widgets/common/snapshot.h"

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace orrery::app {

struct LiveQuestion {
    quint64 revision = 0;
    quint64 generation = 0;  ///< changes when another project or pair is shown: older answers are worthless then
    HardwarePtr hardware;
    std::optional<WorkloadRecipe> recipe;
    Plan plan = {};
    Task task = Pass{};
    std::vector<std::string> methods;                    ///< ids or choices, in the order shown
    std::shared_ptr<const CalibrationSet> calibrations;  ///< null: what ships
    std::shared_ptr<const ReferenceIndex> truth;         ///< null: no kernels are loaded
};

struct LiveAnswer {
    quint64 revision = 0;
    quint64 generation = 0;
    ui::SnapshotPtr snapshot;  ///< null if there is no workload to ask about
    WorkloadPtr workload;
    std::optional<Diagnostic> failure;  ///< why there is no snapshot
};

/// Off the GUI thread. Nothing once asked to stop: the answer is of no use then.
std::optional<LiveAnswer> answerLive(const LiveQuestion& question, WorkloadCache& cache, Executor& executor,
                                     const std::stop_token& stop);

}  // namespace orrery::app
