#pragma once

// Where the children of one component stand when nobody has placed them, as an architect would draw them: networks
// above what they join, hosts under them, then from the outside in: DRAM, on-chip memories, compute. Each zone is a
// grid of rows, and parts of very unlike size share none; zones stand side by side or below each other, whichever comes
// nearer to a landscape page. Pure and deterministic.

#include "hardware/component.h"

#include <QPointF>
#include <QSizeF>

#include <span>
#include <utility>
#include <vector>

namespace orrery::ui {

struct LayoutItem {
    ComponentKind kind = ComponentKind::System;
    QSizeF size;  ///< empty: is not placed (links)
};

/// Top left of each item, all ≥ 0, on the grid. `links` are pairs of items; linked ones are brought near each other
/// in families of up to 64. O(n) for larger families. No two items overlap or touch; those whose sizes are empty stand
/// at 0, 0.
std::vector<QPointF> arrange(std::span<const LayoutItem> items, std::span<const std::pair<int, int>> links = {},
                             double aspect = 1.6);

/// Room between siblings; wider where links run between them.
inline constexpr double siblingGap = 16;
inline constexpr double linkGap = 32;
/// Between links that share a corridor; a corridor between columns has room for those that must pass it.
inline constexpr double lineGap = 8;

}  // namespace orrery::ui
