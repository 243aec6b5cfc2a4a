#include "app/window/actions.h"
#include "app/window/hardware/canvas_pane.h"
#include "app/window/hardware/hardware_page.h"
#include "app/window/main_window.h"
#include "widgets/canvas/canvas_view.h"
#include "widgets/library/component_palette_items.h"

#include <QActionGroup>
#include <QMenu>

namespace orrery::app {

namespace {

constexpr auto ctrlShift = Qt::CTRL | Qt::SHIFT;
constexpr auto ctrlAlt = Qt::CTRL | Qt::ALT;

}  // namespace

// The canvas's commands belong to the hardware page: elsewhere the same keys mean what they mean there.
void MainWindow::buildCanvasActions() {
    Actions& a = *actions_;
    const auto canvas = [this] { return hardwarePage_->activeCanvas(); };
    // Plain letters would take type-ahead search from the tree beside the canvas.
    const auto within = [this](const QKeySequence& key) {
        const bool letter =
            !key.isEmpty() && key[0].keyboardModifiers() == Qt::NoModifier && key[0].key() < Qt::Key_Escape;
        return letter ? hardwarePage_->canvasArea() : static_cast<QWidget*>(hardwarePage_);
    };
    const auto act = [&](const QString& id, const QString& group, const QString& text, const QString& meaning,
                         const QString& icon, const QKeySequence& key, std::function<void(ui::CanvasView&)> run) {
        return a.add({id, group, text, meaning, icon, key, within(key)}, [canvas, run] { run(*canvas()); });
    };
    const QString edit = tr("Edit"), arrange = tr("Arrange"), look = tr("View"), tool = tr("Tools");
    using View = ui::CanvasView;
    const QStringList needSelection = {"editCut",          "editCopy",       "editDuplicate", "editDelete",
                                       "editRename",       "editGroup",      "editUngroup",   "canvasFitSelection",
                                       "arrangeFold",      "arrangeOpen",    "alignLeft",     "alignCentre",
                                       "alignRight",       "alignTop",       "alignMiddle",   "alignBottom",
                                       "distributeAcross", "distributeDown", "canvasEnter",   "canvasOperators"};
    act("editCut", edit, tr("Cu&t"), tr("Move the selected components to the clipboard"), "edit-cut", QKeySequence::Cut,
        [](View& v) { v.cutSelected(); });
    act("editCopy", edit, tr("&Copy"), tr("Copy the selected components as YAML text"), "edit-copy", QKeySequence::Copy,
        [](View& v) { v.copySelected(); });
    act("editPaste", edit, tr("&Paste"), tr("Paste components, or YAML of components"), "edit-paste",
        QKeySequence::Paste, [](View& v) { v.paste(); });
    act("editDuplicate", edit, tr("&Duplicate"), tr("Copy the selected components beside themselves"), "edit-duplicate",
        QKeySequence(Qt::CTRL | Qt::Key_D), [](View& v) { v.duplicateSelected(); });
    act("editDelete", edit, tr("D&elete"), tr("Remove the selected components and the links at them"), "edit-delete",
        QKeySequence(Qt::Key_Delete), [](View& v) { v.removeSelected(); });
    act("editRename", edit, tr("Re&name"), tr("Type another name for the selected component"), "edit-rename",
        QKeySequence(Qt::Key_F2), [](View& v) { v.renameCurrent(); });
    act("editSelectAll", edit, tr("Select &all"), tr("Select everything beside the selected component"),
        "edit-select-all", QKeySequence::SelectAll, [](View& v) { v.selectAll(); });
    a.add({"editFind", edit, tr("&Find component…"), tr("Find components by name, kind or number"), "edit-find",
           QKeySequence::Find, hardwarePage_},
          [this] {
              documents_->setCurrentWidget(hardwarePage_);
              activePane()->openFind();
          });
    act("editGroup", arrange, tr("&Group"), tr("Put the selected components into a new container"), "object-group",
        QKeySequence(Qt::CTRL | Qt::Key_G), [](View& v) { v.groupSelected(); });
    act("editUngroup", arrange, tr("&Ungroup"), tr("Take the selected container away, leaving its contents"),
        "object-ungroup", QKeySequence(ctrlShift | Qt::Key_G), [](View& v) { v.ungroupSelected(); });
    act("arrangeFold", arrange, tr("&Fold"),
        tr("Hide the contents of the selected components; a network becomes a sketch of its shape"), "zoom-out",
        QKeySequence(Qt::CTRL | Qt::Key_BracketLeft), [](View& v) { v.foldSelected(true); });
    act("arrangeOpen", arrange, tr("&Unfold"),
        tr("Show the contents of the selected components; of a network its real switches and links"), "zoom-in",
        QKeySequence(Qt::CTRL | Qt::Key_BracketRight), [](View& v) { v.foldSelected(false); });
    const auto align = [&](const QString& id, const QString& text, const QString& meaning, const QString& icon, int key,
                           View::Alignment how) {
        act(id, arrange, text, meaning, icon, QKeySequence(ctrlAlt | key), [how](View& v) { v.alignSelected(how); });
    };
    align("alignLeft", tr("Align &left"), tr("Move to the leftmost edge"), "align-horizontal-left", Qt::Key_Left,
          View::Alignment::Left);
    align("alignCentre", tr("Align &centres"), tr("Centre across"), "align-horizontal-center", Qt::Key_C,
          View::Alignment::Centre);
    align("alignRight", tr("Align &right"), tr("Move to the rightmost edge"), "align-horizontal-right", Qt::Key_Right,
          View::Alignment::Right);
    align("alignTop", tr("Align &top"), tr("Move to the highest edge"), "align-vertical-top", Qt::Key_Up,
          View::Alignment::Top);
    align("alignMiddle", tr("Align &middles"), tr("Centre up and down"), "align-vertical-center", Qt::Key_M,
          View::Alignment::Middle);
    align("alignBottom", tr("Align &bottom"), tr("Move to the lowest edge"), "align-vertical-bottom", Qt::Key_Down,
          View::Alignment::Bottom);
    act("distributeAcross", arrange, tr("Distribute &across"), tr("Equal gaps from left to right"),
        "distribute-horizontal-x", QKeySequence(ctrlAlt | Qt::Key_H),
        [](View& v) { v.distributeSelected(Qt::Horizontal); });
    act("distributeDown", arrange, tr("Distribute &down"), tr("Equal gaps from top to bottom"), "distribute-vertical-y",
        QKeySequence(ctrlAlt | Qt::Key_V), [](View& v) { v.distributeSelected(Qt::Vertical); });
    a.add({"arrangeAuto", arrange, tr("Arrange automaticall&y"),
           tr("Lay out what is inside the selected component, or in view, by its links"), "distribute-graph",
           QKeySequence(ctrlShift | Qt::Key_A), hardwarePage_},
          [this] { arrangeByGraphviz(); });
    act("arrangeForget", arrange, tr("For&get placements"),
        tr("Let the drawing lay out what is inside the selected component, or in view, by itself"), "edit-clear-all",
        {}, [](View& v) { v.arrangeAutomatically(); });

    auto* tools = new QActionGroup(this);
    const auto toolAction = [&](const QString& id, const QString& text, const QString& meaning, const QString& icon,
                                int key, View::Tool which) {
        QAction* action = act(id, tool, text, meaning, icon, QKeySequence(key), [which](View& v) { v.setTool(which); });
        action->setCheckable(true);
        action->setData(static_cast<int>(which));
        tools->addAction(action);
    };
    toolAction("toolSelect", tr("&Select and move"), tr("Select, move and resize components"), "edit-select", Qt::Key_V,
               View::Tool::Select);
    toolAction("toolLink", tr("&Link"), tr("Drag from one component to another to link them"), "draw-connector",
               Qt::Key_L, View::Tool::Link);
    toolAction("toolPan", tr("&Pan"), tr("Drag the drawing; holding Space does it in every tool"), "transform-browse",
               Qt::Key_H, View::Tool::Pan);
    toolAction("toolMeasure", tr("&Measure"), tr("Drag to see the distance and what lies between"), "measure",
               Qt::Key_M, View::Tool::Measure);
    a.find(QStringLiteral("toolSelect"))->setChecked(true);

    act("canvasFit", look, tr("Fit &all"), tr("Show the whole drawing"), "zoom-fit-best", QKeySequence(Qt::Key_F),
        [](View& v) { v.fitAll(); });
    act("canvasFitSelection", look, tr("Fit &selection"), tr("Show the selected components large"),
        "zoom-fit-selection", QKeySequence(Qt::SHIFT | Qt::Key_F), [](View& v) { v.fitSelection(); });
    const auto zoomBy = [](View& v, double factor) { v.setZoom(v.zoom() * factor, QPointF(v.rect().center())); };
    QAction* in = act("canvasZoomIn", look, tr("Zoom &in"), tr("Draw larger; Ctrl and the wheel do it at the cursor"),
                      "zoom-in", QKeySequence::ZoomIn, [zoomBy](View& v) { zoomBy(v, 1.25); });
    in->setShortcuts({QKeySequence(Qt::CTRL | Qt::Key_Plus), QKeySequence(Qt::CTRL | Qt::Key_Equal)});
    act("canvasZoomOut", look, tr("Zoom &out"), tr("Draw smaller"), "zoom-out", QKeySequence(Qt::CTRL | Qt::Key_Minus),
        [zoomBy](View& v) { zoomBy(v, 0.8); });
    act("canvasZoomOne", look, tr("&100 %"), tr("Draw at full size"), "zoom-original",
        QKeySequence(Qt::CTRL | Qt::Key_1), [](View& v) { v.setZoom(1, QPointF(v.rect().center())); });
    act("canvasEnter", look, tr("&Enter component"), tr("Show the inside of the selected component alone"), "go-down",
        QKeySequence(Qt::CTRL | Qt::Key_Return), [this](View& v) { v.enter(components_.current()); });
    act("canvasLeave", look, tr("&Leave component"), tr("Go back one level out"), "go-up",
        QKeySequence(Qt::CTRL | Qt::Key_Backspace), [](View& v) { v.leave(); });
    const auto toggle = [&](const QString& id, const QString& text, const QString& meaning, const QString& icon,
                            const QKeySequence& key, bool on, std::function<void(bool)> run) {
        a.addToggle({id, look, text, meaning, icon, key, within(key)}, on, std::move(run));
    };
    toggle("canvasGrid", tr("&Grid"), tr("Show the grid"), "view-grid", QKeySequence(Qt::Key_G),
           hardwarePage_->canvas()->showsGrid(),
           [this](bool on) { forCanvases([on](View& v) { v.setShowsGrid(on); }); });
    toggle("canvasSnap", tr("S&nap"), tr("Snap to the grid and to neighbours; Shift suspends it"), "snap",
           QKeySequence(Qt::Key_S), hardwarePage_->canvas()->snaps(),
           [this](bool on) { forCanvases([on](View& v) { v.setSnaps(on); }); });
    toggle("canvasMap", tr("&Map"), tr("Show a map of the drawing in the corner"), "map-flat", QKeySequence(Qt::Key_N),
           true, [this](bool on) { hardwarePage_->pane()->setMapShown(on); });
    toggle("canvasTree", tr("Component &tree"), tr("Show the tree of the design's components at the left"),
           "view-list-tree", QKeySequence(Qt::Key_T), true, [this](bool on) { hardwarePage_->setTreeShown(on); });
    a.add({"canvasOperators", look, tr("Select what it li&mits"),
           tr("Select the operators that the selected component limits, in every view"), "select-rectangular",
           QKeySequence(Qt::Key_O), hardwarePage_->canvasArea()},
          [this] { selectLimited(components_.current()); });

    const auto enable = [this, needSelection] {
        for (const QString& id : needSelection) actions_->find(id)->setEnabled(!components_.paths().empty());
    };
    connect(&components_, &ui::ComponentSelection::changed, this, enable);
    enable();
    buildInsertActions();
    buildDesignActions();
    hardwarePage_->setActions(a);
}

void MainWindow::buildInsertActions() {
    for (const ui::PaletteItem& item : ui::componentPaletteItems()) {
        QAction* action = actions_->add({QStringLiteral("insert.") + item.id,
                                         tr("Insert"),
                                         item.name,
                                         tr("Insert into the selected component: %1").arg(item.meaning),
                                         {},
                                         {}},
                                        [this, component = item.component] { insertComponent(component); });
        action->setData(item.group);
    }
}

void MainWindow::fillInsertMenu(QMenu* menu) {
    menu->setToolTipsVisible(true);
    QString group;
    QMenu* under = nullptr;
    for (QAction* action : actions_->list()) {
        if (!action->objectName().startsWith(QLatin1String("insert."))) continue;
        if (action->data().toString() != group) {
            group = action->data().toString();
            under = menu->addMenu(group);
            under->setToolTipsVisible(true);
        }
        under->addAction(action);
    }
}

void MainWindow::forCanvases(const std::function<void(ui::CanvasView&)>& run) {
    run(*hardwarePage_->canvas());
    if (CanvasPane* second = hardwarePage_->secondPane()) run(*second->view());
}

CanvasPane* MainWindow::activePane() const {
    CanvasPane* second = hardwarePage_->secondPane();
    return second && second->view() == hardwarePage_->activeCanvas() ? second : hardwarePage_->pane();
}

}  // namespace orrery::app
