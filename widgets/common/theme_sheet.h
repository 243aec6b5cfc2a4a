#pragma once

#include <QString>

namespace orrery::ui {

class Theme;
/// The application's style sheet for the theme's mode and size: flat, dense, on an 8-pixel grid. Check marks, arrows,
/// combo and spin boxes are painted by ThemeStyle, since a sheet could only take them from image files.
QString styleSheet(const Theme& theme);

}  // namespace orrery::ui
