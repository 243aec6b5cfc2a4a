#pragma once

// What older calibrations meant, said in the terms of this version. Files of every version go on loading.

#include "learning/calibration.h"

namespace orrery::detail {

/// From version 1 to 2: `switched energy` (tensor units) was fitted beside a static share of 0.15 of the power cap and
/// `arithmetic energy` (vector units) beside 0.2; both now stand beside staticShareOfCap. A clock under a cap depends
/// on dynamic ÷ (cap − static) alone, so that scaling the energies leaves every clock as it was fitted.
/// Sections of decode attention without `detached gain`: times and rates of single blocks were those at the device's
/// own clock and are now stated at 1.8 GHz; on their device nothing changes. The same for latencies of collectives, in
/// sections without `late links`. Sections of products without `whole cache`, and those of version 1 of
/// the tile methods over narrow caches, keep their prices as well, and so do those of attention and experts without
/// `whole cache`, whose launches were seconds and whose numbers held what power caps and caches of one piece do.
void bringUpToDate(Calibration& calibration, int version);

}  // namespace orrery::detail
