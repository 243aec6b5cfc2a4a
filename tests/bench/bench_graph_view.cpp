// The graph view: folding, laying out and showing large models, and how long the event loop stands still meanwhile.
//
//   build/release/bin/orrery-bench --benchmark_filter=GraphView
//
// Targets: GPT-3 175B (96 blocks, 1,500 operators and more) 0.3 s; swin_t.onnx first picture 1.5 s, longest stall 50
// ms.

#include "widgets/common/theme.h"
#include "widgets/graph/graph_view.h"
#include "workload/workload.h"

#include <QtWidgets>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <string>

namespace {

using namespace orrery;
using namespace orrery::ui;

/// GPT-3 175B as an exporter writes it (Brown et al. 2020, table 2.1: 96 layers, width 12,288, 96 heads): 16 operators
/// in each block, one prompt of 2,048 tokens, 1,539 operators in all.
Graph gpt3Written() {
    constexpr std::int64_t tokens = 2048, width = 12288, heads = 96, inner = 4 * width, words = 50257;
    Graph graph;
    graph.name = "GPT-3 175B";
    const auto activation = [&](const std::string& name, Shape shape) {
        return graph.addTensor({name, DType::F16, std::move(shape)});
    };
    const auto weight = [&](const std::string& name, Shape shape) {
        return graph.addTensor({name, DType::F16, std::move(shape), true, TensorRole::Weight});
    };
    const auto add = [&](const std::string& name, const char* type, OperatorKind kind, std::vector<TensorId> inputs,
                         Shape shape) {
        Operator op;
        op.name = name;
        op.type = type;
        op.kind = kind;
        op.inputs = std::move(inputs);
        op.outputs = {activation(name + "/out", std::move(shape))};
        graph.operators.push_back(op);
        return op.outputs.front();
    };
    using enum OperatorKind;
    const TensorId ids = graph.addTensor({"ids", DType::I64, {tokens}, true, TensorRole::Input});
    graph.inputs = {ids};
    TensorId x = add("/embed", "Gather", Gather, {weight("wte", {words, width}), ids}, {tokens, width});
    for (int layer = 0; layer < 96; ++layer) {
        const std::string at = "/layers." + std::to_string(layer);
        const Shape hidden{tokens, width}, square{heads, tokens, tokens}, wide{tokens, inner};
        const auto product = [&](const std::string& name, TensorId in, std::int64_t rows, std::int64_t columns) {
            return add(at + name, "MatMul", MatMul, {in, weight(at + name + ".w", {rows, columns})}, {tokens, columns});
        };
        const TensorId normed = add(at + "/ln_1", "LayerNormalization", Normalization, {x}, hidden);
        const TensorId q = product("/attn/q", normed, width, width);
        const TensorId k = product("/attn/k", normed, width, width);
        const TensorId v = product("/attn/v", normed, width, width);
        const TensorId scores = add(at + "/attn/scores", "MatMul", MatMul, {q, k}, square);
        const TensorId scaled = add(at + "/attn/scale", "Mul", Elementwise, {scores}, square);
        const TensorId masked = add(at + "/attn/mask", "Add", Elementwise, {scaled}, square);
        const TensorId weights = add(at + "/attn/softmax", "Softmax", Softmax, {masked}, square);
        const TensorId context = add(at + "/attn/context", "MatMul", MatMul, {weights, v}, hidden);
        const TensorId attended = product("/attn/proj", context, width, width);
        const TensorId middle = add(at + "/add_1", "Add", Elementwise, {x, attended}, hidden);
        const TensorId again = add(at + "/ln_2", "LayerNormalization", Normalization, {middle}, hidden);
        const TensorId up = product("/mlp/up", again, width, inner);
        const TensorId active = add(at + "/mlp/gelu", "Gelu", Elementwise, {up}, wide);
        const TensorId down = product("/mlp/down", active, inner, width);
        x = add(at + "/add_2", "Add", Elementwise, {middle, down}, hidden);
    }
    x = add("/ln_f", "LayerNormalization", Normalization, {x}, {tokens, width});
    graph.outputs = {add("/head", "MatMul", MatMul, {x, weight("head.w", {width, words})}, {tokens, words})};
    return graph;
}

WorkloadPtr finished(Graph graph) {
    return finishWorkload("gpt-3", "GPT-3 175B", {}, std::move(graph), {});
}

/// Turns the event loop until `done`, and returns the longest time that a turn took.
template <class Done>
double longestTurn(Done done) {
    double longest = 0;
    QElapsedTimer turn;
    turn.start();
    while (!done()) {
        QCoreApplication::processEvents(QEventLoop::AllEvents);
        longest = std::max(longest, static_cast<double>(turn.nsecsElapsed()) * 1e-6);
        turn.restart();
        QThread::usleep(200);
        turn.restart();
    }
    return longest;
}

struct Stage {
    Stage() : view(&selection) {
        Theme::instance().setAnimated(false);
        view.resize(1600, 900);
        view.show();
        QCoreApplication::processEvents();
    }
    bool ready() { return view.isSettled() && !view.scene().nodes.empty(); }
    Selection selection;
    GraphView view;
};

/// From the graph written out to its picture. `all`: every operator stands on it; else equal blocks are folded first.
void graphViewGpt3(benchmark::State& state) {
    const bool all = state.range(0) != 0;
    const Graph written = gpt3Written();
    double stall = 0;
    std::size_t nodes = 0;
    for (auto unused : state) {
        Graph graph = written;
        if (!all) foldRepeats(graph);
        const WorkloadPtr workload = finished(std::move(graph));
        Stage stage;
        stage.view.setWorkload(workload);
        stall = std::max(stall, longestTurn([&] { return stage.ready(); }));
        if (all) {
            stage.view.unfoldAll();
            stall = std::max(stall, longestTurn([&] { return stage.ready(); }));
        }
        stage.view.repaint();
        nodes = stage.view.scene().nodes.size();
    }
    state.counters["operators"] = static_cast<double>(written.operators.size());
    state.counters["nodes"] = static_cast<double>(nodes);
    state.counters["longest_stall_ms"] = stall;
}
BENCHMARK(graphViewGpt3)
    ->Name("GraphViewGpt3")
    ->ArgNames({"all"})
    ->Arg(0)
    ->Arg(1)
    ->Iterations(5)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

/// From a loaded swin_t to its first picture, and to all of it unfolded.
void graphViewSwin(benchmark::State& state) {
    QElapsedTimer clock;
    clock.start();
    const auto loaded = loadWorkload({std::string(ORRERY_REFERENCE) + "/onnx/torchvision/swin_t.onnx", {}, {}});
    if (!loaded) return state.SkipWithError("swin_t.onnx is not there");
    state.counters["load_ms"] = static_cast<double>(clock.elapsed());
    const bool all = state.range(0) != 0;
    double stall = 0;
    for (auto unused : state) {
        Stage stage;
        bool painted = false;
        QObject::connect(&stage.view, &GraphView::firstPicture, &stage.view, [&] { painted = true; });
        stage.view.setWorkload(*loaded);
        stall = std::max(stall, longestTurn([&] { return painted; }));
        if (all) {
            stage.view.unfoldAll();
            stall = std::max(stall, longestTurn([&] { return stage.ready(); }));
            stage.view.repaint();
        }
        state.counters["nodes"] = static_cast<double>(stage.view.scene().nodes.size());
    }
    state.counters["operators"] = static_cast<double>((*loaded)->graph.operators.size());
    state.counters["longest_stall_ms"] = stall;
}
BENCHMARK(graphViewSwin)
    ->Name("GraphViewSwinFirstPicture")
    ->Arg(0)
    ->Arg(1)
    ->Iterations(3)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

/// A repaint of about 5,000 nodes: all of them (far) and at reading size.
void graphViewRepaint(benchmark::State& state) {
    Graph graph = (*loadWorkload({"gpt-3-175b", {}, {}}))->graph;
    unfoldRepeats(graph);
    const std::size_t once = graph.operators.size();
    Graph large = graph;  // the same model several times over, beside each other
    while (large.operators.size() < 5000) {
        const auto shift = static_cast<TensorId>(large.tensors.size());
        large.tensors.insert(large.tensors.end(), graph.tensors.begin(), graph.tensors.end());
        for (std::size_t i = 0; i < once; ++i) {
            Operator op = graph.operators[i];
            op.name = std::to_string(large.operators.size()) + "/" + op.name;
            for (TensorId& id : op.inputs) id = id < 0 ? id : id + shift;
            for (TensorId& id : op.outputs) id = id < 0 ? id : id + shift;
            large.operators.push_back(std::move(op));
        }
    }
    Stage stage;
    stage.view.setWorkload(finishWorkload("large", "Large", {}, std::move(large), {}));
    longestTurn([&] { return stage.ready(); });
    stage.view.unfoldAll();
    longestTurn([&] { return stage.ready(); });
    stage.view.setMetric("work");
    if (state.range(0) == 0)
        stage.view.fitAll();
    else
        stage.view.revealOperator(2500);
    longestTurn([&] { return stage.ready(); });
    for (auto unused : state) stage.view.repaint();
    state.counters["nodes"] = static_cast<double>(stage.view.scene().nodes.size());
    state.counters["zoom"] = stage.view.zoom();
}
BENCHMARK(graphViewRepaint)->Name("GraphViewRepaint")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
