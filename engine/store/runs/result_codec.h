#pragma once

// Results as other ranks send them: what the database keeps of them, so that a run on many machines stores and exports
// the bytes of a run on one.

#include "study/distributed/ranked_runs.h"

namespace orrery {

/// Of the results of this study, which must outlive it.
ResultCodec resultCodec(const Study& study);

}  // namespace orrery
