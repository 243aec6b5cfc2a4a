#pragma once

class QMainWindow;

namespace orrery::app {

class Studio;

/// The menu bar: the window's own menus, with what pages put into them or beside them.
void buildMenus(QMainWindow& window, Studio& studio);

}  // namespace orrery::app
