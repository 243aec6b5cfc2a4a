#pragma once

#include "app/document/document.h"
#include "widgets/canvas/component_selection.h"

#include <QTimer>
#include <QWidget>

class QSplitter;

namespace orrery::ui {
class CanvasView;
class ComponentTreeView;
class DifferenceList;
}  // namespace orrery::ui

namespace orrery::app {

class Actions;
class CanvasPane;
class DesignBar;
class DocumentCanvasEditor;

/// The hardware document: the designs as tabs; the component tree beside the canvas; at the right another design, if
/// two are compared. One selection for all of them.
class HardwarePage : public QWidget {
    Q_OBJECT
public:
    HardwarePage(Document& document, ui::ComponentSelection* selection, QWidget* parent = nullptr);
    ~HardwarePage() override;
    void setActions(Actions& actions);

    ui::ComponentTreeView* tree() const { return tree_; }
    CanvasPane* pane() const { return pane_; }
    CanvasPane* secondPane() const { return second_; }  ///< null until two were compared
    ui::CanvasView* canvas() const;                     ///< of the current design
    ui::CanvasView* activeCanvas() const;               ///< the one that was clicked last
    QWidget* canvasArea() const;                        ///< around both canvases
    DesignBar* designs() const { return bar_; }
    ui::DifferenceList* differenceList() const { return differences_; }
    bool isTreeShown() const;
    void setTreeShown(bool shown);
    /// Shows design `index` at the right, with what differs; -1: none.
    void compareWith(int index);
    int compared() const;

signals:
    void canvasMade(orrery::ui::CanvasView* canvas);  ///< the second one, to be wired
    void activeCanvasChanged();

private:
    void follow(bool fit);
    void makeSecond();
    void followSecond(bool fit);
    void link(ui::CanvasView* moved, ui::CanvasView* other);
    void selectInBoth(bool fromSecond);

    Document& document_;
    ui::ComponentSelection* selection_;
    ui::ComponentSelection* secondSelection_ = nullptr;
    DesignBar* bar_;
    QSplitter *split_, *canvases_;
    ui::ComponentTreeView* tree_;
    CanvasPane* pane_;
    CanvasPane* second_ = nullptr;
    ui::DifferenceList* differences_;
    std::unique_ptr<DocumentCanvasEditor> editor_, secondEditor_;
    Actions* actions_ = nullptr;
    std::string shown_, secondShown_;  ///< names of the designs shown
    bool secondActive_ = false, linking_ = false;
};

}  // namespace orrery::app
