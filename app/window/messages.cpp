#include "app/window/messages.h"

#include "app/window/log_file.h"
#include "widgets/messages/log_panel.h"

namespace orrery::app {

void Messages::showIn(ui::LogPanel* log) {
    log_ = log;
    for (const Line& line : unlogged_) log->append(line.severity, line.text, line.when);
    unlogged_.clear();
}

bool Messages::report(Expected<void> done) {
    if (!done) complain(done.error());
    return done.has_value();
}

void Messages::say(Severity severity, const QString& text, const QString& detail, const QString& key) {
    ui::Notification notification;
    notification.severity = severity;
    notification.text = text;
    notification.detail = detail;
    notification.key = key;
    notify(notification);
    log(severity, text);
}

void Messages::complain(const Diagnostic& why) {
    if (bar_) bar_->notify(why);
    emit complained(why);
    log(why.severity, QString::fromStdString(orrery::toText(why)));
}

void Messages::log(Severity severity, const QString& text) {
    appendToLogFile(severity, text);
    if (log_) {
        log_->append(severity, text);
    } else {
        unlogged_.push_back({severity, text, QDateTime::currentDateTime()});
    }
}

void Messages::notify(const ui::Notification& notification) {
    if (bar_) bar_->notify(notification);
}

void Messages::dismiss(const QString& key) {
    if (bar_) bar_->dismissKey(key);
}

}  // namespace orrery::app
