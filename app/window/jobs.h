#pragma once

// Runs as jobs: the commands that start and stop them, the dock that shows them, the report of one that is opened.

#include <QObject>
#include <QPointer>

#include <map>

namespace orrery::ui {
class JobsPanel;
}

namespace orrery::app {

class Studio;

class Jobs : public QObject {
    Q_OBJECT
public:
    explicit Jobs(Studio& studio);
    void addActions();
    void addDock();

    /// Writes the report of a run beside its database and shows it; the file, or empty if there is nothing to show.
    QString open(int run);

private:
    Studio& studio_;
    QPointer<ui::JobsPanel> panel_;  ///< null until its dock is seen or a run starts
    std::map<int, int> jobOfRun_, runOfJob_;
};

}  // namespace orrery::app
