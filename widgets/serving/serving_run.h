#pragma once

// What the views of serving show: one finished run with everything that it was asked.

#include "serving/metrics.h"
#include "serving/serving_simulation.h"

#include <QString>

#include <memory>
#include <vector>

namespace orrery::ui {

struct ServingRun {
    QString name;    ///< `vLLM V1`
    int colour = 0;  ///< of Theme::methodColour
    bool pinned = false;  ///< the other is compared with it
    std::shared_ptr<const FleetSpec> fleet;
    std::shared_ptr<const RequestStream> stream;
    ServingResult result;
    ServingMetrics metrics;
};
using ServingRunPtr = std::shared_ptr<const ServingRun>;
/// One, or two on the same stream side by side.
using ServingRuns = std::vector<ServingRunPtr>;

/// `h100 2 · decode`: numbered where there are several, with its role if it serves only a part.
QString replicaName(const FleetSpec& fleet, std::size_t replica);

}  // namespace orrery::ui
