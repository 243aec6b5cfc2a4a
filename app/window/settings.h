#pragma once

// Where preferences and working files live: under $ORRERY_CONFIG_HOME if it is set (tests, portable installs), else in
// the places of the platform.

#include <QSettings>
#include <QString>
#include <QStringList>

#include <memory>

namespace orrery::app {

std::unique_ptr<QSettings> openSettings();
QString stateFolder();  ///< autosaves and the runs of projects without a file
QString autosaveFolder();

struct Preferences {
    bool dark = false;
    bool animated = true;
    bool autosave = true;  ///< unsaved work is kept for after a crash
    int threads = 0;       ///< of runs; 0: one per core
    QString pictureSize;   ///< of exported plots, as `1600x1000`; empty: as on the screen
    bool onPaper = true;   ///< pictures are written in the light colours, whatever the screen has
};
Preferences readPreferences();
void writePreferences(const Preferences& preferences);

QStringList recentFiles();
void addRecentFile(const QString& file);
void clearRecentFiles();

}  // namespace orrery::app
