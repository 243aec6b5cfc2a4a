#include "widgets/common/wrapped_name.h"

#include <QFontMetrics>

namespace orrery::ui {

QStringList wrappedName(const QString& name, const QFontMetrics& metrics, int width, int most) {
    QStringList lines;
    for (const QString& word : name.split(QLatin1Char(' '), Qt::SkipEmptyParts)) {
        const QString longer = lines.isEmpty() ? word : lines.back() + QLatin1Char(' ') + word;
        const bool full = lines.isEmpty() || metrics.horizontalAdvance(longer) > width;
        // What no line is left for goes to the last one, where its end is cut visibly.
        if (full && lines.size() < most)
            lines << word;
        else
            lines.back() = longer;
    }
    for (QString& line : lines) line = metrics.elidedText(line, Qt::ElideRight, width);
    return lines;
}

}  // namespace orrery::ui
