#pragma once

#include "widgets/panels/welcome_page.h"

#include <QAbstractButton>

namespace orrery::ui {

/// An example: picture, title, two lines of description. A button, so that keys and screen readers work as usual.
class ExampleButton : public QAbstractButton {
    Q_OBJECT
public:
    ExampleButton(ExampleCard card, QWidget* parent);
    const ExampleCard& card() const { return card_; }
    QSize sizeHint() const override { return {256, 232}; }
    QSize minimumSizeHint() const override { return {200, 232}; }

protected:
    void paintEvent(QPaintEvent* event) override;
    void enterEvent(QEnterEvent* event) override;
    void leaveEvent(QEvent* event) override;

private:
    ExampleCard card_;
    QPixmap scaled_;  ///< of card_.picture at the size and resolution last painted
};

/// A recent project or an action of the left column: icon, title, detail.
class WelcomeLink : public QAbstractButton {
    Q_OBJECT
public:
    WelcomeLink(const QString& icon, const QString& title, const QString& detail, bool prominent, QWidget* parent);
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return {120, sizeHint().height()}; }

protected:
    void paintEvent(QPaintEvent* event) override;
    void enterEvent(QEnterEvent* event) override;
    void leaveEvent(QEvent* event) override;

private:
    QString icon_, title_, detail_;
    bool prominent_;
};

}  // namespace orrery::ui
