#pragma once

#include <QString>

#include <functional>

namespace orrery::app {

/// Writes what a tab shows to a file; what went wrong, empty if nothing.
using WriteFigure = std::function<QString(const QString& file)>;

}  // namespace orrery::app
