#include "widgets/evidence/sample_curve.h"

#include "widgets/common/theme.h"
#include "widgets/evidence/plot_frame.h"

#include <QFontMetrics>
#include <QPainter>

#include <algorithm>
#include <cmath>

namespace orrery::ui {

SampleCurve::SampleCurve(QWidget* parent) : QWidget(parent) {
    setObjectName(QStringLiteral("device.curve"));
    setAccessibleName(tr("Error by number of samples"));
    setToolTip(tr("The error expected after each sample, and the error that later samples showed"));
    connect(&Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
}

void SampleCurve::setFigure(Figure figure) {
    figure_ = figure;
    update();
}

void SampleCurve::setMarks(std::vector<SampleMark> marks) {
    marks_ = std::move(marks);
    setAccessibleDescription(marks_.empty() ? QString()
                                            : tr("%1 samples, %2 said")
                                                  .arg(marks_.back().samples)
                                                  .arg(tickText(marks_.back().said, TickText::Percent)));
    update();
}

// Only what is drawable: positive and finite. What is planned goes on from what was measured.
std::vector<SampleCurve::Line> SampleCurve::lines() const {
    Line said{tr("said"), 0}, planned{tr("expected"), 0, Qt::DashLine, false}, found{tr("found later"), 1};
    const auto add = [](Line& line, int samples, double value) {
        if (std::isfinite(value) && value > 0) line.points.emplace_back(samples, value);
    };
    for (const SampleMark& mark : marks_) {
        switch (figure_) {
            case Figure::Error:
                if (mark.planned && planned.points.empty() && !said.points.empty())
                    planned.points.push_back(said.points.back());
                add(mark.planned ? planned : said, mark.samples, mark.said);
                add(found, mark.samples, mark.found);
                break;
            case Figure::Interval:
                if (!mark.planned) add(said, mark.samples, mark.width);
                break;
            case Figure::Order:
                if (!mark.planned) add(found, mark.samples, std::max(1e-4, 1 - mark.rank));
                break;
        }
    }
    std::vector<Line> out;
    for (Line* line : {&found, &planned, &said})
        if (!line->points.empty()) out.push_back(std::move(*line));
    return out;
}

void SampleCurve::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const Theme& theme = Theme::instance();
    painter.fillRect(rect(), theme.colours().surface);
    if (marks_.empty()) {
        return paintEmptyPlot(painter, rect(),
                              tr("Open a table of known devices. The error after each further sample appears here."));
    }
    const std::vector<Line> all = lines();
    if (all.empty()) {
        return paintEmptyPlot(painter, rect(),
                              figure_ == Figure::Order
                                  ? tr("With four or more samples, the order of the later samples is judged here.")
                                  : tr("Paste a first sample. Then the width of the intervals appears here."));
    }
    std::vector<double> counts, values;
    for (const Line& line : all) {
        for (const QPointF& at : line.points) {
            counts.push_back(std::max(1.0, at.x()));
            values.push_back(at.y());
        }
    }
    counts.push_back(*std::max_element(counts.begin(), counts.end()) + 1);
    PlotFrame frame;
    frame.title = tr("What samples buy");
    frame.xName = tr("samples");
    frame.yName = figure_ == Figure::Error      ? tr("middle error")
                  : figure_ == Figure::Interval ? tr("interval, high ÷ low")
                                                : tr("1 − rank correlation");
    frame.yTicks = figure_ == Figure::Error ? TickText::Percent : TickText::Number;
    frame.area = PlotFrame::areaIn(size());
    const PlotAxis x = PlotAxis::covering(counts, frame.area.left() + 6, frame.area.right() - 90, 1e9);
    const PlotAxis y = PlotAxis::covering(values, frame.area.bottom(), frame.area.top() + 6, 5);
    frame.paint(painter, x, y, width());
    painter.setRenderHint(QPainter::Antialiasing);
    // Labels at the lines' ends, apart from each other.
    std::vector<double> taken;
    const double high = QFontMetrics(font()).height();
    for (const Line& line : all) {
        const QColor colour = theme.methodColour(line.colour);
        QPolygonF drawn;
        for (const QPointF& at : line.points) drawn << QPointF(x.position(at.x()), y.position(at.y()));
        painter.setBrush(Qt::NoBrush);
        painter.setPen(QPen(colour, 2, line.style));
        painter.drawPolyline(drawn);
        painter.setPen(QPen(colour, 1.6));
        painter.setBrush(line.filled ? colour : theme.colours().surface);
        for (const QPointF& at : drawn) painter.drawEllipse(at, 3.5, 3.5);
        // What was said ends where the plan goes on: its name stands above its line.
        const bool goesOn = line.style == Qt::SolidLine && line.colour == 0 && all.size() > 1 &&
                            std::any_of(all.begin(), all.end(), [](const Line& each) { return !each.filled; });
        QPointF at = drawn.last() + (goesOn ? QPointF(-4, -8) : QPointF(8, 4));
        for (const double other : taken)
            if (std::abs(other - at.y()) < high) at.setY(other - high);
        taken.push_back(at.y());
        painter.drawText(at, line.name);
    }
}

}  // namespace orrery::ui
