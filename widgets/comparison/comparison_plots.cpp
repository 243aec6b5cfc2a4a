#include "widgets/comparison/comparison_plots.h"

#include "widgets/common/text.h"
#include "widgets/common/theme.h"
#include "widgets/common/wrapped_name.h"

#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <QWheelEvent>

#include <algorithm>
#include <cmath>

namespace orrery::ui {
namespace {

constexpr int headline = plotTitleHeight;
constexpr int axisHeight = 22;

QString accessible(const SnapshotPtr& snapshot) {
    QStringList lines;
    if (snapshot)
        for (const Answer& answer : snapshot->answers)
            if (answer.estimate)
                lines << QStringLiteral("%1: %2, %3 – %4")
                             .arg(answer.title, qs(format(answer.estimate->latency)),
                                  qs(format(answer.estimate->interval.low)),
                                  qs(format(answer.estimate->interval.high)));
    return lines.join(QStringLiteral("; "));
}

}  // namespace

IntervalPlot::IntervalPlot(QWidget* parent) : QWidget(parent) {
    setObjectName(QStringLiteral("comparison.intervals"));
    setAccessibleName(tr("Predictions with intervals"));
    setToolTip(tr("The wheel zooms the time axis, a drag moves it, a double click shows all again"));
    connect(&Theme::instance(), &Theme::changed, this, [this] { update(); });
}

void IntervalPlot::set(SnapshotPtr snapshot, std::optional<ReferenceValue> reference) {
    snapshot_ = std::move(snapshot);
    reference_ = std::move(reference);
    setAccessibleDescription(accessible(snapshot_));
    updateGeometry();
    update();
}

int IntervalPlot::rowHeight() const {
    const int rows = snapshot_ ? std::max<int>(1, static_cast<int>(snapshot_->answers.size())) : 1;
    return std::clamp((height() - headline - axisHeight) / rows, 18, 40);
}

QSize IntervalPlot::sizeHint() const {
    const int rows = snapshot_ ? static_cast<int>(snapshot_->answers.size()) : 3;
    return {320, headline + axisHeight + std::max(3, rows) * 30};
}

void IntervalPlot::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const Theme& theme = Theme::instance();
    const Palette& colours = theme.colours();
    paintPlotTitle(painter, tr("Predicted time, with interval"), width());
    if (!snapshot_) return;
    std::vector<double> values;
    for (const Answer& answer : snapshot_->answers) {
        if (!answer.estimate) continue;
        values.push_back(answer.estimate->interval.low.value);
        values.push_back(answer.estimate->interval.high.value);
    }
    if (reference_) values.push_back(reference_->latency.value);
    if (values.empty()) return;

    painter.setFont(theme.font(FontRole::Small));
    int names = 0;
    for (const Answer& answer : snapshot_->answers)
        names = std::max(names, painter.fontMetrics().horizontalAdvance(answer.title));
    names = std::min(names + 12, width() * 2 / 5);
    const int valueWidth = painter.fontMetrics().horizontalAdvance(QStringLiteral("000.0 ms")) + 8;
    const int row = rowHeight();
    const int lines = std::max(1, (row + 2) / painter.fontMetrics().lineSpacing());
    const int bottom = headline + row * static_cast<int>(snapshot_->answers.size());
    zoom_.setArea(QRectF(QPointF(names, headline), QPointF(width() - valueWidth, bottom)));
    const PlotAxis axis = zoom_.across(PlotAxis::covering(values, names, width() - valueWidth, 5));
    // Bars that reach beyond what is shown end at its border.
    const auto clip = [&](bool on) {
        if (zoom_.isWhole()) return;
        if (on) painter.setClipRect(zoom_.area().adjusted(0, -6, 0, 0));
        painter.setClipping(on);
    };

