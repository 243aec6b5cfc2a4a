#include "app/window/hardware/canvas_editor.h"

#include "app/document/commands/component_edits.h"
#include "app/document/commands/layout_edits.h"
#include "app/document/commands/set_attribute.h"
#include "app/document/document.h"

namespace orrery::app {
namespace {

/// Applies the edit; what it made is what should be selected.
Expected<ComponentPaths> made(Document& document, Expected<Edit> edit) {
    if (!edit) return Unexpected(edit.error());
    ComponentPaths paths = edit->made;
    if (Expected<void> done = document.apply(std::move(edit)); !done) return Unexpected(done.error());
    return paths;
}

}  // namespace

DocumentCanvasEditor::DocumentCanvasEditor(Document& document, std::function<int()> design)
    : document_(document), design_(std::move(design)) {}

int DocumentCanvasEditor::design() const {
    return design_ ? design_() : document_.hardwareIndex();
}

Expected<void> DocumentCanvasEditor::arrange(const QString& words, const std::vector<ui::PlacedAt>& places,
                                             int gesture) {
    return document_.apply(arrangeEdit(*document_.state(), design(), words, places), gesture);
}

Expected<void> DocumentCanvasEditor::arrangeAutomatically(const ComponentPath& parent) {
    return document_.apply(arrangeAutomaticallyEdit(*document_.state(), design(), parent));
}

Expected<ComponentPaths> DocumentCanvasEditor::add(const ComponentPath& parent, std::vector<Component> parts,
                                                   const std::vector<ui::Placement>& places,
                                                   const std::vector<ui::PlacedAt>& frozen) {
    return made(document_, addComponentsEdit(*document_.state(), design(), parent, std::move(parts), places, frozen));
}

Expected<ComponentPaths> DocumentCanvasEditor::reparent(const ComponentPaths& paths, const ComponentPath& parent,
                                                        const std::vector<ui::Placement>& places,
                                                        const std::vector<ui::PlacedAt>& frozen) {
    return made(document_, moveComponentsEdit(*document_.state(), design(), paths, parent, -1, places, frozen));
}

Expected<ComponentPaths> DocumentCanvasEditor::link(const ComponentPath& from, const ComponentPath& to,
                                                    const LinkPorts& ports) {
    return made(document_, linkComponentsEdit(*document_.state(), design(), from, to, ports));
}

Expected<ComponentPaths> DocumentCanvasEditor::duplicate(const ComponentPaths& paths, double dx, double dy) {
    return made(document_, duplicateComponentsEdit(*document_.state(), design(), paths, dx, dy));
}

Expected<ComponentPaths> DocumentCanvasEditor::group(const ComponentPaths& paths, ComponentKind kind) {
    return made(document_, groupComponentsEdit(*document_.state(), design(), paths, kind));
}

Expected<ComponentPaths> DocumentCanvasEditor::ungroup(const ComponentPath& path) {
    return made(document_, ungroupComponentEdit(*document_.state(), design(), path));
}

Expected<void> DocumentCanvasEditor::remove(const ComponentPaths& paths) {
    return document_.apply(removeComponentsEdit(*document_.state(), design(), paths));
}

Expected<void> DocumentCanvasEditor::rename(const ComponentPath& path, const QString& name) {
    return document_.apply(renameComponentEdit(*document_.state(), design(), path, name));
}

Expected<void> DocumentCanvasEditor::setAttribute(const ComponentPaths& paths, const QString& attribute,
                                                  const QString& text, int gesture) {
    return document_.apply(setAttributeEdit(*document_.state(), design(), paths, attribute, text), gesture);
}

Expected<void> DocumentCanvasEditor::replaceByParts(const ComponentPath& topology) {
    return document_.apply(replaceByPartsEdit(*document_.state(), design(), topology));
}

int DocumentCanvasEditor::newGesture() {
    return document_.newGesture();
}

}  // namespace orrery::app
