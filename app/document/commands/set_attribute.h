#pragma once

#include "app/document/commands/edit.h"

namespace orrery::app {

/// One attribute from text with its unit; an empty text removes the attribute, so that its default counts again.
/// Table rows are written `macs.bf16`. Fails like orrery::setAttribute, naming what was expected.
Expected<Edit> setAttributeEdit(const ProjectState& state, int hardware, const ComponentPath& path,
                                const QString& attribute, const QString& value);
/// The same of several components in one edit; each must have it. Also takes `count` and `mesh`.
Expected<Edit> setAttributeEdit(const ProjectState& state, int hardware, const ComponentPaths& paths,
                                const QString& attribute, const QString& value);

}  // namespace orrery::app
