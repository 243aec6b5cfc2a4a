#include "widgets/messages/notification_bar.h"

#include "widgets/common/glyphs.h"
#include "widgets/common/icon_button.h"
#include "widgets/common/label.h"
#include "widgets/common/text.h"
#include "widgets/messages/notification_row.h"

#include <QHBoxLayout>
#include <QPainter>
#include <QPushButton>
#include <QTimer>
#include <QVBoxLayout>

#include <algorithm>

namespace orrery::ui {
namespace {
constexpr std::size_t mostShown = 4;
constexpr int noteMs = 6000;
}  // namespace

NotificationRow::NotificationRow(int id, const Notification& notification, QWidget* parent)
    : QWidget(parent), id_(id), key_(notification.key), severity_(notification.severity) {
    setObjectName(QStringLiteral("notification%1").arg(id));
    setAccessibleName(notification.text);
    auto* line = new QHBoxLayout(this);
    line->setContentsMargins(36, 6, 6, 6);
    line->setSpacing(8);
    auto* words = new QVBoxLayout;
    words->setSpacing(0);
    auto* text = new Label(notification.text, FontRole::Body, Tone::Normal, this);
    text->setWordWrap(true);
    words->addWidget(text);
    if (!notification.detail.isEmpty()) {
        auto* detail = new Label(notification.detail, FontRole::Small, Tone::Muted, this);
        detail->setWordWrap(true);
        words->addWidget(detail);
    }
    line->addLayout(words, 1);
    int number = 0;
    for (const Notification::Action& action : notification.actions) {
        auto* button = new QPushButton(action.text, this);
        button->setObjectName(QStringLiteral("notification%1.action%2").arg(id).arg(number++));
        button->setAccessibleName(action.text);
        button->setToolTip(action.text);
        connect(button, &QPushButton::clicked, this, [this, run = action.run] {
            emit closeRequested();
            if (run) run();
        });
        line->addWidget(button);
    }
    auto* close =
        new IconButton(QStringLiteral("×"), tr("Dismiss"), QStringLiteral("notification%1.close").arg(id), this);
    connect(close, &QToolButton::clicked, this, &NotificationRow::closeRequested);
    line->addWidget(close);
    const bool passing = notification.severity == Severity::Note && notification.actions.empty();
    const int after = notification.dismissAfterMs >= 0 ? notification.dismissAfterMs : passing ? noteMs : 0;
    if (after > 0) QTimer::singleShot(after, this, &NotificationRow::closeRequested);
}

void NotificationRow::paintEvent(QPaintEvent*) {
    const Palette& colours = Theme::instance().colours();
    QPainter painter(this);
    const QColor ink = severity_ == Severity::Error     ? colours.bad
                       : severity_ == Severity::Warning ? colours.warning
                                                        : colours.accent;
    painter.fillRect(rect(), colours.raised);
    painter.fillRect(QRect(0, 0, 3, height()), ink);
    painter.setPen(colours.faintLine);
    painter.drawLine(0, height() - 1, width(), height() - 1);
    paintSeverity(painter, severity_, QRectF(12, (height() - 16) / 2.0, 16, 16));
}

NotificationBar::NotificationBar(QWidget* parent) : QWidget(parent) {
    setObjectName(QStringLiteral("notifications"));
    setAccessibleName(tr("Notifications"));
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Maximum);
    list_ = new QVBoxLayout(this);
    list_->setContentsMargins(0, 0, 0, 0);
    list_->setSpacing(0);
    more_ = new Label({}, FontRole::Small, Tone::Muted, this);
    more_->setContentsMargins(36, 2, 8, 2);
    list_->addWidget(more_);
    arrange();
}

int NotificationBar::notify(const Notification& notification) {
    if (!notification.key.isEmpty()) dismissKey(notification.key);
    const int id = next_++;
    auto* row = new NotificationRow(id, notification, this);
    connect(row, &NotificationRow::closeRequested, this, [this, id] { dismiss(id); });
    rows_.insert(rows_.begin(), row);
    list_->insertWidget(0, row);
    arrange();
    return id;
}

int NotificationBar::notify(const Diagnostic& diagnostic) {
    Notification notification;
    notification.severity = diagnostic.severity;
    const std::string place = toText(diagnostic.place);
    notification.text = place.empty() ? windowText(diagnostic.message)
                                      : qs(place) + QStringLiteral(": ") + windowText(diagnostic.message);
    QStringList parts;
    if (!diagnostic.expected.empty()) parts << tr("Expected %1").arg(windowText(diagnostic.expected));
    if (!diagnostic.hint.empty()) parts << windowText(diagnostic.hint);
    notification.detail = parts.join(QStringLiteral(" – "));
    notification.key = qs(diagnostic.code) + qs(place);
    return notify(notification);
}

void NotificationBar::dismiss(int id) {
    const auto found =
        std::find_if(rows_.begin(), rows_.end(), [id](const NotificationRow* row) { return row->id() == id; });
    if (found == rows_.end()) return;
    (*found)->hide();
    (*found)->deleteLater();
    rows_.erase(found);
    arrange();
    emit dismissed(id);
}

void NotificationBar::dismissKey(const QString& key) {
    for (const NotificationRow* row : rows_)
        if (row->key() == key) return dismiss(row->id());
}

int NotificationBar::count() const {
    return static_cast<int>(rows_.size());
}

void NotificationBar::arrange() {
    for (std::size_t i = 0; i < rows_.size(); ++i) rows_[i]->setVisible(i < mostShown);
    const bool many = rows_.size() > mostShown;
    more_->setVisible(many);
    if (many) more_->setFullText(tr("and %n more", nullptr, static_cast<int>(rows_.size() - mostShown)));
    setVisible(!rows_.empty());
}

}  // namespace orrery::ui
