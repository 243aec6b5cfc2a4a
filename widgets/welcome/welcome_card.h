#pragma once

#include "widgets/welcome/welcome_page.h"

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
    void focusInEvent(QFocusEvent* event) override;
    void leaveEvent(QEvent* event) override;

private:
    ExampleCard card_;
    bool byKey_ = false;  ///< the focus came by keyboard, and so is shown
    QPixmap scaled_;      ///< of card_.picture at the size and resolution last painted
};

/// The cards in as many columns as fit; as high as they need.
class Gallery : public QWidget {
    Q_OBJECT
public:
    using QWidget::QWidget;
    void setCards(const std::vector<ExampleButton*>& cards);
    const std::vector<ExampleButton*>& cards() const { return cards_; }
    int columns() const { return columns_; }

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void arrange();

    std::vector<ExampleButton*> cards_;
    int columns_ = 1;
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
    void focusInEvent(QFocusEvent* event) override;
    void leaveEvent(QEvent* event) override;

private:
    QString icon_, title_, detail_;
    bool prominent_;
    bool byKey_ = false;
};

}  // namespace orrery::ui
