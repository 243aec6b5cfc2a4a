#include "widgets/mapping/mapper_scatter.h"

#include "widgets/common/theme.h"
#include "widgets/common/units_text.h"
#include "widgets/plots/log_axes.h"

#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>

#include <algorithm>

namespace orrery::ui {

namespace {

constexpr double reach = 8;  ///< pixels around a point that count as it

/// A range around values with some air; a single value gets a factor of two on each side.
template <class Value>
Range around(const std::vector<MapperPoint>& curve, Value value) {
    double low = 0, high = 0;
    for (const MapperPoint& point : curve) {
        const double v = value(point);
        if (!(v > 0)) continue;
        low = low > 0 ? std::min(low, v) : v;
        high = std::max(high, v);
    }
    if (!(low > 0)) return {};
    const double air = std::max(1.1, std::pow(high / low, 0.08));
    return high / low < 1.2 ? Range{low / 2, high * 2} : Range{low / air, high * air};
}

void paintFrame(QPainter& painter, const QRectF& area, const QString& title, const QString& x, const QString& y,
                const QString& lowX, const QString& highX, const QString& lowY, const QString& highY) {
    const Palette& colours = Theme::instance().colours();
    painter.setPen(colours.text);
    const double line = painter.fontMetrics().height();
    painter.drawText(QRectF(area.left(), area.top() - line - 6, area.width(), line), Qt::AlignLeft, title);
    painter.setPen(colours.faintLine);
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(area);
    painter.setPen(colours.mutedText);
    painter.drawText(QRectF(area.left(), area.bottom() + 2, area.width(), line), Qt::AlignLeft, lowX);
    painter.drawText(QRectF(area.left(), area.bottom() + 2, area.width(), line), Qt::AlignRight, highX);
    painter.drawText(QRectF(area.left(), area.bottom() + 2, area.width(), line), Qt::AlignHCenter, x);
    painter.drawText(QRectF(area.left() + 4, area.top() + 2, area.width(), line), Qt::AlignLeft,
                     highY + QStringLiteral("  ") + y);
    painter.drawText(QRectF(area.left() + 4, area.bottom() - line - 2, area.width(), line), Qt::AlignLeft, lowY);
}

}  // namespace

MapperScatter::MapperScatter(QWidget* parent) : QWidget(parent) {
    setObjectName(QStringLiteral("mapping.scatter"));
    setAccessibleName(tr("Mappings found"));
    setToolTip(tr("Each point is a mapping that was the best when it was found"));
    setMouseTracking(true);
    connect(&Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
}

void MapperScatter::setCurve(const std::vector<MapperPoint>& curve, Hertz clock) {
    curve_ = curve;
    clock_ = clock;
    setAccessibleDescription(curve_.empty() ? tr("No mapping yet") : pointText(curve_.size() - 1));
    update();
}

void MapperScatter::setLowerBound(double bound) {
    lowerBound_ = bound;
    update();
}

double MapperScatter::latency(const MapperPoint& point) const {
    return clock_.value > 0 ? point.cycles / clock_.value : point.cycles;
}

QString MapperScatter::latencyText(const MapperPoint& point) const {
    return clock_.value > 0 ? text(Seconds(latency(point))) : tr("%1 cycles").arg(countText(point.cycles));
}

QString MapperScatter::pointText(std::size_t index) const {
    const MapperPoint& point = curve_[index];
    QString words = latencyText(point);
    if (point.energy > 0) words += QStringLiteral(" · ") + text(Joules(point.energy));
    return words + QLatin1Char('\n') +
           tr("after %1 mappings, %2")
               .arg(countText(static_cast<double>(point.evaluations)), text(Seconds(point.seconds)));
}

int MapperScatter::pointAt(const QPointF& place) const {
    int best = -1;
    double nearest = reach * reach;
    for (std::size_t i = 0; i < places_.size(); ++i) {
        const QPointF away = places_[i] - place;
        const double distance = QPointF::dotProduct(away, away);
        if (distance > nearest) continue;
        nearest = distance;
        best = static_cast<int>(i);
    }
    return best;
}

void MapperScatter::paintScatter(QPainter& painter, const QRectF& area) {
    const Palette& colours = Theme::instance().colours();
    const bool energies = std::ranges::any_of(curve_, [](const MapperPoint& p) { return p.energy > 0; });
    const auto height = [&](const MapperPoint& p) { return energies ? p.energy : p.objective; };
    const LogAxes axes{around(curve_, [this](const MapperPoint& p) { return latency(p); }), around(curve_, height),
                       area};
    const auto edge = [&](double value) {
        return clock_.value > 0 ? text(Seconds(value)) : tr("%1 cycles").arg(countText(value));
    };
    const auto side = [&](double value) { return energies ? text(Joules(value)) : QString::number(value, 'g', 3); };
    paintFrame(painter, area, tr("Best mappings so far"), tr("latency"), energies ? tr("energy") : tr("objective"),
               edge(axes.x.low), edge(axes.x.high), side(axes.y.low), side(axes.y.high));
    places_.clear();
    for (const MapperPoint& point : curve_) places_.push_back(axes.toPixel(latency(point), height(point)));
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(colours.line, 1));
    painter.drawPolyline(places_.data(), static_cast<int>(places_.size()));
    painter.setPen(Qt::NoPen);
    for (std::size_t i = 0; i < places_.size(); ++i) {
        const bool last = i + 1 == places_.size();
        painter.setBrush(last ? colours.accent : Theme::instance().methodColour(1));
        painter.drawEllipse(places_[i], last ? 6 : 3.5, last ? 6 : 3.5);
    }
    painter.setRenderHint(QPainter::Antialiasing, false);
}

void MapperScatter::paintCurve(QPainter& painter, const QRectF& area) {
    const Palette& colours = Theme::instance().colours();
    const auto tried = [](const MapperPoint& p) {
        return static_cast<double>(std::max<std::uint64_t>(p.evaluations, 1));
    };
    Range objectives = around(curve_, [](const MapperPoint& p) { return p.objective; });
    // A bound that is far off says little and would press the curve flat.
    const bool bounded = lowerBound_ > objectives.low / 10;
    if (bounded) objectives.low = std::min(objectives.low, lowerBound_ / 1.1);
    const LogAxes axes{around(curve_, tried), objectives, area};
    paintFrame(painter, area, tr("How the objective fell"), tr("mappings costed"), tr("objective"),
               countText(std::ceil(axes.x.low)), countText(axes.x.high), QString::number(axes.y.low, 'g', 3),
               QString::number(axes.y.high, 'g', 3));
    QPolygonF steps;
    for (const MapperPoint& point : curve_) {
        const QPointF at = axes.toPixel(tried(point), point.objective);
        if (!steps.isEmpty()) steps << QPointF(at.x(), steps.last().y());
        steps << at;
    }
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(colours.accent, 2));
    painter.setBrush(Qt::NoBrush);
    painter.drawPolyline(steps);
    painter.setRenderHint(QPainter::Antialiasing, false);
    if (!bounded) return;
    const double y = axes.toPixel(tried(curve_.back()), lowerBound_).y();
    painter.setPen(QPen(colours.mutedText, 1, Qt::DashLine));
    painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y));
    painter.drawText(
        QRectF(area.left(), y - painter.fontMetrics().height() - 1, area.width() - 4, painter.fontMetrics().height()),
        Qt::AlignRight, tr("no mapping is below"));
}

