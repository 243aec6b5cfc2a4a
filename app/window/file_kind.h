#pragma once

#include "app/window/page.h"

namespace orrery::app {

/// What a file is: for YAML by its `orrery:` line. Fails with a hint for what is not there or cannot be read.
Expected<OpenFile> openFile(const QString& path);
/// Why nothing opens it, when no page accepts it.
Diagnostic notOpened(const OpenFile& file, const std::vector<FileFilter>& filters);
/// Filters of an open dialog: everything, Orrery's own files, and what pages add.
QString openFileFilter(const std::vector<FileFilter>& filters);

}  // namespace orrery::app
