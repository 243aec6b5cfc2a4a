#pragma once

// Sizes that do not depend on fonts, so that a drawing is the same everywhere: text is taken as wide as Inter's
// average.

#include "widgets/common/component_text.h"

#include <QPointF>
#include <QSizeF>

namespace orrery::ui {

/// Of a component without regard to its children: caption, key numbers and the picture of an array or topology.
QSizeF leafSize(const Component& component, bool expanded = false);
/// Caption and copies in one line, where a container's header must have room for them.
double headerWidth(const Component& component);
/// From a container's nominal top left to where its children's placements count from.
QPointF contentInset(const Component& component);
/// The grid of an array with a mesh, from the nominal top left; empty for all others.
QSizeF gridSize(const Component& component);

}  // namespace orrery::ui
