#pragma once

// A network to be drawn inside the box of its topology object: its real switches and links, in 0…1.

#include "widgets/canvas/scene.h"

#include <QLineF>
#include <QList>
#include <QPointF>
#include <QString>

#include <memory>

namespace orrery::ui {

struct Sketch {
    QList<QPointF> ends, switches;
    QList<QLineF> lines;
};

struct NetworkSketch {
    Sketch sketch;    ///< empty if it cannot be expanded
    QString caption;  ///< `16 endpoints · 20 switches · 48 links · diameter 6`, or why it cannot be drawn
};

/// The network of a Topology node, expanded once for each design; up to 20,000 vertices and edges.
std::shared_ptr<const NetworkSketch> networkOf(const Scene& scene, int node);

}  // namespace orrery::ui
