#pragma once

// What whoever mends a bug wants to see, as one file: `orrery --bug-report FILE`, and Help ▸ Bug report.

#include "base/diagnostic.h"

#include <QString>
#include <QStringList>

#include <optional>
#include <string>

namespace orrery::app {

class Studio;

/// What a person allows to be sent.
struct BugReportContents {
    std::optional<std::string> project;  ///< the open project as YAML
    QStringList files;                   ///< projects, models, drawings, as they are
};

/// Versions of Orrery, of Qt and the system, of the display and the preferences: no names of files, none of persons.
QString versionsText();
/// Writes versions.txt, orrery.log (the home folder as `~`), README.txt (what is inside, and what is not) and what is
/// allowed as a tar archive packed by gzip. Fails naming the file that cannot be read or written.
Expected<void> writeBugReport(const QString& file, const BugReportContents& allowed);
/// Asks where, and whether with the open project.
void saveBugReport(Studio& studio);

}  // namespace orrery::app
