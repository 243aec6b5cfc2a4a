#pragma once

// `edge-device(file=…)`: a phone, board or NPU as it was told from a few measured networks
// (learning/edge/device_file.h). It answers for networks of the space that was measured, by their code, and for
// networks by their name; for any workload where the file reads operators. The drawing is not asked. Anything else is
// refused.

#include "methods/method.h"

namespace orrery {

Method deviceFileMethod();

}  // namespace orrery
