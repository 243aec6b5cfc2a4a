#pragma once

// `map --maestro`: layers under data-centric dataflows, from MAESTRO's files.

#include "app/cli/command.h"

namespace orrery::cli {

/// Answers with `--maestro`, `--maestro-hardware`, `--dataflow` and `--json`. A layer that cannot be priced is reported and
/// the others are printed; Unanswered if none can.
int mapMaestro(const Arguments& arguments);

}  // namespace orrery::cli
