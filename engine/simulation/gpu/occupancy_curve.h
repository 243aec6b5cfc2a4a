#pragma once

// Resident warps of an SM against one need of a block, the others as they are: the occupancy calculator's curves.

#include "simulation/gpu/occupancy.h"

#include <array>
#include <vector>

namespace orrery::gpusim {

enum class BlockNeed : std::uint8_t { Registers, SharedMemory, Threads };  ///< per thread; per block; per block
inline constexpr std::array allBlockNeeds{BlockNeed::Registers, BlockNeed::SharedMemory, BlockNeed::Threads};

struct OccupancyPoint {
    int need = 0, warps = 0, blocks = 0;
};

int needOf(const KernelHeader& kernel, BlockNeed need);
void setNeed(KernelHeader& kernel, BlockNeed need, int value);
int mostOf(const Machine& machine, BlockNeed need);
/// From the least to the most that a block may ask for, in steps that show every drop.
std::vector<OccupancyPoint> occupancyCurve(const Machine& machine, const KernelHeader& kernel, BlockNeed need);

}  // namespace orrery::gpusim
