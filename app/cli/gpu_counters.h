#pragma once

// `orrery-cli gpu`: counters of a kernel predicted from its code, and the model that predicts them.

#include "app/cli/command.h"
#include "app/cli/interrupt.h"

namespace orrery::cli {

/// `--kernel … --predict [FILE]`: without simulating.
int runPredict(const Arguments& arguments);
/// `--learn-counters N`: kernels are drawn and simulated, a model learned, judged and, with `--save`, written.
int runLearnCounters(const Arguments& arguments, Watch& watch);
/// `--judge-counters N`: the shipped model, or the file of `--predict`, on fresh kernels of `--seed` (2).
int runJudgeCounters(const Arguments& arguments, Watch& watch);

}  // namespace orrery::cli
