#pragma once

namespace orrery::ui {

/// Where an edit stands. A drag is Begin (carrying the value before), Drag…, Commit: one undo entry. Text that was
/// typed, a step by key, a choice: Commit alone.
enum class EditPhase { Begin, Drag, Commit };

}  // namespace orrery::ui
