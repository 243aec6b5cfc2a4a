#include "widgets/plots/timeline_model.h"

#include <algorithm>
#include <cmath>

namespace orrery::ui {
namespace {

struct TimeUnit {
    const char* symbol;
    double picoseconds;
};
constexpr TimeUnit units[] = {{"ps", 1}, {"ns", 1e3}, {"µs", 1e6}, {"ms", 1e9}, {"s", 1e12}};

}  // namespace

void SpanStatistics::add(const SpanStatistics& other) {
    count += other.count;
    sum += other.sum;
    least = std::min(least, other.least);
    most = std::max(most, other.most);
}

TimelineRow::TimelineRow(const TimelineSpan* spans, std::size_t first, std::size_t count)
    : spans_(spans), first_(first), count_(count) {
    for (std::size_t below = count_; below > 1;) {
        const std::size_t here = (below + 3) / 4;
        std::vector<Node> nodes;
        nodes.reserve(here);
        const std::size_t level = levels_.size();
        for (std::size_t i = 0; i < here; ++i) {
            Node sum = node(level, i * 4);
            for (std::size_t child = i * 4 + 1; child < std::min(i * 4 + 4, below); ++child) {
                const Node next = node(level, child);
                sum.start = std::min(sum.start, next.start);
                sum.end = std::max(sum.end, next.end);
                sum.busy += next.busy;
                if (next.most > sum.most) sum.op = next.op;
                sum.least = std::min(sum.least, next.least);
                sum.most = std::max(sum.most, next.most);
            }
            nodes.push_back(sum);
        }
        levels_.push_back(std::move(nodes));
        below = here;
    }
}

TimelineRow::Node TimelineRow::node(std::size_t level, std::size_t at) const {
    if (level > 0) return levels_[level - 1][at];
    const TimelineSpan& span = spans_[first_ + at];
    const std::int64_t duration = std::max<std::int64_t>(span.endPs - span.startPs, 0);
    return {span.startPs, span.endPs, duration, duration, duration, span.op};
}

void TimelineRow::visit(std::int64_t from, std::int64_t to, std::int64_t detail,
                        const std::function<void(const TimelinePiece&)>& draw) const {
    if (count_ > 0) visitNode(levels_.size(), 0, from, to, detail, draw);
}

void TimelineRow::visitNode(std::size_t level, std::size_t at, std::int64_t from, std::int64_t to, std::int64_t detail,
                            const std::function<void(const TimelinePiece&)>& draw) const {
    const Node here = node(level, at);
    if (here.end <= from || here.start >= to) return;
    if (level == 0 || here.end - here.start <= detail) {
        const std::int64_t under = std::int64_t(std::min(spansUnder(level), count_ - at * spansUnder(level)));
        draw({here.start, here.end, std::min(here.busy, here.end - here.start),
              level == 0 ? std::int64_t(first_ + at) : -1, here.op, under});
        return;
    }
    const std::size_t below = level == 1 ? count_ : levels_[level - 2].size();
    for (std::size_t child = at * 4; child < std::min(at * 4 + 4, below); ++child)
        visitNode(level - 1, child, from, to, detail, draw);
}

SpanStatistics TimelineRow::statistics(std::int64_t from, std::int64_t to) const {
    SpanStatistics out;
    if (count_ > 0) addStatistics(levels_.size(), 0, from, to, out);
    return out;
}

void TimelineRow::addStatistics(std::size_t level, std::size_t at, std::int64_t from, std::int64_t to,
                                SpanStatistics& out) const {
    const Node here = node(level, at);
    if (here.end <= from || here.start >= to) return;
    // A run wholly inside counts as a whole: every span in it overlaps the area.
    if (level == 0 || (here.start >= from && here.end <= to)) {
        const std::size_t under = std::min(spansUnder(level), count_ - at * spansUnder(level));
        return out.add({std::int64_t(under), here.busy, here.least, here.most});
    }
    const std::size_t below = level == 1 ? count_ : levels_[level - 2].size();
    for (std::size_t child = at * 4; child < std::min(at * 4 + 4, below); ++child)
        addStatistics(level - 1, child, from, to, out);
}

std::int64_t TimelineRow::spanAt(std::int64_t time) const {
    const TimelineSpan* begin = spans_ + first_;
    const TimelineSpan* at = std::upper_bound(
        begin, begin + count_, time, [](std::int64_t t, const TimelineSpan& span) { return t < span.startPs; });
    // Overlapping spans are rare and few, so looking back over a handful finds the one that is on top.
    for (int back = 0; at != begin && back < 16; ++back) {
        --at;
        if (at->endPs > time) return at - spans_;
    }
    return -1;
}

TimelineModel::TimelineModel(const Timeline& timeline) : timeline_(&timeline) {
    const auto& spans = timeline.spans;
    std::size_t at = 0;
    for (std::size_t row = 0; row < timeline.rows.size(); ++row) {
        const std::size_t first = at;
        while (at < spans.size() && spans[at].row == std::int32_t(row)) ++at;
        rows_.emplace_back(spans.data(), first, at - first);
    }
    if (spans.empty()) return;
    begin_ = std::numeric_limits<std::int64_t>::max();
    end_ = std::numeric_limits<std::int64_t>::min();
    for (const TimelineSpan& span : spans) {
        begin_ = std::min(begin_, span.startPs);
        end_ = std::max(end_, span.endPs);
    }
    end_ = std::max(end_, begin_ + 1);
}

std::pair<std::int64_t, std::int64_t> TimelineModel::extent(const QSet<int>& operators) const {
    std::int64_t from = std::numeric_limits<std::int64_t>::max();
    std::int64_t to = std::numeric_limits<std::int64_t>::min();
    if (timeline_ && !operators.isEmpty()) {
        for (const TimelineSpan& span : timeline_->spans) {
            if (!operators.contains(span.op)) continue;
            from = std::min(from, span.startPs);
            to = std::max(to, span.endPs);
        }
    }
    return from < to ? std::pair{from, to} : std::pair<std::int64_t, std::int64_t>{0, 0};
}

std::int64_t TimelineModel::neighbour(std::int64_t span, int by) const {
    if (!timeline_ || span < 0) return -1;
    const std::int64_t next = span + by;
    const auto& spans = timeline_->spans;
    if (next < 0 || next >= std::int64_t(spans.size())) return -1;
    return spans[std::size_t(next)].row == spans[std::size_t(span)].row ? next : -1;
}

std::int64_t TimelineModel::nextOf(const QSet<int>& operators, std::int64_t after) const {
    if (!timeline_) return -1;
    std::int64_t best = -1, earliest = -1;
    const auto& spans = timeline_->spans;
    const auto sooner = [&](std::size_t i, std::int64_t than) {
        return than < 0 || spans[i].startPs < spans[std::size_t(than)].startPs;
    };
    for (std::size_t i = 0; i < spans.size(); ++i) {
        if (!operators.contains(spans[i].op)) continue;
        if (sooner(i, earliest)) earliest = std::int64_t(i);
        if (spans[i].startPs > after && sooner(i, best)) best = std::int64_t(i);
    }
    return best >= 0 ? best : earliest;
}

void TimeMap::zoom(double factor, double pixel, double begin, double end) {
    const double about = time(pixel);
    const double least = 10;  // picoseconds: nothing simulated is finer
    const double span = std::clamp((to - from) / factor, std::min(least, end - begin), (end - begin) * 1.2);
    const double share = (pixel - left) / width;
    from = about - share * span;
    to = from + span;
    keepInside(begin, end);
}

void TimeMap::pan(double by, double begin, double end) {
    from += by;
    to += by;
    keepInside(begin, end);
}

void TimeMap::keepInside(double begin, double end) {
    const double span = to - from;
    const double slack = std::min(span, end - begin) * 0.1;
    if (span >= (end - begin) + 2 * slack) {
        from = (begin + end) / 2 - span / 2;
    } else {
        from = std::clamp(from, begin - slack, std::max(begin - slack, end + slack - span));
    }
    to = from + span;
}

std::vector<RulerTick> rulerTicks(const TimeMap& map, double spacing) {
    std::vector<RulerTick> ticks;
    if (!(map.width > 0) || !(map.to > map.from)) return ticks;
    const double rough = std::max(map.perPixel() * spacing, 1.0);
    double step = std::pow(10, std::floor(std::log10(rough)));
    for (const double factor : {1.0, 2.0, 5.0, 10.0}) {
        if (step * factor >= rough) {
            step *= factor;
            break;
        }
    }
    const double reach = std::max(std::abs(map.from), std::abs(map.to));
    const TimeUnit* unit = &units[0];
    for (const TimeUnit& candidate : units)
        if (reach >= candidate.picoseconds) unit = &candidate;
    const int decimals = std::clamp(int(std::ceil(-std::log10(step / unit->picoseconds) - 1e-9)), 0, 12);
    for (double time = std::ceil(map.from / step) * step; time <= map.to; time += step) {
        const double shown = std::abs(time) < step / 2 ? 0 : time / unit->picoseconds;
        ticks.push_back({time, shown == 0 ? QStringLiteral("0")
                                          : QString::number(shown, 'f', decimals) + QLatin1Char(' ') +
                                                QString::fromUtf8(unit->symbol)});
    }
    return ticks;
}

}  // namespace orrery::ui
