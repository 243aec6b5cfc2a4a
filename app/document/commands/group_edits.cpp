// Edits that keep the picture: copies beside the originals, containers around or away, topologies written out.

#include "app/document/commands/component_edits.h"
#include "app/document/commands/placement_keys.h"
#include "app/document/commands/tree_change.h"
#include "hardware/network/topology.h"
#include "hardware/walk.h"
#include "widgets/canvas/scene.h"

#include <algorithm>

namespace orrery::app {

namespace {

constexpr double toContentsX = ui::contentMargin;
constexpr double toContentsY = ui::headerHeight + ui::contentMargin;

QString nameAt(const Component& root, const ComponentPath& path) {
    const Component* found = componentAt(root, path);
    return found ? QString::fromStdString(std::string(nameOf(*found))) : QString();
}

}  // namespace

Expected<Edit> duplicateComponentsEdit(const ProjectState& state, int hardware, const ComponentPaths& paths, double dx,
                                       double dy) {
    const Expected<QString> what = described(state, hardware, paths);
    if (!what) return Unexpected(what.error());
    const ComponentPaths tops = topmost(paths);
    Expected<Edit> edit = treeChange(
        state, hardware, [&](const Hardware& design) { return duplicated(design, paths); },
        [&](const TreeEdit& done, ui::Placements& placements) {
            const PlacesByPath places = placesByPath(done.design.root, placements);
            std::vector<ui::PlacedAt> copies;
            for (std::size_t i = 0; i < tops.size() && i < done.made.size(); ++i) {
                const auto original = done.moved(tops[i]);
                if (!original) continue;
                for (auto at = places.lower_bound(*original); at != places.end() && isInside(at->first, *original);
                     ++at) {
                    ComponentPath path = done.made[i];
                    path.insert(path.end(), at->first.begin() + static_cast<std::ptrdiff_t>(original->size()),
                                at->first.end());
                    ui::Placement copy = at->second;
                    if (at->first == *original && copy.placed) {
                        copy.x += dx;
                        copy.y += dy;
                    }
                    copies.push_back({std::move(path), copy});
                }
            }
            place(placements, done.design.root, copies);
        });
    if (edit) edit->subject = QObject::tr("Duplicate %1").arg(*what);
    return edit;
}

Expected<Edit> groupComponentsEdit(const ProjectState& state, int hardware, const ComponentPaths& paths,
                                   ComponentKind kind, const QString& name) {
    const Expected<QString> what = described(state, hardware, paths);
    if (!what) return Unexpected(what.error());
    QString group;
    Expected<Edit> edit = treeChange(
        state, hardware,
        [&](const Hardware& design) { return grouped(design, paths, kind, name.trimmed().toStdString()); },
        [&](const TreeEdit& done, ui::Placements& placements) {
            group = nameAt(done.design.root, done.made.front());
            const PlacesByPath places = placesByPath(done.design.root, placements);
            std::vector<ui::PlacedAt> inside;
            bool all = true;
            for (const ComponentPath& path : topmost(paths)) {
                const auto now = done.moved(path);
                if (!now || componentAt(done.design.root, *now)->kind == ComponentKind::Link) continue;
                const auto at = places.find(*now);
                all = all && at != places.end() && at->second.placed;
                if (all) inside.push_back({*now, at->second});
            }
            if (!all || inside.empty()) return;
            double left = inside.front().at.x, top = inside.front().at.y;
            for (const ui::PlacedAt& each : inside) {
                left = std::min(left, each.at.x);
                top = std::min(top, each.at.y);
            }
            for (ui::PlacedAt& each : inside) {
                each.at.x -= left;
                each.at.y -= top;
            }
            ui::Placement around;
            around.x = left - toContentsX;
            around.y = top - toContentsY;
            inside.push_back({done.made.front(), around});
            place(placements, done.design.root, inside);
        });
    if (edit) edit->subject = QObject::tr("Group %1 into %2").arg(*what, group);
    return edit;
}

Expected<Edit> ungroupComponentEdit(const ProjectState& state, int hardware, const ComponentPath& path) {
    const Expected<QString> what = described(state, hardware, {path});
    if (!what) return Unexpected(what.error());
    const Hardware& before = *state.hardware[static_cast<std::size_t>(hardware)];
    const ui::PlacementsPtr old = state.placementsOf(hardware);
    const ui::Placement* group = old->find(ui::placementKey(before.root, path));
    Expected<Edit> edit = treeChange(
        state, hardware, [&](const Hardware& design) { return ungrouped(design, path); },
        [&](const TreeEdit& done, ui::Placements& placements) {
            const PlacesByPath places = placesByPath(done.design.root, placements);
            std::vector<ui::PlacedAt> out;
            for (const ComponentPath& child : done.made) {
                const auto at = places.find(child);
                if (at == places.end()) continue;
                ui::Placement now = at->second;
                now.placed = now.placed && group && group->placed;
                now.x = now.placed ? now.x + group->x + toContentsX : 0;
                now.y = now.placed ? now.y + group->y + toContentsY : 0;
                out.push_back({child, now});
            }
            place(placements, done.design.root, out);
        });
    if (edit) edit->subject = QObject::tr("Ungroup %1").arg(*what);
    return edit;
}

Expected<Edit> replaceByPartsEdit(const ProjectState& state, int hardware, const ComponentPath& topology) {
    const Expected<QString> what = described(state, hardware, {topology});
    if (!what) return Unexpected(what.error());
    Expected<Edit> edit = treeChange(state, hardware, [&](const Hardware& design) -> Expected<TreeEdit> {
        Expected<Hardware> parts = replaceByParts(design, topology);
        if (!parts) return Unexpected(parts.error());
        // Siblings that stay a single component keep their names, and so their places.
        const ComponentPath parent(topology.begin(), topology.end() - 1);
        const auto after = std::make_shared<const Component>(parts->root);
        const Component before = *componentAt(design.root, parent);
        TreeEdit done{std::move(*parts), {}, {}};
        done.moved = [after, before, parent](const ComponentPath& path) -> std::optional<ComponentPath> {
            if (!isInside(path, parent) || path == parent) return path;
            const auto siblings = partsIn(*componentAt(*after, parent));
            const std::string_view name = nameOf(partsIn(before)[static_cast<std::size_t>(path[parent.size()])]);
            const auto now = std::ranges::find(siblings, name, [](const Component& each) { return nameOf(each); });
            if (now == siblings.end()) return std::nullopt;
            ComponentPath to = path;
            to[parent.size()] = static_cast<int>(now - siblings.begin());
            return to;
        };
        return done;
    });
    if (edit) edit->subject = QObject::tr("Replace %1 by its parts").arg(*what);
    return edit;
}

}  // namespace orrery::app
