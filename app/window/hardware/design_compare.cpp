#include "app/window/hardware/design_compare.h"

#include "hardware/walk.h"
#include "widgets/common/theme.h"

#include <map>

namespace orrery::app {

std::optional<ComponentPath> sameName(const Component& from, const ComponentPath& path, const Component& to) {
    const Component* there = &from;
    const Component* here = &to;
    ComponentPath found;
    for (const int step : path) {
        if (step < 0 || step >= static_cast<int>(partsIn(*there).size())) return std::nullopt;
        there = &partsIn(*there)[static_cast<std::size_t>(step)];
        int at = -1;
        for (int child = 0; child < static_cast<int>(partsIn(*here).size()) && at < 0; ++child) {
            if (nameOf(partsIn(*here)[static_cast<std::size_t>(child)]) == nameOf(*there)) at = child;
        }
        if (at < 0) return std::nullopt;
        found.push_back(at);
        here = &partsIn(*here)[static_cast<std::size_t>(at)];
    }
    return found;
}

std::vector<ui::CanvasView::Mark> marksOf(const Hardware& before, const Hardware& after,
                                          const std::vector<Difference>& differences, bool ofBefore) {
    const auto& colours = ui::Theme::instance().colours();
    std::map<ComponentPath, ui::CanvasView::Mark> marks;
    for (const Difference& difference : differences) {
        const auto& path = ofBefore ? difference.before : difference.after;
        if (!path) continue;
        const QColor colour = difference.what == Difference::What::Added     ? colours.good
                              : difference.what == Difference::What::Removed ? colours.bad
                                                                             : colours.warning;
        auto [at, fresh] = marks.try_emplace(*path, ui::CanvasView::Mark{*path, {}, colour});
        if (!fresh) at->second.text += QLatin1Char('\n');
        at->second.text += QString::fromStdString(toText(before.root, after.root, difference));
    }
    std::vector<ui::CanvasView::Mark> all;
    for (auto& [path, mark] : marks) all.push_back(std::move(mark));
    return all;
}

}  // namespace orrery::app
