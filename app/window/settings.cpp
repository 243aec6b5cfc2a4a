#include "app/window/settings.h"

#include <QDir>
#include <QFileInfo>
#include <QStandardPaths>

namespace orrery::app {

namespace {

constexpr int recentLimit = 12;

QString configHome() {
    return qEnvironmentVariable("ORRERY_CONFIG_HOME");
}

}  // namespace

std::unique_ptr<QSettings> openSettings() {
    if (const QString home = configHome(); !home.isEmpty()) {
        return std::make_unique<QSettings>(home + QStringLiteral("/orrery.ini"), QSettings::IniFormat);
    }
    return std::make_unique<QSettings>(QSettings::IniFormat, QSettings::UserScope, QStringLiteral("orrery"),
                                       QStringLiteral("orrery"));
}

QString stateFolder() {
    if (const QString home = configHome(); !home.isEmpty()) return home;
    return QStandardPaths::writableLocation(QStandardPaths::GenericDataLocation) + QStringLiteral("/orrery");
}

QString autosaveFolder() {
    return stateFolder() + QStringLiteral("/autosave");
}

Preferences readPreferences() {
    const auto settings = openSettings();
    Preferences preferences;
    preferences.dark = settings->value("look/dark", preferences.dark).toBool();
    preferences.animated = settings->value("look/animated", preferences.animated).toBool();
    preferences.autosave = settings->value("autosave/seconds", 1).toInt() != 0;
    preferences.threads = settings->value("run/threads", preferences.threads).toInt();
    preferences.pictureSize = settings->value("export/size").toString();
    preferences.onPaper = settings->value("export/paper", preferences.onPaper).toBool();
    return preferences;
}

void writePreferences(const Preferences& preferences) {
    const auto settings = openSettings();
    settings->setValue("look/dark", preferences.dark);
    settings->setValue("look/animated", preferences.animated);
    settings->setValue("autosave/seconds", preferences.autosave ? 1 : 0);
    settings->setValue("run/threads", preferences.threads);
    settings->setValue("export/size", preferences.pictureSize);
    settings->setValue("export/paper", preferences.onPaper);
}

QStringList recentFiles() {
    return openSettings()->value("recent/files").toStringList();
}

void addRecentFile(const QString& file) {
    QStringList files = recentFiles();
    const QString absolute = QFileInfo(file).absoluteFilePath();
    files.removeAll(absolute);
    files.prepend(absolute);
    openSettings()->setValue("recent/files", files.mid(0, recentLimit));
}

void clearRecentFiles() {
    openSettings()->remove("recent/files");
}

}  // namespace orrery::app
