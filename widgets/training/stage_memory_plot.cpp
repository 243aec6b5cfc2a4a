#include "widgets/training/stage_memory_plot.h"

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

struct MemoryPart {
    const char* name;  ///< in the context StageMemoryPlot
    double StageBytes::*bytes;
    int colour;  ///< of Theme::methodColour
};
constexpr std::array<MemoryPart, 4> memoryParts{
    {{QT_TRANSLATE_NOOP("StageMemoryPlot", "parameters"), &StageBytes::parameters, 0},
     {QT_TRANSLATE_NOOP("StageMemoryPlot", "gradients"), &StageBytes::gradients, 4},
     {QT_TRANSLATE_NOOP("StageMemoryPlot", "optimizer"), &StageBytes::optimizer, 3},
     {QT_TRANSLATE_NOOP("StageMemoryPlot", "activations"), &StageBytes::activations, 1}}};

QString partName(const MemoryPart& part, bool statesApart) {
    if (!statesApart && part.bytes == &StageBytes::parameters) return StageMemoryPlot::tr("weights and their states");
    return StageMemoryPlot::tr(part.name);
}

bool partShown(const MemoryPart& part, const StageMemoryData& data) {
    return data.statesApart || part.bytes == &StageBytes::parameters || part.bytes == &StageBytes::activations;
}

}  // namespace

