#include "base/text/nearest.h"
#include "base/text/words.h"
#include "hardware/component.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery {
namespace {

struct Found {
    ComponentPath path;
    std::vector<const Component*> trail;  // from the root to the component
};

// A name as it is asked for, and in lower case: every component of a design is compared with it.
struct Wanted {
    std::string_view name;
    std::string folded;
};

bool isFolded(std::string_view text, std::string_view folded) {
    return std::ranges::equal(text, folded, {}, [](char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; });
}

// How well one name fits a component: 3 exact, 2 apart from case, 1 by kind (`tensor` for a tensor_unit).
int fit(const Component& component, const Wanted& wanted) {
    const std::string_view name = nameOf(component);
    if (name == wanted.name) return 3;
    if (isFolded(name, wanted.folded)) return 2;
    const std::string_view kind = toText(component.kind);
    if (!kind.starts_with(wanted.folded)) return 0;
    return kind.size() == wanted.folded.size() || kind[wanted.folded.size()] == '_' ? 1 : 0;
}

// The names fit the end of the trail; with gaps, each earlier name fits some ancestor in order.
int fitTrail(const std::vector<const Component*>& trail, const std::vector<Wanted>& names, bool gaps) {
    int worst = 3;
    auto at = static_cast<std::ptrdiff_t>(trail.size()) - 1;
    for (auto i = static_cast<std::ptrdiff_t>(names.size()) - 1; i >= 0; --i, --at) {
        const bool last = i + 1 == static_cast<std::ptrdiff_t>(names.size());
        while (at >= 0 && fit(*trail[at], names[i]) == 0 && gaps && !last) --at;
        if (at < 0) return 0;
        const int here = fit(*trail[at], names[i]);
        if (here == 0) return 0;
        worst = std::min(worst, here);
    }
    return worst;
}

void walk(const Component& component, Found& here, const auto& visit) {
    here.trail.push_back(&component);
    visit(here);
    for (std::size_t i = 0; i < component.children.size(); ++i) {
        here.path.push_back(static_cast<int>(i));
        walk(component.children[i], here, visit);
        here.path.pop_back();
    }
    here.trail.pop_back();
}

}  // namespace

const Component* componentAt(const Component& root, const ComponentPath& path) {
    const Component* at = &root;
    for (const int index : path) {
        if (index < 0 || index >= static_cast<int>(at->children.size())) return nullptr;
        at = &at->children[static_cast<std::size_t>(index)];
    }
    return at;
}
Component* componentAt(Component& root, const ComponentPath& path) {
    return const_cast<Component*>(componentAt(static_cast<const Component&>(root), path));
}

std::string pathText(const Component& root, const ComponentPath& path) {
    std::string text(nameOf(root));
    const Component* at = &root;
    for (const int index : path) {
        if (index < 0 || index >= static_cast<int>(at->children.size())) return text;
        at = &at->children[static_cast<std::size_t>(index)];
        text += "/" + std::string(nameOf(*at));
    }
    return text;
}

Expected<ComponentPath> findComponent(const Component& root, std::string_view names) {
    std::vector<Wanted> wanted;
    for (const std::string_view name : split(names, '/'))
        if (!name.empty()) wanted.push_back({name, lower(name)});
    if (wanted.empty()) return ComponentPath{};
    std::vector<ComponentPath> best;
    for (const bool gaps : {false, true}) {
        int bestFit = 1;
        Found start;
        walk(root, start, [&](const Found& found) {
            const int here = fitTrail(found.trail, wanted, gaps);
            if (here < bestFit) return;
            if (here > bestFit) best.clear();
            bestFit = here;
            best.push_back(found.path);
        });
        if (!best.empty()) break;
    }
    if (best.size() == 1) return best.front();
    if (best.empty()) {
        std::vector<std::string> known;
        Found start;
        walk(root, start, [&](const Found& found) { known.emplace_back(nameOf(*found.trail.back())); });
        std::string hint = didYouMean(wanted.back().name, known);
        if (hint.empty()) {
            std::sort(known.begin(), known.end());
            known.erase(std::unique(known.begin(), known.end()), known.end());
            if (known.size() > 12) known.resize(12);
            hint = "there are " + quotedList(known, "and");
        }
        return fail("hardware.no-component", fmt::format("there is no component `{}`", names),
                    "a component's name, or names joined by slashes such as `sm/smem`", std::move(hint));
    }
    std::vector<std::string> places;
    for (const ComponentPath& path : best) {
        if (places.size() < 6) places.push_back(pathText(root, path));
    }
    return fail("hardware.ambiguous-component", fmt::format("`{}` fits {} components", names, best.size()),
                "the name of one component", "name it in full: " + quotedList(places, "or"));
}

}  // namespace orrery
