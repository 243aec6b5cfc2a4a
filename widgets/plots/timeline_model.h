#pragma once

// A timeline free of pixels: rows with an aggregation pyramid, the map between time and pixels, ruler ticks, statistics
// of an area, and steps from span to span. A million spans draw in the time of the pixels that show them.

#include "methods/estimate.h"

#include <QSet>
#include <QString>

#include <cstdint>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

namespace orrery::ui {

/// Of the spans that overlap an area; durations are whole, in picoseconds.
struct SpanStatistics {
    std::int64_t count = 0, sum = 0;
    std::int64_t least = std::numeric_limits<std::int64_t>::max(), most = 0;
    double mean() const { return count > 0 ? double(sum) / double(count) : 0; }
    void add(const SpanStatistics& other);
};

/// What is drawn as one rectangle: a span, or spans too near to tell apart.
struct TimelinePiece {
    std::int64_t start = 0, end = 0;
    std::int64_t busy = 0;   ///< picoseconds covered, at most end − start where spans do not overlap
    std::int64_t span = -1;  ///< index in Timeline::spans if it is a single one
    std::int32_t op = -1;    ///< of the longest span in it
    std::int64_t count = 0;
};

/// The spans of one row with sums over runs of 4, 16, 64, …
class TimelineRow {
public:
    TimelineRow(const TimelineSpan* spans, std::size_t first, std::size_t count);

    /// Calls `draw` in order of start for what lies in [from, to); runs shorter than `detail` come as one piece.
    void visit(std::int64_t from, std::int64_t to, std::int64_t detail,
               const std::function<void(const TimelinePiece&)>& draw) const;
    SpanStatistics statistics(std::int64_t from, std::int64_t to) const;
    /// Index in Timeline::spans of the last span that begins at or before a time and has not ended, or -1.
    std::int64_t spanAt(std::int64_t time) const;
    std::size_t first() const { return first_; }
    std::size_t count() const { return count_; }

private:
    struct Node {
        std::int64_t start, end, busy, least, most;
        std::int32_t op;
    };
    std::size_t spansUnder(std::size_t level) const { return std::size_t{1} << (2 * level); }
    Node node(std::size_t level, std::size_t at) const;
    void visitNode(std::size_t level, std::size_t at, std::int64_t from, std::int64_t to, std::int64_t detail,
                   const std::function<void(const TimelinePiece&)>& draw) const;
    void addStatistics(std::size_t level, std::size_t at, std::int64_t from, std::int64_t to,
                       SpanStatistics& out) const;

    const TimelineSpan* spans_;
    std::size_t first_, count_;
    std::vector<std::vector<Node>> levels_;  // levels_[k] sums 4^(k+1) spans each
};

/// Rows over a timeline that outlives it.
class TimelineModel {
public:
    TimelineModel() = default;
    explicit TimelineModel(const Timeline& timeline);

    const Timeline* timeline() const { return timeline_; }
    const std::vector<TimelineRow>& rows() const { return rows_; }
    bool empty() const { return !timeline_ || timeline_->spans.empty(); }
    std::int64_t begin() const { return begin_; }
    std::int64_t end() const { return end_; }
    /// From the first start to the last end of the spans of some operators; {0, 0} if there is none.
    std::pair<std::int64_t, std::int64_t> extent(const QSet<int>& operators) const;
    /// The next (by +1) or previous (−1) span in the same row; -1 past the end.
    std::int64_t neighbour(std::int64_t span, int by) const;
    /// The first span of any of the operators that starts after a time, searched cyclically; -1 if there is none.
    std::int64_t nextOf(const QSet<int>& operators, std::int64_t after) const;

private:
    const Timeline* timeline_ = nullptr;
    std::vector<TimelineRow> rows_;
    std::int64_t begin_ = 0, end_ = 1;
};

/// Time in picoseconds over pixels. Doubles: a window a picosecond wide, an hour into a run, still maps exactly.
struct TimeMap {
    double from = 0, to = 1;
    double left = 0, width = 1;

    double pixel(double time) const { return left + (time - from) / (to - from) * width; }
    double time(double pixel) const { return from + (pixel - left) / width * (to - from); }
    double perPixel() const { return (to - from) / width; }
    /// factor > 1 shows less; the time under `pixel` stays there. Never outside [begin, end] by more than a tenth.
    void zoom(double factor, double pixel, double begin, double end);
    void pan(double time, double begin, double end);
    void keepInside(double begin, double end);
};

struct RulerTick {
    double time;
    QString label;
};
/// Ticks at steps of 1, 2 or 5 × 10^n picoseconds, at least `spacing` pixels apart; labels tell neighbours apart.
std::vector<RulerTick> rulerTicks(const TimeMap& map, double spacing);

}  // namespace orrery::ui
