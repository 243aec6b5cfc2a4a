#include "widgets/serving/traffic_picture.h"

#include "widgets/common/theme.h"
#include "widgets/common/units_text.h"
#include "widgets/evidence/plot_frame.h"

#include <QPainter>

#include <algorithm>

namespace orrery::ui {

namespace {

constexpr std::size_t bins = 60;

std::vector<double> histogram(const std::vector<std::int32_t>& values, double most) {
    std::vector<double> counts(bins, 0.0);
    for (const std::int32_t value : values)
        ++counts[std::min(bins - 1, static_cast<std::size_t>(value / (most + 1) * static_cast<double>(bins)))];
    return counts;
}

}  // namespace

TrafficPicture::TrafficPicture(QWidget* parent) : QWidget(parent) {
    setObjectName(QStringLiteral("serving.traffic"));
    setAccessibleName(tr("Traffic"));
    setToolTip(tr("Arrivals over time, lengths of prompts and of outputs"));
    connect(&Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
}

void TrafficPicture::setStream(std::shared_ptr<const RequestStream> stream) {
    any_ = stream && stream->size() > 0;
    summary_.clear();
    if (any_) {
        seconds_ = toSeconds(stream->arrival.back());
        longestPrompt_ = *std::ranges::max_element(stream->prompt);
        longestOutput_ = *std::ranges::max_element(stream->output);
        prompts_ = histogram(stream->prompt, longestPrompt_);
        outputs_ = histogram(stream->output, longestOutput_);
        arrivals_.assign(bins, 0.0);
        for (const SimTime at : stream->arrival) {
            const double share = seconds_ > 0 ? toSeconds(at) / seconds_ : 0;
            ++arrivals_[std::min(bins - 1, static_cast<std::size_t>(share * static_cast<double>(bins)))];
        }
        const auto count = static_cast<double>(stream->size());
        const QString many = stream->size() == 1 ? tr("1 request") : tr("%1 requests").arg(countText(count));
        summary_ = stream->concurrency > 0 ? tr("%1, %2 at a time").arg(many).arg(stream->concurrency)
                   : seconds_ > 0          ? tr("%1 in %2, %3 per second")
                                        .arg(many, text(seconds_, Dimension::Time))
                                        .arg(count / seconds_, 0, 'g', 3)
                                  : tr("%1 at once").arg(many);
    }
    setAccessibleDescription(summary_);
    update();
}

void TrafficPicture::paintBars(QPainter& painter, const QRectF& area, const std::vector<double>& bars,
                               const QColor& colour, const QString& title, const QString& high) const {
    const Palette& colours = Theme::instance().colours();
    const int line = painter.fontMetrics().height();
    painter.setPen(colours.mutedText);
    painter.drawText(QRectF(area.left(), area.top(), area.width(), line), Qt::AlignLeft, title);
    painter.drawText(QRectF(area.left(), area.top(), area.width(), line), Qt::AlignRight, high);
    const QRectF inner = area.adjusted(0, line + 1, 0, -3);
    const double most = std::max(1.0, *std::ranges::max_element(bars));
    const double wide = inner.width() / static_cast<double>(bars.size());
    for (std::size_t i = 0; i < bars.size(); ++i) {
        const double tall = inner.height() * bars[i] / most;
        painter.fillRect(
            QRectF(inner.left() + wide * static_cast<double>(i), inner.bottom() - tall, std::max(1.0, wide - 1), tall),
            colour);
    }
    painter.setPen(colours.faintLine);
    painter.drawLine(inner.bottomLeft(), inner.bottomRight());
}

void TrafficPicture::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const Theme& theme = Theme::instance();
    painter.fillRect(rect(), theme.colours().window);
    if (!any_) return paintEmptyPlot(painter, rect(), tr("No requests"));
    painter.setFont(theme.font(FontRole::Small));
    const double third = height() / 3.0;
    paintBars(painter, QRectF(0, 0, width(), third), arrivals_, theme.colours().mutedText, tr("Arrivals"),
              text(seconds_, Dimension::Time));
    paintBars(painter, QRectF(0, third, width(), third), prompts_, theme.methodColour(1), tr("Prompt tokens"),
              tr("up to %1").arg(countText(longestPrompt_)));
    paintBars(painter, QRectF(0, 2 * third, width(), third), outputs_, theme.methodColour(0), tr("Output tokens"),
              tr("up to %1").arg(countText(longestOutput_)));
}

}  // namespace orrery::ui
