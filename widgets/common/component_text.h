#pragma once

// What one says about a component in a few words: on the drawing, in the tree, in the status line.

#include "hardware/component.h"

#include <QStringList>

namespace orrery::ui {

/// `80 GB`, `3.35 TB/s`, `bf16 512/cycle`: the numbers of a component, most telling first, with their units.
QStringList numbersOf(const Component& component);
/// The first three of them: `80 GB · 3.35 TB/s`.
QString keyNumbers(const Component& component);
/// `×132`, `14 × 12`, `14 × 12 ×4`; empty for a single one.
QString copiesText(const Component& component);

}  // namespace orrery::ui
