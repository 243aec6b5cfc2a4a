#include "widgets/plots/roofline_model.h"

#include "widgets/common/units_text.h"
#include "widgets/plots/operator_facts.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

namespace orrery::ui {
namespace {

std::vector<Roof> roofsOfDevice(const DeviceView& device) {
    std::vector<Roof> roofs;
    for (std::size_t i = 0; i < device.levels.size(); ++i) {
        const MemoryLevel& level = device.levels[i];
        if (level.bandwidth.value <= 0) continue;
        const QString label = QStringLiteral("%1 %2").arg(QString::fromStdString(level.name), text(level.bandwidth));
        roofs.push_back({label, true, level.bandwidth.value, int(i)});
    }
    for (std::size_t unit = 0; unit < device.peaks.size(); ++unit) {
        for (std::size_t type = 0; type < device.peaks[unit].size(); ++type) {
            const FlopsPerSecond peak = device.peaks[unit][type];
            if (peak.value <= 0) continue;
            const QString name = QString::fromUtf8(toText(static_cast<DType>(type)).data());
            const QString label =
                unit == std::size_t(UnitKind::Tensor) ? QStringLiteral("%1 tensor %2") : QStringLiteral("%1 %2");
            // Types that run at the same rate share a roof, named after the first.
            const bool known = std::any_of(roofs.begin(), roofs.end(), [&](const Roof& roof) {
                return !roof.memory && std::abs(roof.rate / peak.value - 1) < 0.02;
            });
            if (!known) roofs.push_back({label.arg(name, text(peak)), false, peak.value, -1});
        }
    }
    return roofs;
}

double typicalPeak(const Snapshot& snapshot, const OperatorEstimates& columns) {
    if (!snapshot.device || !snapshot.scenario.workload || columns.flops.empty()) return 0;
    const CostTable& costs = snapshot.scenario.workload->costs;
    const auto most = std::size_t(std::max_element(columns.flops.begin(), columns.flops.end()) - columns.flops.begin());
    if (most >= costs.type.size() || most >= costs.macs.size()) return 0;
    return snapshot.device->peak(costs.macs[most] > 0, costs.type[most]).value;
}

void addTruth(RooflineModel& model, const Snapshot& snapshot, const OperatorEstimates& columns) {
    const bool intervals = columns.lowSeconds.size() == columns.size() && columns.highSeconds.size() == columns.size();
    for (RooflinePoint& point : model.points) {
        const auto lead = std::size_t(point.lead);
        const double flops = columns.flops[lead];
        if (intervals && columns.lowSeconds[lead] > 0 && columns.highSeconds[lead] > columns.lowSeconds[lead]) {
            point.low = flops / columns.highSeconds[lead];
            point.high = flops / columns.lowSeconds[lead];
        }
        const auto found = std::ranges::lower_bound(snapshot.references, point.lead, {}, &OperatorReference::op);
        if (found == snapshot.references.end() || found->op != point.lead || !(found->seconds > 0)) continue;
        point.reference = flops / found->seconds;
        point.referenceMeasured = found->measured;
    }
}

}  // namespace

double RooflineModel::topCompute() const {
    double top = 0;
    for (const Roof& roof : roofs)
        if (!roof.memory) top = std::max(top, roof.rate);
    return top;
}

double RooflineModel::topMemory() const {
    double top = 0;
    for (const Roof& roof : roofs)
        if (roof.memory) top = std::max(top, roof.rate);
    return top;
}

double RooflineModel::mainMemory() const {
    const Roof* outermost = nullptr;
    for (const Roof& roof : roofs)
        if (roof.memory && (!outermost || roof.level < outermost->level)) outermost = &roof;
    return outermost ? outermost->rate : 0;
}

double RooflineModel::leadingCompute() const {
    for (const Roof& roof : roofs)
        if (!roof.memory && typicalPeak > 0 && std::abs(roof.rate / typicalPeak - 1) < 0.02) return roof.rate;
    double reached = 0;
    for (const RooflinePoint& point : points) reached = std::max(reached, point.attained);
    double lowest = 0;
    for (const Roof& roof : roofs) {
        if (!roof.memory && roof.rate >= reached * 0.999 && (lowest == 0 || roof.rate < lowest)) lowest = roof.rate;
    }
    return lowest > 0 ? lowest : topCompute();
}

double RooflineModel::roofAt(double intensity) const {
    const double compute = leadingCompute();
    const double memory = mainMemory() * intensity;
    return compute > 0 && memory > 0 ? std::min(compute, memory) : std::max(compute, memory);
}

double RooflineModel::ridge() const {
    const double compute = leadingCompute(), memory = mainMemory();
    return compute > 0 && memory > 0 ? compute / memory : 0;
}

RooflineModel rooflineModel(const Snapshot& snapshot) {
    RooflineModel model;
    if (snapshot.device) model.title = QString::fromStdString(snapshot.device->name);
    const Estimate* estimate = snapshot.primaryEstimate();
    if (!estimate) {
        if (snapshot.device) model.roofs = roofsOfDevice(*snapshot.device);
        return model;
    }
    for (const Ceiling& ceiling : estimate->ceilings) {
        if (ceiling.rate > 0)
            model.roofs.push_back({QString::fromStdString(ceiling.label), ceiling.memory, ceiling.rate,
                                   ceiling.memory ? std::max<int>(ceiling.level, 0) : -1});
    }
    if (model.roofs.empty() && snapshot.device) model.roofs = roofsOfDevice(*snapshot.device);
    const OperatorEstimates& columns = estimate->operators;
    const double total = totalSeconds(*estimate);
    model.points.reserve(columns.size());
    std::map<std::tuple<OperatorKind, long, long>, std::size_t> spots;
    for (std::size_t i = 0; i < columns.size(); ++i) {
        const double flops = i < columns.flops.size() ? columns.flops[i] : 0;
        const double bytes = i < columns.bytes.size() ? columns.bytes[i] : 0;
        const double seconds = columns.seconds[i];
        const double share = total > 0 ? seconds / total : 0;
        if (!(flops > 0 && bytes > 0 && seconds > 0)) {
            if (seconds > 0 || bytes > 0) {
                ++model.notShown;
                model.notShownShare += share;
            }
            continue;
        }
        const OperatorKind kind = operatorKind(snapshot, int(i));
        const auto spot = [](double value) { return std::lround(std::log10(value) * 200); };
        const auto [at, fresh] =
            spots.try_emplace({kind, spot(flops / bytes), spot(flops / seconds)}, model.points.size());
        if (fresh) model.points.push_back({int(i), {}, int(i), kind, flops / bytes, flops / seconds, 0});
        RooflinePoint& point = model.points[at->second];
        point.members.push_back(int(i));
        if (seconds > columns.seconds[std::size_t(point.lead)]) point.lead = int(i);
        point.share += share;
    }
    addTruth(model, snapshot, columns);
    model.typicalPeak = typicalPeak(snapshot, columns);
    return model;
}

RooflineRanges fittingRanges(const std::vector<const RooflineModel*>& models) {
    Range x{std::numeric_limits<double>::infinity(), 0};
    Range y = x;
    const auto include = [](Range& range, double value) {
        if (!(value > 0) || !std::isfinite(value)) return;
        range.low = std::min(range.low, value);
        range.high = std::max(range.high, value);
    };
    for (const RooflineModel* model : models) {
        const double compute = model->topCompute();
        const double memory = model->mainMemory();
        for (const RooflinePoint& point : model->points) {
            include(x, point.intensity);
            include(y, point.attained);
        }
        for (const Roof& roof : model->roofs)
            if (!roof.memory) include(y, roof.rate);
        if (compute > 0 && memory > 0) {
            include(x, compute / memory * 5);
            include(x, compute / memory / 30);
            include(y, compute / 30);
        }
    }
    if (!(x.high > 0)) x = {0.1, 1000};
    if (!(y.high > 0)) y = {1e9, 1e15};
    return {{x.low / 1.8, x.high * 1.8}, {y.low / 2.2, y.high * 2.6}};
}

bool showsAll(const RooflineRanges& ranges, const RooflineModel& model) {
    for (const RooflinePoint& point : model.points)
        if (!ranges.x.contains(point.intensity) || !ranges.y.contains(point.attained)) return false;
    const double compute = model.topCompute();
    const double memory = model.mainMemory();
    return !(compute > 0 && (!ranges.y.contains(compute) || (memory > 0 && !ranges.x.contains(compute / memory))));
}

RooflineModel between(const RooflineModel& a, const RooflineModel& b, double t) {
    if (t >= 1) return b;
    RooflineModel model = b;
    const bool sameRoofs =
        a.roofs.size() == b.roofs.size() &&
        std::equal(a.roofs.begin(), a.roofs.end(), b.roofs.begin(),
                   [](const Roof& p, const Roof& q) { return p.memory == q.memory && p.level == q.level; });
    if (sameRoofs) {
        for (std::size_t i = 0; i < model.roofs.size(); ++i)
            model.roofs[i].rate = lerpLog(a.roofs[i].rate, b.roofs[i].rate, t);
    }
    auto from = a.points.begin();
    for (RooflinePoint& point : model.points) {
        while (from != a.points.end() && from->op < point.op) ++from;
        if (from == a.points.end()) break;
        if (from->op != point.op || from->kind != point.kind) continue;
        point.intensity = lerpLog(from->intensity, point.intensity, t);
        point.attained = lerpLog(from->attained, point.attained, t);
        point.share = from->share + (point.share - from->share) * t;
    }
    return model;
}

RoofLine roofLine(const RooflineModel& model, const Roof& roof, const RooflineRanges& ranges) {
    if (roof.memory) {
        const double top = model.topCompute() > 0 ? model.topCompute() : ranges.y.high;
        const double left = std::min({ranges.x.low, ranges.y.low / roof.rate, top / roof.rate / 10});
        return {left, left * roof.rate, top / roof.rate, top};
    }
    const double memory = model.topMemory();
    const double left = memory > 0 ? roof.rate / memory : ranges.x.low;
    return {left, roof.rate, std::max(ranges.x.high, left * 10), roof.rate};
}

double pointRadius(double share, double largest) {
    return std::max(2.5, largest * std::sqrt(std::clamp(share, 0.0, 1.0)));
}

int pickPoint(const RooflineModel& model, const LogAxes& axes, double largestRadius, const QPointF& pixel,
              double reach) {
    int best = -1;
    double bestRadius = std::numeric_limits<double>::infinity();
    double bestDistance = bestRadius;
    for (std::size_t i = 0; i < model.points.size(); ++i) {
        const RooflinePoint& point = model.points[i];
        const QPointF offset = axes.toPixel(point.intensity, point.attained) - pixel;
        const double radius = pointRadius(point.share, largestRadius);
        const double distance = std::hypot(offset.x(), offset.y());
        if (distance > radius + reach) continue;
        if (radius < bestRadius - 0.5 || (radius < bestRadius + 0.5 && distance < bestDistance)) {
            best = int(i);
            bestRadius = radius;
            bestDistance = distance;
        }
    }
    return best;
}

std::vector<int> pointsInside(const RooflineModel& model, const LogAxes& axes, const QRectF& pixels) {
    std::vector<int> found;
    for (std::size_t i = 0; i < model.points.size(); ++i) {
        if (pixels.contains(axes.toPixel(model.points[i].intensity, model.points[i].attained))) found.push_back(int(i));
    }
    return found;
}

}  // namespace orrery::ui
