#pragma once

// What the inspector shows (the selected components, the workload's options or one operator), and its wishes as edits.

#include "hardware/edit/tree_edit.h"
#include "widgets/common/edit_phase.h"

#include <QObject>
#include <QPointer>

#include <memory>
#include <string>

namespace orrery::ui {
class Inspector;
}

namespace orrery::app {

class DocumentCanvasEditor;
class Studio;

class Inspection : public QObject {
    Q_OBJECT
public:
    explicit Inspection(Studio& studio);
    ~Inspection() override;
    void addDock();

    void showComponent(const ComponentPath& path);  ///< selects it
    void showSelected();                            ///< the components that are selected already
    void showWorkload();
    void editAttribute(const QString& id);  ///< of the component shown: the focus goes to its field
    void reveal();                          ///< brings the dock to the front

signals:
    void turnRequested(const orrery::ComponentPath& path, const QString& attribute);  ///< a search is to turn it
    /// The same of anything else that a question has: `batch`, `tp`, `serving.traffic/arrivals/rate`.
    void knobRequested(const QString& path);

private:
    void wire();
    void followDesign();
    void followOperators();
    void refresh();
    void showComponents();
    void editComponents(const ComponentPaths& paths, const QString& attribute, const QString& text,
                        ui::EditPhase phase);
    int gestureOf(ui::EditPhase phase);

    enum class Shown { Nothing, Component, Workload, Operator };

    Studio& studio_;
    std::unique_ptr<DocumentCanvasEditor> editor_;  ///< of the current design
    QPointer<ui::Inspector> inspector_;             ///< null until its dock is seen
    Shown shown_ = Shown::Nothing;
    std::string presetName_;    ///< design whose catalogue entry the inspector compares with
    bool freshDesign_ = false;  ///< another design is shown: its main memory is inspected first
    int gesture_ = 0;
};

}  // namespace orrery::app
