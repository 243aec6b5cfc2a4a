#pragma once

// What a person may type as the name, the count and the mesh of a component.

#include "base/diagnostic.h"

#include <QString>

#include <optional>

namespace orrery::ui {

std::optional<Diagnostic> checkName(const QString& text);  ///< no `/` and no `.`, which separate names in paths
/// A count, or rows × columns.
std::optional<Diagnostic> checkCopies(const QString& text);
std::optional<Diagnostic> checkCount(const QString& text);  ///< 1 to 1,000,000,000
std::optional<Diagnostic> checkMesh(const QString& text);   ///< `14×12`, `14 x 12`, `14, 12`

}  // namespace orrery::ui
