#pragma once

// `Turn in Explore`: the numbers of a component as knobs of the search, from wherever it is clicked.

#include "hardware/component.h"

#include <memory>

class QMenu;

namespace orrery::app {

class Inspection;

/// Adds a menu of the component's numbers, choices and count to `menu`; nothing where it has none.
void fillTurnMenu(QMenu* menu, Inspection& inspection, const std::shared_ptr<const Hardware>& design,
                  const ComponentPath& path);

}  // namespace orrery::app
