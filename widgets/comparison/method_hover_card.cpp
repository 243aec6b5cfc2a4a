#include "widgets/comparison/method_hover_card.h"

#include "widgets/common/text.h"

#include <QPainter>
#include <QScreen>
#include <QVBoxLayout>

namespace orrery::ui {
namespace {
QString html(std::string_view text) {
    return qs(text).toHtmlEscaped();
}
}  // namespace

QString methodCardHtml(const MethodCard& card, const QString& cost) {
    const QString muted = Theme::instance().colours().mutedText.name();
    const auto heading = [&muted](const QString& words) {
        return QStringLiteral("<p style='margin:10px 0 2px 0;color:%1'><span style='font-weight:600'>%2</span></p>")
            .arg(muted, words);
    };
    QString out =
        QStringLiteral(
            "<p style='margin:0'><span style='font-weight:600'>%1</span></p><p style='margin:0;color:%2'>%3 "
            "· %4 · v%5</p>")
            .arg(html(card.title), muted, html(toText(card.methodology)), html(toText(card.level)), html(card.version));
    out += QStringLiteral("<p style='margin:8px 0 0 0'>%1</p>").arg(html(card.summary));
    if (!card.evidence.empty()) {
        out += heading(MethodHoverCard::tr("Evidence"));
        for (const Evidence& evidence : card.evidence)
            out += QStringLiteral("<p style='margin:0 0 3px 0'>%1 on %2: %3</p>")
                       .arg(html(evidence.workloadClass), html(evidence.platform), html(evidence.finding));
    }
    if (!card.failureMode.empty())
        out += heading(MethodHoverCard::tr("Where it breaks")) +
               QStringLiteral("<p style='margin:0'>%1</p>").arg(html(card.failureMode));
    out += heading(MethodHoverCard::tr("What an answer takes")) +
           QStringLiteral("<p style='margin:0'>%1</p>").arg(html(toText(card.cost)));
    if (!cost.isEmpty()) out += QStringLiteral("<p style='margin:0'>%1</p>").arg(cost.toHtmlEscaped());
    if (!card.needs.empty()) {
        QStringList needs;
        for (const std::string_view need : card.needs) needs << html(need);
        out += heading(MethodHoverCard::tr("Needs")) +
               QStringLiteral("<p style='margin:0'>%1</p>").arg(needs.join(QStringLiteral(", ")));
    }
    if (!card.lineage.empty()) {
        out += heading(MethodHoverCard::tr("Lineage"));
        for (const std::string_view paper : card.lineage)
            out += QStringLiteral("<p style='margin:0'>%1</p>").arg(html(paper));
    }
    return out;
}

MethodHoverCard::MethodHoverCard(QWidget* parent) : QFrame(parent, Qt::ToolTip) {
    setObjectName(QStringLiteral("methodHoverCard"));
    setAttribute(Qt::WA_ShowWithoutActivating);
    setFocusPolicy(Qt::NoFocus);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(16, 12, 16, 12);
    text_ = new QLabel(this);
    text_->setTextFormat(Qt::RichText);
    text_->setWordWrap(true);
    text_->setFixedWidth(340);
    column->addWidget(text_);
}

void MethodHoverCard::showFor(const MethodCard& card, const QRect& row, const QString& cost) {
    const Palette& colours = Theme::instance().colours();
    text_->setFont(Theme::instance().font(FontRole::Body));
    QPalette palette = text_->palette();
    palette.setColor(QPalette::WindowText, colours.text);
    text_->setPalette(palette);
    text_->setText(methodCardHtml(card, cost));
    adjustSize();
    QRect screen(0, 0, 100000, 100000);
    if (const QScreen* here = QGuiApplication::screenAt(row.center())) screen = here->availableGeometry();
    int x = row.right() + 8;
    if (x + width() > screen.right()) x = row.left() - width() - 8;
    const int y = std::clamp(row.top(), screen.top(), std::max(screen.top(), screen.bottom() - height()));
    move(std::max(screen.left(), x), y);
    show();
    raise();
}

void MethodHoverCard::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const Palette& colours = Theme::instance().colours();
    painter.fillRect(rect(), colours.raised);
    painter.setPen(colours.line);
    painter.drawRect(rect().adjusted(0, 0, -1, -1));
}

}  // namespace orrery::ui
