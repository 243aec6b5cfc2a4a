#include "widgets/schedules/reason_bars.h"

#include "widgets/common/plot_axis.h"
#include "widgets/common/theme.h"
#include "widgets/common/units_text.h"

#include <QPainter>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace orrery::ui {

ReasonBars::ReasonBars(QWidget* parent)
    : FigureView(QStringLiteral("schedules.reasons"), tr("What the model looks at"),
                 tr("Effect of each feature on the prediction, in percentage points of the best"),
                 tr("The effect of each feature on the prediction appears here."), parent) {}

void ReasonBars::setReasons(const QString& title, std::vector<Reason> reasons, bool signs) {
    title_ = title;
    reasons_ = std::move(reasons);
    signs_ = signs;
    std::ranges::stable_sort(reasons_, std::greater<>(), [](const Reason& each) { return std::abs(each.adds); });
    QStringList said{title};
    for (const Reason& each : reasons_) {
        if (said.size() > 5) break;
        said << each.name + QLatin1Char(' ') + signedPercentText(each.adds);
    }
    setAccessibleDescription(said.join(QStringLiteral(", ")));
    update();
}

double ReasonBars::rowHeight() const {
    return QFontMetricsF(Theme::instance().font(FontRole::Body)).height() + 5 * Theme::instance().scale();
}

double ReasonBars::top() const {
    return plotTitleHeight * Theme::instance().scale() + 8;
}

int ReasonBars::drawn() const {
    const int room = static_cast<int>((height() - top() - 4) / rowHeight());
    const int all = static_cast<int>(reasons_.size());
    return all <= room ? all : std::max(1, room - 1);
}

QRectF ReasonBars::rowOf(int reason) const {
    return {0, top() + reason * rowHeight(), static_cast<double>(width()), rowHeight()};
}

int ReasonBars::reasonAt(const QPointF& place) const {
    const double row = (place.y() - top()) / rowHeight();
    return row >= 0 && row < drawn() ? static_cast<int>(row) : -1;
}

QString ReasonBars::textAt(const QPointF& place) const {
    const int at = reasonAt(place);
    if (at < 0) return {};
    const Reason& one = reasons_[static_cast<std::size_t>(at)];
    const QString head = one.value.isEmpty() ? one.name : one.name + QStringLiteral(": ") + one.value;
    return head + QLatin1Char('\n') +
           (signs_ ? tr("adds %1 of the best").arg(signedPercentText(one.adds))
                   : tr("mean effect: %1 of the best").arg(percentText(one.adds)));
}

QByteArray ReasonBars::csv() const {
    QByteArray out = "feature,value,adds\n";
    for (const Reason& each : reasons_) {
        addCell(out, each.name);
        addCell(out, each.value);
        addCell(out, QString::number(each.adds, 'g', 8), true);
    }
    return out;
}

void ReasonBars::paintFigure(QPainter& painter) const {
    const Theme& theme = Theme::instance();
    const Palette& colours = theme.colours();
    paintPlotTitle(painter, painter.fontMetrics().elidedText(title_, Qt::ElideRight, width() - 16), width());
    const int rows = drawn();
    // What finds no room is one bar.
    std::vector<Reason> shown(reasons_.begin(), reasons_.begin() + rows);
    if (rows < static_cast<int>(reasons_.size())) {
        Reason rest{tr("%n more", nullptr, static_cast<int>(reasons_.size()) - rows), {}, 0};
        for (auto each = reasons_.begin() + rows; each != reasons_.end(); ++each) rest.adds += each->adds;
        shown.push_back(rest);
    }
    const QFont body = theme.font(FontRole::Body), small = theme.font(FontRole::Small);
    const QFontMetricsF metrics(body), smaller(small);
    double names = 0, values = 0, most = 0;
    for (const Reason& each : shown) {
        names = std::max(names, metrics.horizontalAdvance(each.name));
        values = std::max(values, smaller.horizontalAdvance(each.value));
        most = std::max(most, std::abs(each.adds));
    }
    const double figures = metrics.horizontalAdvance(QStringLiteral("−100 %")) + 8;
    names = std::min(names, width() * 0.34);
    values = std::min(values, width() * 0.16);
    const double left = 8 + names + 8 + values + 8, right = width() - 8;
    const double zero = signs_ ? (left + right) / 2 : left;
    const double longest = std::max(8.0, right - zero - figures);
    painter.setPen(colours.line);
    painter.drawLine(QPointF(zero, top()), QPointF(zero, rowOf(static_cast<int>(shown.size())).top()));
    for (std::size_t i = 0; i < shown.size(); ++i) {
        const Reason& each = shown[i];
        const QRectF row = rowOf(static_cast<int>(i));
        painter.setFont(body);
        painter.setPen(colours.text);
        painter.drawText(QRectF(8, row.top(), names, row.height()), Qt::AlignRight | Qt::AlignVCenter,
                         painter.fontMetrics().elidedText(each.name, Qt::ElideRight, static_cast<int>(names + 1)));
        painter.setFont(small);
        painter.setPen(colours.mutedText);
        painter.drawText(QRectF(16 + names, row.top(), values, row.height()), Qt::AlignLeft | Qt::AlignVCenter,
                         painter.fontMetrics().elidedText(each.value, Qt::ElideRight, static_cast<int>(values + 1)));
        const double wide = most > 0 ? longest * std::abs(each.adds) / most : 0;
        const bool more = each.adds >= 0;
        painter.fillRect(QRectF(more ? zero : zero - wide, row.top() + 3, wide, row.height() - 6),
                         theme.methodColour(more ? 0 : 1));
        painter.setFont(body);
        painter.setPen(colours.text);
        const QString figure = signs_ ? signedPercentText(each.adds) : percentText(each.adds);
        const QRectF beside(more ? zero + wide + 5 : zero - wide - 5 - figures, row.top(), figures, row.height());
        painter.drawText(beside, (more ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter, figure);
    }
}

}  // namespace orrery::ui
