#include "methods/model/software_stack.h"

#include <array>

namespace orrery {

namespace {

const std::array<SoftwareStack, 2> stacks{{
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
