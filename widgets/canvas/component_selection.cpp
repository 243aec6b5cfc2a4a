#include "widgets/canvas/component_selection.h"

#include <algorithm>
#include <set>

namespace orrery::ui {

bool ComponentSelection::contains(const ComponentPath& path) const {
    return std::ranges::find(paths_, path) != paths_.end();
}

void ComponentSelection::select(std::vector<ComponentPath> paths) {
    // Select all on a large design names tens of thousands.
    std::set<ComponentPath> seen;
    std::vector<ComponentPath> once;
    for (ComponentPath& path : paths) {
        if (seen.insert(path).second) once.push_back(std::move(path));
    }
    if (once == paths_) return;
    paths_ = std::move(once);
    emit changed();
}

void ComponentSelection::toggle(const ComponentPath& path) {
    std::vector<ComponentPath> next = paths_;
    if (std::erase(next, path) == 0) next.push_back(path);
    select(std::move(next));
}

}  // namespace orrery::ui
