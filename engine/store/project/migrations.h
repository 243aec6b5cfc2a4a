#pragma once

// Older project files, brought up to date one version at a time before they are read. A migration edits the YAML tree
// and says in words what it changed, so that a person opening an old file knows what saving will do to it.
//
// To add one: raise projectVersion, write a function here from the old version to the next, add it to the list in
// migrations.cpp, and keep a file of the old version in tests/data/projects.

#include "store/project/yaml_reader.h"

namespace orrery::store {

/// Brings a document of version `from` to projectVersion; adds one note per change to the context. Fails if the old
/// document is itself malformed.
Expected<void> migrateProject(YamlNode& root, int from, YamlContext& context);

}  // namespace orrery::store
