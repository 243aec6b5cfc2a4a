#pragma once

// A canvas over a small cluster, with an editor that really edits (the engine's tree edits) and keeps what it was
// asked.

#include "hardware/edit/tree_edit.h"
#include "widgets/canvas/canvas_view.h"

#include <QApplication>
#include <QMouseEvent>
#include <QtTest/QtTest>

#include <memory>
#include <string>
#include <vector>

namespace orrery::ui::test {

inline Component part(ComponentKind kind, std::string name, std::vector<Component> children = {}) {
    Component component;
    component.kind = kind;
    component.name = std::move(name);
    component.children = std::move(children);
    return component;
}

inline Component wire(std::string name, std::string from, std::string to) {
    Component link = part(ComponentKind::Link, std::move(name));
    link.attributes = {{"from", std::move(from), {}, {}}, {"to", std::move(to), {}, {}}};
    return link;
}

/// cluster: node0 {gpu0 {hbm0}, gpu1 {hbm1}, sw, a: gpu0-sw, b: gpu1-sw}, node1 {gpu9}.
inline Hardware cluster() {
    using K = ComponentKind;
    Hardware hardware;
    hardware.name = "Cluster";
    hardware.root = part(
        K::System, "cluster",
        {part(K::Node, "node0",
              {part(K::Package, "gpu0", {part(K::Dram, "hbm0")}), part(K::Package, "gpu1", {part(K::Dram, "hbm1")}),
               part(K::Switch, "sw"), wire("a", "gpu0", "sw"), wire("b", "gpu1", "sw")}),
         part(K::Node, "node1", {part(K::Package, "gpu9")})});
    return hardware;
}

class EditingEditor : public CanvasEditor {
public:
    struct Entry {
        QString words;
        HardwarePtr hardware;  ///< before
        PlacementsPtr placements;
        int gesture = 0;
    };
    explicit EditingEditor(Hardware design)
        : hardware(std::make_shared<const Hardware>(std::move(design))),
          placements(std::make_shared<const Placements>()) {}

    HardwarePtr hardware;
    PlacementsPtr placements;
    std::vector<Entry> entries;
    int asked = 0;  ///< calls of any kind, refused ones too
    CanvasView* view = nullptr;

    void undo() {
        hardware = entries.back().hardware;
        placements = entries.back().placements;
        entries.pop_back();
        view->setDesign(hardware, placements);
    }

    Expected<void> arrange(const QString& words, const std::vector<PlacedAt>& places, int gesture) override {
        ++asked;
        Placements next = *placements;
        put(next, *hardware, places);
        commit(words, hardware, std::move(next), gesture);
        return {};
    }
    Expected<void> arrangeAutomatically(const ComponentPath&) override {
        ++asked;
        commit("Arrange", hardware, {}, 0);
        return {};
    }
    Expected<ComponentPaths> add(const ComponentPath& parent, std::vector<Component> parts,
                                 const std::vector<Placement>& places, const std::vector<PlacedAt>& frozen) override {
        return tree("Add", added(*hardware, parent, std::move(parts)), places, frozen);
    }
    Expected<ComponentPaths> reparent(const ComponentPaths& paths, const ComponentPath& parent,
                                      const std::vector<Placement>& places,
                                      const std::vector<PlacedAt>& frozen) override {
        return tree("Move into", reparented(*hardware, paths, parent), places, frozen);
    }
    Expected<ComponentPaths> link(const ComponentPath& from, const ComponentPath& to, const LinkPorts& ports) override {
        return tree("Link", linked(*hardware, from, to, ports), {}, {});
    }
    Expected<ComponentPaths> duplicate(const ComponentPaths& paths, double, double) override {
        return tree("Duplicate", duplicated(*hardware, paths), {}, {});
    }
    Expected<ComponentPaths> group(const ComponentPaths& paths, ComponentKind kind) override {
        return tree("Group", grouped(*hardware, paths, kind, "group"), {}, {});
    }
    Expected<ComponentPaths> ungroup(const ComponentPath& path) override {
        return tree("Ungroup", ungrouped(*hardware, path), {}, {});
    }
    Expected<void> remove(const ComponentPaths& paths) override {
        auto done = tree("Remove", removed(*hardware, paths), {}, {});
        if (!done) return tl::unexpected(done.error());
        return {};
    }
    Expected<void> rename(const ComponentPath& path, const QString& name) override {
        auto done = tree("Rename", renamed(*hardware, path, name.toStdString()), {}, {});
        if (!done) return tl::unexpected(done.error());
        return {};
    }
    Expected<void> setAttribute(const ComponentPaths&, const QString&, const QString&, int) override { return {}; }
    Expected<void> replaceByParts(const ComponentPath&) override { return {}; }
    int newGesture() override { return ++gestures_; }

private:
    static void put(Placements& into, const Hardware& design, const std::vector<PlacedAt>& places) {
        for (const PlacedAt& place : places) into.at[placementKey(design.root, place.path)] = place.at;
    }
    Expected<ComponentPaths> tree(const QString& words, Expected<TreeEdit> edit, const std::vector<Placement>& places,
                                  const std::vector<PlacedAt>& frozen) {
        ++asked;
        if (!edit) return tl::unexpected(edit.error());
        Placements next;
        Placements before = *placements;
        put(before, *hardware, frozen);
        move(before, next, hardware->root, {}, *edit);
        for (std::size_t i = 0; i < std::min(places.size(), edit->made.size()); ++i)
            put(next, edit->design, {{edit->made[i], places[i]}});
        const ComponentPaths made = edit->made;
        commit(words, std::make_shared<const Hardware>(std::move(edit->design)), std::move(next), 0);
        return made;
    }
    void move(const Placements& from, Placements& to, const Component& at, ComponentPath path, const TreeEdit& edit) {
        if (const Placement* place = from.find(placementKey(hardware->root, path)); place && !path.empty()) {
            if (const auto now = edit.moved(path)) put(to, edit.design, {{*now, *place}});
        }
        for (int i = 0; i < static_cast<int>(at.children.size()); ++i) {
            path.push_back(i);
            move(from, to, at.children[static_cast<std::size_t>(i)], path, edit);
            path.pop_back();
        }
    }
    void commit(const QString& words, HardwarePtr design, Placements next, int gesture) {
        const bool merges = gesture > 0 && !entries.empty() && entries.back().gesture == gesture;
        if (!merges) entries.push_back({words, hardware, placements, gesture});
        hardware = std::move(design);
        placements = std::make_shared<const Placements>(std::move(next));
        view->setDesign(hardware, placements);
    }
    int gestures_ = 0;
};

struct Board {
    ComponentSelection selection;
    EditingEditor editor;
    CanvasView view;

