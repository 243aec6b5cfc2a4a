#include "app/document/disk_watch.h"

#include "app/document/document.h"

#include <QFile>

namespace orrery::app {

DiskWatch::DiskWatch(Document& document, QObject* parent) : QObject(parent), document_(document) {
    settle_.setSingleShot(true);
    settle_.setInterval(150);
    connect(&settle_, &QTimer::timeout, this, &DiskWatch::check);
    connect(&watcher_, &QFileSystemWatcher::fileChanged, &settle_, qOverload<>(&QTimer::start));
    connect(&document_, &Document::fileChanged, this, &DiskWatch::watch);
    watch();
}

void DiskWatch::watch() {
    if (const QStringList old = watcher_.files(); !old.isEmpty()) watcher_.removePaths(old);
    if (!document_.file().isEmpty()) watcher_.addPath(document_.file());
}

void DiskWatch::check() {
    const QString path = document_.file();
    if (path.isEmpty()) return;
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly)) {
        if (!QFile::exists(path)) emit removedFromDisk(path);
        return;
    }
    // Renaming over a file ends the watch on it.
    if (watcher_.files().isEmpty()) watcher_.addPath(path);
    if (file.readAll().toStdString() != document_.savedText()) emit changedOnDisk(path);
}

}  // namespace orrery::app
