#include "widgets/plots/bar_list.h"

#include "widgets/common/plot_axis.h"
#include "widgets/common/theme.h"

#include <QPainter>

#include <algorithm>

namespace orrery::ui {

void BarList::setBars(const QString& title, std::vector<Bar> bars, double full) {
    title_ = title;
    bars_ = std::move(bars);
    full_ = full;
    QStringList said;
    for (const Bar& bar : bars_) {
        if (full == 0) full_ = std::max({full_, bar.value, bar.high});
        said << bar.name + QLatin1Char(' ') + bar.text;
    }
    setAccessibleDescription(said.join(QStringLiteral(", ")));
    updateGeometry();
    update();
}

double BarList::rowHeight() const {
    return QFontMetricsF(Theme::instance().font(FontRole::Body)).height() + 6 * Theme::instance().scale();
}

double BarList::top() const {
    return title_.isEmpty() ? 6 : plotTitleHeight * Theme::instance().scale() + 8;
}

QSize BarList::sizeHint() const {
    const double rows = static_cast<double>(std::max<std::size_t>(bars_.size(), 3));
    // Many rows stand closer, so that what is above keeps its room.
    const double high = rows > 6 ? std::min(rowHeight(), 17 * Theme::instance().scale()) : rowHeight();
    return {360, static_cast<int>(top() + rows * high + 8)};
}

QSize BarList::minimumSizeHint() const {
    return {170, std::min(sizeHint().height(), 180)};
}

QRectF BarList::rowOf(int bar) const {
    const double room = (height() - top() - 4) / static_cast<double>(std::max<std::size_t>(bars_.size(), 1));
    const double high = std::min(rowHeight(), room);
    return {0, top() + bar * high, static_cast<double>(width()), high};
}

int BarList::barAt(const QPointF& place) const {
    for (int i = 0; i < static_cast<int>(bars_.size()); ++i)
        if (rowOf(i).contains(place)) return i;
    return -1;
}

QString BarList::textAt(const QPointF& place) const {
    const int at = barAt(place);
    if (at < 0) return {};
    const Bar& bar = bars_[static_cast<std::size_t>(at)];
    const QString head = bar.name + QStringLiteral(": ") + bar.text;
    return bar.words.isEmpty() ? head : head + QLatin1Char('\n') + bar.words;
}

QByteArray BarList::csv() const {
    QByteArray out = "name,value,text,marked,meaning\n";
    for (const Bar& bar : bars_) {
        addCell(out, bar.name);
        addCell(out, QString::number(bar.value, 'g', 12));
        addCell(out, bar.text);
        addCell(out, bar.marked ? QStringLiteral("1") : QStringLiteral("0"));
        addCell(out, bar.words, true);
    }
    return out;
}

void BarList::paintFigure(QPainter& painter) const {
    const Theme& theme = Theme::instance();
    const Palette& colours = theme.colours();
    paintPlotTitle(painter, title_, width());
    painter.setFont(theme.font(FontRole::Body));
    QFont strong = painter.font();
    strong.setBold(true);
    const QFontMetricsF metrics(strong);
    double names = 0, texts = 0;
    for (const Bar& bar : bars_) {
        names = std::max(names, metrics.horizontalAdvance(bar.name));
        texts = std::max(texts, metrics.horizontalAdvance(bar.text));
    }
    names = std::min(names + 20, width() * 0.4);
    const double left = names + 6;
    // Words stand behind the bars where half of the width is left for these.
    const bool wordy = width() > 620 * theme.scale();
    const double widest = std::max(20.0, (wordy ? width() * 0.45 : width() - texts - 20) - left);
    for (int i = 0; i < static_cast<int>(bars_.size()); ++i) {
        const Bar& bar = bars_[static_cast<std::size_t>(i)];
        const QRectF row = rowOf(i);
        painter.setFont(bar.marked ? strong : theme.font(FontRole::Body));
        painter.setPen(bar.marked ? colours.text : colours.mutedText);
        const QString name = painter.fontMetrics().elidedText(bar.name, Qt::ElideRight, static_cast<int>(names - 12));
        painter.drawText(QRectF(0, row.top(), names, row.height()), Qt::AlignRight | Qt::AlignVCenter, name);
        const QRectF place(left, row.top() + 3, widest, row.height() - 6);
        painter.fillRect(place, colours.raised);
        const auto x = [&](double value) { return full_ > 0 ? widest * std::clamp(value / full_, 0.0, 1.0) : 0.0; };
        QColor fill = bar.colour.isValid() ? bar.colour : bar.marked ? colours.accent : colours.mutedText;
        painter.fillRect(QRectF(place.left(), place.top(), x(bar.value), place.height()), fill);
        if (bar.high > bar.low) {
            const double middle = place.center().y();
            painter.setPen(QPen(colours.text, 1.2));
            painter.drawLine(QPointF(left + x(bar.low), middle), QPointF(left + x(bar.high), middle));
            for (const double end : {bar.low, bar.high})
                painter.drawLine(QPointF(left + x(end), middle - 4), QPointF(left + x(end), middle + 4));
        }
        painter.setPen(colours.text);
        painter.drawText(QRectF(left + widest + 8, row.top(), texts + 6, row.height()),
                         Qt::AlignLeft | Qt::AlignVCenter, bar.text);
        if (!wordy) continue;
        painter.setFont(theme.font(FontRole::Small));
        painter.setPen(colours.mutedText);
        const double from = left + widest + texts + 24;
        painter.drawText(
            QRectF(from, row.top(), width() - from - 8, row.height()), Qt::AlignLeft | Qt::AlignVCenter,
            painter.fontMetrics().elidedText(bar.words, Qt::ElideRight, static_cast<int>(width() - from - 8)));
    }
}

}  // namespace orrery::ui
