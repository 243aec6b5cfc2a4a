#pragma once

// A training run of weeks: devices fail, the run goes back to its last checkpoint, and what was done since is done
// again. How much of the time is left for steps.

#include "base/random.h"

namespace orrery {

/// Times in seconds.
struct Reliability {
    double meanBetweenFailures = 0;  ///< of all devices together; 0: nothing fails
    double checkpoint = 0;           ///< during which no step is done
    double restart = 0;              ///< from a failure until the last checkpoint's state works again
};

/// Seconds of steps between checkpoints that lose least (Daly 2006, "A higher order estimate of the optimum checkpoint
/// interval for restart dumps", equation 37); 0 where nothing fails.
double bestCheckpointInterval(const Reliability& its);

/// Share of the time that goes into steps that need not be done again, with checkpoints every `interval` seconds of
/// steps; failures come evenly at random, also during checkpoints and restarts (Daly 2006, equation 20). 1 where
/// nothing fails and no checkpoint is written (`interval` 0).
double goodput(const Reliability& its, double interval);

/// The same of one run of `duration` seconds with failures drawn from the stream. O(failures); beyond a million of
/// them goodput() itself.
double drawnGoodput(const Reliability& its, double interval, double duration, RandomStream& random);

}  // namespace orrery
