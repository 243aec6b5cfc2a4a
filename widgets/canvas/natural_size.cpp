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

const Measure* measureOf(const Component& component, std::string_view name) {
    const Attribute* found = component.find(name);
    return found ? std::get_if<Measure>(&found->value) : nullptr;
}

std::string textOf(const Component& component, std::string_view name) {
    const Attribute* found = component.find(name);
    return found ? toText(found->value) : std::string{};
}

}  // namespace

QString copiesText(const Component& component) {
    QStringList sides;
    for (const std::int64_t side : component.mesh) sides << QString::number(side);
    QString text = sides.join(QStringLiteral(" × "));
    if (component.count != 1)
        text += (text.isEmpty() ? QStringLiteral("×%1") : QStringLiteral(" ×%1")).arg(component.count);
    return text;
}

QStringList numbersOf(const Component& component) {
    QStringList numbers;
    const auto add = [&](std::string_view name, Dimension dimension, const QString& pattern = QStringLiteral("%1")) {
        if (const Measure* measure = measureOf(component, name))
            numbers << pattern.arg(measureText(*measure, dimension));
    };
    if (component.kind == ComponentKind::Topology) {
        const std::string shape = textOf(component, "shape");
        if (!shape.empty()) numbers << qs(shape);
        const std::string dims = textOf(component, "dims");
        if (!dims.empty())
            numbers << qs(dims)
                           .remove(QLatin1Char('['))
                           .remove(QLatin1Char(']'))
                           .replace(QStringLiteral(", "), QStringLiteral(" × "));
        add("size", Dimension::Count, QStringLiteral("%1 ends"));
        add("radix", Dimension::Count, QStringLiteral("radix %1"));
        add("oversubscription", Dimension::Number, QStringLiteral("%1 : 1"));
        add("planes", Dimension::Count, QStringLiteral("%1 planes"));
    }
    add("capacity", Dimension::Data);
    add("bandwidth", Dimension::DataRate);
    for (const Attribute& attribute : component.attributes) {
        const auto* rows = std::get_if<std::vector<TableRow>>(&attribute.value);
        if (!rows || rows->empty()) continue;
        // The row that a person asks for first: bf16, else the first.
        const TableRow* shown = &rows->front();
        for (const TableRow& row : *rows) {
            if (row.key == "bf16") shown = &row;
        }
        numbers << qs(shown->key) + QLatin1Char(' ') + measureText(shown->value, Dimension::OperationRate);
    }
    add("lanes", Dimension::Count, QStringLiteral("%1 lanes"));
    add("width", Dimension::Data);
    add("clock", Dimension::Frequency);
    add("latency", Dimension::Time);
    add("ports", Dimension::Count, QStringLiteral("%1 ports"));
    add("power_cap", Dimension::Power);
    return numbers;
}

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
