#pragma once

// What every state of the mouse and the keyboard on the canvas has in common. The view keeps one tool (chosen in the
// tool bar) and at most one gesture (what a pressed button does until it is let go); the gesture gets the events first.
// A tool changes nothing itself: until its gesture ends well it only paints, then it asks the editor once.

#include "widgets/canvas/component_selection.h"
#include "widgets/canvas/editor.h"
#include "widgets/canvas/scene.h"

#include <QCursor>
#include <QKeyEvent>
#include <QPainter>
#include <QPixmap>

#include <memory>

namespace orrery::ui {

class CanvasView;
class CanvasTool;

struct ToolEvent {
    QPointF view;   ///< pixels
    QPointF scene;  ///< the same point
    Qt::MouseButton button = Qt::NoButton;
    Qt::KeyboardModifiers modifiers;
};

/// What tools see of the view, and all that they may do to it.
class ToolContext {
public:
    ToolContext(CanvasView& canvas, ComponentSelection& selected) : view(canvas), selection(selected) {}

    CanvasView& view;
    ComponentSelection& selection;
    CanvasEditor* editor = nullptr;  ///< null: looking only
    int hovered = -1;                ///< node under the cursor
    QPointF cursor;                  ///< view, where the mouse was last

    const Scene& scene() const;
    int root() const;  ///< node of what is entered
    /// The innermost node that can be seen at a point, or the Link whose line passes within a few pixels; -1 outside of
    /// what is entered. Boxes inside `without` are looked through.
    int pick(const QPointF& scenePoint, const std::vector<int>& without = {}) const;
    /// Nodes of the selection that are no link, without those inside others of it, in tree order.
    std::vector<int> selectedBoxes() const;

    void begin(std::unique_ptr<CanvasTool> gesture);  ///< takes over the mouse until it calls end()
    void end();                                       ///< the gesture is dropped after the present event
    bool busy() const { return gesture != nullptr && !ended; }
    /// Places for CanvasEditor::add(): the children of `holder` stay where they are, and what its containers would come
    /// to cover by growing moves aside.
    std::vector<PlacedAt> roomFor(int holder, const std::vector<Component>& parts,
                                  const std::vector<Placement>& places) const;
    /// What a grown `holder` moves aside when `next` are the placements of the same design.
    std::vector<PlacedAt> aside(const ComponentPath& holder, const Hardware& design, Placements next) const;
    /// One edit of placements; siblings keep their places.
    void arrange(const QString& words, const std::vector<std::pair<int, Placement>>& places);
    bool report(const Expected<ComponentPaths>& made);  ///< selects what was made, or refuses
    /// Nodes with their insides as the drawing shows them; `area` gets the scene rectangle that the picture covers.
    QPixmap picture(const std::vector<int>& nodes, QRectF& area) const;
    void refuse(const Diagnostic& why);     ///< says it at the cursor, and to whoever listens
    void leaveOut(std::vector<int> nodes);  ///< the background is painted without them (those being dragged)

    std::unique_ptr<CanvasTool> gesture;
    bool ended = false;
    std::vector<int> leftOut;
};

class CanvasTool {
public:
    explicit CanvasTool(ToolContext& context) : context_(context) {}
    virtual ~CanvasTool() = default;
    CanvasTool(const CanvasTool&) = delete;
    CanvasTool& operator=(const CanvasTool&) = delete;

    virtual void press(const ToolEvent&) {}
    virtual void move(const ToolEvent&) {}
    virtual void release(const ToolEvent&) {}
    virtual void doubleClick(const ToolEvent&) {}
    virtual bool key(QKeyEvent*) { return false; }  ///< true: taken
    virtual void modifiersChanged(const ToolEvent&) {}
    virtual void designChanged() {}  ///< node numbers of before mean nothing any more
    /// Over the drawing, in view coordinates, inside extent().
    virtual void paint(QPainter&) const {}
    virtual QRectF extent() const { return {}; }  ///< view; what paint() touches
    /// Stops what is under way and puts everything back. False: there was nothing to stop.
    virtual bool cancel() { return false; }
    /// Whether a drag that reaches the border of the view scrolls the drawing along.
    virtual bool scrollsAtEdge() const { return false; }
    virtual QCursor cursor() const { return Qt::ArrowCursor; }
    virtual QString hint() const { return {}; }  ///< what the person can do now, for the status bar

protected:
    ToolContext& context_;
};

/// Is `node` one of `tops` or inside one?
bool insideAny(const Scene& scene, int node, const std::vector<int>& tops);
/// The innermost container from `node` outwards, not beyond `root`, that may hold all those kinds; -1 if none may.
int holderFrom(const Scene& scene, int node, int root, const std::vector<ComponentKind>& kinds);
/// `A core cannot hold a DRAM`, for the first kind that `holder` may not hold.
QString whyNot(const Component& holder, const std::vector<ComponentKind>& kinds);
/// A label beside the cursor: text on a raised card. Returns the area painted; with a null painter only measures.
QRectF paintNote(QPainter* painter, const QPointF& at, const QString& text, const QRectF& within, bool bad = false);

}  // namespace orrery::ui
