#include "widgets/canvas/paint_text.h"

#include "widgets/common/elided_facts.h"

#include <QFontMetricsF>
#include <QHash>
#include <QPainter>

#include <algorithm>
#include <cmath>

namespace orrery::ui {
namespace {

constexpr int mostRemembered = 20000;
constexpr double referenceSize = 16;

struct Fonts {
    QHash<int, QFont> bySize;
    QHash<int, double> ascents;
    QHash<QString, float> widths[2];
    QHash<QString, QString> elided;
    int look = -1;
};

Fonts& fonts() {
    thread_local Fonts known;
    if (const int look = Theme::instance().generation(); known.look != look) {
        known = {};
        known.look = look;
    }
    return known;
}

int keyOf(double pixels, bool strong) {
    return static_cast<int>(std::lround(pixels)) * 2 + (strong ? 1 : 0);
}

}  // namespace

const QFont& textFont(double pixels, bool strong) {
    Fonts& known = fonts();
    auto found = known.bySize.find(keyOf(pixels, strong));
    if (found == known.bySize.end()) {
        QFont font = Theme::instance().font(FontRole::Body);
        font.setPixelSize(static_cast<int>(std::max(1l, std::lround(pixels))));
        if (strong) font.setWeight(QFont::DemiBold);
        found = known.bySize.insert(keyOf(pixels, strong), font);
    }
    return found.value();
}

double textWidth(const QString& text, double pixels, bool strong) {
    auto& widths = fonts().widths[strong ? 1 : 0];
    auto found = widths.constFind(text);
    if (found == widths.constEnd()) {
        if (widths.size() > mostRemembered) widths.clear();
        found = widths.insert(
            text, static_cast<float>(QFontMetricsF(textFont(referenceSize, strong)).horizontalAdvance(text)));
    }
    // Hinting at small sizes makes text up to a few percent wider than in proportion.
    return *found * std::round(pixels) / referenceSize * 1.03;
}

QString fitted(const QString& text, double width, double pixels, bool strong) {
    if (text.isEmpty() || textWidth(text, pixels, strong) <= width) return text;
    if (width < pixels * 1.6) return {};
    auto& elided = fonts().elided;
    const QString key = QStringLiteral("%1|%2|%3").arg(static_cast<int>(width)).arg(keyOf(pixels, strong)).arg(text);
    auto found = elided.constFind(key);
    if (found == elided.constEnd()) {
        if (elided.size() > mostRemembered) elided.clear();
        found = elided.insert(key, elidedFacts(text, QFontMetricsF(textFont(pixels, strong)), std::floor(width)));
    }
    return found->size() < 2 || *found == QStringLiteral("…") ? QString() : *found;
}

double paintLine(QPainter& painter, const QRectF& box, const QString& text, double pixels, bool strong,
                 const QColor& ink, Qt::Alignment horizontal) {
    pixels = std::round(pixels);
    if (pixels < leastText || box.height() < pixels) return 0;
    const QString shown = fitted(text, box.width(), pixels, strong);
    if (shown.isEmpty()) return 0;
    const double width = std::min(box.width(), textWidth(shown, pixels, strong));
    const double x = horizontal & Qt::AlignRight     ? box.right() - width
                     : horizontal & Qt::AlignHCenter ? box.center().x() - width / 2
                                                     : box.left();
    painter.setFont(textFont(pixels, strong));
    painter.setPen(ink);
    // Capitals of Inter are 0.73 of its size high: they, not the line, stand in the middle.
    painter.drawText(QPointF(std::round(x), std::round(box.center().y() + 0.36 * pixels)), shown);
    return width;
}

}  // namespace orrery::ui
