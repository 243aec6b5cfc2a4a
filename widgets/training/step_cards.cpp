#include "widgets/training/step_cards.h"

#include "widgets/common/theme.h"

#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>

#include <algorithm>

namespace orrery::ui {

namespace {

constexpr int cardGap = 8;

}  // namespace

StepCards::StepCards(QWidget* parent) : QWidget(parent) {
    setObjectName(QStringLiteral("training.cards"));
    setAccessibleName(tr("Figures of the step"));
    setToolTip(tr("Figures of the step; hover one to read its definition"));
    QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    policy.setHeightForWidth(true);
    setSizePolicy(policy);
    connect(&Theme::instance(), &Theme::changed, this, [this] {
        updateGeometry();
        update();
    });
}

void StepCards::setCards(std::vector<StepCard> cards) {
    if (cards == cards_) return;
    const bool sized = cards.size() != cards_.size();
    cards_ = std::move(cards);
    QStringList said;
    for (const StepCard& card : cards_) said << card.title + QLatin1Char(' ') + card.value;
    setAccessibleDescription(said.join(QStringLiteral("; ")));
    if (sized) updateGeometry();
    update();
}

int StepCards::columns(int width) const {
    const auto count = static_cast<int>(cards_.size());
    // Where cards of the usual width would need a third row, narrower ones stand in two; tips have the whole text.
    const double scale = Theme::instance().scale();
    int least = static_cast<int>(122 * scale);
    if (const int usual = (width + cardGap) / (least + cardGap); usual * 2 < count)
        least = static_cast<int>(88 * scale);
    const int fit = std::clamp((width + cardGap) / (least + cardGap), 1, std::max(1, count));
    // Rows of equal length look calmer than a full one and a rest.
    const int rows = (count + fit - 1) / std::max(1, fit);
    return rows > 0 ? (count + rows - 1) / rows : 1;
}

int StepCards::cardHeight() const {
    const Theme& theme = Theme::instance();
    return QFontMetrics(theme.font(FontRole::Title)).height() + 2 * QFontMetrics(theme.font(FontRole::Small)).height() +
           16;
}

int StepCards::heightForWidth(int width) const {
    const auto count = static_cast<int>(cards_.size());
    if (count == 0) return 0;
    const int across = columns(width), rows = (count + across - 1) / across;
    return rows * (cardHeight() + cardGap) - cardGap;
}

QSize StepCards::sizeHint() const {
    const int wide = static_cast<int>(1000 * Theme::instance().scale());
    return {wide, heightForWidth(std::max(width(), 300))};
}

QSize StepCards::minimumSizeHint() const {
    return {200, cards_.empty() ? 0 : cardHeight()};
}

QRectF StepCards::rectOf(int card) const {
    const int across = columns(width());
    const double wide = (width() - cardGap * (across - 1)) / static_cast<double>(across);
    return {(wide + cardGap) * (card % across), static_cast<double>((cardHeight() + cardGap) * (card / across)), wide,
            static_cast<double>(cardHeight())};
}

void StepCards::paintEvent(QPaintEvent*) {
    const Theme& theme = Theme::instance();
    const Palette& colours = theme.colours();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const QFont small = theme.font(FontRole::Small), large = theme.font(FontRole::Title);
    const QFontMetricsF smallMetrics(small), largeMetrics(large);
    for (int i = 0; i < static_cast<int>(cards_.size()); ++i) {
        const StepCard& card = cards_[static_cast<std::size_t>(i)];
        const QRectF box = rectOf(i).adjusted(0.5, 0.5, -0.5, -0.5);
        painter.setPen(colours.faintLine);
        painter.setBrush(colours.surface);
        painter.drawRoundedRect(box, 4, 4);
        const QRectF inner = box.adjusted(10, 6, -8, -6);
        double y = inner.top();
        const auto line = [&](const QFont& font, const QFontMetricsF& metrics, const QColor& ink, const QString& text,
                              double right = 0) {
            painter.setFont(font);
            painter.setPen(ink);
            painter.drawText(QRectF(inner.left(), y, inner.width() - right, metrics.height()),
                             Qt::AlignLeft | Qt::AlignVCenter,
                             metrics.elidedText(text, Qt::ElideRight, inner.width() - right));
        };
        line(small, smallMetrics, colours.mutedText, card.title);
        y += smallMetrics.height();
        double right = 0;
        if (!card.difference.isEmpty()) {
            right = smallMetrics.horizontalAdvance(card.difference) + 6;
            painter.setFont(small);
            painter.setPen(toneColour(card.differenceTone));
            painter.drawText(QRectF(inner.left(), y, inner.width(), largeMetrics.height()),
                             Qt::AlignRight | Qt::AlignVCenter, card.difference);
        }
        line(large, largeMetrics, toneColour(card.tone), card.value, right);
        y += largeMetrics.height();
        line(small, smallMetrics, toneColour(card.noteTone), card.note);
    }
}

bool StepCards::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip) return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    for (int i = 0; i < static_cast<int>(cards_.size()); ++i) {
        if (!rectOf(i).contains(help->pos())) continue;
        const StepCard& card = cards_[static_cast<std::size_t>(i)];
        QString said = QStringLiteral("%1: %2\n%3").arg(card.title, card.value, card.tip);
        if (!card.note.isEmpty()) said += QLatin1Char('\n') + card.note;
        QToolTip::showText(help->globalPos(), said, this);
        return true;
    }
    return QWidget::event(event);
}

}  // namespace orrery::ui
