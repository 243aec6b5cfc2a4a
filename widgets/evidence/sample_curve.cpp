#include "widgets/evidence/sample_curve.h"

#include "widgets/common/theme.h"
#include "widgets/evidence/plot_frame.h"

#include <QPainter>

#include <cmath>

namespace orrery::ui {

SampleCurve::SampleCurve(QWidget* parent) : QWidget(parent) {
    setObjectName(QStringLiteral("device.curve"));
    setAccessibleName(tr("Error by number of samples"));
    setToolTip(tr("The error that is said after each sample, and the one that later samples showed"));
    connect(&Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
}

void SampleCurve::setMarks(std::vector<SampleMark> marks) {
    marks_ = std::move(marks);
    setAccessibleDescription(marks_.empty() ? QString()
                                            : tr("%1 samples, %2 said")
                                                  .arg(marks_.back().samples)
                                                  .arg(tickText(marks_.back().said, TickText::Percent)));
    update();
}

void SampleCurve::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const Theme& theme = Theme::instance();
    painter.fillRect(rect(), theme.colours().surface);
    if (marks_.empty()) {
        return paintEmptyPlot(painter, rect(),
                              tr("Open a table of known devices. The error that each further sample leaves is drawn "
                                 "here."));
    }
    std::vector<double> counts, errors;
    for (const SampleMark& mark : marks_) {
        counts.push_back(mark.samples);
        errors.push_back(mark.said);
        if (std::isfinite(mark.found) && mark.found > 0) errors.push_back(mark.found);
    }
    counts.push_back(counts.back() + 1);
    PlotFrame frame;
    frame.title = tr("What samples buy");
    frame.xName = tr("samples");
    frame.yName = tr("middle error");
    frame.area = PlotFrame::areaIn(size());
    const PlotAxis x = PlotAxis::covering(counts, frame.area.left() + 6, frame.area.right() - 90, 1e9);
    const PlotAxis y = PlotAxis::covering(errors, frame.area.bottom(), frame.area.top() + 6, 5);
    frame.paint(painter, x, y, width());
    painter.setRenderHint(QPainter::Antialiasing);
    const QColor said = theme.methodColour(0), found = theme.methodColour(1);
    QPolygonF measured, planned, later;
    for (const SampleMark& mark : marks_) {
        const QPointF at(x.position(mark.samples), y.position(mark.said));
        if (mark.planned) {
            if (planned.isEmpty() && !measured.isEmpty()) planned << measured.last();
            planned << at;
        } else {
            measured << at;
        }
        if (std::isfinite(mark.found) && mark.found > 0)
            later << QPointF(x.position(mark.samples), y.position(mark.found));
    }
    const auto draw = [&](const QPolygonF& line, const QColor& colour, Qt::PenStyle style, bool filled,
                          const QString& name, double below) {
        if (line.isEmpty()) return;
        painter.setBrush(Qt::NoBrush);
        painter.setPen(QPen(colour, 2, style));
        painter.drawPolyline(line);
        painter.setPen(QPen(colour, 1.6));
        painter.setBrush(filled ? colour : theme.colours().surface);
        for (const QPointF& at : line) painter.drawEllipse(at, 3.5, 3.5);
        painter.drawText(line.last() + QPointF(8, below), name);
    };
    draw(later, found, Qt::SolidLine, true, tr("found later"), 4);
    draw(planned, said, Qt::DashLine, false, tr("expected"), 4);
    draw(measured, said, Qt::SolidLine, true, planned.isEmpty() ? tr("said") : QString(), -8);
}

}  // namespace orrery::ui
