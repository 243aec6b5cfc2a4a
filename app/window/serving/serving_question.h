#pragma once

// What the serving page asks, and how it is answered off the GUI thread.

#include "base/executor.h"
#include "methods/system/planned_fleet.h"
#include "methods/system/usual_pricer.h"
#include "serving/serving_study.h"
#include "widgets/serving/line_plot.h"
#include "widgets/serving/serving_run.h"

#include <optional>
#include <string>
#include <vector>

namespace orrery::app {

/// A fleet that is kept while the question goes on, on the drawing that it was pinned on. It is asked the traffic, the
/// tenants and the SLO of the question.
struct PinnedFleet {
    ServingScenario scenario;
    std::shared_ptr<const Hardware> drawing;
};
using PinnedFleetPtr = std::shared_ptr<const PinnedFleet>;

/// Kernel methods beside a pool's device.
struct PoolPricers {
    std::vector<PricerOffer> offers;  ///< empty where there is no device
    std::string used;                 ///< id of the one that prices the iterations; empty: none, or no answer yet
    std::string reason;               ///< why that one, where nobody chose it
};

struct ServingAnswer {
    ServingStudy question;
    std::shared_ptr<const Hardware> drawing;
    PinnedFleetPtr pinned;  ///< null: none
    std::shared_ptr<const RequestStream> stream;
    PlannedFleet planned;              ///< of the first policy
    std::vector<PoolPricers> pricers;  ///< by pool
    ui::ServingRuns runs;
    Diagnostics warnings;               ///< rows of a trace that are left out, numbers that are not the engine's own
    std::optional<Diagnostic> refusal;  ///< nothing else is filled then but what came before it
};

/// One run per policy, then that of the pinned fleet. Cancelled runs are left out. A pinned fleet that cannot serve the
/// question is a warning: the page's own is answered all the same.
ServingAnswer answerServing(const ServingStudy& question, const std::shared_ptr<const Hardware>& drawing,
                            const PinnedFleetPtr& pinned, IterationTimes& cache, std::stop_token stop,
                            Progress& progress);

/// Share of requests that keep the promise against requests per second (arrivalRate(), as the capacity is), for each
/// policy and the pinned fleet: from a fifth to twice the asked rate, and on until half of the requests break it.
/// Refused where arrivals have no rate.
struct LoadCurve {
    std::vector<ui::PlotLine> lines;
    std::optional<Diagnostic> refusal;
};
LoadCurve loadCurve(const ServingStudy& question, const std::shared_ptr<const Hardware>& drawing,
                    const PinnedFleetPtr& pinned, IterationTimes& cache, std::stop_token stop, Progress& progress);

/// The title of a policy's card, or its id.
QString policyTitle(const std::string& id);

}  // namespace orrery::app
