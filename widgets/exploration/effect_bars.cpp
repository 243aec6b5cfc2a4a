#include "widgets/exploration/effect_bars.h"

#include "widgets/common/picture_file.h"
#include "widgets/common/plot_axis.h"
#include "widgets/common/theme.h"
#include "widgets/common/units_text.h"
#include "widgets/evidence/plot_frame.h"

#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>

#include <algorithm>
#include <cmath>

namespace orrery::ui {

namespace {

double widthOf(const EffectBar& bar) {
    return bar.low > 0 && bar.high > 0 ? std::abs(std::log(bar.high / bar.low)) : 0;
}

int rowHeight(const QFontMetrics& metrics) {
    return 2 * metrics.height() + 8;
}

}  // namespace

EffectBars::EffectBars(QWidget* parent) : QWidget(parent) {
    setObjectName(QStringLiteral("explore.effects"));
    setAccessibleName(tr("Each knob alone"));
    setToolTip(tr("How far each knob moves the objective while the others stay at the value nearest to the drawing"));
    connect(&Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
}

void EffectBars::setBars(const QString& title, std::vector<EffectBar> bars) {
    title_ = title;
    bars_ = std::move(bars);
    std::ranges::stable_sort(bars_, [](const EffectBar& a, const EffectBar& b) { return widthOf(a) > widthOf(b); });
    setAccessibleDescription(tr("%n knob(s)", nullptr, static_cast<int>(bars_.size())));
    update();
}

void EffectBars::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    paint(painter);
}

QString EffectBars::exportTo(const QString& file) {
    return atPictureSize(*this, [&] {
        return writePicture(file, size(), tr("Each knob alone"),
                            [this](QPainter& painter, const QRect&) { paint(painter); });
    });
}

void EffectBars::paint(QPainter& painter) const {
    const Palette& colours = Theme::instance().colours();
    painter.fillRect(rect(), colours.surface);
    if (bars_.empty()) return paintEmptyPlot(painter, rect(), emptySentence_);
    paintPlotTitle(painter, tr("%1 if each knob changes alone; 1: as drawn").arg(title_), width());
    const QFontMetrics metrics = painter.fontMetrics();
    int names = 0, ends = 0;
    double least = 1, most = 1;
    for (const EffectBar& bar : bars_) {
        names = std::max(names, metrics.horizontalAdvance(bar.name));
        ends = std::max({ends, metrics.horizontalAdvance(bar.lowText), metrics.horizontalAdvance(bar.highText)});
        for (const double value : {bar.low, bar.high}) {
            if (!(value > 0) || !std::isfinite(value)) continue;
            least = std::min(least, value);
            most = std::max(most, value);
        }
    }
    names = std::min(names, width() / 3);
    const double from = names + 16, to = width() - 16;
    const double span = std::max(std::log(most / least), 0.02);
    // Room for the texts at both ends.
    const double room = std::min<double>(ends + 8, (to - from) / 3);
    const auto at = [&](double value) { return from + room + (to - from - 2 * room) * std::log(value / least) / span; };
    const int high = rowHeight(metrics);
    const double one = at(1);
    painter.setPen(QPen(colours.faintLine, 1));
    painter.drawLine(QPointF(one, plotTitleHeight), QPointF(one, height() - 4));
    for (std::size_t i = 0; i < bars_.size(); ++i) {
        const EffectBar& bar = bars_[i];
        const double top = plotTitleHeight + 6 + static_cast<double>(i) * high;
        if (top + high > height()) break;
        painter.setPen(colours.text);
        painter.drawText(QRectF(8, top, names, metrics.height()), Qt::AlignLeft | Qt::AlignVCenter,
                         metrics.elidedText(bar.name, Qt::ElideMiddle, names));
        if (!(bar.low > 0) || !(bar.high > 0)) continue;
        const double a = at(bar.low), b = at(bar.high);
        QColor fill = colours.accent;
        fill.setAlphaF(0.75F);
        painter.fillRect(QRectF(std::min(a, b), top + 2, std::max(2.0, std::abs(b - a)), metrics.height() - 2), fill);
        painter.setPen(colours.mutedText);
        const bool rising = b >= a;
        const auto say = [&](double x, const QString& text, bool left) {
            const QRectF box = left ? QRectF(x - room, top, room - 4, metrics.height())
                                    : QRectF(x + 4, top, room - 4, metrics.height());
            painter.drawText(box, (left ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter,
                             metrics.elidedText(text, Qt::ElideRight, static_cast<int>(room) - 4));
        };
        say(a, bar.lowText, rising);
        say(b, bar.highText, !rising);
        const auto ratio = [](double value) { return QStringLiteral("×%1").arg(value, 0, 'g', 3); };
        painter.drawText(
            QRectF(std::min(a, b) - room, top + metrics.height(), std::abs(b - a) + 2 * room, metrics.height()),
            Qt::AlignHCenter | Qt::AlignVCenter,
            QStringLiteral("%1 … %2").arg(ratio(std::min(bar.low, bar.high)), ratio(std::max(bar.low, bar.high))));
    }
}

bool EffectBars::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip) return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    const int row = (help->pos().y() - plotTitleHeight - 6) / rowHeight(fontMetrics());
    if (row < 0 || row >= static_cast<int>(bars_.size()) || help->pos().y() < plotTitleHeight)
        return QWidget::event(event);
    QToolTip::showText(help->globalPos(), bars_[static_cast<std::size_t>(row)].tip, this);
    return true;
}

}  // namespace orrery::ui
