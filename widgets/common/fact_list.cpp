#include "widgets/common/fact_list.h"

#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>

#include <algorithm>

namespace orrery::ui {

FactList::FactList(QWidget* parent, FontRole valueFont) : QWidget(parent), valueFont_(valueFont) {
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    connect(&Theme::instance(), &Theme::changed, this, [this] {
        updateGeometry();
        update();
    });
}

void FactList::setFacts(std::vector<Fact> facts) {
    if (facts == facts_) return;
    const bool resized = facts.size() != facts_.size();
    facts_ = std::move(facts);
    QStringList spoken;
    for (const Fact& fact : facts_) spoken << fact.label + QStringLiteral(": ") + fact.value;
    setAccessibleDescription(spoken.join(QStringLiteral("; ")));
    if (resized) updateGeometry();
    update();
}

int FactList::rowHeight() const {
    return QFontMetrics(Theme::instance().font(FontRole::Body)).height() + 6;
}

QSize FactList::sizeHint() const {
    return {200, static_cast<int>(facts_.size()) * rowHeight()};
}

void FactList::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const QFont body = Theme::instance().font(FontRole::Body);
    const QFont valueFont = Theme::instance().font(valueFont_);
    const QFontMetrics bodyMetrics(body), valueMetrics(valueFont);
    const int height = rowHeight();
    for (std::size_t i = 0; i < facts_.size(); ++i) {
        const Fact& fact = facts_[i];
        const QRect row(0, static_cast<int>(i) * height, width(), height);
        // The value is what people look for: the label gives way first, down to a third of the row.
        const int wanted = valueMetrics.horizontalAdvance(fact.value) + 2;
        const int label =
            std::min(bodyMetrics.horizontalAdvance(fact.label) + 2, std::max(width() / 3, width() - wanted - 8));
        const int room = width() - label - 8;
        painter.setFont(body);
        painter.setPen(toneColour(Tone::Muted));
        painter.drawText(row, Qt::AlignLeft | Qt::AlignVCenter | Qt::TextSingleLine,
                         bodyMetrics.elidedText(fact.label, Qt::ElideRight, label));
        painter.setFont(valueFont);
        painter.setPen(toneColour(fact.tone));
        painter.drawText(row, Qt::AlignRight | Qt::AlignVCenter | Qt::TextSingleLine,
                         valueMetrics.elidedText(fact.value, Qt::ElideMiddle, room));
    }
}

bool FactList::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip) return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    const auto row = static_cast<std::size_t>(std::max(0, help->pos().y()) / std::max(1, rowHeight()));
    if (row >= facts_.size()) {
        QToolTip::hideText();
        return true;
    }
    const Fact& fact = facts_[row];
    QToolTip::showText(help->globalPos(),
                       fact.tip.isEmpty() ? fact.label + QStringLiteral(": ") + fact.value : fact.tip, this);
    return true;
}

}  // namespace orrery::ui