StageMemoryPlot::StageMemoryPlot(QWidget* parent) : QWidget(parent) {
    setObjectName(QStringLiteral("training.memory"));
    setAccessibleName(tr("Memory by stage"));
    setToolTip(tr("Peak memory of a device of each stage"));
    connect(&Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
}

void StageMemoryPlot::setData(StageMemoryData data) {
    if (data == data_) return;
    data_ = std::move(data);
    QStringList said;
    for (int s = 0; s < static_cast<int>(std::min<std::size_t>(data_.stages.size(), 4)); ++s) said << textOf(s);
    setAccessibleDescription(said.join(QStringLiteral("; ")));
    update();
}

QRectF StageMemoryPlot::area() const {
    const double scale = Theme::instance().scale();
    return QRectF(QPointF(64 * scale, 30 * scale), QPointF(width() - 12, height() - 34 * scale));
}

double StageMemoryPlot::top() const {
    double most = data_.capacity;
    for (const StageBytes& stage : data_.stages) most = std::max({most, stage.total(), stage.capacity});
    for (const double before : data_.baseline) most = std::max(most, before);
    return most > 0 ? most * 1.12 : 1;
}

QRectF StageMemoryPlot::barOf(int stage) const {
    const QRectF inside = area();
    const auto count = static_cast<double>(std::max<std::size_t>(1, data_.stages.size()));
    const double pitch = inside.width() / count;
    const double wide = std::min(pitch * 0.72, 72.0);
    const double high = inside.height() * data_.stages[static_cast<std::size_t>(stage)].total() / top();
    return {inside.left() + pitch * (stage + 0.5) - wide / 2, inside.bottom() - high, wide, high};
}

int StageMemoryPlot::stageAt(const QPointF& place) const {
    const QRectF inside = area();
    if (data_.stages.empty() || !inside.adjusted(0, 0, 0, 24).contains(place)) return -1;
    const auto count = static_cast<int>(data_.stages.size());
    return std::clamp(static_cast<int>((place.x() - inside.left()) / inside.width() * count), 0, count - 1);
}

QString StageMemoryPlot::textOf(int stage) const {
    const auto at = static_cast<std::size_t>(stage);
    const StageBytes& bytes = data_.stages[at];
    QStringList said;
    for (const MemoryPart& part : memoryParts)
        if (partShown(part, data_) && bytes.*part.bytes > 0)
            said << tr("%1 %2").arg(partName(part, data_.statesApart), text(bytes.*part.bytes, Dimension::Data));
    QString whole = (data_.onlyFullest ? tr("the fullest stage") : tr("stage %1").arg(stage)) +
                    tr(": %1 (%2)").arg(text(bytes.total(), Dimension::Data), said.join(QStringLiteral(", ")));
    if (const double capacity = bytes.capacity > 0 ? bytes.capacity : data_.capacity; capacity > 0) {
        const double left = capacity - bytes.total();
        whole += left >= 0 ? tr("; %1 left").arg(text(left, Dimension::Data))
                           : tr("; %1 too much").arg(text(-left, Dimension::Data));
    }
    return whole;
}

void StageMemoryPlot::paintLegend(QPainter& painter) const {
    const Theme& theme = Theme::instance();
    painter.setFont(theme.font(FontRole::Small));
    const QFontMetricsF metrics(painter.font());
    double x = area().left();
    for (const MemoryPart& part : memoryParts) {
        if (!partShown(part, data_)) continue;
        const QString name = partName(part, data_.statesApart);
        const QRectF dot(x, 15 - 4, 8, 8);
        painter.setPen(Qt::NoPen);
        painter.setBrush(theme.methodColour(part.colour));
        painter.drawRect(dot);
        painter.setPen(theme.colours().text);
        const double wide = metrics.horizontalAdvance(name);
        if (x + 12 + wide > width()) return;
        painter.drawText(QRectF(x + 12, 4, wide + 2, 22), Qt::AlignLeft | Qt::AlignVCenter, name);
        x += wide + 28;
    }
    painter.setPen(theme.colours().mutedText);
    if (!data_.source.isEmpty() && x + metrics.horizontalAdvance(data_.source) + 8 < width())
        painter.drawText(QRectF(x, 4, width() - x - 12, 22), Qt::AlignRight | Qt::AlignVCenter, data_.source);
}

void StageMemoryPlot::paintEvent(QPaintEvent*) {
    const Theme& theme = Theme::instance();
    const Palette& colours = theme.colours();
    QPainter painter(this);
    painter.fillRect(rect(), colours.surface);
    if (data_.stages.empty())
        return paintEmptyPlot(painter, rect(), tr("The memory of a device of each stage appears here."));
    paintLegend(painter);
    const QRectF inside = area();
    const auto y = [&](double bytes) { return inside.bottom() - inside.height() * bytes / top(); };
    painter.setFont(theme.font(FontRole::Small));
    const QFontMetricsF metrics(painter.font());
    PlotAxis axis;
    axis.low = 0;
    axis.high = top();
    axis.from = inside.bottom();
    axis.to = inside.top();
    axis.log = false;
    for (const double tick : axis.ticks(44)) {
        painter.setPen(colours.faintLine);
        painter.drawLine(QPointF(inside.left(), y(tick)), QPointF(inside.right(), y(tick)));
        painter.setPen(colours.mutedText);
        painter.drawText(QRectF(0, y(tick) - 10, inside.left() - 6, 20), Qt::AlignRight | Qt::AlignVCenter,
                         tick == 0 ? QStringLiteral("0") : text(tick, Dimension::Data, 3));
    }
    const auto count = static_cast<int>(data_.stages.size());
    const double pitch = inside.width() / count;
    const auto every = static_cast<int>(std::ceil((metrics.horizontalAdvance(QString::number(count)) + 8) / pitch));
    for (int s = 0; s < count; ++s) {
        const StageBytes& stage = data_.stages[static_cast<std::size_t>(s)];
        const QRectF bar = barOf(s);
        if (static_cast<std::size_t>(s) < data_.baseline.size()) {
            painter.setPen(QPen(colours.mutedText, 1, Qt::DashLine));
            painter.setBrush(Qt::NoBrush);
            const double before = y(data_.baseline[static_cast<std::size_t>(s)]);
            painter.drawRect(QRectF(bar.left() - 3, before, bar.width() + 6, inside.bottom() - before));
        }
        double from = 0;
        for (const MemoryPart& part : memoryParts) {
            const double bytes = stage.*part.bytes;
            if (bytes <= 0) continue;
            painter.fillRect(QRectF(bar.left(), y(from + bytes), bar.width(), y(from) - y(from + bytes)),
                             theme.methodColour(part.colour));
            from += bytes;
        }
        const double capacity = stage.capacity > 0 ? stage.capacity : data_.capacity;
        const bool over = capacity > 0 && stage.total() > capacity;
        const QString total = text(stage.total(), Dimension::Data);
        if (metrics.horizontalAdvance(total) < pitch) {
            painter.setPen(over ? colours.bad : colours.text);
            painter.drawText(QRectF(bar.center().x() - pitch / 2, bar.top() - 18, pitch, 16), Qt::AlignCenter, total);
        }
        painter.setPen(colours.mutedText);
        if (s % std::max(1, every) == 0)
            painter.drawText(QRectF(bar.center().x() - 40, inside.bottom() + 2, 80, 16), Qt::AlignCenter,
                             data_.onlyFullest ? tr("fullest") : QString::number(s));
    }
    painter.setPen(colours.mutedText);
    painter.drawText(QRectF(inside.left(), inside.bottom() + 16, inside.width(), 16), Qt::AlignCenter, tr("stage"));
    const auto differs = [](const StageBytes& stage) { return stage.capacity > 0; };
    if (std::any_of(data_.stages.begin(), data_.stages.end(), differs)) return paintCapacities(painter);
    if (data_.capacity <= 0) return;
    const double line = y(data_.capacity);
    painter.setPen(QPen(colours.bad, 1.5, Qt::DashLine));
    painter.drawLine(QPointF(inside.left(), line), QPointF(inside.right(), line));
    const QString name = tr("a device has %1").arg(text(data_.capacity, Dimension::Data));
    const double wide = metrics.horizontalAdvance(name) + 8;
    const QRectF label(inside.right() - wide, line - 17, wide, 16);
    painter.fillRect(label, colours.surface);
    painter.setPen(colours.bad);
    painter.drawText(label, Qt::AlignCenter, name);
}

// Devices differ: a line over each stage, named where the next one has another.
void StageMemoryPlot::paintCapacities(QPainter& painter) const {
    const Theme& theme = Theme::instance();
    const QFontMetricsF metrics(painter.font());
    const QRectF inside = area();
    const double pitch = inside.width() / static_cast<double>(data_.stages.size());
    for (std::size_t s = 0; s < data_.stages.size();) {
        const double capacity = data_.stages[s].capacity;
        std::size_t end = s;
        while (end < data_.stages.size() && data_.stages[end].capacity == capacity) ++end;
        const double line = inside.bottom() - inside.height() * capacity / top();
        const double left = inside.left() + pitch * static_cast<double>(s),
                     right = inside.left() + pitch * static_cast<double>(end);
        painter.setPen(QPen(theme.colours().bad, 1.5, Qt::DashLine));
        painter.drawLine(QPointF(left + 2, line), QPointF(right - 2, line));
        const QString name = text(capacity, Dimension::Data);
        const double wide = metrics.horizontalAdvance(name) + 8;
        if (wide < right - left) {
            const QRectF label(right - wide - 2, line - 17, wide, 16);
            painter.fillRect(label, theme.colours().surface);
            painter.drawText(label, Qt::AlignCenter, name);
        }
        s = end;
    }
}

bool StageMemoryPlot::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip) return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    const int stage = stageAt(help->pos());
    if (stage < 0) return QWidget::event(event);
    QToolTip::showText(help->globalPos(), textOf(stage), this);
    return true;
}

}  // namespace orrery::ui
