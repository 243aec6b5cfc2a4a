#pragma once

// Room for what is placed: the nearest free place, and the neighbours that a grown container pushes aside.

#include "widgets/canvas/scene.h"

#include <span>
#include <vector>

namespace orrery::ui {

constexpr std::size_t mostForRoom = 20000;  ///< components; in larger designs nothing is pushed aside

/// The top left, nearest to where the box is wanted, at which it keeps `gap` from all `taken`.
QPointF freePlace(const QRectF& wanted, std::span<const QRectF> taken, double gap = gridStep);
/// Boxes of the children of `parent` but those in `without` (and what is inside them).
std::vector<QRectF> standing(const Scene& scene, int parent, const std::vector<int>& without = {});
/// Where each of several new components stands beside the one before, from (0, 0).
std::vector<QRectF> sideBySide(const std::vector<Component>& parts);

/// Places for what `after`'s containers, from `holder` outwards, would come to cover because they have grown: moved
/// right or down, whichever is less, with all that this pushes in turn; and for the siblings of those, which stay.
/// Paths are those of `after`.
std::vector<PlacedAt> pushedAside(const Scene& before, const Scene& after, const ComponentPath& holder);

}  // namespace orrery::ui
