#include "app/document/commands/component_edits.h"

#include "app/document/commands/layout_edits.h"
#include "app/document/commands/placement_keys.h"
#include "app/document/commands/tree_change.h"
#include "hardware/walk.h"

#include <algorithm>
#include <map>

namespace orrery::app {

namespace {

QString nameAt(const ProjectState& state, int hardware, const ComponentPath& path) {
    const Component* found = componentAt(state.hardware[static_cast<std::size_t>(hardware)]->root, path);
    return found ? QString::fromStdString(std::string(nameOf(*found))) : QString();
}

/// The places of siblings as they stand, by their new paths.
std::vector<ui::PlacedAt> moved(const std::vector<ui::PlacedAt>& frozen, const TreeEdit& edit) {
    std::vector<ui::PlacedAt> now;
    for (const ui::PlacedAt& each : frozen) {
        if (auto path = edit.moved(each.path)) now.push_back({std::move(*path), each.at});
    }
    return now;
}

void renameSources(Component& part, const std::map<std::string, std::string>& renamed) {
    const auto follow = [&renamed](std::string& key) {
        if (const auto now = renamed.find(key); now != renamed.end()) key = now->second;
    };
    for (Attribute& attribute : part.attributes) {
        follow(attribute.source);
        auto* text = std::get_if<std::string>(&attribute.value);
        if (text && attribute.name == "source") follow(*text);
    }
}

/// Takes the device's sources into the design; a short name that means another source there gets a free one.
void mergeSources(std::vector<Source>& sources, Hardware& device) {
    std::map<std::string, std::string> renamed;
    for (const Source& source : device.sources) {
        if (std::ranges::find(sources, source) != sources.end()) continue;
        const auto taken = [&](const std::string& key) {
            return std::ranges::any_of(sources, [&](const Source& other) { return other.key == key; });
        };
        const auto same = std::ranges::find(sources, source.text, &Source::text);
        std::string key = same != sources.end() ? same->key : source.key;
        if (same == sources.end()) {
            for (int number = 2; taken(key); ++number) key = source.key + '-' + std::to_string(number);
            sources.push_back({key, source.text});
        }
        if (key != source.key) renamed[source.key] = key;
    }
    changeAll(device.root, [&renamed](Component& part) { renameSources(part, renamed); });
}

}  // namespace

Expected<Edit> renameComponentEdit(const ProjectState& state, int hardware, const ComponentPath& path,
                                   const QString& name) {
    const Expected<QString> what = described(state, hardware, {path});
    if (!what) return Unexpected(what.error());
    const QString wanted = name.trimmed();
    Expected<Edit> edit = treeChange(
        state, hardware, [&](const Hardware& design) { return renamed(design, path, wanted.toStdString()); });
    if (!edit) return edit;
    edit->subject = QObject::tr("Rename %1").arg(*what);
    edit->to = wanted;
    return withRoom(state, hardware, {path}, std::move(*edit));
}

Expected<Edit> addComponentsEdit(const ProjectState& state, int hardware, const ComponentPath& parent,
                                 std::vector<Component> parts, const std::vector<ui::Placement>& places,
                                 const std::vector<ui::PlacedAt>& frozen) {
    for (Component& part : parts) {
        if (part.name.empty()) part.name = std::string(toText(part.kind));
    }
    QString what;
    Expected<Edit> edit = treeChange(
        state, hardware, [&](const Hardware& design) { return added(design, parent, std::move(parts)); },
        [&](const TreeEdit& done, ui::Placements& placements) {
            std::vector<ui::PlacedAt> all = moved(frozen, done);
            std::vector<const Component*> made;
            for (std::size_t i = 0; i < done.made.size(); ++i) {
                if (i < places.size()) all.push_back({done.made[i], places[i]});
                made.push_back(componentAt(done.design.root, done.made[i]));
            }
            place(placements, done.design.root, all);
            what = described(made);
        });
    if (edit) edit->subject = QObject::tr("Add %1").arg(what);
    return edit;
}

Expected<Edit> addDeviceEdit(const ProjectState& state, int hardware, const ComponentPath& parent, Hardware device,
                             const std::vector<ui::Placement>& places, const std::vector<ui::PlacedAt>& frozen) {
    std::vector<Source> sources;
    if (hardware >= 0 && hardware < static_cast<int>(state.hardware.size()))
        sources = state.hardware[static_cast<std::size_t>(hardware)]->sources;
    mergeSources(sources, device);
    Expected<Edit> edit = addComponentsEdit(state, hardware, parent, takeParts(std::move(device.root)), places, frozen);
    if (!edit) return edit;
    HardwarePtr& after = edit->after.hardware[static_cast<std::size_t>(hardware)];
    Hardware cited = *after;
    cited.sources = std::move(sources);
    after = std::make_shared<const Hardware>(std::move(cited));
    return edit;
}

Expected<Edit> addComponentEdit(const ProjectState& state, int hardware, const ComponentPath& parent,
                                Component component) {
    return addComponentsEdit(state, hardware, parent, {std::move(component)});
}

Expected<Edit> pasteComponentsEdit(const ProjectState& state, int hardware, const ComponentPath& parent,
                                   const QString& text, const std::vector<ui::Placement>& places) {
    Expected<std::vector<Component>> parts = readComponents(text.toStdString());
    if (!parts) return Unexpected(parts.error());
    Expected<Edit> edit = addComponentsEdit(state, hardware, parent, std::move(*parts), places);
    if (!edit) return edit;
    const Expected<QString> what = described(edit->after, hardware, edit->made);
    edit->subject = QObject::tr("Paste %1").arg(what ? *what : QString());
    return edit;
}

Expected<Edit> removeComponentsEdit(const ProjectState& state, int hardware, const ComponentPaths& paths) {
    const Expected<QString> what = described(state, hardware, paths);
    if (!what) return Unexpected(what.error());
    Expected<Edit> edit = treeChange(state, hardware, [&](const Hardware& design) { return removed(design, paths); });
    if (edit) edit->subject = QObject::tr("Remove %1").arg(*what);
    return edit;
}

Expected<Edit> removeComponentEdit(const ProjectState& state, int hardware, const ComponentPath& path) {
    return removeComponentsEdit(state, hardware, {path});
}

Expected<Edit> moveComponentsEdit(const ProjectState& state, int hardware, const ComponentPaths& paths,
                                  const ComponentPath& parent, int index, const std::vector<ui::Placement>& places,
                                  const std::vector<ui::PlacedAt>& frozen) {
    const Expected<QString> what = described(state, hardware, paths);
    if (!what) return Unexpected(what.error());
    Expected<Edit> edit = treeChange(
        state, hardware, [&](const Hardware& design) { return reparented(design, paths, parent, index); },
        [&](const TreeEdit& done, ui::Placements& placements) {
            std::vector<ui::PlacedAt> all = moved(frozen, done);
            for (const ComponentPath& path : topmost(paths)) {
                const auto now = done.moved(path);
                if (!now) continue;
                const auto given = static_cast<std::size_t>(std::ranges::find(paths, path) - paths.begin());
                if (given < places.size()) {
                    all.push_back({*now, places[given]});
                } else if (ComponentPath(path.begin(), path.end() - 1) != parent) {
                    // Its place counted from another origin.
                    const ui::Placement* old = placements.find(ui::placementKey(done.design.root, *now));
                    if (!old) continue;
                    ui::Placement free = *old;
                    free.placed = false;
                    free.x = free.y = 0;
                    all.push_back({*now, free});
                }
            }
            place(placements, done.design.root, all);
        });
    if (edit) edit->subject = QObject::tr("Move %1 to %2").arg(*what, nameAt(state, hardware, parent));
    return edit;
}

Expected<Edit> moveComponentEdit(const ProjectState& state, int hardware, const ComponentPath& path,
                                 const ComponentPath& parent, int index) {
    return moveComponentsEdit(state, hardware, {path}, parent, index);
}

Expected<Edit> linkComponentsEdit(const ProjectState& state, int hardware, const ComponentPath& from,
                                  const ComponentPath& to, const LinkPorts& ports) {
    Expected<Edit> edit =
        treeChange(state, hardware, [&](const Hardware& design) { return linked(design, from, to, ports); });
    if (edit) {
        edit->subject = QObject::tr("Link %1 to %2").arg(nameAt(state, hardware, from), nameAt(state, hardware, to));
    }
    return edit;
}

}  // namespace orrery::app
