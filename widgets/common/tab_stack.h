#pragma once

#include <QStackedWidget>
#include <QTabWidget>

namespace orrery::ui {

/// The parent that a page of `tabs` will have. Made as its child, a page is styled once; made as a child of `tabs`, it
/// changes its parent in addTab(), and Qt then works out the style of everything inside anew.
inline QWidget* stackOf(QTabWidget* tabs) {
    auto* stack = tabs->findChild<QStackedWidget*>(QString(), Qt::FindDirectChildrenOnly);
    return stack ? static_cast<QWidget*>(stack) : tabs;
}

}  // namespace orrery::ui
