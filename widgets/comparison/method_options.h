#pragma once

// The choices that a method leaves open, one control each: a list of words, a check box for on and off, a
// field for a file.

#include "methods/method.h"

#include <QWidget>

namespace orrery::ui {

class FlowLayout;

class MethodOptions : public QWidget {
    Q_OBJECT
public:
    explicit MethodOptions(QWidget* parent = nullptr);
    /// As lists name it: `tile-hybrid(launch=graph)`. Hidden for a method without options.
    void setChoice(const QString& choice);
    QString choice() const { return QString::fromStdString(toText(choice_)); }

    QSize sizeHint() const override { return {200, heightForWidth(320)}; }
    QSize minimumSizeHint() const override { return {120, 0}; }

signals:
    /// A person chose: `before` is to be replaced by `after`.
    void changed(const QString& before, const QString& after);
    /// The same method shall also answer with its other options.
    void besideRequested(const QString& choice);

private:
    void rebuild();
    void choose(std::string_view key, const QString& value);
    QWidget* controlOf(const MethodOption& option);
    void addText(const MethodOption& option, const QString& value, QWidget* group);

    MethodChoice choice_;
    QString shown_;
    FlowLayout* controls_;
};

}  // namespace orrery::ui
