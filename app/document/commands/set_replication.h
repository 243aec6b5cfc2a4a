#pragma once

#include "app/document/commands/edit.h"

#include <vector>

namespace orrery::app {

/// What counting a component means, for the history: `132`, `12×11`, `4 × 14×12`. The mesh of an array is no part of it.
QString copiesPrinted(const Component& component);
/// Number of identical copies, at least 1; takes a grid of copies away.
Expected<Edit> setCountEdit(const ProjectState& state, int hardware, const ComponentPath& path, qint64 count);
/// Replication as a grid; empty for none.
Expected<Edit> setMeshEdit(const ProjectState& state, int hardware, const ComponentPath& path,
                           const std::vector<std::int64_t>& mesh);

}  // namespace orrery::app
