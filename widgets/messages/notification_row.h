#pragma once

#include "widgets/messages/notification_bar.h"

namespace orrery::ui {

class NotificationRow : public QWidget {
    Q_OBJECT
public:
    NotificationRow(int id, const Notification& notification, QWidget* parent);
    int id() const { return id_; }
    const QString& key() const { return key_; }

signals:
    void closeRequested();

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    int id_;
    QString key_;
    Severity severity_;
};

}  // namespace orrery::ui
