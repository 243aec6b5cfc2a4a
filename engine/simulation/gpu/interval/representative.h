#pragma once

// One SM for all: its blocks run by intervals (`sm_model`), and what lies behind it is its share of what all SMs ask
// for together (`memory_share`, `wave_traffic`). After Arafa et al., "PPT-GPU", 2021 (resident blocks of one SM, reuse
// in place of simulated caches) and Lee et al., "GCoM", ISCA 2022 (one for all, memory by rates).

#include "simulation/gpu/interval/interval_run.h"
#include "simulation/gpu/interval/memory_share.h"

namespace orrery::gpusim {

/// The kernel's cycles as far as they are those of this SM. `blocks` start one after the other, as many at a time as
/// fit; `program` writes their instructions, `whole` says what they touch. Counts are those of the SM alone. Fails as
/// `simulateIntervals` does.
Expected<IntervalResult> representKernel(const Machine& machine, const KernelTemplatePtr& program,
                                         const KernelTemplate& whole, std::span<const RepresentedBlock> blocks,
                                         const SimulateOptions& options = {});

}  // namespace orrery::gpusim
