#include "widgets/evidence/cycle_stack.h"

#include "widgets/common/plot_axis.h"
#include "widgets/common/text.h"
#include "widgets/common/theme.h"
#include "widgets/common/units_text.h"

#include <QPainter>

namespace orrery::ui {

namespace {
constexpr int barHeight = 26;
}

CycleStack::CycleStack(QWidget* parent) : QWidget(parent) {
    setObjectName(QStringLiteral("why.stack"));
    setAccessibleName(tr("Cycles by cause"));
    setToolTip(tr("Cycles of the kernel by cause; the sum is all cycles"));
    connect(&Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
}

void CycleStack::setParts(std::vector<StackPart> parts) {
    parts_ = std::move(parts);
    total_ = 0;
    QStringList words;
    for (const StackPart& part : parts_) total_ += part.cycles;
    for (const StackPart& part : parts_)
        words << QStringLiteral("%1 %2").arg(qs(part.name), percentText(total_ > 0 ? part.cycles / total_ : 0));
    setAccessibleDescription(words.join(QStringLiteral(", ")));
    setVisible(!parts_.empty());
    updateGeometry();
    update();
}

QSize CycleStack::sizeHint() const {
    const int line = fontMetrics().height() + 4;
    return {320, plotTitleHeight + barHeight + 8 + static_cast<int>(parts_.size()) * line};
}

void CycleStack::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const Theme& theme = Theme::instance();
    paintPlotTitle(painter, tr("Cycles by cause · %1 in all").arg(countText(total_)), width());
    if (total_ <= 0) return;
    painter.setFont(theme.font(FontRole::Small));
    const int line = painter.fontMetrics().height() + 4;
    double left = 0;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        const double share = parts_[i].cycles / total_;
        const double wide = share * width();
        const QColor colour = theme.methodColour(static_cast<int>(i));
        painter.fillRect(QRectF(left, plotTitleHeight, std::max(wide - 1, 0.5), barHeight), colour);
        left += wide;
        const double y = plotTitleHeight + barHeight + 8 + static_cast<double>(i) * line;
        painter.fillRect(QRectF(0, y + 4, 10, line - 8), colour);
        painter.setPen(theme.colours().text);
        painter.drawText(QRectF(18, y, width() - 18, line), Qt::AlignLeft | Qt::AlignVCenter, qs(parts_[i].name));
        painter.drawText(QRectF(0, y, width(), line), Qt::AlignRight | Qt::AlignVCenter,
                         QStringLiteral("%1 · %2").arg(countText(parts_[i].cycles), percentText(share)));
    }
}

}  // namespace orrery::ui
