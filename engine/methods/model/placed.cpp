#include "methods/model/placed.h"

#include "methods/answer/time_parts.h"
#include "methods/model/columns.h"
#include "methods/model/compose.h"

#include <algorithm>
#include <vector>

namespace orrery {

namespace {

constexpr std::int32_t nobody = -1;

// Which launch computes an operator; several of an eager list: the first of those of its leader.
std::vector<std::int32_t> launchOf(const Workload& workload, const LaunchList& list) {
    std::vector<std::int32_t> ofLeader(workload.graph.operators.size(), nobody), of(ofLeader.size(), nobody);
    for (std::size_t i = list.launches.size(); i-- > 0;)
        ofLeader[static_cast<std::size_t>(list.launches[i].op)] = static_cast<std::int32_t>(i);
    for (std::size_t op = 0; op < of.size(); ++op) of[op] = ofLeader[static_cast<std::size_t>(list.leader[op])];
    return of;
}

// By the root of its views: whether a tensor is an image. Both ways through the operators, which stand in order.
std::vector<char> imagesOf(const Graph& graph, const std::vector<TensorId>& roots) {
    std::vector<char> image(graph.tensors.size());
    const auto rootOf = [&](TensorId id) { return static_cast<std::size_t>(roots[static_cast<std::size_t>(id)]); };
    const auto isImage = [&](TensorId id) { return graph.tensor(id) && image[rootOf(id)] != 0; };
    const auto mark = [&](const std::vector<TensorId>& ids) {
        for (const TensorId id : ids)
            if (graph.tensor(id) && graph.tensors[rootOf(id)].shape.size() == 4) image[rootOf(id)] = 1;
    };
    const auto spread = [&](const Operator& op) {
        const bool makesImages =
            op.kind == OperatorKind::Conv || op.kind == OperatorKind::ConvTranspose || op.kind == OperatorKind::Pool;
        if (!makesImages && std::ranges::none_of(op.inputs, isImage) && std::ranges::none_of(op.outputs, isImage))
            return;
        mark(op.inputs);
        mark(op.outputs);
    };
    for (const Operator& op : graph.operators) spread(op);
    for (std::size_t i = graph.operators.size(); i-- > 0;) spread(graph.operators[i]);
    return image;
}

}  // namespace

void layTensorsOut(const Workload& workload, Composition& c) {
    const auto* placed = dynamic_cast<const PlacedPricer*>(c.pricer.get());
    if (!placed) return;
    const Graph& graph = workload.graph;
    const auto& launches = c.list().launches;
    for (std::size_t i = 0; i < launches.size(); ++i)
        c.prices[i].least = std::min(c.prices[i].least, launches[i].scale * placed->leastAway(launches[i].kernel));
    std::vector<char> away(launches.size());
    for (std::size_t i = 0; i < launches.size(); ++i)
        away[i] = launches[i].part == Part::Forward && placed->away(launches[i].kernel);
    if (std::ranges::none_of(away, [](char each) { return each != 0; })) return;
    const auto launchAt = launchOf(workload, c.list());
    const auto roots = viewRoots(graph);
    const auto images = imagesOf(graph, roots);
    struct Tracks {
        std::int32_t writer = nobody, firstAway = nobody;
        bool readByHost = false;
    };
    std::vector<Tracks> tracks(graph.tensors.size());
    const auto rootOf = [&](TensorId id) { return static_cast<std::size_t>(roots[static_cast<std::size_t>(id)]); };
    for (std::size_t op = 0; op < graph.operators.size(); ++op) {
        if (graph.operators[op].kind == OperatorKind::View || launchAt[op] == nobody) continue;
        for (const TensorId id : graph.operators[op].outputs)
            if (graph.tensor(id)) tracks[rootOf(id)].writer = launchAt[op];
    }
    for (std::size_t op = 0; op < graph.operators.size(); ++op) {
        const std::int32_t launch = launchAt[op];
        if (graph.operators[op].kind == OperatorKind::View || launch == nobody) continue;
        for (const TensorId id : graph.operators[op].inputs) {
            if (!graph.tensor(id) || graph.tensor(id)->role == TensorRole::Weight ||
                graph.tensor(id)->role == TensorRole::Constant)
                continue;
            Tracks& track = tracks[rootOf(id)];
            if (track.writer == launch) continue;  // inside a fused group
            if (!away[static_cast<std::size_t>(launch)])
                track.readByHost = true;
            else if (track.firstAway == nobody || launch < track.firstAway)
                track.firstAway = launch;
        }
    }
    std::vector<char> leaves(graph.tensors.size());
    for (const TensorId id : graph.outputs)
        if (graph.tensor(id)) leaves[rootOf(id)] = 1;
    c.layouts.assign(launches.size(), 0.0);
    const auto add = [&](std::int32_t launch, std::size_t tensor, bool outside) {
        const double seconds = placed->layoutSeconds(graph.tensors[tensor], outside);
        if (seconds <= 0) return;
        PricedLaunch& priced = c.prices[static_cast<std::size_t>(launch)];
        for (double* each : {&priced.seconds, &priced.low, &priced.high}) *each += seconds;
        c.layouts[static_cast<std::size_t>(launch)] += seconds;
        ++c.laidOut;
    };
    for (std::size_t t = 0; t < tracks.size(); ++t) {
        if (!images[t]) continue;
        const Tracks& track = tracks[t];
        const bool writtenAway = track.writer != nobody && away[static_cast<std::size_t>(track.writer)];
        if (writtenAway && (track.readByHost || leaves[t])) add(track.writer, t, leaves[t] != 0);
        if (!writtenAway && track.firstAway != nobody) add(track.firstAway, t, track.writer == nobody);
    }
}

void addPartFigures(Estimate& answer, const Composition& c) {
    const auto* placed = dynamic_cast<const PlacedPricer*>(c.pricer.get());
    if (!placed) return;
    PriceParts all;
    for (std::size_t i = 0; i < c.prices.size(); ++i) {
        const Launch& launch = c.list().launches[i];
        PriceParts one = placed->parts(launch.kernel);
        const double layout = c.layouts.empty() ? 0 : c.layouts[i];
        // What a launch takes beside its price: raised to its bound, or operands that the price leaves out.
        const double rest = c.prices[i].seconds - layout - launch.scale * one.sum();
        all.compute += launch.count * launch.scale * one.compute;
        all.transfer += launch.count * (launch.scale * one.transfer + (one.compute > 0 ? rest : 0));
        all.preparation += launch.count * (launch.scale * one.preparation + layout);
        all.host += launch.count * (launch.scale * one.host + (one.compute > 0 ? 0 : rest)) + c.pipelined.idle[i];
    }
    all.host += c.graphLaunch - c.overlapped - c.turns;
    const auto names = placed->partNames();
    const std::array values{all.compute, all.transfer, all.preparation, all.host};
    for (std::size_t p = 0; p < values.size(); ++p)
        answer.figures.push_back({names[p], values[p], Dimension::Time, {}, {}, std::string(partOfTime)});
    if (answer.latency.value > 0)
        answer.figures.push_back({names[0] + ", share", all.compute / answer.latency.value, Dimension::Fraction, {}});
}

}  // namespace orrery
