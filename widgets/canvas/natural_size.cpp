#include "widgets/canvas/natural_size.h"

#include "hardware/attributes.h"
#include "widgets/canvas/scene.h"
#include "widgets/common/text.h"
#include "widgets/common/units_text.h"

#include <algorithm>
#include <cmath>

namespace orrery::ui {
namespace {

constexpr double captionCharacter = 7.4;  // of 13 px semi-bold
constexpr double numberCharacter = 6.1;   // of 11 px
constexpr double glyphRoom = 28;
constexpr double numberLine = 16;
constexpr double widest = 240;

double onGrid(double length) {
    return std::ceil(length / gridStep) * gridStep;
}

}  // namespace

double headerWidth(const Component& component) {
    const auto name = static_cast<double>(qs(nameOf(component)).size());
    const auto copies = static_cast<double>(copiesText(component).size());
    return std::min(widest * 1.5,
                    glyphRoom + captionCharacter * name + (copies > 0 ? 16 + captionCharacter * copies : 0) + 12);
}

QSizeF gridSize(const Component& component) {
    if (component.kind != ComponentKind::Array || component.mesh.size() < 2) return {};
    const double columns = static_cast<double>(std::max<std::int64_t>(1, component.mesh[0]));
    const double rows = static_cast<double>(std::max<std::int64_t>(1, component.mesh[1]));
    const double cell = std::clamp(192 / std::max(columns, rows), 1.0, 16.0);
    return {onGrid(std::clamp(columns * cell, 24.0, 256.0)), onGrid(std::clamp(rows * cell, 24.0, 256.0))};
}

QPointF contentInset(const Component& component) {
    const QSizeF grid = gridSize(component);
    return {contentMargin + (grid.isEmpty() ? 0 : grid.width() + 2 * contentMargin), headerHeight + contentMargin};
}

QSizeF leafSize(const Component& component, bool expanded) {
    const QStringList numbers = numbersOf(component);
    double longest = 0;
    for (qsizetype i = 0; i < std::min<qsizetype>(numbers.size(), 3); ++i)
        longest = std::max(longest, static_cast<double>(numbers[i].size()) * numberCharacter + 20);
    const auto lines = static_cast<double>(std::min<qsizetype>(numbers.size(), 2));
    double width = std::clamp(std::max(headerWidth(component), longest), 96.0, widest);
    double height = headerHeight + (lines > 0 ? lines * numberLine + 8 : 8);
    if (const QSizeF grid = gridSize(component); !grid.isEmpty()) {
        width = std::max(width, grid.width() + 2 * contentMargin);
        height = headerHeight + contentMargin + grid.height() + contentMargin + (lines > 0 ? numberLine : 0);
    }
    if (component.kind == ComponentKind::Topology) {
        width = expanded ? 480 : std::max(width, 176.0);
        height = expanded ? 360 : std::max(height, 96.0);
    }
    return {onGrid(width), onGrid(height)};
}

}  // namespace orrery::ui
