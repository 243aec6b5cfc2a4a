#include "app/document/commands/layout_edits.h"

#include "app/document/commands/placement_keys.h"
#include "widgets/canvas/free_place.h"

#include <algorithm>
#include <cmath>

namespace orrery::app {
namespace {

Expected<HardwarePtr> designOf(const ProjectState& state, int hardware) {
    if (hardware >= 0 && hardware < static_cast<int>(state.hardware.size())) {
        return state.hardware[static_cast<std::size_t>(hardware)];
    }
    return fail("document.no-hardware", "the project has no hardware to edit", "an open design",
                "choose a device in the library");
}

/// What stands on the component's own card.
QSizeF cardOf(const Component& component) {
    Component alone;
    alone.name = component.name;
    alone.kind = component.kind;
    alone.count = component.count;
    alone.mesh = component.mesh;
    alone.attributes = component.attributes;
    return ui::Scene::naturalSize(alone);
}

bool grows(const Hardware& before, const Hardware& after, const ComponentPath& path) {
    const Component *was = componentAt(before.root, path), *is = componentAt(after.root, path);
    if (!was || !is) return false;
    const QSizeF then = cardOf(*was), now = cardOf(*is);
    return now.width() > then.width() || now.height() > then.height();
}

}  // namespace

Expected<Edit> arrangeEdit(const ProjectState& state, int hardware, const QString& words,
                           const std::vector<ui::PlacedAt>& places) {
    const Expected<HardwarePtr> design = designOf(state, hardware);
    if (!design) return Unexpected(design.error());
    for (const ui::PlacedAt& each : places) {
        if (!componentAt((*design)->root, each.path)) {
            return fail("document.no-component", "the component is no longer in the design",
                        "a component of " + (*design)->name, "select it again");
        }
        const ui::Placement& at = each.at;
        if (!std::isfinite(at.x + at.y + at.width + at.height) || at.width < 0 || at.height < 0) {
            return fail("document.place", "this is no place on the canvas", "finite numbers, no negative size");
        }
    }
    ui::Placements placements = *state.placementsOf(hardware);
    place(placements, (*design)->root, places);
    Edit edit{state, words, {}, {}, {}};
    edit.after.setPlacements(hardware, std::move(placements));
    edit.target = QStringLiteral("layout %1 %2").arg(hardware).arg(words);
    return edit;
}

Expected<Edit> arrangeAutomaticallyEdit(const ProjectState& state, int hardware, const ComponentPath& parent) {
    const Expected<HardwarePtr> design = designOf(state, hardware);
    if (!design) return Unexpected(design.error());
    const Component* inside = componentAt((*design)->root, parent);
    if (!inside) return fail("document.no-component", "the component is no longer in the design");
    ui::Placements placements = *state.placementsOf(hardware);
    std::string prefix = ui::placementKey((*design)->root, parent);
    if (!prefix.empty()) prefix += '/';
    for (auto at = placements.at.lower_bound(prefix); at != placements.at.end() && at->first.starts_with(prefix);) {
        const ui::Placement kept{.folded = at->second.folded, .expanded = at->second.expanded, .placed = false};
        if (kept.folded || kept.expanded) {
            placements.at.assign(at, kept);
            ++at;
        } else {
            at = placements.at.erase(at);
        }
    }
    Edit edit{state,
              QObject::tr("Arrange %1 automatically")
                  .arg(QString::fromUtf8(nameOf(*inside).data(), static_cast<qsizetype>(nameOf(*inside).size()))),
              {},
              {},
              {}};
    edit.after.setPlacements(hardware, std::move(placements));
    return edit;
}

Edit withRoom(const ProjectState& before, int hardware, const ComponentPaths& paths, Edit edit) {
    const HardwarePtr &was = before.hardware[static_cast<std::size_t>(hardware)],
                      &is = edit.after.hardware[static_cast<std::size_t>(hardware)];
    if (before.placementsOf(hardware)->at.empty()) return edit;  // all is laid out by itself
    ComponentPaths grown;
    std::copy_if(paths.begin(), paths.end(), std::back_inserter(grown),
                 [&](const ComponentPath& path) { return grows(*was, *is, path); });
    if (grown.empty()) return edit;
    ui::Scene then;
    then.setDesign(was, before.placementsOf(hardware));
    if (then.nodes().size() > ui::mostForRoom) return edit;
    for (const ComponentPath& path : grown) {
        ui::Scene now;
        now.setDesign(is, edit.after.placementsOf(hardware));
        const std::vector<ui::PlacedAt> pushed = ui::pushedAside(then, now, path);
        if (pushed.empty()) continue;
        ui::Placements placements = *edit.after.placementsOf(hardware);
        place(placements, is->root, pushed);
        edit.after.setPlacements(hardware, std::move(placements));
    }
    return edit;
}

}  // namespace orrery::app
