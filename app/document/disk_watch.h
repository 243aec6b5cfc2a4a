#pragma once

#include <QFileSystemWatcher>
#include <QObject>
#include <QTimer>

namespace orrery::app {

class Document;

/// Notices when another program changes or removes the open project's file. Our own saves go unnoticed, because the
/// text on disk is compared, not its time.
class DiskWatch : public QObject {
    Q_OBJECT
public:
    explicit DiskWatch(Document& document, QObject* parent = nullptr);

signals:
    void changedOnDisk(const QString& file);
    void removedFromDisk(const QString& file);

private:
    void watch();
    void check();

    Document& document_;
    QFileSystemWatcher watcher_;
    QTimer settle_;  ///< editors write in several steps
};

}  // namespace orrery::app