    for (const double tick : axis.ticks(84)) {
        const double x = axis.position(tick);
        painter.setPen(QPen(colours.faintLine, 1));
        painter.drawLine(QPointF(x, headline), QPointF(x, bottom));
        painter.setPen(colours.mutedText);
        paintTickLabel(painter, x, bottom, qs(formatMeasure(tick, Dimension::Time, 3)), width());
    }
    if (reference_) {
        const double x = axis.position(reference_->latency.value);
        painter.setPen(QPen(colours.text, 1.2, reference_->measured ? Qt::SolidLine : Qt::DashLine));
        clip(true);
        painter.drawLine(QPointF(x, headline - 4), QPointF(x, bottom));
        clip(false);
    }
    for (std::size_t i = 0; i < snapshot_->answers.size(); ++i) {
        const Answer& answer = snapshot_->answers[i];
        const double middle = headline + row * (static_cast<double>(i) + 0.5);
        painter.setPen(static_cast<int>(i) == snapshot_->primary ? colours.text : colours.mutedText);
        painter.drawText(QRectF(0, middle - row / 2.0, names - 8, row), Qt::AlignVCenter | Qt::AlignLeft,
                         wrappedName(answer.title, painter.fontMetrics(), names - 8, lines).join(QLatin1Char('\n')));
        if (!answer.estimate) {
            painter.setPen(answer.failed() ? colours.bad : colours.mutedText);
            painter.drawText(QRectF(names, middle - row / 2.0, width() - names, row), Qt::AlignVCenter,
                             answer.notApplicable() ? tr("not for this question")
                             : answer.notAsked()    ? tr("asked by a Run (F5)")
                             : answer.failure       ? tr("cannot answer")
                                                    : tr("running …"));
            continue;
        }
        const QColor colour = theme.methodColour(answer.colour);
        const double low = axis.position(answer.estimate->interval.low.value);
        const double high = axis.position(answer.estimate->interval.high.value);
        const double at = axis.position(answer.estimate->latency.value);
        QColor band = colour;
        band.setAlpha(90);
        clip(true);
        painter.setPen(QPen(band, 5, Qt::SolidLine, Qt::RoundCap));
        painter.drawLine(QPointF(low, middle), QPointF(high, middle));
        painter.setPen(QPen(colours.surface, 1.5));
        painter.setBrush(colour);
        painter.drawEllipse(QPointF(at, middle), 5, 5);
        clip(false);
        painter.setPen(colours.text);
        painter.drawText(QRectF(width() - valueWidth, middle - row / 2.0, valueWidth, row),
                         Qt::AlignVCenter | Qt::AlignRight, qs(format(answer.estimate->latency)));
    }
}

void IntervalPlot::mousePressEvent(QMouseEvent* event) {
    zoom_.press(*event);
}

void IntervalPlot::wheelEvent(QWheelEvent* event) {
    if (!zoom_.wheel(*event)) return event->ignore();
    update();
}

void IntervalPlot::mouseMoveEvent(QMouseEvent* event) {
    if (zoom_.move(*event)) {
        update();
    }
}

void IntervalPlot::mouseReleaseEvent(QMouseEvent* event) {
    zoom_.release(*event);
}

void IntervalPlot::mouseDoubleClickEvent(QMouseEvent* event) {
    if (zoom_.doubleClick(*event)) {
        update();
    }
}

bool IntervalPlot::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip || !snapshot_) return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    const int row = (help->pos().y() - headline) / rowHeight();
    if (help->pos().y() < headline || static_cast<std::size_t>(row) >= snapshot_->answers.size())
        return QToolTip::hideText(), true;
    const Answer& answer = snapshot_->answers[static_cast<std::size_t>(row)];
    QString tip = answer.title;
    if (answer.failure) tip += QLatin1Char('\n') + qs(toText(*answer.failure));
    if (answer.estimate)
        tip += QStringLiteral("\n%1 (%2 – %3)\n%4")
                   .arg(qs(format(answer.estimate->latency)), qs(format(answer.estimate->interval.low)),
                        qs(format(answer.estimate->interval.high)), qs(answer.estimate->interval.basis));
    QToolTip::showText(help->globalPos(), tip, this);
    return true;
}

CostPlot::CostPlot(QWidget* parent) : QWidget(parent) {
    setObjectName(QStringLiteral("comparison.cost"));
    setAccessibleName(tr("Precision against cost to compute"));
    setToolTip(tr("The wheel zooms, a drag moves, a double click shows all again"));
    connect(&Theme::instance(), &Theme::changed, this, [this] { update(); });
}

void CostPlot::set(SnapshotPtr snapshot, std::optional<ReferenceValue> reference) {
    snapshot_ = std::move(snapshot);
    reference_ = std::move(reference);
    setAccessibleDescription(accessible(snapshot_));
    update();
}

double CostPlot::worth(const Answer& answer) const {
    const Estimate& estimate = *answer.estimate;
    if (reference_) return std::max(std::abs(estimate.latency / reference_->latency - 1), 1e-4);
    if (estimate.latency.value <= 0) return 0;
    return std::max((estimate.interval.high - estimate.interval.low) / estimate.latency, 1e-4);
}

