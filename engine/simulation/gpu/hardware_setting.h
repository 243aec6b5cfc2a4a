#pragma once

// A machine that stands for real hardware: the modern core as Huerta et al. found it ("Analyzing modern NVIDIA GPU
// cores", MICRO 2025), with latencies and rates of its generation. Traces carry no control bits: stall counters are
// derived from latencies of producers, dependence counters from results under way.

#include "simulation/gpu/opcodes.h"

namespace orrery::gpusim {

/// Keeps the machine's sizes and clocks; takes everything that is measured from the generation.
void useHardwareSetting(Machine& machine, const GpuGeneration& generation);

/// Of an instruction on the modern core: by opcode and, for tensor instructions, by shape.
UnitTiming hardwareTiming(std::string_view text, const Opcode& opcode, const GpuGeneration& generation);

}  // namespace orrery::gpusim
