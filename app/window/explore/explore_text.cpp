#include "app/window/explore/explore_text.h"

#include "study/exploration/quantity.h"
#include "widgets/common/text.h"
#include "widgets/common/units_text.h"

#include <QCoreApplication>

#include <array>
#include <cmath>

namespace orrery::app {

namespace {

constexpr std::array<QuantityName, 9> names{{
    {"time", QT_TRANSLATE_NOOP("ExploreText", "Time")},
    {"energy", QT_TRANSLATE_NOOP("ExploreText", "Energy")},
    {"power", QT_TRANSLATE_NOOP("ExploreText", "Power")},
    {"memory", QT_TRANSLATE_NOOP("ExploreText", "Memory of a device")},
    {"devices", QT_TRANSLATE_NOOP("ExploreText", "Devices")},
    {"cost", QT_TRANSLATE_NOOP("ExploreText", "Cost of a run")},
    {"area", QT_TRANSLATE_NOOP("ExploreText", "Silicon area")},
    {"price", QT_TRANSLATE_NOOP("ExploreText", "Price of dies and memory")},
    {"capacity", QT_TRANSLATE_NOOP("ExploreText", "Capacity under the SLO")},
}};

bool inDollars(const std::string& quantity) {
    return quantity == "cost" || quantity == "price";
}

}  // namespace

std::span<const QuantityName> quantityNames() {
    return names;
}

QString objectiveText(const std::string& objective) {
    const auto read = readObjective(objective);
    if (!read) return ui::qs(objective);
    for (const QuantityName& each : names)
        if (read->quantity == each.id) return QCoreApplication::translate("ExploreText", each.name);
    return ui::qs(read->quantity);
}

AxisUnit unitOf(Dimension dimension, const std::string& quantity) {
    switch (dimension) {
        case Dimension::Time:
            return {1, {}, ui::TickText::Seconds};
        case Dimension::Fraction:
            return {1, {}, ui::TickText::Percent};
        case Dimension::Area:
            return {1e6, QStringLiteral("mm²")};
        case Dimension::Energy:
            return {1, QStringLiteral("J")};
        case Dimension::Power:
            return {1, QStringLiteral("W")};
        case Dimension::Data:
            return {1e-9, QStringLiteral("GB")};
        default:
            return {1, inDollars(quantity)      ? QStringLiteral("$")
                       : quantity == "capacity" ? QStringLiteral("request/s")
                                                : QString()};
    }
}

QString axisName(Dimension dimension, const std::string& quantity) {
    const QString unit = unitOf(dimension, quantity).unit;
    return objectiveText(quantity) + (unit.isEmpty() ? QString() : QStringLiteral(", ") + unit);
}

QString valueText(double value, Dimension dimension, const std::string& quantity) {
    if (!std::isfinite(value)) return QStringLiteral("–");
    if (quantity == "capacity") return QStringLiteral("%1 request/s").arg(value, 0, 'g', 4);
    if (inDollars(quantity)) return QStringLiteral("$%1").arg(value, 0, 'g', 4);
    if (dimension == Dimension::Number) return QString::number(value, 'g', 4);
    return ui::text(value, dimension);
}

}  // namespace orrery::app
