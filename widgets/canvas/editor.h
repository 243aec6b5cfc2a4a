#pragma once

// What the canvas asks of the document. Each call is one undo entry with a readable name, or a refusal that the canvas
// shows where the person is looking; the document then hands the canvas its new state through CanvasView::setDesign(),
// before the call returns. Tools never change the design themselves.

#include "hardware/edit/tree_edit.h"
#include "widgets/canvas/placements.h"

#include <QString>

#include <string>
#include <vector>

namespace orrery::ui {

class CanvasEditor {
public:
    virtual ~CanvasEditor() = default;

    /// Placements alone: moves, nudges, resizes, folds, alignments, layouts. Edits with the same `gesture` (> 0) merge.
    virtual Expected<void> arrange(const QString& words, const std::vector<PlacedAt>& places, int gesture = 0) = 0;
    /// Forgets the placements of everything inside `parent`: it is laid out by itself again.
    virtual Expected<void> arrangeAutomatically(const ComponentPath& parent) = 0;
    /// New components into `parent`; `places` (in the order of `parts`, may be shorter) and `frozen` go into the same
    /// entry.
    virtual Expected<ComponentPaths> add(const ComponentPath& parent, std::vector<Component> parts,
                                         const std::vector<Placement>& places,
                                         const std::vector<PlacedAt>& frozen = {}) = 0;
    virtual Expected<ComponentPaths> reparent(const ComponentPaths& paths, const ComponentPath& parent,
                                              const std::vector<Placement>& places,
                                              const std::vector<PlacedAt>& frozen = {}) = 0;
    virtual Expected<ComponentPaths> link(const ComponentPath& from, const ComponentPath& to,
                                          const LinkPorts& ports) = 0;
    virtual Expected<ComponentPaths> duplicate(const ComponentPaths& paths, double dx, double dy) = 0;
    virtual Expected<ComponentPaths> group(const ComponentPaths& paths, ComponentKind kind) = 0;
    virtual Expected<ComponentPaths> ungroup(const ComponentPath& path) = 0;
    virtual Expected<void> remove(const ComponentPaths& paths) = 0;
    virtual Expected<void> rename(const ComponentPath& path, const QString& name) = 0;
    virtual Expected<void> setAttribute(const ComponentPaths& paths, const QString& attribute, const QString& text,
                                        int gesture = 0) = 0;
    /// The topology's switches and links in its place.
    virtual Expected<void> replaceByParts(const ComponentPath& topology) = 0;
    virtual int newGesture() = 0;
};

}  // namespace orrery::ui
