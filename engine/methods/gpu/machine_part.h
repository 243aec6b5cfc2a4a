#pragma once

// An even part of a machine, for simulations that have no time for all of it.

#include "simulation/gpu/templates/kernel_template.h"

namespace orrery {

struct MachinePart {
    gpusim::Machine machine;
    double share = 1;  ///< its multiprocessors of all
};

/// Multiprocessors of one of `parts` parts: as many as clusters of the kernel fill.
int smsOfPart(const gpusim::Machine& whole, int parts, const gpusim::KernelTemplate& kernel);

/// Its share of multiprocessors, bandwidth and capacity. Channels are whole and as many that rows of the kernel's
/// operands reach as large a share of them as in the whole machine; their clocks and ways make up for the rounding.
MachinePart partOfMachine(const gpusim::Machine& whole, int parts, const gpusim::KernelTemplate& kernel);

}  // namespace orrery
