#include "mapping/energy_tables.h"

#include <cmath>

namespace orrery {
namespace {

constexpr double unit = 1e-12;
constexpr const char* source = "ratio model of Timeloop's technology tables, normalised to Eyeriss (ISCA 2016)";

}  // namespace

// A line through (0.5 KB, 1) and (100 KB, 6) per 16 bit.
double ratioSramEnergy(double rows, double rowBits) {
    const double kilobytes = rows * rowBits / 8192;
    return (1 + (kilobytes - 0.5) * (5 / 99.5)) * rowBits / 16 * unit;
}

double ratioDramEnergy(double bits) {
    return 200 * bits / 16 * unit;
}

double ratioMacEnergy(double bits) {
    return bits / 16 * (bits / 16) * unit;
}

ActionEnergies ratioEnergies(const NestLevel& level) {
    ActionEnergies energies;
    const double blockBits = static_cast<double>(level.wordBits * level.blockSize);
    double access = 0;
    if (level.dram) {
        access = ratioDramEnergy(blockBits);
    } else if (level.capacityWords > 0 && std::isfinite(level.capacityWords)) {
        const double cluster = static_cast<double>(level.clusterSize);
        const double rows = std::ceil(level.capacityWords / static_cast<double>(level.blockSize));
        access = ratioSramEnergy(rows, blockBits * cluster) / cluster;
    }
    energies.vectorRead = energies.vectorWrite = energies.vectorUpdate = access;
    energies.source = source;
    return energies;
}

void applyRatioEnergies(NestHardware& hardware) {
    for (NestLevel& level : hardware.levels) level.energy = ratioEnergies(level);
    hardware.arithmetic.energy = ratioMacEnergy(static_cast<double>(hardware.arithmetic.wordBits));
}

}  // namespace orrery
