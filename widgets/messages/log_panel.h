#pragma once

#include "base/diagnostic.h"

#include <QDateTime>
#include <QWidget>

class QLineEdit;
class QPlainTextEdit;

namespace orrery::ui {

/// What happened, one line each, newest last; keeps 5,000 lines and follows the end unless scrolled away.
class LogPanel : public QWidget {
    Q_OBJECT
public:
    explicit LogPanel(QWidget* parent = nullptr);
    void append(Severity severity, const QString& message, const QDateTime& when = QDateTime::currentDateTime());
    QPlainTextEdit* text() const { return text_; }

private:
    void rebuild();
    void write(std::size_t entry);

    struct Entry {
        Severity severity;
        QString message;
        QDateTime when;
    };
    std::vector<Entry> entries_;
    QLineEdit* search_;
    QPlainTextEdit* text_;
};

}  // namespace orrery::ui
