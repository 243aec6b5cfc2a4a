#include "widgets/exploration/history_plot.h"

#include "widgets/common/picture_file.h"
#include "widgets/common/theme.h"
#include "widgets/evidence/plot_frame.h"

#include <QPainter>

#include <algorithm>
#include <cmath>

namespace orrery::ui {

HistoryPlot::HistoryPlot(QWidget* parent) : QWidget(parent) {
    setObjectName(QStringLiteral("explore.history"));
    setAccessibleName(tr("History of the best points of the search"));
    setToolTip(tr("The best of each objective and the hypervolume of the front, as a share of the final value"));
    connect(&Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
}

void HistoryPlot::setCurves(std::vector<std::uint64_t> evaluations, std::vector<HistoryCurve> curves) {
    evaluations_ = std::move(evaluations);
    curves_ = std::move(curves);
    setAccessibleDescription(tr("%n curve(s)", nullptr, static_cast<int>(curves_.size())));
    update();
}

void HistoryPlot::paint(QPainter& painter) const {
    const Theme& theme = Theme::instance();
    const Palette& colours = theme.colours();
    painter.fillRect(rect(), colours.surface);
    if (evaluations_.empty() || curves_.empty()) return paintEmptyPlot(painter, rect(), emptySentence_);
    const QFontMetrics metrics = painter.fontMetrics();
    PlotFrame frame;
    frame.title = tr("Share of the final value");
    frame.xName = tr("Points asked for");
    frame.area = PlotFrame::areaIn(size());
    frame.area.setTop(frame.area.top() + metrics.height() + 6);
    PlotAxis x{1, std::max(2.0, static_cast<double>(evaluations_.back())), frame.area.left(), frame.area.right(),
               evaluations_.back() > 20};
    double least = 1;
    for (const HistoryCurve& curve : curves_)
        for (const double share : curve.share)
            if (std::isfinite(share)) least = std::min(least, share);
    const PlotAxis y{std::max(0.0, least - 0.05), 1.02, frame.area.bottom(), frame.area.top(), false};
    frame.paint(painter, x, y, width());
    painter.setRenderHint(QPainter::Antialiasing);
    double legend = frame.area.left();
    for (std::size_t c = 0; c < curves_.size(); ++c) {
        const HistoryCurve& curve = curves_[c];
        const QColor colour = theme.methodColour(static_cast<int>(c));
        painter.setPen(QPen(colour, 2, c == 0 ? Qt::SolidLine : c == 1 ? Qt::DashLine : Qt::DotLine));
        QPolygonF line;
        for (std::size_t i = 0; i < curve.share.size(); ++i) {
            if (!std::isfinite(curve.share[i])) continue;
            const QPointF at(x.position(static_cast<double>(evaluations_[i])), y.position(curve.share[i]));
            if (!line.isEmpty()) line << QPointF(at.x(), line.back().y());  // found at that point, not on the way
            line << at;
        }
        painter.drawPolyline(line);
        const double row = frame.area.top() - metrics.height() - 4;
        painter.drawLine(QPointF(legend, row + metrics.height() / 2.0),
                         QPointF(legend + 20, row + metrics.height() / 2.0));
        const QString text = curve.last.isEmpty() ? curve.name : tr("%1: %2").arg(curve.name, curve.last);
        painter.setPen(colours.text);
        const int wide = metrics.horizontalAdvance(text) + 4;
        painter.drawText(QRectF(legend + 26, row, wide, metrics.height()), Qt::AlignLeft | Qt::AlignVCenter, text);
        legend += wide + 48;
    }
}

void HistoryPlot::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    paint(painter);
}

QString HistoryPlot::exportTo(const QString& file) {
    return atPictureSize(*this, [&] {
        return writePicture(file, size(), tr("History of the best points of the search"),
                            [this](QPainter& painter, const QRect&) { paint(painter); });
    });
}

}  // namespace orrery::ui
