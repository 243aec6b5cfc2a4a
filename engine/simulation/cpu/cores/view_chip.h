#pragma once

// The cores of a design as a chip: who shares which cache, and whose memory is where.

#include "hardware/views/core_view.h"
#include "simulation/cpu/cores/chip.h"

#include <string>
#include <vector>

namespace orrery::pipeline {

/// As machineOf(), but that where parts of the device have memory of their own the limits are the core's and those of
/// the memories alone: of links only what crosses them knows.
Expected<Machine> machineBesideMemories(const CoreView& view);
/// Of unlike cores those of the view's sort; the others rest. Fails as machineOf(), with the codes of check(Chip), and
/// with `cores.no-link` where parts have memory of their own and nothing with a rate is drawn between them,
/// `cores.unlike-nodes` where such parts differ.
Expected<Chip> chipOf(const CoreView& view, Pages pages = Pages::Local);
/// What the view assumes, but for where pages lie, which the chip says; and who rests.
std::vector<std::string> assumptionsOf(const CoreView& view, const Chip& chip);

}  // namespace orrery::pipeline
