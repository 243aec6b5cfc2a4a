#pragma once

#include "methods/method.h"
#include "widgets/common/label.h"

#include <QFrame>

namespace orrery::ui {

/// A method's card beside the mouse: summary, evidence, where it breaks, lineage. Takes no focus.
class MethodHoverCard : public QFrame {
    Q_OBJECT
public:
    explicit MethodHoverCard(QWidget* parent = nullptr);
    /// Beside `row` (global), on the side where there is room. `cost`: what an answer is expected to take; may be
    /// empty.
    void showFor(const MethodCard& card, const QRect& row, const QString& cost = {});
    QString plainText() const { return text_->text(); }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    QLabel* text_;
};

/// The card as rich text.
QString methodCardHtml(const MethodCard& card, const QString& cost = {});

}  // namespace orrery::ui
