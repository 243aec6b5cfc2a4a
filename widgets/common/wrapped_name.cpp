#include "widgets/common/wrapped_name.h"

#include <QFontMetrics>

#include <utility>

namespace orrery::ui {

QStringList namePieces(const QString& name) {
    QStringList pieces;
    QString piece;
    const QString text = name.simplified();
    for (qsizetype i = 0; i < text.size(); ++i) {
        piece += text[i];
        const bool inside = i + 1 < text.size() && !text[i + 1].isSpace();
        if (text[i].isSpace() || (inside && QStringLiteral("=,/").contains(text[i])))
            pieces << std::exchange(piece, {});
    }
    if (!piece.isEmpty()) pieces << piece;
    return pieces;
}

QStringList wrappedName(const QString& name, const QFontMetrics& metrics, int width, int most) {
    QStringList lines;
    for (const QString& piece : namePieces(name)) {
        const bool full = lines.isEmpty() || metrics.horizontalAdvance((lines.back() + piece).trimmed()) > width;
        // What no line is left for goes to the last one, where its end is cut visibly.
        if (full && lines.size() < most)
            lines << piece;
        else
            lines.back() += piece;
    }
    for (QString& line : lines) line = metrics.elidedText(line.trimmed(), Qt::ElideRight, width);
    return lines;
}

}  // namespace orrery::ui
