#include "methods/model/software_stack.h"

#include <array>

namespace orrery {

namespace {

// Six numbers per machine, fitted with tile-hybrid's kernels to half of the medians (those whose FNV hash is even);
// tests/serving/tst_splitwise_medians.cpp judges the other half.
constexpr std::string_view dgxSource =
    "Fitted to half of Splitwise's medians of Llama-2 70B and BLOOM 176B on this machine (Patel et al., ISCA 2024)";

const std::array<SoftwareStack, 4> stacks{{
    {.id = "graphs",
     .title = "Captured graphs",
     .source = "Kernels follow one another; the host costs nothing.",
     .promptGraphs = true},
    {.id = "eager",
     .title = "Eager PyTorch",
     .source = "10 us of dispatch per operation; 5 to 25 us are reported (jiahuanglin.xyz, lesson 18).",
     .issue = 10e-6,
     .decodeGraphs = false,
     .collectives = CollectiveLibrary::Nccl},
    {.id = "vllm-2023-dgx-a100",
     .title = "vLLM of 2023, eager, on a DGX A100",
     .source = dgxSource,
     .issue = 38.7e-6,
     .decodeGraphs = false,
     .perIteration = 10.0e-3,
     .perPrompt = 9.4e-3,
     .perSequence = 0.406e-3,
     .collectives = CollectiveLibrary::Nccl,
     .busBandwidth = 115e9,
     .largeBusBandwidth = 34e9,
     .largeMessage = 64e6,
     .below = 0.146,
     .above = 0.183},
    {.id = "vllm-2023-dgx-h100",
     .title = "vLLM of 2023, eager, on a DGX H100",
     .source = dgxSource,
     .issue = 22.9e-6,
     .decodeGraphs = false,
     .perIteration = 8.36e-3,
     .perPrompt = 19.0e-3,
     .perSequence = 0.361e-3,
     .collectives = CollectiveLibrary::Nccl,
     .busBandwidth = 168e9,
     .largeBusBandwidth = 79e9,
     .largeMessage = 64e6,
     .below = 0.155,
     .above = 0.194},
}};

}  // namespace

std::span<const SoftwareStack> softwareStacks() {
    return stacks;
}

const SoftwareStack* findSoftwareStack(std::string_view id) {
    for (const SoftwareStack& stack : stacks) {
        if (stack.id == id) return &stack;
    }
    return nullptr;
}

}  // namespace orrery
