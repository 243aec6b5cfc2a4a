#pragma once

// What the canvas asks for, as edits of one design of the document.

#include "widgets/canvas/editor.h"

#include <functional>

namespace orrery::app {

class Document;

class DocumentCanvasEditor : public ui::CanvasEditor {
public:
    /// `design` says which design is edited, by its index in the project; by default the current one.
    explicit DocumentCanvasEditor(Document& document, std::function<int()> design = {});

    Expected<void> arrange(const QString& words, const std::vector<ui::PlacedAt>& places, int gesture = 0) override;
    Expected<void> arrangeAutomatically(const ComponentPath& parent) override;
    Expected<ComponentPaths> add(const ComponentPath& parent, std::vector<Component> parts,
                                 const std::vector<ui::Placement>& places,
                                 const std::vector<ui::PlacedAt>& frozen = {}) override;
    Expected<ComponentPaths> reparent(const ComponentPaths& paths, const ComponentPath& parent,
                                      const std::vector<ui::Placement>& places,
                                      const std::vector<ui::PlacedAt>& frozen = {}) override;
    Expected<ComponentPaths> link(const ComponentPath& from, const ComponentPath& to, const LinkPorts& ports) override;
    Expected<ComponentPaths> duplicate(const ComponentPaths& paths, double dx, double dy) override;
    Expected<ComponentPaths> group(const ComponentPaths& paths, ComponentKind kind) override;
    Expected<ComponentPaths> ungroup(const ComponentPath& path) override;
    Expected<void> remove(const ComponentPaths& paths) override;
    Expected<void> rename(const ComponentPath& path, const QString& name) override;
    Expected<void> setAttribute(const ComponentPaths& paths, const QString& attribute, const QString& text,
                                int gesture = 0) override;
    Expected<void> replaceByParts(const ComponentPath& topology) override;
    int newGesture() override;

private:
    int design() const;

    Document& document_;
    std::function<int()> design_;
};

}  // namespace orrery::app
