#include "app/window/dock_layouts.h"

#include <algorithm>

namespace orrery::app {

std::span<const LayoutPlan> layoutPlans() {
    using enum DockPlace::How;
    constexpr auto across = Qt::Horizontal, down = Qt::Vertical;
    static const std::vector<LayoutPlan> plans = {
        {Layout::Explore,
         "explore",
         QT_TRANSLATE_NOOP("Layouts", "&Explore"),
         QT_TRANSLATE_NOOP("Layouts", "Documents, library, inspector and results"),
         true,
         false,
         {{"library", Into, "left"},
          {"project", Below, "library"},
          {"parts", Behind, "library"},
          {"lesson", Behind, "library"},
          {"inspector", Into, "right"},
          {"methods", Behind, "inspector"},
          {"roofline", Into, "bottom"},
          {"comparison", Beside, "roofline"},
          {"timeline", Below, "roofline"},
          {"fidelity", Behind, "comparison"},
          {"why", Behind, "comparison"},
          {"breakdown", Behind, "comparison"},
          {"memory", Behind, "comparison"},
          {"operators", Behind, "comparison"},
          {"problems", Behind, "timeline"},
          {"jobs", Behind, "timeline"},
          {"log", Behind, "timeline"},
          {"history", Behind, "timeline"}},
         {{across, {{"library", 15}, {"inspector", 22}}},
          {down, {{"library", 62}, {"project", 30}}},
          {across, {{"roofline", 35}, {"comparison", 28}}},
          {down, {{"roofline", 32}, {"timeline", 17}}}}},
        {Layout::Teach,
         "teach",
         QT_TRANSLATE_NOOP("Layouts", "&Teach"),
         QT_TRANSLATE_NOOP("Layouts", "Large type and few panels, for presenting"),
         false,
         true,
         {{"inspector", Into, "right"},
          {"methods", Behind, "inspector"},
          {"lesson", Behind, "inspector"},
          {"roofline", Into, "bottom"},
          {"timeline", Below, "roofline"},
          {"why", Behind, "timeline"},
          {"breakdown", Behind, "timeline"},
          {"memory", Behind, "timeline"}},
         {{across, {{"inspector", 28}}}, {down, {{"roofline", 64}, {"timeline", 22}}}}},
        {Layout::Compare,
         "compare",
         QT_TRANSLATE_NOOP("Layouts", "&Compare"),
         QT_TRANSLATE_NOOP("Layouts", "Methods and operators side by side"),
         false,
         false,
         {{"inspector", Into, "right"},
          {"methods", Behind, "inspector"},
          {"lesson", Behind, "inspector"},
          {"comparison", Into, "bottom"},
          {"roofline", Beside, "comparison"},
          {"operators", Below, "comparison"},
          {"breakdown", Below, "roofline"},
          {"problems", Behind, "operators"},
          {"jobs", Behind, "operators"},
          {"log", Behind, "operators"},
          {"history", Behind, "operators"},
          {"why", Behind, "breakdown"},
          {"memory", Behind, "breakdown"},
          {"timeline", Behind, "breakdown"},
          {"fidelity", Behind, "breakdown"}},
         {{across, {{"inspector", 20}}},
          {across, {{"comparison", 44}, {"roofline", 36}}},
          {down, {{"comparison", 52}, {"operators", 32}}},
          {down, {{"roofline", 48}, {"breakdown", 34}}}}},
        {Layout::Draw,
         "draw",
         QT_TRANSLATE_NOOP("Layouts", "&Draw"),
         QT_TRANSLATE_NOOP("Layouts", "Room for the canvas, with palette, inspector and problems"),
         true,
         false,
         {{"parts", Into, "left"},
          {"library", Behind, "parts"},
          {"lesson", Behind, "parts"},
          {"inspector", Into, "right"},
          {"methods", Behind, "inspector"},
          {"problems", Into, "bottom"},
          {"roofline", Beside, "problems"},
          {"history", Behind, "problems"},
          {"jobs", Behind, "problems"},
          {"log", Behind, "problems"},
          {"comparison", Behind, "roofline"},
          {"timeline", Behind, "roofline"},
          {"breakdown", Behind, "roofline"}},
         {{across, {{"parts", 16}, {"inspector", 20}}}, {down, {{"problems", 24}, {"roofline", 24}}}}},
    };
    return plans;
}

const LayoutPlan& planOf(Layout layout) {
    return *std::ranges::find(layoutPlans(), layout, &LayoutPlan::layout);
}

QString toText(Layout layout) {
    return QLatin1String(planOf(layout).name);
}

std::optional<Layout> layoutOf(const QString& text) {
    for (const LayoutPlan& plan : layoutPlans()) {
        if (text == QLatin1String(plan.name)) return plan.layout;
    }
    return std::nullopt;
}

}  // namespace orrery::app
