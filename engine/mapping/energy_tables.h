#pragma once

// Energy per action where no table is given: what one access of a memory or one operation costs. Every number has its
// source; none is fitted. Published ones stand in presets/technology/silicon.yaml.

#include "base/diagnostic.h"
#include "mapping/storage.h"

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

/// Published energies at 45 nm put on every level and the arithmetic, scaled to another technology: memories by
/// capacity (a power law between entries, registers below), integer multiply-adds by width, DRAM as LPDDR4 whatever the
/// technology. Fails with `energy.technology` outside the scaling's range, and where the table is absent or incomplete.
Expected<void> applyTechnologyEnergies(NestHardware& hardware, double nanometres);

/// Supply at which technologies are compared where none is said.
inline constexpr double scalingSupply = 0.8;  ///< volts
/// Dynamic energy of the same circuit in another technology at one supply: the polynomials of Stillmaker and Baas
/// (Integration 58, 2017, table of energy coefficients), straight lines between their nodes. Fails with
/// `energy.technology` outside 7 … 130 nm.
Expected<double> technologyEnergyFactor(double fromNanometres, double toNanometres, double volts = scalingSupply);

}  // namespace orrery
