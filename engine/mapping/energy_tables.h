#pragma once

// Energy per action where no table is given: what one access of a memory or one operation costs. Every number has its
// source; none is fitted.

#include "base/diagnostic.h"
#include "mapping/storage.h"

#include <span>
#include <string_view>

namespace orrery {

/// The ratio model of Timeloop's public technology model, normalised to Eyeriss (Chen et al., ISCA 2016): a 16 bit
/// operation and a 0.5 KB register file 1, a 100 KB buffer 6, DRAM 200. One unit is taken as 1 pJ. In joules.
double ratioSramEnergy(double rows, double rowBits);  ///< of one row
double ratioDramEnergy(double bits);
double ratioMacEnergy(double bits);
/// Fills the energies of every level and of the arithmetic by it.
void applyRatioEnergies(NestHardware& hardware);
/// Of one level only: reads, fills and updates cost the same; gated and skipped ones nothing.
ActionEnergies ratioEnergies(const NestLevel& level);

/// One published number: joules of one access or operation of `bits` bits; for memories of `capacityBytes`.
struct EnergyEntry {
    std::string_view component;  ///< `int-add`, `int-multiply`, `fp-add`, `fp-multiply`, `sram`, `dram`, `register`
    double technology = 0;       ///< nanometres
    double bits = 0;
    double capacityBytes = 0;  ///< 0 where it does not apply
    double energy = 0;         ///< joules
    std::string_view source;
};

std::span<const EnergyEntry> energyEntries();

/// Published energies of one technology put on every level and the arithmetic: memories by capacity between entries
/// (as a power law), operations by width. Known are 45 nm and 40 nm; another is scaled from the nearest of them.
/// Fails with `energy.technology` outside the scaling's range.
Expected<void> applyTechnologyEnergies(NestHardware& hardware, double nanometres);

/// Dynamic energy of the same circuit in another technology, at nominal supplies (Stillmaker and Baas, Integration
/// 2017). Fails with `energy.technology` outside 7 … 180 nm.
Expected<double> technologyEnergyFactor(double fromNanometres, double toNanometres);

}  // namespace orrery
