#pragma once

// The designs of the project: new ones, copies to change, names, files of one design.

#include <QObject>
#include <QString>

class QMenu;

namespace orrery::app {

class HardwarePage;
class Studio;

class DesignDesk : public QObject {
    Q_OBJECT
public:
    DesignDesk(Studio& studio, HardwarePage& page);
    void addActions();

    /// An empty project with an empty design, opened on the canvas (after asking about the open one).
    void drawYourOwn();
    void derivePreset(const QString& id);  ///< the preset into the project, and a copy of it to change
    void fillPresetMenu(QMenu* menu);

private:
    void addEmpty();
    void derive(bool compare);
    void show(int index);
    void rename(int index);
    void begin();
    void exportDrawing();
    void exportDesign();

    Studio& studio_;
    HardwarePage& page_;
};

}  // namespace orrery::app
