#include "app/window/hardware/canvas_desk.h"

#include "app/document/commands/component_edits.h"
#include "app/window/hardware/canvas_actions.h"
#include "app/window/hardware/canvas_editor.h"
#include "app/window/hardware/canvas_pane.h"
#include "app/window/hardware/hardware_page.h"
#include "app/window/hardware/limit_marks.h"
#include "app/window/studio.h"
#include "app/window/turn_menu.h"
#include "hardware/check/validate.h"
#include "hardware/files/catalogue.h"
#include "hardware/walk.h"
#include "widgets/canvas/free_place.h"
#include "widgets/tree/component_tree.h"

#include <QMenu>

#include <algorithm>

namespace orrery::app {

CanvasDesk::CanvasDesk(Studio& studio, HardwarePage& page)
    : QObject(&page), studio_(studio), page_(page), editor_(std::make_unique<DocumentCanvasEditor>(studio.document)) {
    wire(page_.canvas());
    wireTree();
    connect(&page_, &HardwarePage::activeCanvasChanged, this, &CanvasDesk::showTool);
    connect(&arranger_, &AutoArrange::stageChanged, this, [this](const QString& what) { page_.pane()->setBusy(what); });
    connect(page_.pane(), &CanvasPane::stopRequested, &arranger_, &AutoArrange::cancel);
    connect(&arranger_, &AutoArrange::failed, &studio_.messages, &Messages::complain);
    connect(&arranger_, &AutoArrange::arranged, this, [this](int components) {
        if (components == 0) return studio_.messages.say(Severity::Note, tr("There is nothing to arrange here"));
        studio_.messages.log(Severity::Note, tr("Arranged %n component(s)", nullptr, components));
    });
}

CanvasDesk::~CanvasDesk() = default;

void CanvasDesk::wire(ui::CanvasView* canvas) {
    connect(canvas, &ui::CanvasView::refused, &studio_.messages, &Messages::complain);
    connect(canvas, &ui::CanvasView::toolChanged, this, &CanvasDesk::showTool);
    connect(canvas, &ui::CanvasView::componentActivated, this, [this](const ComponentPath& path) {
        if (!page_.limits().selectLimited(path)) studio_.inspection.reveal();
    });
    connect(canvas, &ui::CanvasView::menuRequested, this, [this](const QPoint& at) {
        QMenu menu(&page_);
        menu.setObjectName(QStringLiteral("canvasMenu"));
        menu.setToolTipsVisible(true);
        fillMenu(&menu);
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

void CanvasDesk::fillMenu(QMenu* menu) {
    const auto put = [this, menu](std::initializer_list<const char*> ids) {
        for (const char* id : ids)
            *id == '-' ? void(menu->addSeparator()) : menu->addAction(studio_.actions.find(QLatin1String(id)));
    };
    put({"editCut", "editCopy", "editPaste", "editDuplicate", "editDelete", "editRename", "-"});
    fillInsertMenu(studio_.actions, menu->addMenu(tr("&Insert")));
    put({"editGroup", "editUngroup", "arrangeFold", "arrangeOpen", "arrangeAuto", "-", "canvasEnter", "canvasLeave",
         "canvasFitSelection", "canvasOperators"});
    const HardwarePtr design = page_.activeCanvas()->scene().hardware();
    const ComponentPath path = page_.activeCanvas()->selection()->current();
    fillTurnMenu(menu, studio_.inspection, design, path);
    const Component* component = design ? componentAt(design->root, path) : nullptr;
    if (!component || component->kind != ComponentKind::Topology) return;
    menu->addSeparator();
    menu->addAction(tr("Replace by its switches and links"), this,
                    [this, path] { studio_.messages.report(editor_->replaceByParts(path)); });
}

void CanvasDesk::showTool() {
    const auto tool = static_cast<int>(page_.activeCanvas()->tool());
    for (const char* id : {"toolSelect", "toolLink", "toolPan", "toolMeasure"}) {
        QAction* action = studio_.actions.find(QLatin1String(id));
        if (action && action->data().toInt() == tool) action->setChecked(true);
    }
}

void CanvasDesk::wireTree() {
    ui::ComponentTreeView* tree = page_.tree();
    using Tree = ui::ComponentTreeView;
    connect(tree, &Tree::componentActivated, this, [this](const ComponentPath& path) {
        studio_.inspection.showComponent(path);
        page_.canvas()->ensureVisible(path);
        studio_.inspection.reveal();
    });
    connect(tree, &Tree::nameEntered, this, [this](const ComponentPath& path, const QString& name) {
        studio_.messages.report(editor_->rename(path, name));
    });
    connect(tree, &Tree::menuFilling, this, [this](QMenu* menu, const ComponentPath& path) {
        fillTurnMenu(menu, studio_.inspection, page_.activeCanvas()->scene().hardware(), path);
    });
    connect(tree, &Tree::refused, &studio_.messages, &Messages::complain);
    connect(tree, &Tree::actionRequested, this, [this](Tree::Action action, const ComponentPaths& paths) {
        // The canvas acts on the selection, which is the tree's.
        ui::CanvasView& canvas = *page_.canvas();
        if (action != Tree::Action::MoveUp && action != Tree::Action::MoveDown) studio_.components.select(paths);
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
                if (!paths.empty()) studio_.messages.report(editor_->replaceByParts(paths.back()));
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
                    studio_.apply(moveComponentEdit(*studio_.document.state(), studio_.document.hardwareIndex(),
                                                    paths.front(), parent, at));
                } else {
                    selectMade(editor_->reparent(paths, parent, {}));
                }
            });
    connect(tree, &Tree::componentDropped, this, [this](const Component& component, const ComponentPath& parent) {
        selectMade(editor_->add(parent, {component}, {}));
    });
    connect(tree, &Tree::deviceDropped, this, [this](const QString& id, const ComponentPath& parent) {
        addDevice(*page_.canvas(), id, parent, std::nullopt);
    });
    connect(tree, &Tree::addRequested, this, [this](const ComponentPath& parent, ComponentKind kind) {
        Component component;
        component.kind = kind;
        selectMade(editor_->add(parent, {std::move(component)}, {}));
    });
}

int CanvasDesk::childrenOf(const ComponentPath& parent) const {
    const HardwarePtr design = studio_.document.hardware();
    const Component* component = design ? componentAt(design->root, parent) : nullptr;
    return component ? static_cast<int>(partsIn(*component).size()) : 0;
}

void CanvasDesk::moveInTree(const ComponentPaths& paths, bool down) {
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
    if (!studio_.apply(
            moveComponentEdit(*studio_.document.state(), studio_.document.hardwareIndex(), moved, parent, index)))
        return;
    ComponentPaths now = paths;
    for (ComponentPath& path : now) path.back() += down ? 1 : -1;
    studio_.components.select(std::move(now));
}

bool CanvasDesk::selectMade(Expected<ComponentPaths> made) {
    if (!made) {
        studio_.messages.complain(made.error());
        return false;
    }
    studio_.components.select(*made);
    if (made->empty()) return true;
    ui::CanvasView& canvas = *page_.canvas();
    canvas.ensureVisible(made->back());
    // A device is often larger than what the view shows at this zoom; its middle alone says little.
    const int node = canvas.scene().find(made->back());
    const QSizeF size = node < 0 ? QSizeF() : canvas.scene().nodes()[node].box.size();
    const QSizeF room = canvas.visibleArea().size();
    if (size.width() > room.width() || size.height() > room.height()) canvas.fitAll();
    return true;
}

void CanvasDesk::insert(Component component) {
    const HardwarePtr design = studio_.document.hardware();
    if (!design) return page_.drawYourOwn();
    // Into the selected component, or the nearest around it that may hold this.
    ComponentPath into = studio_.components.current();
    while (!into.empty()) {
        const Component* holder = componentAt(design->root, into);
        if (holder && mayContain(holder->kind, component.kind)) break;
        into.pop_back();
    }
    studio_.layouts.showProject();
    studio_.router.show(&page_);
    selectMade(editor_->add(into, {std::move(component)}, {}));
}

void CanvasDesk::addDevice(ui::CanvasView& canvas, const QString& id, const ComponentPath& parent,
                           std::optional<QPointF> where) {
    Expected<LoadedHardware> loaded = loadHardware(id.toStdString());
    if (!loaded) return studio_.messages.complain(loaded.error());
    const auto inside = partsIn(loaded->hardware.root);
    const std::vector<Component> parts(inside.begin(), inside.end());
    // Into the component, or the nearest around it that may hold all of the device.
    const Component& root = studio_.document.hardware()->root;
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
    Expected<Edit> edit = addDeviceEdit(*studio_.document.state(), studio_.document.hardwareIndex(), holder,
                                        std::move(loaded->hardware), places, room);
    if (!edit) return studio_.messages.complain(edit.error());
    ComponentPaths made = edit->made;
    if (studio_.apply(std::move(edit))) selectMade(std::move(made));
}

void CanvasDesk::arrange() {
    ui::CanvasView* canvas = page_.canvas();
    ComponentPath inside = canvas->entered();
    if (studio_.components.paths().size() == 1 && childrenOf(studio_.components.current()) > 0)
        inside = studio_.components.current();
    arranger_.start(canvas, editor_.get(), inside);
}

void CanvasDesk::startPlacing(const Component& component) {
    if (!studio_.document.hardware()) page_.drawYourOwn();
    studio_.router.show(&page_);
    page_.canvas()->startPlacing(component);
    page_.canvas()->setFocus();
}

}  // namespace orrery::app
