#include "app/document/commands/component_edits.h"

#include "hardware/validate.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery::app {

namespace {

bool hasChild(const Component& parent, std::string_view name, const Component* except = nullptr) {
    return std::ranges::any_of(parent.children,
                               [&](const Component& child) { return &child != except && child.name == name; });
}

QString described(const Component& component) {
    return QStringLiteral("%1 %2").arg(QString::fromStdString(std::string(label(component.kind))).toLower(),
                                       QString::fromStdString(component.name));
}

Expected<void> mayStand(const Component& parent, const Component& child) {
    if (mayContain(parent.kind, child.kind)) return {};
    return fail("hardware.nesting", fmt::format("a {} cannot stand in a {}", label(child.kind), label(parent.kind)), {},
                "drop it on a component that may hold it");
}

bool isPrefix(const ComponentPath& prefix, const ComponentPath& path) {
    return prefix.size() <= path.size() && std::equal(prefix.begin(), prefix.end(), path.begin());
}

Expected<Edit> finish(Edit edit, Expected<ProjectState> after) {
    if (!after) return Unexpected(after.error());
    edit.after = std::move(*after);
    return edit;
}

}  // namespace

Expected<Edit> renameComponentEdit(const ProjectState& state, int hardware, const ComponentPath& path,
                                   const QString& name) {
    const std::string wanted = name.trimmed().toStdString();
    if (wanted.empty() || wanted.find_first_of("/.") != std::string::npos) {
        return fail("document.name", "a component needs a name without / and .", "a short name like hbm3");
    }
    Edit edit;
    Expected<ProjectState> after = withDesign(state, hardware, [&](Hardware& design) -> Expected<void> {
        Expected<Component*> component = componentOf(design, path);
        if (!component) return Unexpected(component.error());
        if (!path.empty()) {
            const Component* parent = componentAt(design.root, ComponentPath(path.begin(), path.end() - 1));
            if (hasChild(*parent, wanted, *component)) {
                return fail("hardware.duplicate-name", fmt::format("{} already has a {}", parent->name, wanted),
                            "a name that no sibling has");
            }
        }
        edit.subject = QObject::tr("Rename %1").arg(described(**component));
        edit.to = QString::fromStdString(wanted);
        (*component)->name = wanted;
        return {};
    });
    return finish(std::move(edit), std::move(after));
}

Expected<Edit> addComponentEdit(const ProjectState& state, int hardware, const ComponentPath& parent,
                                Component component) {
    Edit edit;
    Expected<ProjectState> after = withDesign(state, hardware, [&](Hardware& design) -> Expected<void> {
        Expected<Component*> host = componentOf(design, parent);
        if (!host) return Unexpected(host.error());
        if (Expected<void> may = mayStand(**host, component); !may) return may;
        if (component.name.empty()) component.name = std::string(toText(component.kind));
        const std::string base = component.name;
        for (int number = 2; hasChild(**host, component.name); ++number) {
            component.name = fmt::format("{}{}", base, number);
        }
        edit.subject = QObject::tr("Add %1").arg(described(component));
        (*host)->children.push_back(component);
        return {};
    });
    return finish(std::move(edit), std::move(after));
}

Expected<Edit> removeComponentEdit(const ProjectState& state, int hardware, const ComponentPath& path) {
    if (path.empty()) {
        return fail("document.root", "the system itself cannot be removed", {}, "remove the design from the project");
    }
    Edit edit;
    Expected<ProjectState> after = withDesign(state, hardware, [&](Hardware& design) -> Expected<void> {
        Expected<Component*> component = componentOf(design, path);
        if (!component) return Unexpected(component.error());
        edit.subject = QObject::tr("Remove %1").arg(described(**component));
        Component* parent = componentAt(design.root, ComponentPath(path.begin(), path.end() - 1));
        parent->children.erase(parent->children.begin() + path.back());
        return {};
    });
    return finish(std::move(edit), std::move(after));
}

Expected<Edit> moveComponentEdit(const ProjectState& state, int hardware, const ComponentPath& path,
                                 const ComponentPath& parent, int index) {
    if (path.empty() || isPrefix(path, parent)) {
        return fail("document.move", "a component cannot be moved into itself", "a place outside of it");
    }
    Edit edit;
    Expected<ProjectState> after = withDesign(state, hardware, [&](Hardware& design) -> Expected<void> {
        Expected<Component*> component = componentOf(design, path);
        Expected<Component*> host = componentOf(design, parent);
        if (!component) return Unexpected(component.error());
        if (!host) return Unexpected(host.error());
        if (Expected<void> may = mayStand(**host, **component); !may) return may;
        const ComponentPath oldParent(path.begin(), path.end() - 1);
        if (oldParent != parent && hasChild(**host, (*component)->name)) {
            return fail("hardware.duplicate-name",
                        fmt::format("{} already has a {}", (*host)->name, (*component)->name),
                        "a name that no sibling has", "rename it first");
        }
        edit.subject = QObject::tr("Move %1 to %2").arg(described(**component), QString::fromStdString((*host)->name));
        Component moved = **component;
        int place = std::clamp(index < 0 ? static_cast<int>((*host)->children.size()) : index, 0,
                               static_cast<int>((*host)->children.size()));
        // Inserting first keeps the host's address valid only if the host is not moved by the erasure, so the old place
        // is looked up again by path, corrected where the insertion shifted it.
        (*host)->children.insert((*host)->children.begin() + place, std::move(moved));
        ComponentPath old = path;
        if (old.size() > parent.size() && isPrefix(parent, old) && old[parent.size()] >= place) ++old[parent.size()];
        Component* from = componentAt(design.root, ComponentPath(old.begin(), old.end() - 1));
        from->children.erase(from->children.begin() + old.back());
        return {};
    });
    return finish(std::move(edit), std::move(after));
}

}  // namespace orrery::app
