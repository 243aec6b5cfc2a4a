#include "app/document/commands/placement_keys.h"

#include "hardware/walk.h"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <unordered_map>

namespace orrery::app {
namespace {

struct Wanted {
    const ComponentPath* path;
    std::string* key;
};

// `range` is sorted and shares its first `depth` indices.
void keysBelow(const Component& component, std::size_t depth, const std::string& prefix, std::span<Wanted> range) {
    std::unordered_map<std::string_view, int> ordinals;
    std::size_t counted = 0;
    while (!range.empty() && range.front().path->size() == depth) {
        *range.front().key = prefix;
        range = range.subspan(1);
    }
    while (!range.empty()) {
        const int index = (*range.front().path)[depth];
        std::size_t end = 1;
        while (end < range.size() && (*range[end].path)[depth] == index) ++end;
        if (index >= 0 && index < static_cast<int>(partsIn(component).size())) {
            for (; counted <= static_cast<std::size_t>(index); ++counted)
                ++ordinals[nameOf(partsIn(component)[counted])];
            const Component& child = partsIn(component)[static_cast<std::size_t>(index)];
            const std::string name = ui::placementName(nameOf(child), ordinals[nameOf(child)]);
            keysBelow(child, depth + 1, prefix.empty() ? name : prefix + "/" + name, range.first(end));
        }
        range = range.subspan(end);
    }
}

bool someBelow(const ui::Placements& placements, const std::string& prefix) {
    const auto at = placements.at.lower_bound(prefix);
    return at != placements.at.end() && at->first.starts_with(prefix);
}

void placesBelow(const Component& component, const ui::Placements& placements, const std::string& prefix,
                 ComponentPath& path, PlacesByPath& found) {
    if (partsIn(component).empty() || !someBelow(placements, prefix)) return;
    std::unordered_map<std::string_view, int> ordinals;
    for (std::size_t i = 0; i < partsIn(component).size(); ++i) {
        const Component& child = partsIn(component)[i];
        const std::string key = prefix + ui::placementName(nameOf(child), ++ordinals[nameOf(child)]);
        path.push_back(static_cast<int>(i));
        if (const ui::Placement* placement = placements.find(key)) found.emplace_hint(found.end(), path, *placement);
        placesBelow(child, placements, key + "/", path, found);
        path.pop_back();
    }
}

bool saysSomething(const ui::Placement& at) {
    return at.placed || at.folded || at.expanded || at.width > 0 || at.height > 0;
}

}  // namespace

bool isInside(const ComponentPath& path, const ComponentPath& outer) {
    return outer.size() <= path.size() && std::equal(outer.begin(), outer.end(), path.begin());
}

ComponentPaths topmost(ComponentPaths paths) {
    std::ranges::sort(paths);
    ComponentPaths tops;
    for (ComponentPath& path : paths) {
        if (tops.empty() || !isInside(path, tops.back())) tops.push_back(std::move(path));
    }
    return tops;
}

std::vector<std::string> placementKeys(const Component& root, const ComponentPaths& paths) {
    std::vector<std::string> keys(paths.size());
    std::vector<Wanted> wanted;
    wanted.reserve(paths.size());
    for (std::size_t i = 0; i < paths.size(); ++i) wanted.push_back({&paths[i], &keys[i]});
    std::ranges::sort(wanted, [](const Wanted& a, const Wanted& b) { return *a.path < *b.path; });
    keysBelow(root, 0, {}, wanted);
    return keys;
}

PlacesByPath placesByPath(const Component& root, const ui::Placements& placements) {
    PlacesByPath found;
    ComponentPath path;
    placesBelow(root, placements, {}, path, found);
    return found;
}

ui::Placements followed(const ui::Placements& placements, const Component& before, const TreeEdit& edit) {
    if (placements.at.empty()) return placements;
    ui::Placements after = placements;
    ComponentPaths was, is;
    std::vector<ui::Placement> places;
    for (auto& [path, placement] : placesByPath(before, placements)) {
        was.push_back(path);
        if (auto now = edit.moved(path)) {
            is.push_back(std::move(*now));
            places.push_back(placement);
        }
    }
    for (const std::string& key : placementKeys(before, was)) after.at.erase(key);
    const std::vector<std::string> keys = placementKeys(edit.design.root, is);
    for (std::size_t i = 0; i < keys.size(); ++i) after.at[keys[i]] = places[i];
    return after;
}

void place(ui::Placements& placements, const Component& root, const std::vector<ui::PlacedAt>& places) {
    ComponentPaths paths;
    for (const ui::PlacedAt& each : places) paths.push_back(each.path);
    const std::vector<std::string> keys = placementKeys(root, paths);
    for (std::size_t i = 0; i < keys.size(); ++i) {
        if (keys[i].empty()) continue;  // the root, or nothing
        if (saysSomething(places[i].at)) {
            placements.at[keys[i]] = places[i].at;
        } else {
            placements.at.erase(keys[i]);
        }
    }
}

}  // namespace orrery::app
