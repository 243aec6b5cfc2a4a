#include "widgets/common/label.h"

#include <QEvent>
#include <QPainter>
#include <QPushButton>
#include <QVBoxLayout>

#include <algorithm>

namespace orrery::ui {

namespace {

// The whole text where it is cut; a tip that somebody gave says more, and stays.
void sayOnHover(Label* label, bool cut) {
    static constexpr const char* own = "tipIsText";
    const bool ours = label->toolTip().isEmpty() || label->toolTip() == label->property(own).toString();
    const QString tip = cut ? label->text() : QString();
    if (!ours || label->toolTip() == tip) return;
    label->setProperty(own, tip);
    label->setToolTip(tip);
}

}  // namespace

QColor toneColour(Tone tone) {
    const Palette& colours = Theme::instance().colours();
    switch (tone) {
        case Tone::Normal:
            return colours.text;
        case Tone::Muted:
            return colours.mutedText;
        case Tone::Accent:
            return colours.accent;
        case Tone::Good:
            return colours.good;
        case Tone::Warning:
            return colours.warning;
        case Tone::Bad:
            return colours.bad;
    }
    return colours.text;
}

Label::Label(const QString& text, FontRole role, Tone tone, QWidget* parent)
    : QLabel(text, parent), role_(role), tone_(tone) {
    setTextFormat(Qt::PlainText);
    restyle();
    connect(&Theme::instance(), &Theme::changed, this, &Label::restyle);
}

void Label::setTone(Tone tone) {
    if (tone == tone_) return;
    tone_ = tone;
    restyle();
}

void Label::setBold(bool bold) {
    bold_ = bold;
    restyle();
}

void Label::setElided(bool elided) {
    elided_ = elided;
    setSizePolicy(elided ? QSizePolicy::Ignored : QSizePolicy::Preferred, QSizePolicy::Fixed);
    updateGeometry();
}

void Label::setFullText(const QString& text) {
    if (text != this->text()) setText(text);
}

QSize Label::minimumSizeHint() const {
    if (elided_) return {fontMetrics().horizontalAdvance(QStringLiteral("ww…")), fontMetrics().height()};
    return QLabel::minimumSizeHint();
}

int Label::heightForWidth(int width) const {
    if (heights_.text != text()) heights_ = {text(), {}, 0};
    const auto known = static_cast<std::size_t>(std::min<int>(heights_.count, static_cast<int>(heights_.known.size())));
    for (std::size_t i = 0; i < known; ++i) {
        if (heights_.known[i].first == width) return heights_.known[i].second;
    }
    const int height = QLabel::heightForWidth(width);
    heights_.known[static_cast<std::size_t>(heights_.count++) % heights_.known.size()] = {width, height};
    return height;
}

void Label::changeEvent(QEvent* event) {
    if (event->type() == QEvent::FontChange || event->type() == QEvent::StyleChange) heights_ = {};
    QLabel::changeEvent(event);
}

bool Label::event(QEvent* event) {
    const bool done = QLabel::event(event);
    // The first showing brings the palette back that it was made with, though the theme has changed since.
    if (event->type() == QEvent::Polish) restyle();
    return done;
}

void Label::paintEvent(QPaintEvent* event) {
    if (!elided_) {
        QLabel::paintEvent(event);
        const bool cut = wordWrap() ? heightForWidth(width()) > height() + 2 : sizeHint().width() > width() + 1;
        return sayOnHover(this, cut);
    }
    QPainter painter(this);
    painter.setPen(toneColour(tone_));
    const QRect inside = contentsRect();
    const QString shown = fontMetrics().elidedText(text(), Qt::ElideRight, inside.width() + 1);
    sayOnHover(this, shown != text());
    painter.drawText(inside, static_cast<int>(alignment()) | Qt::TextSingleLine, shown);
}

void Label::restyle() {
    QFont font = Theme::instance().font(role_);
    if (bold_) font.setWeight(QFont::DemiBold);
    setFont(font);
    QPalette colours = palette();
    colours.setColor(QPalette::WindowText, toneColour(tone_));
    colours.setColor(QPalette::Text, toneColour(tone_));
    setPalette(colours);
}

SectionHeader::SectionHeader(const QString& text, QWidget* parent) : QWidget(parent), text_(text) {
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    connect(&Theme::instance(), &Theme::changed, this, [this] {
        updateGeometry();
        update();
    });
}

void SectionHeader::setText(const QString& text) {
    text_ = text;
    update();
}

QSize SectionHeader::sizeHint() const {
    const QFontMetrics metrics(Theme::instance().font(FontRole::Small));
    return {metrics.horizontalAdvance(text_) + 24, metrics.height() + 12};
}

void SectionHeader::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    QFont font = Theme::instance().font(FontRole::Small);
    font.setWeight(QFont::DemiBold);
    painter.setFont(font);
    painter.setPen(Theme::instance().colours().mutedText);
    const QFontMetrics metrics(font);
    const int baseline = height() - 6 - metrics.descent();
    const QString shown = metrics.elidedText(text_, Qt::ElideRight, width());
    painter.drawText(0, baseline, shown);
    const int from = metrics.horizontalAdvance(shown) + 8;
    painter.setPen(Theme::instance().colours().faintLine);
    const int middle = baseline - metrics.xHeight() / 2;
    if (from < width()) painter.drawLine(from, middle, width(), middle);
}

EmptyPage::EmptyPage(const QString& title, const QString& text, const QString& button, QWidget* parent)
    : QWidget(parent) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(24, 8, 24, 8);  // the stretches keep it away from the border where there is room
    column->setSpacing(8);
    column->addStretch(2);
    title_ = new Label(title, FontRole::Title, Tone::Normal, this);
    title_->setAlignment(Qt::AlignCenter);
    title_->setWordWrap(true);
    column->addWidget(title_);
    text_ = new Label(text, FontRole::Body, Tone::Muted, this);
    text_->setAlignment(Qt::AlignHCenter | Qt::AlignTop);
    text_->setWordWrap(true);
    column->addWidget(text_);
    column->addStretch(3);
    setButton(button);
}

void EmptyPage::setButton(const QString& text) {
    if (!button_ && text.isEmpty()) return;
    if (!button_) {
        button_ = new QPushButton(this);
        button_->setObjectName(QStringLiteral("emptyStateButton"));
        connect(button_, &QPushButton::clicked, this, &EmptyPage::clicked);
        auto* column = static_cast<QVBoxLayout*>(layout());
        column->insertWidget(column->count() - 1, button_, 0, Qt::AlignHCenter);
    }
    button_->setText(text);
    button_->setAccessibleName(text);
    button_->setToolTip(text);
    button_->setVisible(!text.isEmpty());
}

void EmptyPage::setTexts(const QString& title, const QString& text) {
    title_->setFullText(title);
    text_->setFullText(text);
}

}  // namespace orrery::ui
