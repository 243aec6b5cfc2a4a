#pragma once

// What became of a fit, in words.

#include "evaluation/calibrate.h"

#include <QString>

namespace orrery::app {

/// How many rows were used, and what of each family was kept: a fit that helps no row left out leaves all as it was.
QString fitText(const CalibrateResult& result);

}  // namespace orrery::app
