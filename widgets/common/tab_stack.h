#pragma once

#include <QStackedWidget>
#include <QTabBar>
#include <QTabWidget>

namespace orrery::ui {

/// The parent that a page of `tabs` will have. Made as its child, a page is styled once; made as a child of `tabs`, it
/// changes its parent in addTab(), and Qt then works out the style of everything inside anew.
inline QWidget* stackOf(QTabWidget* tabs) {
    auto* stack = tabs->findChild<QStackedWidget*>(QString(), Qt::FindDirectChildrenOnly);
    return stack ? static_cast<QWidget*>(stack) : tabs;
}

/// Pages whose tabs stand elsewhere: Qt would keep room for the hidden bar.
class BarlessTabs : public QTabWidget {
public:
    using QTabWidget::QTabWidget;
    QSize sizeHint() const override { return stack()->sizeHint(); }
    QSize minimumSizeHint() const override { return stack()->minimumSizeHint(); }

private:
    const QWidget* stack() const { return findChild<QStackedWidget*>(QString(), Qt::FindDirectChildrenOnly); }
};

/// The tabs of `tabs` in a bar of their own, which takes over the names of its bar. It can stand where it does not move
/// with what the tabs show: a tab stays under the hand that chose it. To be made once all tabs are there.
inline QTabBar* tabsApart(BarlessTabs* tabs, QWidget* parent) {
    auto* bar = new QTabBar(parent);
    bar->setObjectName(tabs->tabBar()->objectName());
    bar->setAccessibleName(tabs->tabBar()->accessibleName());
    bar->setToolTip(tabs->tabBar()->toolTip());
    bar->setDocumentMode(true);
    bar->setDrawBase(false);
    bar->setExpanding(false);
    for (int i = 0; i < tabs->count(); ++i) bar->setTabToolTip(bar->addTab(tabs->tabText(i)), tabs->tabToolTip(i));
    bar->setCurrentIndex(tabs->currentIndex());
    tabs->tabBar()->setObjectName(bar->objectName() + QStringLiteral(".hidden"));
    tabs->tabBar()->hide();
    tabs->setFocusProxy(nullptr);  // the Tab key would end at the hidden bar
    tabs->setFocusPolicy(Qt::NoFocus);
    QObject::connect(bar, &QTabBar::currentChanged, tabs, &QTabWidget::setCurrentIndex);
    QObject::connect(tabs, &QTabWidget::currentChanged, bar, &QTabBar::setCurrentIndex);
    return bar;
}

}  // namespace orrery::ui
