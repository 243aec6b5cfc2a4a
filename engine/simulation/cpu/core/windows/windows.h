#pragma once

// A kernel cut into classes of alike windows, and what each resource of a core demands of one window of each: the
// composition of Concorde (Nasr-Esfahany et al., ISCA 2025), per-resource analytic bounds over windows of the
// instruction stream, here of a nest, whose windows repeat so that one of each class tells for all. The cost does not
// grow with the length of the kernel.

#include "simulation/cpu/core/kernels/nest.h"
#include "simulation/cpu/core/machine.h"

#include <array>
#include <string_view>
#include <vector>

namespace orrery::pipeline {

/// What limits a window if nothing else does.
enum class Resource : std::uint8_t {
    Fetch,        ///< slots fetched, groups ended by taken branches
    Width,        ///< slots dispatched and retired
    Ports,        ///< the set of ports that binds
    Dependence,   ///< chains of latencies, with endless queues
    Window,       ///< the same with the core's reorder buffer, queues and registers
    Branches,     ///< wrong guesses
    Stores,       ///< stores that leave
    Misses,       ///< latency of caches and memory behind the core's queues
    MissEntries,  ///< entries for misses in flight
    CacheWays,    ///< bandwidth between caches
    MemoryBandwidth
};
inline constexpr std::size_t resourceCount = 11;
std::string_view toText(Resource resource);
std::string_view meaning(Resource resource);

struct WindowBounds {
    double share = 0;                            ///< of the kernel's operations
    double operations = 0;                       ///< of the kernel
    double instructions = 0;                     ///< per operation
    std::array<double, resourceCount> cycles{};  ///< per operation, each resource alone; 0 where not asked for
    double together = 0;                         ///< per operation: all of them, as the pipeline runs the window
    double slotsTaken = 0, loads = 0, stores = 0, branches = 0, mispredicted = 0;  ///< per operation
    std::array<double, mostCaches> missing{};                                      ///< lines per operation, each cache
};

struct KernelWindows {
    std::vector<WindowBounds> classes;
    std::vector<int> classOf;  ///< per static operation; −1: too rare to have a window
    double operations = 0, instructions = 0;
};

/// What finds out how long all resources together take.
enum class WindowPass : std::uint8_t {
    Pipeline,  ///< the pipeline runs the window
    Flow       ///< a pass of dataflow through queues and caches, or the bound that is largest: a first order
};

struct WindowOptions {
    WindowPass pass = WindowPass::Pipeline;
    bool bounds = true;             ///< of each resource; else of those alone that the pass needs
    std::uint64_t length = 4096;    ///< operations of a window at most
    std::uint64_t whole = 24576;    ///< a kernel of no more is run from end to end
    std::uint64_t history = 16384;  ///< operations before it that pass through the branch predictor
    KernelStart start = {};
};

/// Windows that a first order is content with.
inline WindowOptions flowWindows() {
    return {.pass = WindowPass::Flow, .bounds = false, .length = 1024};
}

KernelWindows windowsOf(const LoopNest& nest, const Machine& machine, const std::vector<BoundOp>& ops,
                        const WindowOptions& options = {});

}  // namespace orrery::pipeline
