#include "widgets/evidence/training_plot.h"

#include "widgets/common/theme.h"
#include "widgets/evidence/plot_frame.h"

#include <QPainter>

namespace orrery::ui {

TrainingPlot::TrainingPlot(QWidget* parent) : QWidget(parent) {
    setObjectName(QStringLiteral("evidence.training"));
    setAccessibleName(tr("Training curve"));
    setToolTip(tr("Error of the fit, on the fitted and on the held-out rows"));
    connect(&Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
}

void TrainingPlot::setCurve(std::vector<TrainingPoint> curve, const QString& family) {
    curve_ = std::move(curve);
    family_ = family;
    if (!curve_.empty()) {
        setAccessibleDescription(tr("%1: step %2, error %3")
                                     .arg(family_)
                                     .arg(curve_.back().step)
                                     .arg(tickText(curve_.back().training, TickText::Percent)));
    }
    update();
}

void TrainingPlot::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const Theme& theme = Theme::instance();
    painter.fillRect(rect(), theme.colours().surface);
    if (curve_.empty()) return paintEmptyPlot(painter, rect(), tr("The error during a fit appears here."));
    std::vector<double> steps, errors;
    bool validated = false;
    for (const TrainingPoint& point : curve_) {
        steps.push_back(point.step + 1);
        errors.push_back(point.training);
        if (point.validation > 0) errors.push_back(point.validation);
        validated = validated || point.validation > 0;
    }
    PlotFrame frame;
    frame.title = family_.isEmpty() ? tr("Training") : tr("Training · %1").arg(family_);
    frame.xName = tr("step");
    frame.yName = tr("mean absolute error of ln time");
    frame.yTicks = TickText::Number;
    frame.area = PlotFrame::areaIn(size());
    const PlotAxis x = PlotAxis::covering(steps, frame.area.left(), frame.area.right() - 70, 20);
    const PlotAxis y = PlotAxis::covering(errors, frame.area.bottom(), frame.area.top() + 6, 5);
    frame.paint(painter, x, y, width());
    painter.setRenderHint(QPainter::Antialiasing);
    const auto line = [&](auto value, const QColor& colour, const QString& name) {
        // Folds and parts of a blend begin again at the first step: all but the newest are faint.
        std::vector<QPolygonF> runs(1);
        int before = -1;
        for (const TrainingPoint& point : curve_) {
            if (point.step < before) runs.emplace_back();
            before = point.step;
            if (value(point) > 0) runs.back() << QPointF(x.position(point.step + 1), y.position(value(point)));
        }
        std::erase_if(runs, [](const QPolygonF& run) { return run.isEmpty(); });
        if (runs.empty()) return;
        QColor faint = colour;
        faint.setAlpha(70);
        painter.setBrush(Qt::NoBrush);
        for (const QPolygonF& run : runs) {
            painter.setPen(QPen(&run == &runs.back() ? colour : faint, &run == &runs.back() ? 2 : 1));
            painter.drawPolyline(run);
        }
        painter.drawText(runs.back().last() + QPointF(6, 4), name);
    };
    line([](const TrainingPoint& p) { return p.training; }, theme.methodColour(0), tr("teaching"));
    if (validated) line([](const TrainingPoint& p) { return p.validation; }, theme.methodColour(1), tr("held back"));
}

}  // namespace orrery::ui
