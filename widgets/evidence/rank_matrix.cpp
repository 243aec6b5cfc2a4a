#include "widgets/evidence/rank_matrix.h"

#include "widgets/common/theme.h"
#include "widgets/evidence/plot_frame.h"

#include <QPainter>

#include <algorithm>
#include <cmath>

namespace orrery::ui {

RankMatrix::RankMatrix(QWidget* parent) : QWidget(parent) {
    setObjectName(QStringLiteral("device.ranks"));
    setAccessibleName(tr("Confusion of ranks"));
    setToolTip(
        tr("Each network by its place in the order of two devices, fastest first. Equal places are on the diagonal"));
    sentence_ =
        tr("Open a table of known devices and choose two of them. This shows the order of the networks on both.");
    connect(&Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
}

void RankMatrix::setCells(std::vector<double> cells, const QString& down, const QString& across,
                          const QString& sentence) {
    cells_ = std::move(cells);
    down_ = down;
    across_ = across;
    sentence_ = sentence;
    setAccessibleDescription(sentence);
    update();
}

void RankMatrix::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const Theme& theme = Theme::instance();
    painter.fillRect(rect(), theme.colours().surface);
    const int parts = static_cast<int>(std::lround(std::sqrt(static_cast<double>(cells_.size()))));
    if (parts == 0) return paintEmptyPlot(painter, rect(), sentence_);
    const QFontMetrics metrics(font());
    const int line = metrics.height(), unit = theme.unit();
    const QString fast = tr("fastest"), slow = tr("slowest");
    const int left = unit * 2 + line + std::max(metrics.horizontalAdvance(fast), metrics.horizontalAdvance(slow));
    const int top = unit * 2 + 2 * line, below = unit + 2 * line;
    const int side = std::max(parts, std::min(width() - left - unit, height() - top - below) / parts * parts);
    const QRect square(left, top, side, side);
    painter.setPen(theme.colours().text);
    painter.drawText(QRect(unit, unit, width() - 2 * unit, 2 * line), Qt::AlignLeft | Qt::TextWordWrap, sentence_);
    double row = 1;
    for (int r = 0; r < parts; ++r) {
        double sum = 0;
        for (int c = 0; c < parts; ++c) sum += cells_[static_cast<std::size_t>(r * parts + c)];
        row = std::max(row, sum);
    }
    const int cell = side / parts;
    for (int r = 0; r < parts; ++r) {
        for (int c = 0; c < parts; ++c) {
            const double count = cells_[static_cast<std::size_t>(r * parts + c)];
            const QRect at(square.left() + c * cell, square.top() + r * cell, cell, cell);
            QColor fill = theme.methodColour(r == c ? 0 : 1);
            fill.setAlphaF(static_cast<float>(0.75 * count / row));
            painter.fillRect(at.adjusted(1, 1, -1, -1), fill);
            painter.setPen(theme.colours().faintLine);
            painter.drawRect(at.adjusted(0, 0, -1, -1));
            painter.setPen(theme.colours().text);
            if (count > 0) painter.drawText(at, Qt::AlignCenter, QString::number(count));
        }
    }
    painter.setPen(theme.colours().mutedText);
    painter.drawText(QRect(left - unit - metrics.horizontalAdvance(fast), square.top(), 400, line), Qt::AlignLeft,
                     fast);
    painter.drawText(QRect(left - unit - metrics.horizontalAdvance(slow), square.bottom() - line, 400, line),
                     Qt::AlignLeft, slow);
    painter.drawText(QRect(square.left(), square.bottom() + 4, side, line), Qt::AlignLeft, fast);
    painter.drawText(QRect(square.left(), square.bottom() + 4, side, line), Qt::AlignRight, slow);
    painter.drawText(QRect(square.left(), square.bottom() + 4 + line, width() - square.left(), line), Qt::AlignLeft,
                     metrics.elidedText(across_, Qt::ElideRight, width() - square.left() - unit));
    painter.translate(unit, square.bottom());
    painter.rotate(-90);
    painter.drawText(QRect(0, 0, side, line), Qt::AlignCenter, metrics.elidedText(down_, Qt::ElideRight, side));
}

}  // namespace orrery::ui
