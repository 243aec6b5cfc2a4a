#pragma once

// What one core of a processor runs of a kernel that all cores share: kernels of networks as kernels that
// simulation/cpu/core writes in instructions.

#include "hardware/views/core_view.h"
#include "simulation/cpu/core/kernels/kernel.h"
#include "simulation/cpu/cores/chip.h"
#include "workload/kernel.h"

#include <optional>
#include <vector>

namespace orrery {

struct CoreShare {
    pipeline::KernelSpec spec;          ///< of the core that has most to do
    std::int64_t active = 1;            ///< cores that work at once
    double rounds = 1;                  ///< how often that core runs it
    double readers = 1;                 ///< cores that work on a byte of the operands, on average of all bytes
    std::int64_t down = 1, across = 1;  ///< the grid of pieces of one problem; cores beyond it work on the next one
    bool oneWeight = false;             ///< problems share their second operand
    bool widened = false;               ///< computes in fp32 what is stored in fewer bits
};

/// Batches and heads first, then a grid over rows and columns whose largest piece is least. Products of few rows are
/// divided along their columns, which are read once by one core each. Nothing for kernels without a form: depthwise
/// convolutions whose windows are no square or have gaps, products of few rows by weights of less than a byte,
/// movement, collectives. Called by a framework, a product of one row is packed and computed by one core.
std::optional<CoreShare> coreShareOf(const Kernel& kernel, const pipeline::Machine& machine, std::int64_t cores,
                                     bool framework = false);

/// The machine as one of `active` cores that work at once sees it: its share of caches and of main memory's
/// `bandwidth`. What `readers` of them read, within the reach of one last cache, comes from memory once for all.
pipeline::Machine machineAmong(pipeline::Machine machine, const CoreView& core, double bandwidth, double active,
                               double readers);

/// Some of the cores that work at once, in one clock: with their part of caches and of main memory's `bandwidth`, as if
/// all others did the same. At most `together` cores; fewer where they would be no whole caches that others share, one
/// where `together` or the share says so.
pipeline::Chip chipAmong(const pipeline::Machine& machine, const CoreView& core, double bandwidth,
                         const CoreShare& share, int together);
/// For each core of such a chip, which copies of the arrays of the share's nest it works on.
std::vector<std::vector<std::int64_t>> copiesAmong(const pipeline::LoopNest& nest, const CoreShare& share, int cores);

}  // namespace orrery
