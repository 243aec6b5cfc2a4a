#include "app/document/commands/tree_change.h"

#include "app/document/commands/placement_keys.h"

#include <algorithm>

namespace orrery::app {

Expected<Edit> treeChange(const ProjectState& state, int hardware,
                          const std::function<Expected<TreeEdit>(const Hardware&)>& change,
                          const std::function<void(const TreeEdit&, ui::Placements&)>& adjust) {
    if (hardware < 0 || hardware >= static_cast<int>(state.hardware.size())) {
        return fail("document.no-hardware", "the project has no hardware to edit", "an open design",
                    "choose a device in the library");
    }
    const Hardware& before = *state.hardware[static_cast<std::size_t>(hardware)];
    Expected<TreeEdit> done = change(before);
    if (!done) return Unexpected(done.error());
    ui::Placements placements = followed(*state.placementsOf(hardware), before.root, *done);
    if (adjust) adjust(*done, placements);
    Edit edit{state, {}, {}, {}, {}};
    edit.made = std::move(done->made);
    edit.after.hardware[static_cast<std::size_t>(hardware)] = std::make_shared<const Hardware>(std::move(done->design));
    edit.after.setPlacements(hardware, std::move(placements));
    return edit;
}

QString described(const std::vector<const Component*>& components) {
    if (components.size() == 1) {
        return QStringLiteral("%1 %2").arg(
            QString::fromStdString(std::string(label(components.front()->kind))).toLower(),
            QString::fromStdString(std::string(nameOf(*components.front()))));
    }
    return QObject::tr("%1 components").arg(components.size());
}

Expected<QString> described(const ProjectState& state, int hardware, const ComponentPaths& paths) {
    if (hardware < 0 || hardware >= static_cast<int>(state.hardware.size())) {
        return fail("document.no-hardware", "the project has no hardware to edit", "an open design",
                    "choose a device in the library");
    }
    const Hardware& design = *state.hardware[static_cast<std::size_t>(hardware)];
    std::vector<const Component*> found;
    for (const ComponentPath& path : topmost(paths)) {
        found.push_back(componentAt(design.root, path));
        if (!found.back()) {
            return fail("document.no-component", "the component is no longer in the design",
                        "a component of " + design.name, "select it again in the tree");
        }
    }
    if (found.empty()) return fail("document.nothing", "nothing is selected", "one component or more");
    return described(found);
}

}  // namespace orrery::app
