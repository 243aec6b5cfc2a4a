#pragma once

// What an inference engine adds to the time of its kernels, as wrappers around any IterationTime.

#include "serving/iteration_time.h"

namespace orrery {

/// CUDA graphs exist for some numbers of tokens only; an iteration up to the largest of them is padded to the next one.
/// Padded rows go through every operator but attention and the output head. `sizes`: rising, not empty.
/// vLLM: 1, 2, 4, then every 8th to 256, then every 16th (vllm/config/compilation.py).
IterationTimePtr withGraphPadding(IterationTimePtr inner, std::vector<std::int32_t> sizes);
/// Those of vLLM, up to `largest` tokens (its default: min(2 × most sequences, 512)).
std::vector<std::int32_t> vllmGraphSizes(std::int32_t largest);

/// Work of the host for each iteration: scheduling, preparing inputs, sampling, post-processing.
struct HostOverhead {
    double perIteration = 0, perSequence = 0, perToken = 0;  ///< s
    bool asynchronous = false;  ///< done while the device computes: only what is longer than that shows
    double launch = 0;          ///< s per iteration that kernels' launches add beyond their time; 0 with graphs
};
IterationTimePtr withHostOverhead(IterationTimePtr inner, const HostOverhead& overhead);

}  // namespace orrery
