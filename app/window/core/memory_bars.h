#pragma once

// What the memory's tab shows below its picture, as bars: what held the data bus, what no order beats, energy.

#include "app/window/core/memory_run.h"
#include "widgets/plots/bar_list.h"

namespace orrery::app {

/// Shares of the run; the largest that is no transfer is marked.
std::vector<ui::Bar> bindingBars(const MemoryAnswer& answer);
/// Of the run's cycles the four largest, without those below 1 %; the largest is marked.
std::vector<ui::Bar> boundBars(const MemoryAnswer& answer);
/// Shares of the energy; nothing without one.
std::vector<ui::Bar> energyBars(const MemoryAnswer& answer);
QString energyTitle(const MemoryAnswer& answer);

}  // namespace orrery::app
