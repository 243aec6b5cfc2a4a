#pragma once

#include "learning/schedules/schedule_nest.h"

#include <QColor>
#include <QString>

namespace orrery::ui {

/// The hue of a mark, in code and picture alike.
QColor markColour(LoopMark mark);
/// Of a legend: `bound to blocks`.
QString markText(LoopMark mark);

}  // namespace orrery::ui
