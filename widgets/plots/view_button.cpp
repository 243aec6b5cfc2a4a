#include "widgets/plots/view_button.h"

#include "widgets/common/theme.h"

#include <QToolButton>

namespace orrery::ui {

QToolButton* viewButton(QWidget* view, const QString& name, const QString& icon, const QString& toolTip) {
    auto* button = new QToolButton(view);
    button->setObjectName(name);
    button->setAccessibleName(toolTip);
    button->setToolTip(toolTip);
    button->setAutoRaise(true);
    button->setFocusPolicy(Qt::NoFocus);  // every button here has a key in its view
    button->setCursor(Qt::ArrowCursor);
    const auto dress = [button, icon] {
        button->setIcon(Theme::instance().icon(icon));
        const int side = qRound(24 * Theme::instance().scale());
        button->setFixedSize(side, side);
    };
    QObject::connect(&Theme::instance(), &Theme::changed, button, dress);
    dress();
    return button;
}

void placeViewButtons(QWidget* view, std::initializer_list<QToolButton*> buttons) {
    int right = view->width() - 4;
    for (QToolButton* button : buttons) {
        button->move(right - button->width(), 2);
        button->raise();
        right -= button->width() + 2;
    }
}

}  // namespace orrery::ui
