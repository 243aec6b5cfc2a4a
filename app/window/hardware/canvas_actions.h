#pragma once

// The commands of drawing: editing, arranging, tools, zoom, parts to insert.

class QMenu;

namespace orrery::app {

class Actions;
class CanvasDesk;
class HardwarePage;
class Studio;

void addCanvasActions(Studio& studio, HardwarePage& page, CanvasDesk& desk);
void addInsertActions(Studio& studio, CanvasDesk& desk);
/// The parts by their groups, a submenu each.
void fillInsertMenu(const Actions& actions, QMenu* menu);

}  // namespace orrery::app
