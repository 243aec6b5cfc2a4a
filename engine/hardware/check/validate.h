#pragma once

#include "hardware/component.h"

namespace orrery {

/// Everything that is wrong or odd in a design: impossible nesting, duplicated sibling names, missing capacity or
/// bandwidth, zero or out-of-range numbers, a buffer smaller than a word; links to nowhere, loops and ports used twice,
/// a switch with more links than ports, memories and parts that the links beside them leave out, topologies that fit
/// neither their parameters nor what stands beside them (validate_network.h). Places carry the component path
/// `system/h100/hbm3.bandwidth`. Linear in the tree.
Diagnostics validate(const Hardware& hardware);
/// May `child` be placed in `parent` (canvas, paste, YAML)?
bool mayContain(ComponentKind parent, ComponentKind child);

}  // namespace orrery
