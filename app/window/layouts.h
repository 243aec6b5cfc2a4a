#pragma once

// The layouts as commands: docks arranged, pages shown or not, type large or not; and the pages' room in the window.

#include "app/window/dock_set.h"

#include <QObject>
#include <QTimer>

namespace orrery::app {

class Studio;

class Layouts : public QObject {
    Q_OBJECT
public:
    explicit Layouts(Studio& studio) : studio_(studio) {}
    void addActions();

    void choose(Layout layout, bool asShipped = false);
    void showPages(bool shown);
    /// Leaves the first page, if it is in front, for what is drawn; arranges the docks if they are not there yet.
    /// `alone`: for a page that is shown next and has the window for itself; then they wait.
    void showProject(bool alone = false);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void fitCentre();
    void chosen(const LayoutPlan& plan);  ///< all of it but the docks
    void fitType(bool presents);          ///< a projector's, for the window as it is now

    Studio& studio_;
    QTimer retype_;
};

}  // namespace orrery::app
