#pragma once

// What the host of an inference engine costs: issuing kernels where no graph is captured, and the work between two
// iterations that nothing hides. One row per software and host processor, each number with where it was measured.

#include "methods/model/launches.h"

#include <span>
#include <string_view>

namespace orrery {

struct SoftwareStack {
    std::string_view id;  ///< in files: `vllm-2023-dgx-a100`
    std::string_view title;
    std::string_view source;    ///< of its numbers, with the rows that they were fitted to
    double issue = 0;           ///< host seconds per kernel that no graph holds; 0: kernels follow without a gap
    bool decodeGraphs = true;   ///< iterations of decodes alone are captured as one graph
    bool promptGraphs = false;  ///< iterations with prompts too
    double perIteration = 0;    ///< host seconds that nothing hides, of every iteration
    double perPrompt = 0;       ///< the same, once for an iteration that has prompts
    double perSequence = 0;     ///< the same, per sequence of the batch
    CollectiveLibrary collectives = CollectiveLibrary::Custom;
    /// Bus bandwidth that all-reduces reach at most (wire bytes of one device per second), and from `largeMessage`
    /// bytes on; 0: what the kernel method says.
    double busBandwidth = 0, largeBusBandwidth = 0, largeMessage = 0;
    bool sampler = true;  ///< a softmax over the vocabulary, fp32, per sampled row
    /// 90 % of measured iterations of the rows that were fitted to last priced × (1 − below) to priced × (1 + above): an
    /// interval of an iteration is never narrower. 0: not measured.
    double below = 0, above = 0;
};

/// `graphs` (no host at all), then engines that were measured.
std::span<const SoftwareStack> softwareStacks();
const SoftwareStack* findSoftwareStack(std::string_view id);

}  // namespace orrery
