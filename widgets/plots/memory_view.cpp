#include "widgets/plots/memory_view.h"

#include "widgets/common/theme.h"
#include "widgets/common/units_text.h"
#include "widgets/plots/hover_card.h"
#include "widgets/plots/operator_facts.h"

#include <QMouseEvent>
#include <QPainter>

#include <algorithm>

namespace orrery::ui {
namespace {

constexpr double margin = 12;

double scaled(double pixels) {
    return pixels * Theme::instance().scale();
}

}  // namespace

EmptyState MemoryView::nothingYet() const {
    return {tr("Memory"), tr("Weights, KV cache and activations against the capacity of the device."),
            tr("Open an example")};
}

MemoryView::MemoryView(Selection* selection, QWidget* parent)
    : ResultView(QStringLiteral("memory"), tr("Memory"), selection, parent) {
    setMinimumSize(180, 100);
    setMouseTracking(true);
    setEmptyState(nothingYet());
    card_ = new HoverCard(this);
    connect(&Theme::instance(), &Theme::changed, this, [this] { update(); });
    setEmpty(true);
}

const MemoryUse* MemoryView::use() const {
    if (!snapshot()) return nullptr;
    if (const Estimate* estimate = snapshot()->primaryEstimate(); estimate && estimate->memory)
        return &*estimate->memory;
    // Another method of the set may know what the primary one does not.
    for (const Answer& answer : snapshot()->answers)
        if (answer.estimate && answer.estimate->memory) return &*answer.estimate->memory;
    return nullptr;
}

QString MemoryView::method() const {
    if (!snapshot()) return {};
    for (const Answer& answer : snapshot()->answers)
        if (answer.estimate && answer.estimate->memory && &*answer.estimate->memory == use()) return answer.title;
    return {};
}

void MemoryView::snapshotChanged(const SnapshotPtr&) {
    card_->hide();
    if (snapshot() && snapshot()->primaryEstimate() && !use()) {
        setEmptyState({tr("No memory prediction"),
                       tr("None of the methods that ran predicts memory. The LLM inference analysis does."),
                       {}});
    } else if (!use()) {
        setEmptyState(withoutEstimate(snapshot(), nothingYet()));
    }
    setEmpty(!use());
    setAccessibleDescription(verdict());
    update();
}

QString MemoryView::verdict() const {
    const MemoryUse* memory = use();
    if (!memory) return {};
    const Bytes capacity = memory->capacity;
    if (capacity.value <= 0) return tr("%1 in total; the device states no capacity").arg(text(memory->total()));
    const QString device = snapshot()->device ? QString::fromStdString(snapshot()->device->name) : tr("the device");
    const Bytes room = capacity - memory->total();
    if (room.value >= 0) return tr("Fits: %1 free (%2)").arg(text(room), percentText(room / capacity));
    return tr("Does not fit: %1 more than the %2 of %3").arg(text(-room), text(capacity), device);
}

QRectF MemoryView::barBox() const {
    return {margin, margin + scaled(46), std::max(width() - 2 * margin, 1.0), scaled(30)};
}

std::vector<MemoryView::Part> MemoryView::parts() const {
    const MemoryUse* memory = use();
    if (!memory) return {};
    const Theme& theme = Theme::instance();
    std::vector<Part> parts = {
        {tr("Weights"), theme.operatorColour(OperatorKind::MatMul), memory->weights.value, {}},
        {tr("KV cache"), theme.operatorColour(OperatorKind::Attention), memory->kvCache.value, {}},
        {tr("Activations"), theme.operatorColour(OperatorKind::Elementwise), memory->activations.value, {}}};
    const QRectF bar = barBox();
    const double whole = std::max({memory->capacity.value, memory->total().value, 1.0});
    double x = bar.left();
    for (Part& part : parts) {
        part.box = QRectF(x, bar.top(), part.bytes / whole * bar.width(), bar.height());
        x = part.box.right();
    }
    return parts;
}

double MemoryView::capacityEdge() const {
    const MemoryUse* memory = use();
    if (!memory || memory->capacity.value <= 0) return 0;
    const QRectF bar = barBox();
    return bar.left() + memory->capacity.value / std::max(memory->capacity.value, memory->total().value) * bar.width();
}

void MemoryView::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    paintAll(painter);
}

void MemoryView::paintPicture(QPainter& painter, const QRect& target) {
    painter.save();
    painter.translate(target.topLeft());
    painter.scale(double(target.width()) / std::max(width(), 1), double(target.height()) / std::max(height(), 1));
    paintAll(painter);
    painter.restore();
}

