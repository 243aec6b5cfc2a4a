#pragma once

// What differs between the design shown and another, as marks on both canvases.

#include "hardware/edit/difference.h"
#include "widgets/canvas/canvas_view.h"

namespace orrery::app {

/// The component of `to` that has the same path of names as `path` in `from`; nothing if there is none.
std::optional<ComponentPath> sameName(const Component& from, const ComponentPath& path, const Component& to);

/// Marks of the first (`before`) or second design: what is only there, and what has other numbers.
std::vector<ui::CanvasView::Mark> marksOf(const Hardware& before, const Hardware& after,
                                          const std::vector<Difference>& differences, bool ofBefore);

}  // namespace orrery::app
