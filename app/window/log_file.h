#pragma once

// What the log panel says, kept over sessions for reports of bugs: orrery.log in the state folder.

#include "base/diagnostic.h"

#include <QByteArray>
#include <QString>

namespace orrery::app {

QString logFile();
/// One line with its time. A file beyond 512 KiB loses its older half. What cannot be written is not said: the log is
/// no reason to disturb.
void appendToLogFile(Severity severity, const QString& text);
QByteArray readLogFile();  ///< empty where there is none

}  // namespace orrery::app
