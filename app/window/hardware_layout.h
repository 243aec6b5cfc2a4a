#pragma once

// Nested boxes of a design, as plain geometry: what the picture paints and picks.

#include "hardware/component.h"

#include <QRectF>

#include <vector>

namespace orrery::app {

struct PlacedComponent {
    ComponentPath path;
    const Component* component = nullptr;  ///< into the design that was laid out
    QRectF box;
    double header = 0;            ///< height of the caption strip
    bool childrenHidden = false;  ///< it has children, but no room to show them
};

/// Parents stand before their children. Boxes of siblings never overlap and lie inside their parent; a component whose
/// box would be smaller than one line of text is left out, and its parent says so.
std::vector<PlacedComponent> layoutHardware(const Component& root, const QRectF& area, double lineHeight);

}  // namespace orrery::app
