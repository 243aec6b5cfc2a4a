// Grouping, showing and laying out of workload graphs. Targets on the CI machine: a layout of 1,500 nodes in 0.1 s; the
// 6,623 nodes that swin_t.onnx stores, each drawn, in 0.8 s; an end within 20 ms once asked to.

#ifndef ONNX_ML
#define ONNX_ML 1
#endif
#ifndef ONNX_NAMESPACE
#define ONNX_NAMESPACE onnx
#endif

#include "base/random.h"
#include "widgets/graph/layered_layout.h"
#include "workload/hierarchy.h"
#include "workload/onnx/reader.h"
#include "workload/workload.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <string>
#include <thread>
#include <unordered_map>

namespace {

using namespace orrery;
using ui::LayoutGraph;

const QSizeF nodeSize(120, 32);

LayoutGraph toLayout(const GraphHierarchy& hierarchy, const VisibleGraph& visible) {
    LayoutGraph layout;
    layout.sizes.assign(visible.nodes.size(), nodeSize);
    std::vector<std::int32_t> frameOf(hierarchy.groups.size(), -1);
    for (const std::int32_t g : visible.openGroups) {
        frameOf[std::size_t(g)] = std::int32_t(layout.frameParent.size());
        const std::int32_t parent = hierarchy.groups[std::size_t(g)].parent;
        layout.frameParent.push_back(parent < 0 ? -1 : frameOf[std::size_t(parent)]);
    }
    for (const auto& node : visible.nodes) {
        const std::int32_t around =
            node.op >= 0 ? hierarchy.groupOf[std::size_t(node.op)] : hierarchy.groups[std::size_t(node.group)].parent;
        layout.frame.push_back(around < 0 ? -1 : frameOf[std::size_t(around)]);
    }
    for (const auto& edge : visible.edges) {
        if (edge.from >= 0 && edge.to >= 0) layout.edges.push_back({edge.from, edge.to});
    }
    return layout;
}

/// A workload with every group unfolded.
LayoutGraph unfolded(Graph graph) {
    unfoldRepeats(graph);
    const GraphHierarchy hierarchy = hierarchyOf(graph);
    return toLayout(hierarchy, visibleGraph(graph, hierarchy, std::vector<bool>(hierarchy.groups.size(), true)));
}

/// What the file itself stores, shape arithmetic and constants included: nodes and who reads whom.
Graph storedGraph(const std::string& path) {
    Graph graph;
    const auto model = onnx_import::readModel(path);
    if (!model) return graph;
    std::unordered_map<std::string, TensorId> tensors;
    const auto tensor = [&](const std::string& name) {
        const auto [place, fresh] = tensors.emplace(name, TensorId(graph.tensors.size()));
        if (fresh) graph.addTensor({.name = name, .shape = {1}});
        return place->second;
    };
    for (const auto& node : (*model)->graph().node()) {
        Operator op;
        op.name = node.name();
        op.type = node.op_type();
        for (const std::string& name : node.input()) op.inputs.push_back(name.empty() ? -1 : tensor(name));
        for (const std::string& name : node.output()) op.outputs.push_back(name.empty() ? -1 : tensor(name));
        graph.operators.push_back(std::move(op));
    }
    return graph;
}

const std::string swin = std::string(ORRERY_REFERENCE) + "/onnx/torchvision/swin_t.onnx";

LayoutGraph ofCase(int which) {
    if (which == 0) {
        const auto gpt = loadWorkload({.source = "gpt-3-175b", .options = {}, .whatIfs = {}});
        return unfolded((*gpt)->graph);
    }
    if (which == 1) {  // as many nodes and edges as an unfolded model of 1,500 operators, wired at random nearby
        RandomStream random(1);
        LayoutGraph graph;
        graph.sizes.assign(1500, nodeSize);
        for (std::int32_t n = 1; n < 1500; ++n) {
            graph.edges.push_back({n - 1 - std::int32_t(random.below(std::uint64_t(std::min(n, 3)))), n});
            if (random.below(3) == 0) {
                graph.edges.push_back({n - 1 - std::int32_t(random.below(std::uint64_t(std::min(n, 30)))), n});
            }
        }
        return graph;
    }
    const Graph graph = storedGraph(swin);
    const GraphHierarchy hierarchy = hierarchyOf(graph);
    LayoutGraph layout =
        toLayout(hierarchy, visibleGraph(graph, hierarchy, std::vector<bool>(hierarchy.groups.size(), true)));
    if (which == 3) layout.frame.clear(), layout.frameParent.clear();
    return layout;
}
const char* const cases[] = {"GPT-3 175B, every block written out", "1,500 random nodes", "swin_t as stored",
                             "swin_t as stored, without frames"};

void BM_Layout(benchmark::State& state) {
    const LayoutGraph graph = ofCase(int(state.range(0)));
    state.SetLabel(cases[state.range(0)]);
    if (graph.sizes.empty()) return state.SkipWithError("the reference model swin_t.onnx is not here");
    for (auto _ : state) benchmark::DoNotOptimize(ui::layeredLayout(graph).bounds);
    state.counters["nodes"] = double(graph.sizes.size());
    state.counters["edges"] = double(graph.edges.size());
    state.counters["frames"] = double(graph.frameParent.size());
}
BENCHMARK(BM_Layout)->DenseRange(0, 3)->Unit(benchmark::kMillisecond);

/// From the request to the end, asked at twenty moments of the layout.
void BM_LayoutStops(benchmark::State& state) {
    using Clock = std::chrono::steady_clock;
    const LayoutGraph graph = ofCase(int(state.range(0)));
    state.SetLabel(cases[state.range(0)]);
    if (graph.sizes.empty()) return state.SkipWithError("the reference model swin_t.onnx is not here");
    double worst = 0;
    for (auto _ : state) {
        for (int i = 0; i < 20; ++i) {
            std::stop_source stop;
            Clock::time_point asked, ended;
            std::jthread layout([&] {
                ui::layeredLayout(graph, stop.get_token());
                ended = Clock::now();
            });
            std::this_thread::sleep_for(std::chrono::milliseconds(5 * i));
            asked = Clock::now();
            stop.request_stop();
            layout.join();
            worst = std::max(worst, std::chrono::duration<double, std::milli>(ended - asked).count());
        }
    }
    state.counters["worst_ms"] = worst;
}
BENCHMARK(BM_LayoutStops)->DenseRange(1, 3)->Iterations(1)->Unit(benchmark::kMillisecond);

void BM_Hierarchy(benchmark::State& state) {
    const Graph graph = storedGraph(swin);
    if (graph.operators.empty()) return state.SkipWithError("the reference model swin_t.onnx is not here");
    for (auto _ : state) {
        const GraphHierarchy hierarchy = hierarchyOf(graph);
        benchmark::DoNotOptimize(visibleGraph(graph, hierarchy, openAtFirst(graph, hierarchy)).nodes.size());
    }
}
BENCHMARK(BM_Hierarchy)->Unit(benchmark::kMillisecond);

}  // namespace
