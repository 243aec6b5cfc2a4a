#include "app/window/hardware/canvas_actions.h"

#include "app/document/commands/layout_edits.h"
#include "app/window/hardware/canvas_desk.h"
#include "app/window/hardware/canvas_pane.h"
#include "app/window/hardware/hardware_page.h"
#include "app/window/hardware/limit_marks.h"
#include "app/window/studio.h"
#include "widgets/canvas/canvas_view.h"
#include "widgets/library/component_palette_items.h"

#include <QActionGroup>
#include <QCoreApplication>
#include <QMenu>

namespace orrery::app {

namespace {

constexpr auto ctrlShift = Qt::CTRL | Qt::SHIFT;
constexpr auto ctrlAlt = Qt::CTRL | Qt::ALT;

QString words(const char* text) {
    return QCoreApplication::translate("CanvasActions", text);
}

void forCanvases(const HardwarePage& page, const std::function<void(ui::CanvasView&)>& run) {
    run(*page.canvas());
    if (CanvasPane* second = page.secondPane()) run(*second->view());
}

}  // namespace

// The canvas's commands belong to the hardware page: elsewhere the same keys mean what they mean there.
void addCanvasActions(Studio& studio, HardwarePage& page, CanvasDesk& desk) {
    Actions& a = studio.actions;
    const auto canvas = [&page] { return page.activeCanvas(); };
    // Plain letters would take type-ahead search from the tree beside the canvas.
    const auto within = [&page](const QKeySequence& key) {
        const bool letter =
            !key.isEmpty() && key[0].keyboardModifiers() == Qt::NoModifier && key[0].key() < Qt::Key_Escape;
        return letter ? page.canvasArea() : static_cast<QWidget*>(&page);
    };
    const auto act = [&](const QString& id, const QString& group, const QString& text, const QString& meaning,
                         const QString& icon, const QKeySequence& key, std::function<void(ui::CanvasView&)> run) {
        return a.add({id, group, text, meaning, icon, key, within(key)}, [canvas, run] { run(*canvas()); });
    };
    const QString edit = words("Edit"), arrange = words("Arrange"), look = words("View"), tool = words("Tools");
    using View = ui::CanvasView;
    const QStringList needSelection = {"editCut",          "editCopy",       "editDuplicate", "editDelete",
                                       "editRename",       "editGroup",      "editUngroup",   "canvasFitSelection",
                                       "arrangeFold",      "arrangeOpen",    "alignLeft",     "alignCentre",
                                       "alignRight",       "alignTop",       "alignMiddle",   "alignBottom",
                                       "distributeAcross", "distributeDown", "canvasEnter",   "canvasOperators"};
    act("editCut", edit, words("Cu&t"), words("Move the selected components to the clipboard"), "edit-cut",
        QKeySequence::Cut, [](View& v) { v.cutSelected(); });
    act("editCopy", edit, words("&Copy"), words("Copy the selected components as YAML text"), "edit-copy",
        QKeySequence::Copy, [](View& v) { v.copySelected(); });
    act("editPaste", edit, words("&Paste"), words("Paste components, or YAML of components"), "edit-paste",
        QKeySequence::Paste, [](View& v) { v.paste(); });
    act("editDuplicate", edit, words("&Duplicate"), words("Copy the selected components beside themselves"),
        "edit-duplicate", QKeySequence(Qt::CTRL | Qt::Key_D), [](View& v) { v.duplicateSelected(); });
    act("editDelete", edit, words("D&elete"), words("Remove the selected components and the links at them"),
        "edit-delete", QKeySequence(Qt::Key_Delete), [](View& v) { v.removeSelected(); });
    act("editRename", edit, words("Re&name"), words("Type another name for the selected component"), "edit-rename",
        QKeySequence(Qt::Key_F2), [](View& v) { v.renameCurrent(); });
    act("editSelectAll", edit, words("Select &all"), words("Select everything beside the selected component"),
        "edit-select-all", QKeySequence::SelectAll, [](View& v) { v.selectAll(); });
    a.add({"editFind", edit, words("&Find component…"), words("Find components by name, kind or number"), "edit-find",
           QKeySequence::Find, &page},
          [&studio, &page] {
              studio.router.show(&page);
              page.activePane()->openFind();
          });
    act("editGroup", arrange, words("&Group"), words("Put the selected components into a new container"),
        "object-group", QKeySequence(Qt::CTRL | Qt::Key_G), [](View& v) { v.groupSelected(); });
    act("editUngroup", arrange, words("&Ungroup"), words("Removes the selected container and keeps its contents"),
        "object-ungroup", QKeySequence(ctrlShift | Qt::Key_G), [](View& v) { v.ungroupSelected(); });
    act("arrangeFold", arrange, words("&Fold"),
        words("Hide the contents of the selected components; a network becomes a sketch of its shape"), "zoom-out",
        QKeySequence(Qt::CTRL | Qt::Key_BracketLeft), [](View& v) { v.foldSelected(true); });
    act("arrangeOpen", arrange, words("&Unfold"),
        words("Show the contents of the selected components; of a network its real switches and links"), "zoom-in",
        QKeySequence(Qt::CTRL | Qt::Key_BracketRight), [](View& v) { v.foldSelected(false); });
    // Not Ctrl+Alt with arrows: with those, window managers change the workspace.
    const auto align = [&](const QString& id, const QString& text, const QString& meaning, const QString& icon, int key,
                           View::Alignment how) {
        const bool arrow = key >= Qt::Key_Left && key <= Qt::Key_Down;
        act(id, arrange, text, meaning, icon, QKeySequence((arrow ? ctrlShift : ctrlAlt) | key),
            [how](View& v) { v.alignSelected(how); });
    };
    align("alignLeft", words("Align &left"), words("Move to the leftmost edge"), "align-horizontal-left", Qt::Key_Left,
          View::Alignment::Left);
    align("alignCentre", words("Align &centres"), words("Centre across"), "align-horizontal-center", Qt::Key_C,
          View::Alignment::Centre);
    align("alignRight", words("Align &right"), words("Move to the rightmost edge"), "align-horizontal-right",
          Qt::Key_Right, View::Alignment::Right);
    align("alignTop", words("Align &top"), words("Move to the highest edge"), "align-vertical-top", Qt::Key_Up,
          View::Alignment::Top);
    align("alignMiddle", words("Align &middles"), words("Centre up and down"), "align-vertical-center", Qt::Key_M,
          View::Alignment::Middle);
    align("alignBottom", words("Align &bottom"), words("Move to the lowest edge"), "align-vertical-bottom",
          Qt::Key_Down, View::Alignment::Bottom);
    act("distributeAcross", arrange, words("Distribute &across"), words("Equal gaps from left to right"),
        "distribute-horizontal-x", QKeySequence(ctrlAlt | Qt::Key_H),
        [](View& v) { v.distributeSelected(Qt::Horizontal); });
    act("distributeDown", arrange, words("Distribute &down"), words("Equal gaps from top to bottom"),
        "distribute-vertical-y", QKeySequence(ctrlAlt | Qt::Key_V),
        [](View& v) { v.distributeSelected(Qt::Vertical); });
    a.add({"arrangeAuto", arrange, words("Arrange automaticall&y"),
           words("Lay out what is inside the selected component, or in view, by its links"), "distribute-graph",
           QKeySequence(ctrlShift | Qt::Key_A), &page},
          [&desk] { desk.arrange(); });
    act("arrangeForget", arrange, words("For&get placements"),
        words("Returns the contents of the selected component, or of the view, to the automatic layout"),
        "edit-clear-all", {}, [](View& v) { v.arrangeAutomatically(); });
    a.add({"arrangeAll",
           arrange,
           words("Arrange &everything"),
           words("Returns the whole drawing to the automatic layout, at every level; one undo step"),
           "distribute-graph",
           {}},
          [&studio, canvas] {
              const int design = studio.document.hardwareIndex();
              if (studio.apply(arrangeAutomaticallyEdit(*studio.document.state(), design, {}))) canvas()->fitAll();
          });

    auto* tools = new QActionGroup(&page);
    const auto toolAction = [&](const QString& id, const QString& text, const QString& meaning, const QString& icon,
                                int key, View::Tool which) {
        QAction* action = act(id, tool, text, meaning, icon, QKeySequence(key), [which](View& v) { v.setTool(which); });
        action->setCheckable(true);
        action->setData(static_cast<int>(which));
        tools->addAction(action);
    };
    toolAction("toolSelect", words("&Select and move"), words("Select, move and resize components"), "edit-select",
               Qt::Key_V, View::Tool::Select);
    toolAction("toolLink", words("&Link"), words("Drag from one component to another to link them"), "draw-connector",
               Qt::Key_L, View::Tool::Link);
    toolAction("toolPan", words("&Pan"), words("Drag the drawing; holding Space does it in every tool"),
               "transform-browse", Qt::Key_H, View::Tool::Pan);
    toolAction("toolMeasure", words("&Measure"), words("Drag to see the distance and the hops between"), "measure",
               Qt::Key_M, View::Tool::Measure);
    a.find(QStringLiteral("toolSelect"))->setChecked(true);

    act("canvasFit", look, words("Fit &all"), words("Show the whole drawing"), "zoom-fit-best", QKeySequence(Qt::Key_F),
        [](View& v) { v.fitAll(); });
    act("canvasFitSelection", look, words("Fit &selection"), words("Show the selected components large"),
        "zoom-fit-selection", QKeySequence(Qt::SHIFT | Qt::Key_F), [](View& v) { v.fitSelection(); });
    const auto zoomBy = [](View& v, double factor) { v.setZoom(v.zoom() * factor, QPointF(v.rect().center())); };
    QAction* in =
        act("canvasZoomIn", look, words("Zoom &in"), words("Draw larger; Ctrl and the wheel do it at the cursor"),
            "zoom-in", QKeySequence::ZoomIn, [zoomBy](View& v) { zoomBy(v, 1.25); });
    in->setShortcuts({QKeySequence(Qt::CTRL | Qt::Key_Plus), QKeySequence(Qt::CTRL | Qt::Key_Equal)});
    act("canvasZoomOut", look, words("Zoom &out"), words("Draw smaller"), "zoom-out",
        QKeySequence(Qt::CTRL | Qt::Key_Minus), [zoomBy](View& v) { zoomBy(v, 0.8); });
    act("canvasZoomOne", look, words("&100 %"), words("Draw at full size"), "zoom-original",
        QKeySequence(Qt::CTRL | Qt::Key_1), [](View& v) { v.setZoom(1, QPointF(v.rect().center())); });
    act("canvasEnter", look, words("&Enter component"), words("Show only the contents of the selected component"),
        "go-down", QKeySequence(Qt::CTRL | Qt::Key_Return),
        [&studio](View& v) { v.enter(studio.components.current()); });
    act("canvasLeave", look, words("&Leave component"), words("Go back one level out"), "go-up",
        QKeySequence(Qt::CTRL | Qt::Key_Backspace), [](View& v) { v.leave(); });
    const auto toggle = [&](const QString& id, const QString& text, const QString& meaning, const QString& icon,
                            const QKeySequence& key, bool on, std::function<void(bool)> run) {
        a.addToggle({id, look, text, meaning, icon, key, within(key)}, on, std::move(run));
    };
    toggle("canvasGrid", words("&Grid"), words("Show the grid"), "view-grid", QKeySequence(Qt::Key_G),
           page.canvas()->showsGrid(), [&page](bool on) { forCanvases(page, [on](View& v) { v.setShowsGrid(on); }); });
    toggle("canvasSnap", words("S&nap"), words("Snap to the grid and to neighbours; Shift suspends it"), "snap",
           QKeySequence(Qt::Key_S), page.canvas()->snaps(),
           [&page](bool on) { forCanvases(page, [on](View& v) { v.setSnaps(on); }); });
    toggle("canvasMap", words("&Map"), words("Show a map of the drawing in the corner"), "map-flat",
           QKeySequence(Qt::Key_N), true, [&page](bool on) { page.pane()->setMapShown(on); });
    toggle("canvasTree", words("Component &tree"), words("Show the tree of the design's components at the left"),
           "view-list-tree", QKeySequence(Qt::Key_T), true, [&page](bool on) { page.setTreeShown(on); });
    a.add({"canvasOperators", look, words("Select what it li&mits"),
           words("Select the operators that the selected component limits, in every view"), "select-rectangular",
           QKeySequence(Qt::Key_O), page.canvasArea()},
          [&studio, &page] { page.limits().selectLimited(studio.components.current()); });

    const auto enable = [&studio, needSelection] {
        for (const QString& id : needSelection) studio.actions.find(id)->setEnabled(!studio.components.paths().empty());
    };
    QObject::connect(&studio.components, &ui::ComponentSelection::changed, &page, enable);
    enable();
}

void addInsertActions(Studio& studio, CanvasDesk& desk) {
    for (const ui::PaletteItem& item : ui::componentPaletteItems()) {
        QAction* action = studio.actions.add({QStringLiteral("insert.") + item.id,
                                              words("Insert"),
                                              item.name,
                                              words("Insert into the selected component: %1").arg(item.meaning),
                                              {},
                                              {}},
                                             [&desk, component = item.component] { desk.insert(component); });
        action->setData(item.group);
    }
}

void fillInsertMenu(const Actions& actions, QMenu* menu) {
    menu->setToolTipsVisible(true);
    QString group;
    QMenu* under = nullptr;
    for (QAction* action : actions.list()) {
        if (!action->objectName().startsWith(QLatin1String("insert."))) continue;
        if (action->data().toString() != group) {
            group = action->data().toString();
            under = menu->addMenu(group);
            under->setToolTipsVisible(true);
        }
        under->addAction(action);
    }
}

}  // namespace orrery::app
