#pragma once

// What a person does on the canvases and in the tree beside them, as edits of the document.

#include "app/window/hardware/auto_arrange.h"
#include "hardware/edit/tree_edit.h"

#include <QObject>

#include <memory>
#include <optional>

class QMenu;

namespace orrery::app {

class DocumentCanvasEditor;
class HardwarePage;
class Studio;

class CanvasDesk : public QObject {
    Q_OBJECT
public:
    CanvasDesk(Studio& studio, HardwarePage& page);
    ~CanvasDesk() override;
    void wire(ui::CanvasView* canvas);

    /// Into the selected component, or the nearest around it that may hold it.
    void insert(Component component);
    void startPlacing(const Component& component);
    /// A device of the catalogue into `parent` or the nearest around it that may hold all of it; at `where` of the
    /// canvas, or where there is room.
    void addDevice(ui::CanvasView& canvas, const QString& id, const ComponentPath& parent,
                   std::optional<QPointF> where);
    void arrange();  ///< by Graphviz: what is inside the selected component, or in view

private:
    void wireTree();
    void fillMenu(QMenu* menu);
    void showTool();
    int childrenOf(const ComponentPath& parent) const;
    void moveInTree(const ComponentPaths& paths, bool down);
    bool selectMade(Expected<ComponentPaths> made);

    Studio& studio_;
    HardwarePage& page_;
    std::unique_ptr<DocumentCanvasEditor> editor_;  ///< of the current design
    AutoArrange arranger_;                          ///< after the editor, which it uses
};

}  // namespace orrery::app
