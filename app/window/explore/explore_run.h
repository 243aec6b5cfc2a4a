#pragma once

// A search under way, or done: what came of it so far. Written by its job, read by the page.

#include "app/window/explore/explore_question.h"
#include "app/window/explore/explore_view.h"
#include "study/exploration/agents.h"

#include <memory>
#include <mutex>

namespace orrery::app {

struct ExploreRun {
    // Set before the job starts.
    ExploreQuestion question;
    std::string agent;
    QString command, folder;  ///< where it runs and keeps its files (explore_remote.h); empty: on this machine

    std::mutex lock;
    std::shared_ptr<const SearchProblem> problem;
    std::shared_ptr<const ExploreView> view;
    std::vector<std::shared_ptr<const ExploreView>> spent;  ///< no longer shown; the job lets them go
    BaseAnswer drawn;
    std::vector<KnobEffect> effects;  ///< each knob alone; rows of `alone`
    PointAnswers alone;
    std::optional<Diagnostic> refusal;
    bool stopped = false;
};

/// Asks everything; a few times a second there is a new view.
void explore(ExploreRun& run, WorkloadPtr workload, const CalibrationSet* calibrations, std::stop_token stop,
             Progress& progress);

}  // namespace orrery::app
