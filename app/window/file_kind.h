#pragma once

#include "base/diagnostic.h"

#include <QString>

namespace orrery::app {

enum class FileKind { Project, Hardware, Workload, Serving };

/// What a file is, by its ending and, for YAML, by its `orrery:` line. Fails with a hint for what cannot be opened.
Expected<FileKind> fileKind(const QString& path);
/// Filters of an open dialog: everything, Orrery's own files, and one per importer of models.
QString openFileFilter();

}  // namespace orrery::app
