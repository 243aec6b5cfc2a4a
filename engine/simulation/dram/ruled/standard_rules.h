#pragma once

// The rules of a built-in standard (`../standard.h`) as a ruled channel reads them, for those who have no configuration
// file. JEDEC's constraints between pairs of commands, without power-down and refresh per bank.

#include "simulation/dram/ruled/dram_rules.h"
#include "simulation/dram/standard.h"

namespace orrery {

/// DDR, GDDR and HBM in whole clocks, each command one cycle of its bus. Fails with `dram.no-rules` for LPDDR, whose
/// two-part activates and data clock need a configuration file.
Expected<DramRules> rulesOf(const DramStandard& standard);

}  // namespace orrery
