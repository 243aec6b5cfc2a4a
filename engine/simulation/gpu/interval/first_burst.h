#pragma once

// What all SMs ask for in the moment at which their first blocks begin: everything up to a warp's first wait for
// memory. Until then they go in step, and those that share an operand stand in front of the same slice: each slice
// serves the heads of all ports in turn, and a port's first request holds those behind it. The queue dissolves as ports
// come to different slices. Afterwards every SM has waited for other answers, and they are in step no more.

#include "simulation/gpu/templates/kernel_template.h"

#include <vector>

namespace orrery::gpusim {

struct FirstBurst {
    double senders = 1;        ///< SMs
    double requests = 0;       ///< of one block
    double each = 1;           ///< requests of an entry of `gaps`
    std::vector<double> gaps;  ///< core cycles of an SM's port per request, one after the other
    /// Of request `at` (from 0); 0 where SMs are in step no more. What lies behind the last entry goes as that.
    double gap(double at) const;
};

/// `start` has the places of `whole`, and at least as much of its main loop as a warp asks for before it waits.
/// `senders` SMs begin, with blocks 0, 1, …. Fails with `gpu.template` as `TemplateSource` does.
Expected<FirstBurst> firstBurst(const Machine& machine, const KernelTemplate& whole, const KernelTemplatePtr& start,
                                std::int64_t senders);

}  // namespace orrery::gpusim
