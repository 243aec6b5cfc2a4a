#pragma once

#include "app/document/commands/edit.h"

#include <vector>

namespace orrery::app {

/// Number of identical copies, at least 1.
Expected<Edit> setCountEdit(const ProjectState& state, int hardware, const ComponentPath& path, qint64 count);
/// Replication as a grid; empty for none.
Expected<Edit> setMeshEdit(const ProjectState& state, int hardware, const ComponentPath& path,
                           const std::vector<std::int64_t>& mesh);

}  // namespace orrery::app
