#pragma once

// How states of warps look and read, the same in every view.

#include "simulation/gpu/recorder.h"

#include <QColor>
#include <QString>

namespace orrery::ui {

QColor warpColour(gpusim::WarpState state);
QString warpText(gpusim::WarpState state);     ///< `memory`
QString warpMeaning(gpusim::WarpState state);  ///< a sentence
QString unitText(gpusim::Unit unit);           ///< `tensor`

}  // namespace orrery::ui
