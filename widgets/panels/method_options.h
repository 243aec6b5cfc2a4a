#pragma once

// The choices that a method leaves open, one control each: a list of words, or a check box for on and off.

#include "methods/method.h"

#include <QWidget>

class QHBoxLayout;

namespace orrery::ui {

class MethodOptions : public QWidget {
    Q_OBJECT
public:
    explicit MethodOptions(QWidget* parent = nullptr);
    /// As lists name it: `tile-hybrid(launch=graph)`. Hidden for a method without options.
    void setChoice(const QString& choice);
    QString choice() const { return QString::fromStdString(toText(choice_)); }

signals:
    /// A person chose: `before` is to be replaced by `after`.
    void changed(const QString& before, const QString& after);
    /// The same method shall also answer with its other options.
    void besideRequested(const QString& choice);

private:
    void rebuild();
    void choose(std::string_view key, const QString& value);
    QWidget* controlOf(const MethodOption& option);

    MethodChoice choice_;
    QString shown_;
    QHBoxLayout* row_;
};

}  // namespace orrery::ui
