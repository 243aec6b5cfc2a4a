#pragma once

// What a roofline plot draws, free of pixels: roofs, points, ranges that show them, and the way from one to the next.

#include "widgets/common/snapshot.h"
#include "widgets/plots/log_axes.h"

#include <QString>

#include <vector>

namespace orrery::ui {

struct Roof {
    QString label;
    bool memory = false;
    double rate = 0;  ///< FLOP/s, or B/s if memory
    int level = 0;    ///< memory level, 0 the outermost
};

/// Operators of one kind that stand on the same spot (the same layer many times) are one point with the sum of their
/// shares.
struct RooflinePoint {
    int op = 0;                ///< the first of the members
    std::vector<int> members;  ///< rising
    int lead = 0;              ///< the member that takes most time
    OperatorKind kind = OperatorKind::Other;
    double intensity = 0;           ///< FLOP/B past the outermost level
    double attained = 0;            ///< FLOP/s
    double share = 0;               ///< of the time, 0…1
    double low = 0, high = 0;       ///< FLOP/s that 90 % of measured leads attain; 0 where the method does not say
    double reference = 0;           ///< FLOP/s that the lead attained in truth; 0 where no reference is loaded
    bool referenceMeasured = true;  ///< false: that truth is itself simulated
};

struct RooflineModel {
    QString title;  ///< the hardware's name
    std::vector<Roof> roofs;
    std::vector<RooflinePoint> points;
    int notShown = 0;  ///< operators without FLOPs or without bytes: they have no place on these axes
    double notShownShare = 0;

    double topCompute() const;  ///< 0 if there is none
    double topMemory() const;
    double mainMemory() const;  ///< rate of the outermost level
    /// The compute roof that most of the work runs under, by the types of its operators; where these are not known,
    /// the lowest that no point exceeds; 0 if there is none.
    double leadingCompute() const;
    double typicalPeak = 0;  ///< FLOP/s of the device for the operator with most FLOPs; 0 if not known
    /// The lower of the outermost memory's roof and the leading compute roof at an intensity.
    double roofAt(double intensity) const;
    /// FLOP/B at which the outermost memory meets the leading compute roof: left of it memory is the limit. 0: unknown.
    double ridge() const;
};

/// From the primary estimate's columns and ceilings; ceilings are taken from the device view if the method gave none.
RooflineModel rooflineModel(const Snapshot& snapshot);

struct RooflineRanges {
    Range x, y;
    bool operator==(const RooflineRanges&) const = default;
};
/// Shows every point, the compute roofs and the ridge, with a margin.
RooflineRanges fittingRanges(const std::vector<const RooflineModel*>& models);
bool showsAll(const RooflineRanges& ranges, const RooflineModel& model);

/// Between two models, geometrically: points of the same operators and roofs of the same order glide, others are b's.
RooflineModel between(const RooflineModel& a, const RooflineModel& b, double t);

/// The line of a roof on the plane: a memory roof up to the highest compute roof, a compute roof from the steepest
/// memory roof to the right border. Values, not pixels.
struct RoofLine {
    double x1, y1, x2, y2;
};
RoofLine roofLine(const RooflineModel& model, const Roof& roof, const RooflineRanges& ranges);

double pointRadius(double share, double largest);  ///< area proportional to the share, never less than 2.5 pixels
/// Index of the point whose disc is nearest to a pixel, within `reach` pixels of its edge; smaller discs win. -1: none.
int pickPoint(const RooflineModel& model, const LogAxes& axes, double largestRadius, const QPointF& pixel,
              double reach = 5);
std::vector<int> pointsInside(const RooflineModel& model, const LogAxes& axes, const QRectF& pixels);

}  // namespace orrery::ui