void CostPlot::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const Theme& theme = Theme::instance();
    const Palette& colours = theme.colours();
    points_.clear();
    paintPlotTitle(painter,
                   reference_ ? tr("Error against cost to compute") : tr("Width of interval against cost to compute"),
                   width());
    if (!snapshot_) return;
    std::vector<double> costs, worths;
    for (const Answer& answer : snapshot_->answers) {
        if (!answer.estimate) continue;
        costs.push_back(std::max(answer.estimate->cost.value, 1e-7));
        worths.push_back(worth(answer));
    }
    if (costs.empty()) return;
    painter.setFont(theme.font(FontRole::Small));
    const int left = painter.fontMetrics().horizontalAdvance(QStringLiteral("100 %")) + 10;
    const int bottom = height() - axisHeight;
    // Room for a label at the right end.
    zoom_.setArea(QRectF(QPointF(left, headline), QPointF(width(), bottom)));
    const PlotAxis x = zoom_.across(PlotAxis::covering(costs, left + 12, width() - 24, 1.5));
    const PlotAxis y = zoom_.up(PlotAxis::covering(worths, bottom - 10, headline + 14, 5));
    for (const double tick : x.ticks(84)) {
        const double at = x.position(tick);
        painter.setPen(colours.faintLine);
        painter.drawLine(QPointF(at, headline), QPointF(at, bottom));
        painter.setPen(colours.mutedText);
        paintTickLabel(painter, at, bottom, qs(formatMeasure(tick, Dimension::Time, 2)), width());
    }
    for (const double tick : y.ticks(36)) {
        const double at = y.position(tick);
        painter.setPen(colours.faintLine);
        painter.drawLine(QPointF(left, at), QPointF(width(), at));
        painter.setPen(colours.mutedText);
        painter.drawText(QRectF(0, at - 8, left - 6, 16), Qt::AlignRight | Qt::AlignVCenter,
                         qs(formatMeasure(tick, Dimension::Fraction, 2)));
    }
    painter.setPen(colours.line);
    painter.drawLine(QPointF(left, bottom), QPointF(width(), bottom));
    if (!zoom_.isWhole()) painter.setClipRect(zoom_.area());
    std::vector<QRectF> taken;
    for (const Answer& answer : snapshot_->answers) {
        if (!answer.estimate) continue;
        const QPointF at(x.position(std::max(answer.estimate->cost.value, 1e-7)), y.position(worth(answer)));
        taken.push_back(QRectF(at - QPointF(6, 6), QSizeF(12, 12)));
    }
    for (std::size_t i = 0; i < snapshot_->answers.size(); ++i) {
        const Answer& answer = snapshot_->answers[i];
        if (!answer.estimate) continue;
        const QPointF at(x.position(std::max(answer.estimate->cost.value, 1e-7)), y.position(worth(answer)));
        points_.push_back({at, static_cast<int>(i)});
        painter.setPen(QPen(colours.surface, 1.5));
        painter.setBrush(theme.methodColour(answer.colour));
        painter.drawEllipse(at, 5.5, 5.5);
        // Direct labels: right of the point, else left of it, moved down while they would cover another.
        const QStringList lines = wrappedName(answer.title, painter.fontMetrics(), width() / 2, 2);
        double wide = 0;
        for (const QString& line : lines) wide = std::max(wide, double(painter.fontMetrics().horizontalAdvance(line)));
        QRectF label(at.x() + 10, at.y() - 8, wide, 16.0 * double(lines.size()));
        if (label.right() > width()) label.moveLeft(at.x() - 10 - wide);
        for (int tries = 0; tries < 6; ++tries) {
            const bool covered =
                std::any_of(taken.begin(), taken.end(), [&](const QRectF& other) { return other.intersects(label); });
            if (!covered) break;
            label.translate(0, label.bottom() + 16 > bottom ? -16 : 16);
        }
        taken.push_back(label);
        painter.setPen(colours.text);
        painter.drawText(label, Qt::AlignVCenter, lines.join(QLatin1Char('\n')));
    }
}

void CostPlot::mousePressEvent(QMouseEvent* event) {
    zoom_.press(*event);
}

void CostPlot::wheelEvent(QWheelEvent* event) {
    if (!zoom_.wheel(*event)) return event->ignore();
    update();
}

void CostPlot::mouseMoveEvent(QMouseEvent* event) {
    if (zoom_.move(*event)) {
        update();
    }
}

void CostPlot::mouseReleaseEvent(QMouseEvent* event) {
    zoom_.release(*event);
}

void CostPlot::mouseDoubleClickEvent(QMouseEvent* event) {
    if (zoom_.doubleClick(*event)) {
        update();
    }
}

bool CostPlot::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip || !snapshot_) return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    for (const Point& point : points_) {
        if ((point.at - help->pos()).manhattanLength() > 12) continue;
        const Answer& answer = snapshot_->answers[static_cast<std::size_t>(point.answer)];
        QToolTip::showText(
            help->globalPos(),
            tr("%1\n%2: %3\nCost: %4")
                .arg(answer.title, reference_ ? tr("Error") : tr("Interval width"),
                     qs(formatMeasure(worth(answer), Dimension::Fraction)), qs(format(answer.estimate->cost))),
            this);
        return true;
    }
    QToolTip::hideText();
    return true;
}

}  // namespace orrery::ui
