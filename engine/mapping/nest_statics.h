#pragma once

// What a nest's hardware has whatever runs on it: silicon and leakage, as far as its tables tell.

#include "mapping/storage.h"

namespace orrery {

/// mm² of all instances of the parts that state an area; 0 where none does.
inline double statedArea(const NestHardware& hardware) {
    double area = hardware.arithmetic.area * static_cast<double>(hardware.arithmetic.instances);
    for (const NestLevel& level : hardware.levels) area += level.area * static_cast<double>(level.instances);
    return area;
}

/// Joules that all instances leak in so many cycles, as far as the energy table says; 0 where it does not.
inline double leakage(const NestHardware& hardware, double cycles) {
    double perCycle = 0;
    for (const NestLevel& level : hardware.levels)
        perCycle += level.energy.leakPerCycle * static_cast<double>(level.instances);
    return perCycle * cycles;
}

}  // namespace orrery
