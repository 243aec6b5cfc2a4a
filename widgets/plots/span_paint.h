#pragma once

// How spans of time look, in every picture of a timeline.

#include "widgets/plots/timeline_model.h"

#include <QColor>

namespace orrery::ui {

/// Of what is no operator of the graph: a SpanWork; anything else is overhead.
QColor workColour(std::int32_t work);
/// Of many short spans drawn as one: the fainter, the less of its time is busy.
QColor pieceFill(const TimelinePiece& piece, QColor colour);

}  // namespace orrery::ui
