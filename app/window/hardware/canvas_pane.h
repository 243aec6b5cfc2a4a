#pragma once

// One canvas with what stands around it: tools at its left, the way back above it, zoom and switches below it, a map
// in its corner.

#include "widgets/canvas/canvas_view.h"

#include <QList>
#include <QWidget>

class QAction;
class QLabel;
class QToolBar;
class QToolButton;
class QVBoxLayout;

namespace orrery::ui {
class Breadcrumbs;
class FindBar;
class Minimap;
}  // namespace orrery::ui

namespace orrery::app {

class CanvasPane : public QWidget {
    Q_OBJECT
public:
    /// `id` is the object name of the canvas; the other controls' names begin with it.
    CanvasPane(const QString& id, ui::ComponentSelection* selection, QWidget* parent = nullptr);

    ui::CanvasView* view() const { return view_; }
    /// Null separators (nullptr) are allowed.
    void setTools(const QList<QAction*>& tools, const QList<QAction*>& looks);
    void setDesign(HardwarePtr hardware, ui::PlacementsPtr placements, bool fit = false);
    void setTitle(const QString& title);  ///< stands above the canvas; empty: none
    void addStrip(QWidget* strip);        ///< between the canvas and the line below it
    void openFind();
    bool isMapShown() const;
    void setMapShown(bool shown);
    /// What is under way, with a button to stop it; empty: nothing is.
    void setBusy(const QString& what);
    const QString& busy() const { return busy_; }

signals:
    void stopRequested();
    void deviceWanted();  ///< there is no design: one of the library
    void designWanted();  ///< there is no design: an empty one
    void focused();       ///< it is now the one that edits go to

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void buildFoot();
    void placeOverlays();
    void showZoom();
    void showMap();
    void showHover(const ComponentPath& path, bool hovering);
    void showEmptyState();
    QToolButton* addButton(QToolBar* bar, QAction* action);

    QString id_;
    ui::CanvasView* view_;
    ui::Breadcrumbs* crumbs_;
    ui::FindBar* find_;
    ui::Minimap* map_;
    QToolBar* tools_;
    QToolBar* looks_;
    QVBoxLayout* column_ = nullptr;
    QWidget* foot_;
    QLabel *title_, *hover_, *zoom_, *empty_, *busyText_;
    QToolButton* stop_;
    HardwarePtr hardware_;
    QString busy_;
    bool mapWanted_ = true;
};

}  // namespace orrery::app