void MemoryView::paintAll(QPainter& painter) {
    const Theme& theme = Theme::instance();
    const Palette& c = theme.colours();
    painter.fillRect(rect(), c.surface);
    const MemoryUse* memory = use();
    if (!memory) return;
    const bool over = memory->capacity.value > 0 && memory->total() > memory->capacity;
    const double wide = width() - 2 * margin;
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setFont(theme.font(FontRole::Title));
    painter.setPen(over ? c.bad : c.text);
    painter.drawText(QRectF(margin, margin - 2, wide, scaled(22)), Qt::AlignLeft | Qt::AlignVCenter,
                     QFontMetricsF(painter.font()).elidedText(verdict(), Qt::ElideRight, wide));
    painter.setFont(theme.font(FontRole::Small));
    const QFontMetricsF small(painter.font());
    painter.setPen(c.mutedText);
    const double edge = capacityEdge();
    if (edge > 0) {
        const QString capacity = tr("capacity %1").arg(text(memory->capacity));
        const double at = std::clamp(edge - small.horizontalAdvance(capacity), margin,
                                     std::max(margin, width() - margin - small.horizontalAdvance(capacity)));
        painter.drawText(QPointF(at, barBox().top() - 5), capacity);
        const QString by = tr("as predicted by %1").arg(method());
        if (margin + small.horizontalAdvance(by) + 16 < at) painter.drawText(QPointF(margin, barBox().top() - 5), by);
    }
    const QRectF bar = barBox();
    if (edge > 0) {
        painter.setPen(QPen(c.line, 1));
        painter.setBrush(c.raised);
        painter.drawRect(QRectF(bar.left(), bar.top(), edge - bar.left(), bar.height()).adjusted(0.5, 0.5, -0.5, -0.5));
    }
    const std::vector<Part> all = parts();
    painter.setRenderHint(QPainter::Antialiasing, false);
    for (const Part& part : all) {
        const QRectF fill = part.box.width() > 3 ? part.box.adjusted(0, 0, -1, 0) : part.box;
        painter.fillRect(fill, part.colour);
        const QString share = text(Bytes(part.bytes));
        if (small.horizontalAdvance(share) + 10 > part.box.width()) continue;
        painter.setPen(theme.inkOn(part.colour));
        painter.drawText(part.box.adjusted(6, 0, 0, 0), Qt::AlignLeft | Qt::AlignVCenter, share);
    }
    if (over) {
        QColor veil = c.bad;
        veil.setAlphaF(0.75F);
        const QRectF beyond(edge, bar.top(), bar.right() - edge, bar.height());
        painter.fillRect(beyond, QBrush(veil, Qt::BDiagPattern));
        painter.setPen(QPen(c.bad, 2));
        painter.drawLine(QPointF(edge, bar.top() - 3), QPointF(edge, bar.bottom() + 3));
    }
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setFont(theme.font(FontRole::Body));
    const QFontMetricsF metrics(painter.font());
    const double line = scaled(21);
    const double listWidth = std::min(wide, scaled(360));
    double y = bar.bottom() + scaled(14);
    const auto row = [&](const QString& label, const QColor& colour, double bytes, bool strong) {
        if (y + line > height()) return;
        if (colour.isValid()) {
            painter.setPen(Qt::NoPen);
            painter.setBrush(colour);
            painter.drawRoundedRect(QRectF(margin, y + line / 2 - scaled(5), scaled(10), scaled(10)), 2, 2);
        }
        QFont font = theme.font(FontRole::Body);
        if (strong) font.setWeight(QFont::DemiBold);
        painter.setFont(font);
        painter.setPen(c.text);
        painter.drawText(QRectF(margin + scaled(18), y, listWidth, line), Qt::AlignLeft | Qt::AlignVCenter, label);
        const double share = metrics.horizontalAdvance(QStringLiteral("888 %")) + scaled(14);
        painter.drawText(QRectF(margin, y, listWidth - share, line), Qt::AlignRight | Qt::AlignVCenter,
                         text(Bytes(bytes)));
        if (memory->capacity.value > 0) {
            painter.setPen(c.mutedText);
            painter.drawText(QRectF(margin, y, listWidth, line), Qt::AlignRight | Qt::AlignVCenter,
                             percentText(bytes / memory->capacity.value));
        }
        y += line;
    };
    for (const Part& part : all) row(part.label, part.colour, part.bytes, false);
    if (y + line <= height()) {
        painter.setPen(c.line);
        painter.drawLine(QPointF(margin, y + 1), QPointF(margin + listWidth, y + 1));
        y += 3;
    }
    row(tr("In all"), {}, memory->total().value, true);
    if (memory->capacity.value > 0)
        row(over ? tr("Over") : tr("Free"), {}, std::abs((memory->capacity - memory->total()).value), false);
}

void MemoryView::mouseMoveEvent(QMouseEvent* event) {
    const MemoryUse* memory = use();
    for (const Part& part : parts()) {
        if (!part.box.contains(event->position())) continue;
        HoverCard::Lines lines{{tr("Size"), text(Bytes(part.bytes), 4)},
                               {tr("Binary"), binaryText(Bytes(part.bytes), 4)}};
        if (memory->total().value > 0)
            lines.emplace_back(tr("Of what is used"), percentText(part.bytes / memory->total().value));
        if (memory->capacity.value > 0)
            lines.emplace_back(tr("Of the capacity"), percentText(part.bytes / memory->capacity.value));
        return card_->showAt(event->pos(), part.colour, part.label, lines);
    }
    card_->hide();
}

void MemoryView::leaveEvent(QEvent*) {
    card_->hide();
}

QString MemoryView::csv() const {
    const MemoryUse* memory = use();
    if (!memory) return {};
    QString out = QStringLiteral("part,bytes\n");
    const auto line = [&](const char* name, Bytes bytes) {
        out += QString::fromLatin1(name) + QLatin1Char(',') + QString::number(bytes.value, 'f', 0) + QLatin1Char('\n');
    };
    line("weights", memory->weights);
    line("kv_cache", memory->kvCache);
    line("activations", memory->activations);
    line("total", memory->total());
    if (memory->capacity.value > 0) line("capacity", memory->capacity);
    return out;
}

}  // namespace orrery::ui
