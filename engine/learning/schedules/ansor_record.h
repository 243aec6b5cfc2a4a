#pragma once

// A record of Ansor (TVM's auto_scheduler; Zheng et al., OSDI 2020): a program as the steps that made it, not a list of
// knobs. How the loops of the stage that computes were split, threads and unrolling are put as the knobs of AutoTVM, so
// that one model reads both.

#include "base/text/json_node.h"
#include "learning/schedules/tuning_log.h"

namespace orrery {

/// Whether the line is one: `i` and `r`.
bool isAnsorRecord(const JsonNode& record);
/// The stage with the most splits computes: of its loops those with more parts are spatial, the others reduce (Ansor's
/// multi-level tiling, `SSRSRS` on CPUs, `SSSRRSRS` on GPUs). Two spatial loops and a reduction are a matrix product,
/// three of a batch, four and three a convolution (NHWC, or NCHW where the kernel's extents come last), four and two
/// one by channel. Strides are known where the key states the input's shape. Fails with `schedules.row` for what is no
/// record, with `schedules.workload` where the splits are none of these.
Expected<TunedRow> readAnsorRecord(const JsonNode& record);

}  // namespace orrery
