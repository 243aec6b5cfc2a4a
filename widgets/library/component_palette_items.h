#pragma once

// What the palette offers. Parts carry structure only (what stands in what, shapes, counts); no number that would be a
// claim about a product: a new DRAM has no bandwidth until a person gives it one.

#include "hardware/component.h"

#include <QString>

#include <vector>

namespace orrery::ui {

struct PaletteItem {
    QString id;     ///< `dram`, `topology.ring`, `part.nvswitch-node`
    QString group;  ///< `Containers`, `Compute`, `Memory`, `Network`, `Topologies`, `Parts`
    QString name;
    QString meaning;  ///< one line
    QString words;    ///< more to find it by
    QString shape;    ///< of a topology, as the attribute spells it; else empty
    Component component;
};

/// All kinds in their groups, then topologies, then ready parts. An item whose attributes the engine refuses is left
/// out.
std::vector<PaletteItem> componentPaletteItems();

}  // namespace orrery::ui
