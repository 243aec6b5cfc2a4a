#pragma once

// What the window says: bars above the pages, and lines of the log. Both may come into being after the first words.

#include "base/diagnostic.h"
#include "widgets/messages/notification_bar.h"

#include <QDateTime>
#include <QObject>
#include <QPointer>

#include <vector>

namespace orrery::ui {
class LogPanel;
}

namespace orrery::app {

class Messages : public QObject {
    Q_OBJECT
public:
    void showIn(ui::NotificationBar* bar) { bar_ = bar; }
    void showIn(ui::LogPanel* log);

    /// The refusal, if any, as a notification. True if there is none.
    bool report(Expected<void> done);
    void say(Severity severity, const QString& text, const QString& detail = {}, const QString& key = {});
    void complain(const Diagnostic& why);  ///< notification, log line, and an entry of Problems if it is of a file
    void log(Severity severity, const QString& text);
    void notify(const ui::Notification& notification);
    void dismiss(const QString& key);

signals:
    void complained(const orrery::Diagnostic& why);

private:
    struct Line {
        Severity severity;
        QString text;
        QDateTime when;
    };
    QPointer<ui::NotificationBar> bar_;
    QPointer<ui::LogPanel> log_;
    std::vector<Line> unlogged_;  ///< until the log panel is there
};

}  // namespace orrery::app
