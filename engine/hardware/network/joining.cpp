#include "hardware/network/joining.h"

#include <algorithm>

namespace orrery {

std::vector<ComponentPath> joining(const Component& root, const ComponentPath& a, const ComponentPath& b,
                                   ComponentKind kind) {
    std::vector<ComponentPath> found;
    const auto shared = std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin();
    for (std::ptrdiff_t depth = 0; depth <= shared; ++depth) {
        const ComponentPath above(a.begin(), a.begin() + depth);
        const Component* component = componentAt(root, above);
        if (!component) break;
        for (std::size_t i = 0; i < component->children.size(); ++i) {
            if (component->children[i].kind != kind) continue;
            found.push_back(above);
            found.back().push_back(static_cast<int>(i));
        }
    }
    return found;
}

std::optional<ComponentPath> nearestJoining(const Component& root, const ComponentPath& a, const ComponentPath& b,
                                            ComponentKind kind) {
    const auto all = joining(root, a, b, kind);
    if (all.empty()) return std::nullopt;
    return *std::ranges::find(all, all.back().size(), &ComponentPath::size);
}

namespace {

void collectTopologies(const Component& component, ComponentPath& path, std::vector<ComponentPath>& out) {
    for (std::size_t i = 0; i < component.children.size(); ++i) {
        path.push_back(static_cast<int>(i));
        if (component.children[i].kind == ComponentKind::Topology)
            out.push_back(path);
        else
            collectTopologies(component.children[i], path, out);
        path.pop_back();
    }
}

}  // namespace

std::vector<ComponentPath> topologiesOf(const Component& root) {
    std::vector<ComponentPath> out;
    ComponentPath path;
    collectTopologies(root, path, out);
    return out;
}

}  // namespace orrery
