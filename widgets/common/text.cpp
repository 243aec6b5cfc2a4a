#include "widgets/common/text.h"

#include <QCoreApplication>

#include <cmath>

namespace orrery::ui {

QString measureText(double si, bool perCycle, Dimension dimension, bool binary, int digits) {
    if (!perCycle) return qs(binary ? formatBinary(si, dimension, digits) : formatMeasure(si, dimension, digits));
    const QString number = QString::number(si, 'g', digits == 0 ? 17 : std::max(digits, 6));
    switch (dimension) {
        case Dimension::Time:
            return number + QStringLiteral(" cycles");
        case Dimension::DataRate:
            return number + QStringLiteral(" B/cycle");
        default:
            return number + QStringLiteral("/cycle");
    }
}

QString measureText(const Measure& measure, Dimension dimension) {
    return measure.spelling.empty() ? measureText(measure.si, measure.perCycle, dimension) : qs(measure.spelling);
}

bool isBinary(const QString& spelling) {
    return spelling.contains(QStringLiteral("iB"));
}

QString fullText(double si, Dimension dimension) {
    const QString exact = QString::number(si, 'g', 10);
    const QString unit = qs(baseUnit(dimension));
    return QStringLiteral("%1 (%2%3%4)")
        .arg(qs(formatMeasure(si, dimension, 3)), exact, unit.isEmpty() ? QString() : QStringLiteral(" "), unit);
}

QString durationText(double seconds) {
    if (!(seconds >= 0) || !std::isfinite(seconds)) return {};
    if (seconds < 0.001) return QCoreApplication::translate("orrery", "less than 1 ms");
    if (seconds < 100) return qs(formatMeasure(seconds, Dimension::Time, 2));
    const auto whole = static_cast<long long>(std::llround(seconds));
    if (whole < 3600) return QCoreApplication::translate("orrery", "%1 min %2 s").arg(whole / 60).arg(whole % 60);
    return QCoreApplication::translate("orrery", "%1 h %2 min").arg(whole / 3600).arg(whole / 60 % 60);
}

}  // namespace orrery::ui
