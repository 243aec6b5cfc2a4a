#pragma once

// Inside of CanvasView; only canvas_view*.cpp may include it.

#include "widgets/canvas/canvas_view.h"
#include "widgets/canvas/painter.h"
#include "widgets/canvas/tools/tool.h"

#include <QElapsedTimer>
#include <QPixmap>
#include <QRegion>
#include <QTimer>

#include <functional>

namespace orrery::ui {

struct CanvasView::State {
    State(CanvasView& canvas, ComponentSelection& selection) : view(canvas), context(canvas, selection) {}

    CanvasView& view;
    ToolContext context;
    Scene scene;
    std::unique_ptr<CanvasTool> tool;
    Tool kind = Tool::Select;
    std::vector<Component> placing;  ///< by the Place tool
    std::function<std::vector<Component>(const QString&)> library;
    bool dragging = false;  ///< a button or a drag from elsewhere is held: at the border the drawing scrolls
    bool entering = false;  ///< a drag from elsewhere that has not yet been within the border: it only passes it
    QTimer edge;

    QPointF origin;  ///< view point of scene (0, 0)
    double zoom = 1;
    /// All of it is shown and nobody has zoomed or panned since: stays so when the view is resized or the drawing
    /// grows.
    bool fitted = true;
    ComponentPath entered;
    bool snaps = true;
    bool grid = true;

    Diagnostics problems;
    std::vector<ComponentLoad> loads;
    std::vector<ComponentHeat> heat;
    std::vector<ComponentPath> ignored;
    std::vector<Mark> marks;
    std::vector<ComponentPath> found;  ///< by the search
    std::vector<int> selectedNodes;    ///< as painted
    std::vector<QRectF> selectedAreas;

    QPixmap background;  ///< the scene at the present transform, without what is dragged
    QRegion stale;       ///< of it, in view coordinates
    QRectF overlay;      ///< where overlays were painted last

    int nudgeGesture = 0;
    QElapsedTimer sinceNudge;
    bool spaceHeld = false;
    QString said;  ///< last accessible description

    PaintOptions options() const;
    QRectF toView(const QRectF& area) const;
    bool fitsNoMore() const;                         ///< all of it was shown, and some no longer is, or small
    void paintAgain();                               ///< all of it
    void paintAgain(const QRectF& area);             ///< scene
    void paintAgain(const std::vector<int>& nodes);  ///< themselves and the captions of what holds them
    void refreshBackground();
    void overlayChanged();  ///< after an event: repaints what the overlays were and are
    QRectF overlayExtent() const;
    CanvasTool* active() const { return context.busy() ? context.gesture.get() : tool.get(); }
    void dropEnded();
    void setView(double zoom, const QPointF& origin);
    void followSelection();
    void say();  ///< tells assistive technology what is current
    ToolEvent event(const QPointF& at, Qt::MouseButton button, Qt::KeyboardModifiers modifiers) const;
    bool commonKey(QKeyEvent* event);
    void walk(int step);  ///< to a sibling of the current component
    void walkInto();      ///< to its first child
    void walkOut();
    int currentNode() const;
    void showRename(int node);
    QString cardText(int node) const;
    bool report(const Expected<void>& done);
    bool report(const Expected<ComponentPaths>& made);  ///< selects what was made
    void move(const QString& words, const std::vector<std::pair<int, QPointF>>& topLefts, int gesture = 0);
    void arrange(const QString& words, const std::vector<std::pair<int, Placement>>& moved, int gesture = 0);
    void followEdge();  ///< starts or goes on scrolling while a drag is at the border
    void placeParts(std::vector<Component> parts, std::vector<Placement> places, const QPointF* at);
};

std::unique_ptr<CanvasTool> makeTool(CanvasView::Tool kind, ToolContext& context, const std::vector<Component>& parts);

}  // namespace orrery::ui
