#pragma once

// Quantities as QString, by the engine's one formatter.

#include "base/unit.h"

#include <QString>

#include <cmath>

namespace orrery::ui {

template <int T, int D, int W, int E>
QString text(Quantity<T, D, W, E> quantity, int digits = 3) {
    return QString::fromStdString(format(quantity, digits));
}
inline QString text(double si, Dimension dimension, int digits = 3) {
    return QString::fromStdString(formatMeasure(si, dimension, digits));
}
/// `80 GiB`, for capacities.
inline QString binaryText(Bytes bytes, int digits = 3) {
    return QString::fromStdString(formatBinary(bytes.value, Dimension::Data, digits));
}
/// A share of one in percent, with one decimal below ten: `42 %`, `3.1 %`, `< 0.1 %`.
inline QString percentText(double share) {
    const double percent = share * 100;
    if (percent > 0 && percent < 0.1) return QStringLiteral("< 0.1 %");
    return QString::number(percent, 'f', percent < 9.95 && percent > 0 ? 1 : 0) + QStringLiteral(" %");
}
/// A deviation in percent: `+12 %`, `−3.1 %`, `−0.04 %`; `0 %` for what rounds to nothing.
inline QString signedPercentText(double share) {
    const double percent = std::abs(share) * 100;
    if (!(percent >= 0.005)) return QStringLiteral("0 %");
    const int decimals = percent < 0.095 ? 2 : percent < 9.95 ? 1 : 0;
    return (share < 0 ? QStringLiteral("−") : QStringLiteral("+")) + QString::number(percent, 'f', decimals) +
           QStringLiteral(" %");
}
/// `1,234,567`, for exact counts; a dash for what is none.
inline QString countText(double number) {
    if (!std::isfinite(number)) return QStringLiteral("–");
    QString digits = QString::number(std::abs(number), 'f', 0);
    for (qsizetype at = digits.size() - 3; at > 0; at -= 3) digits.insert(at, QLatin1Char(','));
    return number < 0 && digits != QLatin1String("0") ? QStringLiteral("−") + digits : digits;
}

}  // namespace orrery::ui
