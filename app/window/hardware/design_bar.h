#pragma once

// The designs of the project as tabs above the canvas, with what can be done to a design.

#include "app/document/document.h"

#include <QWidget>

class QMenu;
class QTabBar;
class QToolButton;

namespace orrery::app {

class Actions;

class DesignBar : public QWidget {
    Q_OBJECT
public:
    explicit DesignBar(Document& document, QWidget* parent = nullptr);
    void setActions(Actions& actions);
    QTabBar* tabs() const { return tabs_; }
    int compared() const { return compared_; }  ///< design shown at the right; -1: none
    void setCompared(int index);                ///< emits nothing
    /// Fills a menu with one action per design but `without`.
    void listDesigns(QMenu* menu, int without, const std::function<void(int)>& chosen) const;

signals:
    void designChosen(int index);
    void compareChosen(int index);  ///< -1: none
    void renameRequested(int index);

private:
    void refresh();
    void fillCompare();

    Document& document_;
    QTabBar* tabs_;
    QToolButton *add_, *compare_;
    QMenu* compareMenu_;
    Actions* actions_ = nullptr;
    QStringList shown_;
    int compared_ = -1;
    bool quiet_ = false;
};

}  // namespace orrery::app
