#include "widgets/evidence/drift_plot.h"

#include "widgets/common/plot_axis.h"
#include "widgets/common/theme.h"
#include "widgets/evidence/plot_frame.h"

#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>

#include <algorithm>
#include <cmath>

namespace orrery::ui {

namespace {

// An error of nothing has no place on a logarithmic axis.
constexpr double leastError = 0.005;

struct Mark {
    QString name;
    QColor colour;
    bool filled;
};
Mark untouchedMark() {
    return {DriftPlot::tr("untouched"), Theme::instance().colours().mutedText, true};
}
Mark factorMark() {
    return {DriftPlot::tr("one factor"), Theme::instance().methodColour(1), false};
}
Mark repairedMark() {
    return {DriftPlot::tr("repaired"), Theme::instance().methodColour(0), true};
}

void paintMark(QPainter& painter, const Mark& mark, QPointF at, double radius) {
    painter.setPen(QPen(mark.colour, 1.6));
    painter.setBrush(mark.filled ? QBrush(mark.colour) : QBrush(Theme::instance().colours().surface));
    painter.drawEllipse(at, radius, radius);
}

}  // namespace

DriftPlot::DriftPlot(QWidget* parent) : QWidget(parent) {
    setObjectName(QStringLiteral("versions.plot"));
    setAccessibleName(tr("Errors by family"));
    setToolTip(
        tr("Error of each family: with the old numbers, after one factor, after the repair. Click a line to find it "
           "below"));
    connect(&Theme::instance(), &Theme::changed, this, [this] {
        updateGeometry();
        update();
    });
}

int DriftPlot::lineHeight() const {
    return QFontMetrics(Theme::instance().font(FontRole::Small)).height() + 6;
}

int DriftPlot::top() const {
    return plotTitleHeight + lineHeight();
}

QSize DriftPlot::sizeHint() const {
    return {360, top() + lineHeight() * (std::max(rowCount(), 6) + 2)};
}

void DriftPlot::setRows(std::vector<DriftMarks> rows) {
    rows_ = std::move(rows);
    current_ = -1;
    setAccessibleDescription(tr("Families: %1").arg(rowCount()));
    updateGeometry();
    update();
}

void DriftPlot::setCurrent(int row) {
    current_ = row;
    update();
}

QRect DriftPlot::lineOf(int row) const {
    return {0, top() + row * lineHeight(), width(), lineHeight()};
}

int DriftPlot::rowAt(const QPointF& place) const {
    const int row = static_cast<int>(std::floor((place.y() - top()) / lineHeight()));
    return row >= 0 && row < rowCount() ? row : -1;
}

void DriftPlot::paintLegend(QPainter& painter, const QRect& area) const {
    painter.setFont(Theme::instance().font(FontRole::Small));
    const QFontMetrics metrics = painter.fontMetrics();
    int x = area.left() + 8;
    const double y = area.top() + plotTitleHeight + lineHeight() / 2.0 - 2;
    for (const Mark& mark : {untouchedMark(), factorMark(), repairedMark()}) {
        paintMark(painter, mark, {x + 5.0, y}, 4);
        painter.setPen(Theme::instance().colours().mutedText);
        painter.drawText(QPointF(x + 14, y + metrics.ascent() / 2.0 - 1), mark.name);
        x += 14 + metrics.horizontalAdvance(mark.name) + 18;
    }
}

void DriftPlot::paintLine(QPainter& painter, const DriftMarks& row, const PlotAxis& axis, const QRect& line,
                          int labels) const {
    const Palette& colours = Theme::instance().colours();
    const QFontMetrics metrics = painter.fontMetrics();
    const double y = line.center().y() + 0.5;
    painter.setPen(row.moved ? colours.text : colours.mutedText);
    painter.drawText(QRect(line.left() + 8, line.top(), labels - 16, line.height()), Qt::AlignVCenter | Qt::AlignLeft,
                     metrics.elidedText(row.label, Qt::ElideMiddle, labels - 16));
    const auto at = [&](double error) { return axis.position(std::max(error, leastError)); };
    painter.setPen(QPen(colours.line, 1.4));
    painter.drawLine(QPointF(at(row.untouched), y), QPointF(at(row.repaired), y));
    paintMark(painter, untouchedMark(), {at(row.untouched), y}, 4);
    paintMark(painter, factorMark(), {at(row.factor), y}, 4);
    paintMark(painter, repairedMark(), {at(row.repaired), y}, 4.5);
}

void DriftPlot::paintPicture(QPainter& painter, const QRect& area) const {
    const Palette& colours = Theme::instance().colours();
    painter.setRenderHint(QPainter::Antialiasing);
    paintPlotTitle(painter, tr("Error under the later version, by family"), area.width());
    paintLegend(painter, area);
    painter.setFont(Theme::instance().font(FontRole::Small));
    const QFontMetrics metrics = painter.fontMetrics();
    int labels = 0;
    std::vector<double> errors{0.1};
    for (const DriftMarks& row : rows_) {
        labels = std::max(labels, metrics.horizontalAdvance(row.label) + 20);
        for (const double error : {row.untouched, row.factor, row.repaired})
            errors.push_back(std::max(error, leastError));
    }
    labels = std::min(labels, area.width() * 11 / 20);
    const PlotAxis axis = PlotAxis::covering(errors, area.left() + labels + 8, area.right() - 20, 1);
    const double bottom = area.top() + top() + lineHeight() * rowCount();
    for (const double tick : axis.ticks(60)) {
        const double x = axis.position(tick);
        painter.setPen(colours.faintLine);
        painter.drawLine(QPointF(x, area.top() + top()), QPointF(x, bottom));
        painter.setPen(colours.mutedText);
        paintTickLabel(painter, x, static_cast<int>(bottom), tickText(tick, TickText::Percent), area.right());
    }
    for (int i = 0; i < rowCount(); ++i) {
        const QRect line(area.left(), area.top() + top() + i * lineHeight(), area.width(), lineHeight());
        if (i == current_) painter.fillRect(line, colours.selection);
        paintLine(painter, rows_[static_cast<std::size_t>(i)], axis, line, labels);
    }
}

void DriftPlot::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.fillRect(rect(), Theme::instance().colours().surface);
    if (rows_.empty()) {
        return paintEmptyPlot(painter, rect(), tr("Tables of an older and of a newer version will be compared here."));
    }
    if (!isEnabled()) painter.setOpacity(0.4);
    paintPicture(painter, rect());
}

void DriftPlot::mousePressEvent(QMouseEvent* event) {
    const int row = rowAt(event->position());
    if (row < 0) return QWidget::mousePressEvent(event);
    setCurrent(row);
    emit chosen(row);
}

bool DriftPlot::event(QEvent* event) {
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        if (const int row = rowAt(help->pos()); row >= 0) {
            QToolTip::showText(help->globalPos(), rows_[static_cast<std::size_t>(row)].tip, this, lineOf(row));
            return true;
        }
    }
    return QWidget::event(event);
}

}  // namespace orrery::ui
