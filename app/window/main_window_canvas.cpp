#include "app/document/commands/component_edits.h"
#include "app/window/actions.h"
#include "app/window/hardware/auto_arrange.h"
#include "app/window/hardware/canvas_editor.h"
#include "app/window/hardware/canvas_pane.h"
#include "app/window/hardware/component_loads.h"
#include "app/window/hardware/hardware_page.h"
#include "app/window/main_window.h"
#include "hardware/check/fixes.h"
#include "hardware/check/validate.h"
#include "hardware/files/catalogue.h"
#include "hardware/files/hardware_yaml.h"
#include "hardware/walk.h"
#include "widgets/canvas/free_place.h"
#include "widgets/common/theme.h"
#include "widgets/library/component_palette.h"
#include "widgets/tree/component_tree.h"

#include <QMenu>
#include <QTabWidget>

#include <algorithm>

namespace orrery::app {

void MainWindow::wireHardwarePage() {
    arranger_ = new AutoArrange(this);
    editor_ = std::make_unique<DocumentCanvasEditor>(*document_);
    wireCanvas(hardwarePage_->canvas());
    connect(hardwarePage_, &HardwarePage::canvasMade, this, [this](ui::CanvasView* canvas) {
        wireCanvas(canvas);
        hardwarePage_->secondPane()->setTools(
            {}, {actions_->find(QStringLiteral("canvasZoomOut")), actions_->find(QStringLiteral("canvasZoomIn")),
                 actions_->find(QStringLiteral("canvasFit"))});
    });
    connect(hardwarePage_, &HardwarePage::activeCanvasChanged, this, [this] { showTool(); });
    connect(&components_, &ui::ComponentSelection::changed, this, [this] {
        inspected_ = Inspected::Component;
        refreshInspector();
    });
    wireTree();
    connect(arranger_, &AutoArrange::stageChanged, this,
            [this](const QString& what) { hardwarePage_->pane()->setBusy(what); });
    connect(hardwarePage_->pane(), &CanvasPane::stopRequested, arranger_, &AutoArrange::cancel);
    connect(arranger_, &AutoArrange::failed, this, &MainWindow::complain);
    connect(arranger_, &AutoArrange::arranged, this, [this](int components) {
        if (components == 0) return say(Severity::Note, tr("There is nothing to arrange here"));
        log(Severity::Note, tr("Arranged %n component(s)", nullptr, components));
    });
}

void MainWindow::wireCanvas(ui::CanvasView* canvas) {
    connect(canvas, &ui::CanvasView::refused, this, &MainWindow::complain);
    connect(canvas, &ui::CanvasView::toolChanged, this, &MainWindow::showTool);
    connect(canvas, &ui::CanvasView::componentActivated, this, [this](const ComponentPath& path) {
        if (!selectLimited(path)) docks_->reveal(QStringLiteral("inspector"));
    });
    connect(canvas, &ui::CanvasView::menuRequested, this, [this](const QPoint& at) {
        QMenu menu(this);
        menu.setObjectName(QStringLiteral("canvasMenu"));
        menu.setToolTipsVisible(true);
        fillCanvasMenu(&menu);
        menu.exec(at);
    });
    connect(canvas, &ui::CanvasView::libraryDropped, this,
            [this, canvas](const QString& id, const ComponentPath& parent, const QPointF& where) {
                addDevice(*canvas, id, parent, where);
            });
    canvas->setLibrary([](const QString& id) {
        Expected<LoadedHardware> loaded = loadHardware(id.toStdString());
        return loaded ? takeParts(std::move(loaded->hardware.root)) : std::vector<Component>{};
    });
}

void MainWindow::fillCanvasMenu(QMenu* menu) {
    const auto put = [this, menu](std::initializer_list<const char*> ids) {
        for (const char* id : ids)
            *id == '-' ? void(menu->addSeparator()) : menu->addAction(actions_->find(QLatin1String(id)));
    };
    put({"editCut", "editCopy", "editPaste", "editDuplicate", "editDelete", "editRename", "-"});
    fillInsertMenu(menu->addMenu(tr("&Insert")));
    put({"editGroup", "editUngroup", "arrangeFold", "arrangeOpen", "arrangeAuto", "-", "canvasEnter", "canvasLeave",
         "canvasFitSelection", "canvasOperators"});
    const HardwarePtr design = hardwarePage_->activeCanvas()->scene().hardware();
    const ComponentPath path = hardwarePage_->activeCanvas()->selection()->current();
    const Component* component = design ? componentAt(design->root, path) : nullptr;
    if (!component || component->kind != ComponentKind::Topology) return;
    menu->addSeparator();
    menu->addAction(tr("Replace by its switches and links"), this,
                    [this, path] { report(editor_->replaceByParts(path)); });
}

void MainWindow::showTool() {
    const auto tool = static_cast<int>(hardwarePage_->activeCanvas()->tool());
    for (const char* id : {"toolSelect", "toolLink", "toolPan", "toolMeasure"}) {
        QAction* action = actions_->find(QLatin1String(id));
        if (action && action->data().toInt() == tool) action->setChecked(true);
    }
}

void MainWindow::wireTree() {
    ui::ComponentTreeView* tree = hardwarePage_->tree();
    using Tree = ui::ComponentTreeView;
    connect(tree, &Tree::componentActivated, this, [this](const ComponentPath& path) {
        inspectComponent(path);
        hardwarePage_->canvas()->ensureVisible(path);
        docks_->reveal(QStringLiteral("inspector"));
    });
    connect(tree, &Tree::nameEntered, this,
            [this](const ComponentPath& path, const QString& name) { report(editor_->rename(path, name)); });
    connect(tree, &Tree::refused, this, &MainWindow::complain);
    connect(tree, &Tree::actionRequested, this, [this](Tree::Action action, const ComponentPaths& paths) {
        // The canvas acts on the selection, which is the tree's.
        ui::CanvasView& canvas = *hardwarePage_->canvas();
        if (action != Tree::Action::MoveUp && action != Tree::Action::MoveDown) components_.select(paths);
        switch (action) {
            case Tree::Action::Cut:
                return canvas.cutSelected();
            case Tree::Action::Copy:
                return canvas.copySelected();
            case Tree::Action::Paste:
                return canvas.paste();
            case Tree::Action::Duplicate:
                return canvas.duplicateSelected();
            case Tree::Action::Ungroup:
                return canvas.ungroupSelected();
            case Tree::Action::Delete:
                return canvas.removeSelected();
            case Tree::Action::Link:
                if (paths.size() == 2) selectMade(editor_->link(paths[0], paths[1], {}));
                return;
            case Tree::Action::ReplaceByParts:
                if (!paths.empty()) report(editor_->replaceByParts(paths.back()));
                return;
            case Tree::Action::MoveUp:
            case Tree::Action::MoveDown:
                return moveInTree(paths, action == Tree::Action::MoveDown);
        }
    });
    connect(tree, &Tree::groupRequested, this,
            [this](const ComponentPaths& paths, ComponentKind kind) { selectMade(editor_->group(paths, kind)); });
    connect(tree, &Tree::moveRequested, this,
            [this](const ComponentPaths& paths, const ComponentPath& parent, int index) {
                if (paths.size() == 1) {
                    const int at = index < 0 ? childrenOf(parent) : index;
                    report(document_->apply(
                        moveComponentEdit(*document_->state(), document_->hardwareIndex(), paths.front(), parent, at)));
                } else {
                    selectMade(editor_->reparent(paths, parent, {}));
                }
            });
    connect(tree, &Tree::componentDropped, this, [this](const Component& component, const ComponentPath& parent) {
        selectMade(editor_->add(parent, {component}, {}));
    });
    connect(tree, &Tree::deviceDropped, this, [this](const QString& id, const ComponentPath& parent) {
        addDevice(*hardwarePage_->canvas(), id, parent, std::nullopt);
    });
    connect(tree, &Tree::addRequested, this, [this](const ComponentPath& parent, ComponentKind kind) {
        Component component;
        component.kind = kind;
        selectMade(editor_->add(parent, {std::move(component)}, {}));
    });
}

int MainWindow::childrenOf(const ComponentPath& parent) const {
    const HardwarePtr design = document_->hardware();
    const Component* component = design ? componentAt(design->root, parent) : nullptr;
    return component ? static_cast<int>(partsIn(*component).size()) : 0;
}

void MainWindow::moveInTree(const ComponentPaths& paths, bool down) {
    if (paths.empty() || paths.front().empty()) return;
    // One step for the whole block of siblings is moving its neighbour to the other side of it.
    const ComponentPath& first = paths.front();
    const ComponentPath& last = paths.back();
    const ComponentPath parent(first.begin(), first.end() - 1);
    const int neighbour = down ? last.back() + 1 : first.back() - 1;
    if (neighbour < 0 || neighbour >= childrenOf(parent)) return;
    ComponentPath moved = parent;
    moved.push_back(neighbour);
    const int index = down ? first.back() : last.back() + 1;
    if (!report(
            document_->apply(moveComponentEdit(*document_->state(), document_->hardwareIndex(), moved, parent, index))))
        return;
    ComponentPaths now = paths;
    for (ComponentPath& path : now) path.back() += down ? 1 : -1;
    components_.select(std::move(now));
}

bool MainWindow::selectMade(Expected<ComponentPaths> made) {
    if (!made) {
        complain(made.error());
        return false;
    }
    components_.select(*made);
    if (!made->empty()) hardwarePage_->canvas()->ensureVisible(made->back());
    return true;
}

void MainWindow::insertComponent(Component component) {
    const HardwarePtr design = document_->hardware();
    if (!design) return drawYourOwn();
    // Into the selected component, or the nearest around it that may hold this.
    ComponentPath into = components_.current();
    while (!into.empty()) {
        const Component* holder = componentAt(design->root, into);
        if (holder && mayContain(holder->kind, component.kind)) break;
        into.pop_back();
    }
    showProject();
    documents_->setCurrentWidget(hardwarePage_);
    selectMade(editor_->add(into, {std::move(component)}, {}));
}

void MainWindow::wirePalette(ui::ComponentPalette* palette) {
    connect(palette, &ui::ComponentPalette::placeRequested, this, [this](const Component& component) {
        if (!document_->hardware()) drawYourOwn();
        documents_->setCurrentWidget(hardwarePage_);
        hardwarePage_->canvas()->startPlacing(component);
        hardwarePage_->canvas()->setFocus();
    });
}

void MainWindow::addDevice(ui::CanvasView& canvas, const QString& id, const ComponentPath& parent,
                           std::optional<QPointF> where) {
    Expected<LoadedHardware> loaded = loadHardware(id.toStdString());
    if (!loaded) return complain(loaded.error());
    const auto inside = partsIn(loaded->hardware.root);
    const std::vector<Component> parts(inside.begin(), inside.end());
    // Into the component, or the nearest around it that may hold all of the device.
    const Component& root = document_->hardware()->root;
    ComponentPath holder = parent;
    const auto holds = [&](const ComponentPath& path) {
        const Component* component = componentAt(root, path);
        return component && std::ranges::all_of(
                                parts, [&](const Component& part) { return mayContain(component->kind, part.kind); });
    };
    while (!holder.empty() && !holds(holder)) holder.pop_back();
    std::vector<ui::Placement> places;
    std::vector<ui::PlacedAt> room;
    if (where) {
        const int node = canvas.scene().find(holder);
        for (const QRectF& box : ui::sideBySide(parts))
            places.push_back(canvas.scene().placementAt(node, *where + box.topLeft()));
        room = canvas.roomFor(holder, parts, places);
    }
    Expected<Edit> edit = addDeviceEdit(*document_->state(), document_->hardwareIndex(), holder,
                                        std::move(loaded->hardware), places, room);
    if (!edit) return complain(edit.error());
    ComponentPaths made = edit->made;
    if (report(document_->apply(std::move(edit)))) selectMade(std::move(made));
}

void MainWindow::arrangeByGraphviz() {
    ui::CanvasView* canvas = hardwarePage_->canvas();
    ComponentPath inside = canvas->entered();
    if (components_.paths().size() == 1 && childrenOf(components_.current()) > 0) inside = components_.current();
    arranger_->start(canvas, editor_.get(), inside);
}

void MainWindow::applyFix(const Diagnostic& problem, int fix, const QString& title) {
    const HardwarePtr design = document_->hardware();
    if (!design) return;
    const std::vector<Fix> fixes = fixesFor(*design, problem);
    if (fix < 0 || fix >= static_cast<int>(fixes.size())) return;
    Expected<Hardware> mended = fixes[static_cast<std::size_t>(fix)].apply(*design);
    if (!mended) return complain(mended.error());
    Edit edit{*document_->state(), title, {}, {}, {}};
    edit.after.hardware[static_cast<std::size_t>(document_->hardwareIndex())] =
        std::make_shared<const Hardware>(std::move(*mended));
    report(document_->apply(std::move(edit)));
}

bool MainWindow::selectLimited(const ComponentPath& component) {
    const auto& snapshot = live_->snapshot();
    if (!snapshot || snapshot->scenario.hardware != document_->hardware()) return false;
    const QSet<int> operators = operatorsLimitedBy(*snapshot, component);
    if (operators.isEmpty()) return false;
    selection_.select(operators);
    say(Severity::Note, tr("Selected %n operator(s) that it limits", nullptr, static_cast<int>(operators.size())), {},
        QStringLiteral("limited"));
    return true;
}

void MainWindow::showLoads() {
    const auto& snapshot = live_->snapshot();
    // A chip with the numbers of a design of before would lie; while a slider moves the answer is a frame behind.
    const bool known =
        snapshot && document_->hardware() && snapshot->scenario.hardware->name == document_->hardware()->name;
    hardwarePage_->canvas()->setLoads(known ? componentLoads(*snapshot) : std::vector<ui::ComponentLoad>{});
    showLimiters();
}

void MainWindow::showLimiters() {
    if (hardwarePage_->compared() >= 0) return;  // marks say what differs
    const auto& snapshot = live_->snapshot();
    std::vector<ui::CanvasView::Mark> marks;
    if (snapshot && !selection_.operators().isEmpty() && snapshot->scenario.hardware == document_->hardware()) {
        for (const ComponentPath& path : componentsLimiting(*snapshot, selection_.operators()))
            marks.push_back({path, tr("Limits the selected operators"), ui::Theme::instance().colours().accent});
    }
    hardwarePage_->canvas()->setMarks(std::move(marks));
}

}  // namespace orrery::app
