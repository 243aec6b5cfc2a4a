#include "simulation/gpu/occupancy_curve.h"

#include <algorithm>

namespace orrery::gpusim {

int needOf(const KernelHeader& kernel, BlockNeed need) {
    switch (need) {
        case BlockNeed::Registers:
            return kernel.registers;
        case BlockNeed::SharedMemory:
            return kernel.sharedBytes;
        case BlockNeed::Threads:
            return kernel.threads();
    }
    return 0;
}

void setNeed(KernelHeader& kernel, BlockNeed need, int value) {
    switch (need) {
        case BlockNeed::Registers:
            kernel.registers = value;
            break;
        case BlockNeed::SharedMemory:
            kernel.sharedBytes = value;
            break;
        case BlockNeed::Threads:
            kernel.block = {value, 1, 1};
            break;
    }
}

int mostOf(const Machine& machine, BlockNeed need) {
    switch (need) {
        case BlockNeed::Registers:
            return 255;
        case BlockNeed::SharedMemory:
            return machine.sharedBytes;
        case BlockNeed::Threads:
            return std::min(1024, machine.maxThreads);
    }
    return 1;
}

std::vector<OccupancyPoint> occupancyCurve(const Machine& machine, const KernelHeader& kernel, BlockNeed need) {
    const int step = need == BlockNeed::SharedMemory ? 512 : need == BlockNeed::Threads ? machine.lanes : 1;
    const int first = need == BlockNeed::SharedMemory ? 0 : need == BlockNeed::Threads ? machine.lanes : 16;
    std::vector<OccupancyPoint> out;
    for (int value = first; value <= mostOf(machine, need); value += step) {
        KernelHeader other = kernel;
        setNeed(other, need, value);
        const int blocks = occupancy(machine, other).fits;
        out.push_back({value, blocks * other.warps(), blocks});
    }
    return out;
}

}  // namespace orrery::gpusim
