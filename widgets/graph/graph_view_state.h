#pragma once

// What a GraphView remembers. Included by its sources only.

#include "widgets/graph/graph_build.h"
#include "widgets/graph/graph_overlay.h"
#include "widgets/graph/graph_paint.h"
#include "widgets/graph/graph_view.h"
#include "widgets/graph/graphviz_layout.h"

#include <QElapsedTimer>
#include <QPoint>
#include <QTimer>

#include <optional>
#include <unordered_map>

namespace orrery::ui {

class HoverCard;

struct GraphView::State {
    State(GraphView* owner, Selection* shared) : view(owner), selection(shared) {}

    GraphView* view;
    Selection* selection;

    // What is shown
    WorkloadPtr workload;
    SnapshotPtr snapshot;
    std::vector<double> measured;
    std::vector<StoredAnswers> stored;
    std::vector<HeatMetric> metrics;
    bool stale = false;  ///< metrics are older than the snapshot: the view is hidden
    QString metric;
    std::vector<double> values;  ///< per node of the scene
    HeatScale scale;
    double threshold = 0;

    // The drawing
    GraphWorker worker;
    GraphvizLayout graphviz;
    GraphPicturePtr picture;                ///< null until the first arrives
    GraphPicturePtr refining;               ///< which drawing Graphviz works on
    std::optional<std::vector<bool>> open;  ///< wanted; nothing: as at first
    bool leftToRight = false;
    bool announced = false;  ///< firstPicture() was sent
    bool drawnOnce = false;

    // Where it stands
    QPointF origin;  ///< scene point at the view's upper left
    double zoom = 1;
    bool placed = false;                            ///< the view has been put somewhere for this workload
    std::optional<std::pair<int, QPointF>> anchor;  ///< group that stays at this place of the view
    int reveal = -1;                                ///< operator to centre on once it shows
    std::unordered_map<std::int64_t, QRectF> from;
    QElapsedTimer glideClock;
    QTimer glide;

    // The look
    GraphLook look;
    GraphMap minimap;
    HoverCard* card = nullptr;

    // Finding
    QString query;
    std::vector<int> matching;  ///< operators
    int foundAt = -1;

    // The mouse
    enum class Drag { None, Pressed, Pan, Band, Map };
    Drag drag = Drag::None;
    QPointF pressed, pressedOrigin;
    GraphHit pressedOn;
    QRectF band;
    bool space = false;

    const HeatMetric* shown() const;
    const GraphScene* scene() const { return picture ? &picture->scene : nullptr; }
    QRectF area() const;  ///< scene that is seen
    std::vector<int> operatorsOf(int node) const;

    void request();
    void show(GraphPicturePtr next);
    void remeasure();  ///< metrics of workload, snapshot and measured times
    void recolour();   ///< values, scale, dimming
    void mark();       ///< selected and matched nodes
    void setView(const QPointF& origin, double zoom);
    void place();  ///< the first look at a workload
    void centreOn(int node);
    void ensureVisible(int node);
    void setCurrent(int node, bool select);
    void hoverAt(const QPointF& point);
    void showCard(const GraphHit& hit, const QPointF& point);
    void step(Qt::Key key);
    void search();
    void paint(QPainter& painter, const QRectF& target, bool decorated);
    QSizeF pictureSize() const;
    void tellSelection(int node, bool toggle);
};

}  // namespace orrery::ui