void MapperScatter::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const Palette& colours = Theme::instance().colours();
    painter.fillRect(rect(), colours.surface);
    painter.setFont(Theme::instance().font(FontRole::Small));
    if (curve_.empty()) {
        places_.clear();
        painter.setPen(colours.mutedText);
        painter.setFont(Theme::instance().font(FontRole::Body));
        return painter.drawText(rect().adjusted(24, 24, -24, -24), Qt::AlignCenter | Qt::TextWordWrap,
                                tr("While a mapper searches, its best mappings appear here by latency and energy."));
    }
    const double line = painter.fontMetrics().height();
    const double half = (height() - 5 * line - 24) / 2.0;
    const QRectF upper(12, line + 12, width() - 24, half + half * 0.25);
    const QRectF lower(12, upper.bottom() + 3 * line, width() - 24, half * 0.75);
    paintScatter(painter, upper);
    paintCurve(painter, lower);
}

bool MapperScatter::event(QEvent* event) {
    if (event->type() == QEvent::ToolTip) {
        auto* help = static_cast<QHelpEvent*>(event);
        if (const int point = pointAt(help->pos()); point >= 0) {
            QToolTip::showText(help->globalPos(), pointText(static_cast<std::size_t>(point)), this);
            return true;
        }
    }
    return QWidget::event(event);
}

}  // namespace orrery::ui
