#pragma once

#include "app/cli/command.h"

namespace orrery::cli {

/// `train --fit-step TABLE --out FILE [--date DAY]`: a calibration of learned-step from published steps.
int fitStep(const Arguments& arguments, Watch& watch);
/// `train --fit-stacks TABLE --out FILE [--errors FILE] [--date DAY]`: the numbers of training stacks, from published
/// steps.
int fitTrainingStacks(const Arguments& arguments, Watch& watch);

}  // namespace orrery::cli
