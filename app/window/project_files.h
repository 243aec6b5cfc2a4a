#pragma once

// The project as a file: open, save, recover; examples; what other programs do to it on disk.

#include "app/document/autosave.h"
#include "app/document/disk_watch.h"
#include "app/window/welcome/examples.h"
#include "store/project/project.h"

#include <QObject>
#include <QString>

namespace orrery::app {

class Studio;

class ProjectFiles : public QObject {
    Q_OBJECT
public:
    explicit ProjectFiles(Studio& studio);
    void addActions();

    void chooseFile();
    void openProject(const QString& path);
    void openExample(const QString& id);
    /// Puts another project in place of the open one; to be asked maybeSave() before.
    void start(Project project);
    bool maybeSave();  ///< false: the person wants to go on with what is open
    bool save();
    bool saveAs();
    void addRecent(const QString& file);  ///< opened or saved
    void offerRecovery();                 ///< of what crashed studios left behind
    Autosave& autosave() { return autosave_; }

signals:
    void recentChanged();
    void exampleOpened(const orrery::app::Example& example);  ///< its page comes to the front

private:
    void watchDisk();
    void reload();
    void recover(const QString& copy, const QString& original);

    Studio& studio_;
    Autosave autosave_;
    DiskWatch watch_;
};

}  // namespace orrery::app