    explicit Board(Hardware design = cluster()) : editor(std::move(design)), view(&selection) {
        editor.view = &view;
        view.setEditor(&editor);
        view.resize(1200, 800);
        view.setDesign(editor.hardware, editor.placements, true);
        view.show();
        QApplication::setActiveWindow(&view);
        view.setZoom(1, {0, 0});
        view.centreOn(view.scene().bounds().center());
        view.setFocus();
    }

    ComponentPath path(const char* name) const { return findComponent(editor.hardware->root, name).value(); }
    int node(const char* name) const { return view.scene().find(path(name)); }
    QRectF box(const char* name) const { return view.scene().nodes()[static_cast<std::size_t>(node(name))].box; }
    QPoint onView(const QPointF& scene) const { return view.toView(scene).toPoint(); }
    /// Where a component can be taken hold of: in its caption, so that it is not its contents that are hit.
    QPoint grip(const char* name) const { return onView(box(name).topLeft() + QPointF(14, 10)); }
    QPoint middle(const char* name) const { return onView(box(name).center()); }
    std::string parentOf(const char* name) const {
        ComponentPath up = path(name);
        up.pop_back();
        return componentAt(editor.hardware->root, up)->name;
    }

    void press(const QPoint& at, Qt::KeyboardModifiers held = {}, Qt::MouseButton button = Qt::LeftButton) {
        QTest::mousePress(&view, button, held, at);
        held_ = held;
        button_ = button;
    }
    void moveTo(const QPoint& at) {
        // QTest::mouseMove knows no buttons and no modifiers; a drag has both.
        QMouseEvent event(QEvent::MouseMove, at, view.mapToGlobal(at), Qt::NoButton, button_, held_);
        QApplication::sendEvent(&view, &event);
    }
    void release(const QPoint& at) {
        QTest::mouseRelease(&view, button_, held_, at);
        button_ = Qt::NoButton;
        held_ = {};
    }
    void drag(const QPoint& from, const QPoint& to, Qt::KeyboardModifiers held = {},
              Qt::MouseButton button = Qt::LeftButton) {
        press(from, button == Qt::LeftButton ? held : Qt::KeyboardModifiers{}, button);
        held_ = held;
        moveTo((from * 2 + to) / 3);
        moveTo(to);
        release(to);
    }
    /// Begins with the modifiers of a plain press, then holds `during`: how one suspends snapping or copies.
    void dragHolding(const QPoint& from, const QPoint& to, Qt::KeyboardModifiers during) {
        press(from);
        held_ = during;
        moveTo((from * 2 + to) / 3);
        moveTo(to);
        release(to);
    }
    void key(Qt::Key key, Qt::KeyboardModifiers held = {}) { QTest::keyClick(&view, key, held); }

private:
    Qt::KeyboardModifiers held_;
    Qt::MouseButton button_ = Qt::NoButton;
};

}  // namespace orrery::ui::test
