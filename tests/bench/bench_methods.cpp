#include "hardware/files/catalogue.h"
#include "methods/method.h"
#include "workload/workload.h"

#include <benchmark/benchmark.h>

using namespace orrery;

namespace {

// A network of 5,000 operators: blocks of product, bias, norm, activation and residual, none folded.
WorkloadPtr blocks(int operators) {
    Graph graph;
    const auto add = [&](Shape shape, TensorRole role) {
        Tensor tensor;
        tensor.type = DType::F16;
        tensor.shape = std::move(shape);
        tensor.role = role;
        return graph.addTensor(tensor);
    };
    auto x = add({512, 1024}, TensorRole::Input);
    graph.inputs = {x};
    auto skip = x;
    for (int i = 0; i < operators; ++i) {
        Operator op;
        op.name = "op" + std::to_string(i);
        const auto width = 1024 + 64 * (i / 5 % 7);
        switch (i % 5) {
            case 0:
                op.type = "MatMul", op.kind = OperatorKind::MatMul;
                op.inputs = {x, add({1024, 1024}, TensorRole::Weight)};
                break;
            case 1:
                op.type = "LayerNormalization", op.kind = OperatorKind::Normalization, op.inputs = {x};
                break;
            case 2:
                op.type = "Gelu", op.kind = OperatorKind::Elementwise, op.inputs = {x};
                break;
            case 3:
                op.type = "Softmax", op.kind = OperatorKind::Softmax, op.inputs = {x};
                break;
            default:
                op.type = "Add", op.kind = OperatorKind::Elementwise, op.inputs = {x, skip};
                break;
        }
        x = add({512, i % 5 == 0 ? 1024 : width - 64 * (i / 5 % 7)}, TensorRole::Activation);
        op.outputs = {x};
        if (i % 5 == 4) skip = x;
        graph.operators.push_back(std::move(op));
    }
    graph.outputs = {x};
    TransformerFacts facts;
    facts.layers = operators / 5;
    return finishWorkload("blocks", "5,000 operators", {}, std::move(graph), {}, facts);
}

// What one edit in the inspector costs before views repaint.
void BM_ThreeMethods5000(benchmark::State& state) {
    const auto workload = blocks(5000);
    auto loaded = loadHardware("h100-sxm");
    if (!loaded || workload->costs.size() != 5000) return state.SkipWithError("no device or operators were folded");
    const Scenario scenario{std::make_shared<const Hardware>(std::move(loaded->hardware)), workload};
    const auto executor = makeSerialExecutor();
    for (auto _ : state) {
        for (const char* id : {"roofline", "hierarchical-roofline", "llm-inference"}) {
            EstimateContext context{*executor, {}, nullptr, 0, true};
            auto answer = estimate(*findMethod(id), scenario, context);
            if (!answer) return state.SkipWithError(answer.error().message.c_str());
            benchmark::DoNotOptimize(answer->latency);
        }
    }
}
BENCHMARK(BM_ThreeMethods5000)->Unit(benchmark::kMillisecond);

// Every live method, on the first of these devices that it is for.
void BM_OneMethod5000(benchmark::State& state) {
    const auto workload = blocks(5000);
    const auto& method = builtinMethods()[static_cast<std::size_t>(state.range(0))];
    state.SetLabel(std::string(method.card.id));
    const auto executor = makeSerialExecutor();
    Scenario scenario{nullptr, workload};
    bool answers = false;
    for (const char* device : {"h100-sxm", "tpu-v3", "eyeriss-like"}) {
        auto loaded = loadHardware(device);
        if (!loaded || answers) continue;
        scenario.hardware = std::make_shared<const Hardware>(std::move(loaded->hardware));
        EstimateContext context{*executor, {}, nullptr, 0, true};
        answers = estimate(method, scenario, context).has_value();
    }
    if (!answers) return state.SkipWithError("no device here has what it needs");
    for (auto _ : state) {
        EstimateContext context{*executor, {}, nullptr, 0, true};
        auto answer = estimate(method, scenario, context);
        benchmark::DoNotOptimize(answer->latency);
    }
}
void liveMethods(benchmark::internal::Benchmark* bench) {
    for (std::size_t i = 0; i < builtinMethods().size(); ++i) {
        if (builtinMethods()[i].card.live) bench->Arg(static_cast<std::int64_t>(i));
    }
}
BENCHMARK(BM_OneMethod5000)->Apply(liveMethods)->Unit(benchmark::kMicrosecond);

}  // namespace
