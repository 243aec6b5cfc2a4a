#include "widgets/common/component_text.h"

#include "hardware/attributes.h"
#include "widgets/common/text.h"

namespace orrery::ui {
namespace {

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

QString keyNumbers(const Component& component) {
    return numbersOf(component).mid(0, 3).join(QStringLiteral(" · "));
}

}  // namespace orrery::ui
