#pragma once

// A model that does not fit one device is answered with a plan that does.

#include "methods/method.h"

namespace orrery {

/// Where the answer warns `memory.does-not-fit` and its plan is one device: the warning's hint becomes the smallest
/// plan over the drawn devices that holds the model (mapping/propose_plan.h), with the reason; where they hold too
/// little or only one is drawn, how many of the device would do. Nothing else of the answer changes. A model that is no
/// decoder keeps the hint that it has.
void proposePlanInHint(Estimate& answer, const Scenario& scenario);

}  // namespace orrery
