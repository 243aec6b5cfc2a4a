#pragma once

// Who comes first where all cores are busy: the window. Threads that a thread starts are like it, those of the engine's
// pool among them. Whoever chose another scheduling policy for the program keeps it; elsewhere than on Linux nothing
// is done.

namespace orrery::ui {

/// Of the thread of the window: it asks for short turns of a core, which need not wait for the end of longer ones
/// (from Linux 6.12 on; older kernels know no turns and refuse nothing).
void comeFirst();
/// Of a thread that works for the window: it is nicer than whoever started it, and its turns are longer. Once a thread.
void giveWay();

}  // namespace orrery::ui
