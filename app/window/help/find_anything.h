#pragma once

// What Ctrl+K finds beside commands and what pages add: panels, methods, parameters, the handbook.

#include "widgets/welcome/command_palette.h"

#include <functional>
#include <vector>

namespace orrery::app {

class Studio;

/// `openHandbook`: at a place such as `serving.md#a-file`.
std::vector<ui::PaletteEntry> findables(Studio& studio, std::function<void(const QString&)> openHandbook);

}  // namespace orrery::app
