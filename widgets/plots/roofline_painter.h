#pragma once

// Paints a roofline onto any QPainter: a widget's buffer, an image, an SVG file.

#include "widgets/plots/label_placement.h"
#include "widgets/plots/roofline_model.h"

#include <QPainter>
#include <QSet>

#include <functional>
#include <optional>

namespace orrery::ui {

struct RooflineScene {
    RooflineModel now;
    std::optional<RooflineModel> ghost;    ///< where things stood before the latest changes
    std::vector<RooflineModel> baselines;  ///< pinned
    QSet<int> selected;
    std::function<QString(int op)> name;  ///< short, for direct labels

    bool isSelected(const RooflinePoint& point) const;
};

struct RooflineLabel {
    QString text;
    PlacedLabel at;
    QColor colour;
};
struct RooflineLabels {
    std::vector<RooflineLabel> texts;
};
/// How many operators have no place on the axes, and their share of the time; empty where all have one.
struct RooflineNote {
    QString text;
    QRectF box;
};

double largestRadius(const QRectF& area);
/// Below the leading roofs, what limits there: memory left of the ridge, compute right of it.
void paintRegions(QPainter& painter, const RooflineModel& model, const LogAxes& axes);
RooflineLabels layOutLabels(const RooflineScene& scene, const LogAxes& axes);

/// At the right end of a row beside the plot, in as many words as it has room for.
RooflineNote layOutNote(const RooflineModel& model, const QRectF& row);

void paintRoofs(QPainter& painter, const RooflineScene& scene, const LogAxes& axes);
void paintPoints(QPainter& painter, const RooflineScene& scene, const LogAxes& axes);
/// Intervals of the points that matter, as bars, and what was measured, as a diamond (hollow where it was simulated).
void paintTruth(QPainter& painter, const RooflineScene& scene, const LogAxes& axes);
void paintLabels(QPainter& painter, const RooflineLabels& labels);
void paintNote(QPainter& painter, const RooflineNote& note);
/// Kinds of operators in the picture, largest share first, on one line; as many as fit.
void paintKey(QPainter& painter, const RooflineScene& scene, const QRectF& strip);
/// Ring about a point that the mouse or another view points at.
void paintHover(QPainter& painter, const RooflineScene& scene, const LogAxes& axes, int op);
/// Cross lines through a pixel, with both values on the axes.
void paintCrosshair(QPainter& painter, const LogAxes& axes, const QPointF& pixel);

}  // namespace orrery::ui
