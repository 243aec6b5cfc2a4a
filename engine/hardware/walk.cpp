#include "hardware/walk.h"

namespace orrery {

std::vector<ComponentPath> outermost(const Component& root, ComponentKind kind) {
    std::vector<ComponentPath> found;
    walk(root, [&](const Component& component, const ComponentPath& path) {
        if (component.kind == kind) found.push_back(path);
        return component.kind != kind;
    });
    return found;
}

}  // namespace orrery
