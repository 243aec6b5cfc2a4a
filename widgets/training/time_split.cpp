#include "widgets/training/time_split.h"

#include "widgets/common/theme.h"
#include "widgets/common/units_text.h"

#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>

#include <algorithm>

namespace orrery::ui {

namespace {

double sumOfShares(const std::vector<TimeShare>& times) {
    double sum = 0;
    for (const TimeShare& each : times) sum += each.seconds;
    return sum;
}

// Exchanges share the hue of the network, in steps of lightness.
QColor shareColour(TimeShare::Kind kind) {
    const Theme& theme = Theme::instance();
    const QColor network = theme.boundColour({BoundKind::Network, -1});
    switch (kind) {
        case TimeShare::Kind::Compute:
            return theme.operatorColour(OperatorKind::MatMul);
        case TimeShare::Kind::Update:
            return theme.operatorColour(OperatorKind::Elementwise);
        case TimeShare::Kind::Tensor:
            return network.darker(135);
        case TimeShare::Kind::Context:
            return network.darker(165);
        case TimeShare::Kind::Expert:
            return network.darker(115);
        case TimeShare::Kind::Pipeline:
            return network.lighter(120);
        case TimeShare::Kind::Data:
            return network;
        case TimeShare::Kind::Bubble:
            return theme.colours().line;
    }
    return theme.colours().line;
}

}  // namespace

TimeSplit::TimeSplit(QWidget* parent) : QWidget(parent) {
    setObjectName(QStringLiteral("training.split"));
    setAccessibleName(tr("Where the time goes"));
    setToolTip(tr("Parts of the time of a step, mean of the stages"));
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    connect(&Theme::instance(), &Theme::changed, this, [this] {
        updateGeometry();
        update();
    });
}

void TimeSplit::setTimes(std::vector<TimeShare> times, const QString& source, std::vector<TimeShare> before) {
    if (times == times_ && source == source_ && before == before_) return;
    const bool sized = before.empty() != before_.empty() || times.empty() != times_.empty();
    times_ = std::move(times);
    source_ = source;
    before_ = std::move(before);
    QStringList said;
    for (const TimeShare& each : times_) said << tr("%1 %2").arg(each.name, text(each.seconds, Dimension::Time));
    setAccessibleDescription(said.join(QStringLiteral(", ")));
    setVisible(!times_.empty());
    if (sized) updateGeometry();
    update();
}

QSize TimeSplit::sizeHint() const {
    const double scale = Theme::instance().scale();
    return {600, static_cast<int>((before_.empty() ? 26 : 40) * scale)};
}

QSize TimeSplit::minimumSizeHint() const {
    return {200, sizeHint().height()};
}

double TimeSplit::longest() const {
    return std::max({sumOfShares(times_), sumOfShares(before_), 1e-12});
}

QRectF TimeSplit::barOf(const std::vector<TimeShare>& times, std::size_t part, double top, double high) const {
    double from = 0;
    for (std::size_t i = 0; i < part; ++i) from += times[i].seconds;
    const double each = width() / longest();
    return {from * each, top, times[part].seconds * each, high};
}

QRectF TimeSplit::rectOf(std::size_t part) const {
    return barOf(times_, part, 0, 24 * Theme::instance().scale());
}

void TimeSplit::paintBar(QPainter& painter, const std::vector<TimeShare>& times, double top, double high,
                         bool named) const {
    const Theme& theme = Theme::instance();
    for (std::size_t i = 0; i < times.size(); ++i) {
        const QRectF box = barOf(times, i, top, high);
        const QColor fill = shareColour(times[i].kind);
        painter.fillRect(box.adjusted(0, 0, box.width() > 3 ? -1 : 0, 0), fill);
        if (!named || box.width() < 30) continue;
        const double share = times[i].seconds / std::max(sumOfShares(times), 1e-12);
        const QFontMetricsF metrics(painter.font());
        const QString full = tr("%1 %2").arg(times[i].name, percentText(share));
        painter.setPen(theme.inkOn(fill));
        const QString shown = metrics.horizontalAdvance(full) + 10 < box.width() ? full : percentText(share);
        if (metrics.horizontalAdvance(shown) + 4 < box.width()) painter.drawText(box, Qt::AlignCenter, shown);
    }
}

void TimeSplit::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setFont(Theme::instance().font(FontRole::Small));
    const double scale = Theme::instance().scale();
    paintBar(painter, times_, 0, 24 * scale, true);
    paintBar(painter, before_, 27 * scale, 11 * scale, false);
}

bool TimeSplit::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip) return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    const bool below = !before_.empty() && help->pos().y() > 25 * Theme::instance().scale();
    const std::vector<TimeShare>& times = below ? before_ : times_;
    for (std::size_t i = 0; i < times.size(); ++i) {
        const QRectF box = barOf(times, i, 0, height());
        if (help->pos().x() < box.left() || help->pos().x() > box.right()) continue;
        QToolTip::showText(help->globalPos(),
                           tr("%1: %2, %3 of the step (%4)")
                               .arg(times[i].name, text(times[i].seconds, Dimension::Time),
                                    percentText(times[i].seconds / std::max(sumOfShares(times), 1e-12)),
                                    below ? tr("pinned plan") : source_),
                           this);
        return true;
    }
    return QWidget::event(event);
}

}  // namespace orrery::ui
