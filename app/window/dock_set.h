#pragma once

// All docks of the studio by name, arranged by layouts.

#include "app/window/dock.h"
#include "app/window/dock_layouts.h"

#include <QMainWindow>
#include <QObject>

#include <map>
#include <vector>

namespace orrery::app {

class DockSet : public QObject {
    Q_OBJECT
public:
    explicit DockSet(QMainWindow* window);

    Dock* add(const QString& id, const QString& title, const QString& meaning, Dock::Make make);
    Dock* dock(const QString& id) const;
    const std::vector<Dock*>& all() const { return docks_; }
    void reveal(const QString& id);
    /// The same without taking the window from its page: one that was hidden gets a fifth of the height.
    void revealSmall(const QString& id);

    /// Arranges the docks as the layout was left, or as it ships.
    void apply(Layout layout, bool asShipped = false);
    /// The same once no page fills the window: until then no dock is shown, and so none is made.
    void applyLater(Layout layout);
    Layout layout() const { return layout_; }
    void remember();  ///< writes the present arrangement to the settings
    /// A page that fills the window puts the docks aside and brings them back as they were.
    void setAside(bool aside);
    void hideAll();
    bool isShown() const { return shown_; }

signals:
    void arranged();   ///< a layout has been applied
    void pageAlone();  ///< docks are aside: the page in front must be seen

private:
    void place(const LayoutPlan& plan);
    void nameTabBars();
    void size(const LayoutPlan& plan);

    QMainWindow* window_;
    std::map<QString, Dock*> byId_;
    std::vector<Dock*> docks_;
    Layout layout_ = Layout::Explore;
    bool shown_ = false;
    bool later_ = false;  ///< nothing has been arranged yet
    bool low_ = false;    ///< the window was low when they were arranged
    QByteArray aside_;    ///< how the docks stood before they were put aside; empty while they are there
};

}  // namespace orrery::app
