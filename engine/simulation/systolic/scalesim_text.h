#pragma once

// What the readers of SCALE-Sim files share.

#include "base/diagnostic.h"
#include "base/text/words.h"

#include <string>

namespace orrery::systolic {

/// Fails with `scalesim.unreadable`, also for files over 16 MiB.
Expected<std::string> readScaleSimText(const std::string& file);

}  // namespace orrery::systolic
