#pragma once

// Snapping for tools: what a box may snap to, and the lines that say so.

#include "widgets/canvas/snap.h"
#include "widgets/canvas/tools/tool.h"

#include <vector>

namespace orrery::ui {

/// Visible children of `parent` except `without`, at most some hundreds, nearest to the view's middle, and the far ends
/// of links of `without`; the grid as the placements of `parent` count.
SnapTargets snapTargets(const ToolContext& context, int parent, const std::vector<int>& without);
void paintGuides(QPainter& painter, const ToolContext& context, const std::vector<SnapGuide>& guides);
QRectF guidesExtent(const ToolContext& context, const std::vector<SnapGuide>& guides);  ///< view
QRectF viewRect(const ToolContext& context, const QRectF& scene);

}  // namespace orrery::ui
