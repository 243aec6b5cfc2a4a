#include "widgets/evidence/growth_plot.h"

#include "widgets/common/theme.h"
#include "widgets/common/units_text.h"
#include "widgets/evidence/plot_frame.h"

#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>

#include <algorithm>
#include <cmath>

namespace orrery::ui {

GrowthPlot::GrowthPlot(QWidget* parent) : QWidget(parent) {
    setObjectName(QStringLiteral("growth.plot"));
    setAccessibleName(tr("Growth of the error"));
    setToolTip(tr("Error of sums of measured kernels (a model is such a sum)"));
    connect(&Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
}

void GrowthPlot::setMarks(std::vector<GrowthMark> marks, double correlation, std::vector<GrowthLevel> levels) {
    marks_ = std::move(marks);
    levels_ = std::move(levels);
    places_.clear();  // of what was painted before
    correlation_ = correlation;
    setAccessibleDescription(tr("%n size(s) of sums", nullptr, static_cast<int>(marks_.size())));
    update();
}

bool GrowthPlot::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip || places_.empty()) return QWidget::event(event);
    auto* help = static_cast<QHelpEvent*>(event);
    const auto nearest = std::ranges::min_element(
        places_, {}, [&](const QPointF& place) { return std::abs(place.x() - help->pos().x()); });
    const auto at = static_cast<std::size_t>(nearest - places_.begin());
    const auto percent = [](double value) { return tickText(std::round(value * 1000) / 1000, TickText::Percent); };
    if (at >= marks_.size()) {
        const GrowthLevel& level = levels_[at - marks_.size()];
        QToolTip::showText(
            help->globalPos(),
            tr("%1: %2 rows, measured as a whole; error %3 (root mean square), median %4; coverage %5")
                .arg(level.name)
                .arg(level.rows)
                .arg(percent(level.measured), percent(level.median), percent(std::round(level.inside * 100) / 100)),
            this);
        return true;
    }
    const GrowthMark& mark = marks_[at];
    QToolTip::showText(
        help->globalPos(),
        tr("Sums of %1 kernels: error %2; %3 if errors were independent, %4 if all were equal; coverage %5")
            .arg(mark.kernels)
            .arg(percent(mark.measured), percent(mark.independent), percent(mark.common),
                 percent(std::round(mark.inside * 100) / 100)),
        this);
    return true;
}

void GrowthPlot::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const Palette& colours = Theme::instance().colours();
    painter.fillRect(rect(), colours.surface);
    places_.clear();
    if (marks_.size() < 2) {
        return paintEmptyPlot(
            painter, rect(),
            tr("If a method predicts single kernels of one device, the error of their sums appears here."));
    }
    PlotFrame frame;
    frame.title = tr("Error of sums of kernels");
    frame.xName = tr("kernels in the sum");
    frame.yName = tr("RMS error of the sum; grows %1 of the way from √N to N")
                      .arg(tickText(std::round(correlation_ * 100) / 100, TickText::Percent));
    frame.area = PlotFrame::areaIn(size()).adjusted(0, 0, -painter.fontMetrics().horizontalAdvance(tr("measured")), 0);
    std::vector<double> xs, ys;
    for (const GrowthMark& mark : marks_) {
        xs.push_back(mark.kernels);
        for (const double value : {mark.measured, mark.independent, mark.common}) ys.push_back(std::max(value, 1e-5));
    }
    for (const GrowthLevel& level : levels_) ys.push_back(std::max(level.measured, 1e-5));
    painter.setFont(Theme::instance().font(FontRole::Small));
    double wide = 0;
    // Names stand in lines of a word, and the curve keeps most of the room.
    for (const GrowthLevel& level : levels_)
        for (const QString& word : level.name.split(QLatin1Char(' ')))
            wide = std::max(wide, static_cast<double>(painter.fontMetrics().horizontalAdvance(word)) + 10);
    wide = std::min(wide, 0.18 * frame.area.width());
    const double levelsWide = wide * static_cast<double>(levels_.size());
    const QRectF area = frame.area.adjusted(8, 8, -8 - levelsWide, -8);
    const PlotAxis x = PlotAxis::covering(xs, area.left(), area.right());
    const PlotAxis y = PlotAxis::covering(ys, area.bottom(), area.top());
    frame.paint(painter, x, y, width());
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setFont(Theme::instance().font(FontRole::Small));
    const double tall = painter.fontMetrics().height();
    struct Line {
        double GrowthMark::*value;
        QString name;
        Qt::PenStyle style;
        double at = 0;  // of its name
    };
    std::vector<Line> lines{{&GrowthMark::common, tr("N"), Qt::DashLine},
                            {&GrowthMark::measured, tr("measured"), Qt::SolidLine},
                            {&GrowthMark::independent, tr("√N"), Qt::DotLine}};
    for (Line& line : lines) {
        const bool measured = line.style == Qt::SolidLine;
        QPolygonF points;
        for (const GrowthMark& mark : marks_)
            points << QPointF(x.position(mark.kernels), y.position(std::max(mark.*line.value, 1e-5)));
        painter.setPen(QPen(measured ? colours.accent : colours.mutedText, measured ? 2 : 1.2, line.style));
        painter.drawPolyline(points);
        if (measured) {
            painter.setBrush(colours.accent);
            for (const QPointF& point : points) {
                painter.drawEllipse(point, 3.5, 3.5);
                places_.push_back(point);
            }
        }
        line.at = points.back().y();
        // What all kernels miss alike, sums of them miss whatever their number.
        if (line.value == &GrowthMark::common && !levels_.empty())
            painter.drawLine(points.back(), QPointF(frame.area.right(), line.at));
    }
    for (std::size_t i = 0; i < levels_.size(); ++i) {
        const GrowthLevel& level = levels_[i];
        const QPointF at(area.right() + 8 + wide * (static_cast<double>(i) + 0.5),
                         y.position(std::max(level.measured, 1e-5)));
        painter.setPen(Qt::NoPen);
        painter.setBrush(colours.accent);
        painter.drawRect(QRectF(at - QPointF(4, 4), QSizeF(8, 8)));
        places_.push_back(at);
        painter.setPen(colours.mutedText);
        // Below its mark, or above where the axis is near.
        const bool room = at.y() + 8 + 2 * tall < frame.area.bottom();
        painter.drawText(QRectF(at.x() - wide / 2, room ? at.y() + 6 : at.y() - 6 - 2 * tall, wide, 2 * tall),
                         Qt::AlignHCenter | (room ? Qt::AlignTop : Qt::AlignBottom) | Qt::TextWordWrap, level.name);
    }
    // Names stand at the right end, none over another.
    for (std::size_t i = 1; i < lines.size(); ++i) lines[i].at = std::max(lines[i].at, lines[i - 1].at + tall);
    for (const Line& line : lines) {
        painter.setPen(line.style == Qt::SolidLine ? colours.accent : colours.mutedText);
        painter.drawText(QPointF(frame.area.right() + 2, line.at + tall / 3), line.name);
    }
}

}  // namespace orrery::ui
