#pragma once

#include "app/window/dock_set.h"

#include <QSize>
#include <QString>
#include <QStringList>

#include <optional>

namespace orrery::app {

/// What `orrery` was asked to do.
struct CommandLine {
    QStringList files;
    QString example;       ///< id
    QString reportFolder;  ///< write the report and exit
    QString screenshot;    ///< write a picture of the window and exit
    QString paperFolder;   ///< write its figures and report as PDF and exit
    std::optional<Layout> layout;
    std::optional<bool> dark;
    QSize size;  ///< of the window; invalid: as left
    bool startupReport = false;
    QString bugReport;  ///< write log and versions to this file and exit; `files` are then what may be inside
    bool headless() const { return !reportFolder.isEmpty() || !screenshot.isEmpty() || startupReport; }
};

/// `text` is what to print, with `status` the exit code, if the program should end now: help, version, or a mistake.
struct ParsedCommandLine {
    CommandLine line;
    std::optional<int> status;
    QString text;
};
ParsedCommandLine parseCommandLine(const QStringList& arguments);

}  // namespace orrery::app
