// Targets of one thread: a ring all-reduce of 16 MiB in 4 chunks among 1,024 ranks in 5 ms with equal ranks run once
// and in 1 s with all of them (ASTRA-sim 2.0 at 518bd513: 46 s), among 4,096 in 20 ms and 16 s (476 s); a direct
// all-to-all among 1,024 in 4 s (294 s); 8 million events a second; 64 traces of a language model with 334 thousand
// nodes in 1.5 s and 300 MB; two threads 1.7 times as fast as one on independent seeds.

#include "base/executor.h"
#include "hardware/files/catalogue.h"
#include "methods/method.h"
#include "methods/system/training/training_program.h"
#include "simulation/cluster/cluster_run.h"

#include <benchmark/benchmark.h>
#include <sys/resource.h>

using namespace orrery;

namespace {

void collective(benchmark::State& state, TraceCollective op, AlgorithmChoice choice, TopologyShape shape, bool fold) {
    const auto ranks = state.range(0);
    ExecutionTrace trace;
    trace.nodes.resize(1);
    trace.nodes.front().work = TraceWork::Collective;
    trace.nodes.front().collective = op;
    trace.nodes.front().bytes = 16 << 20;
    ClusterSettings settings;
    settings.network.dimensions = {{shape, ranks, 50.0 * 1024 * 1024 * 1024, 500}};
    settings.network.wholeNanoseconds = settings.astraSim = true;
    settings.endpointDelay = 10;
    settings.splits = 4;
    settings.memoryBandwidth = 1600e9;
    settings.algorithms.fill({choice});
    ClusterJob job;
    job.traces.assign(static_cast<std::size_t>(ranks), std::make_shared<const ExecutionTrace>(std::move(trace)));
    double events = 0;
    for (auto _ : state) {
        const auto outcome = runCluster(job, settings, false, {}, fold);
        if (!outcome) return state.SkipWithError(outcome.error().message.c_str());
        events += static_cast<double>(outcome->events);
        state.counters["cycles"] = static_cast<double>(outcome->ranks.front().finish / 1000);
    }
    state.counters["events/s"] = benchmark::Counter(events, benchmark::Counter::kIsRate);
}

void BM_ClusterRingFolded(benchmark::State& state) {
    collective(state, TraceCollective::AllReduce, {}, TopologyShape::Ring, true);
}
BENCHMARK(BM_ClusterRingFolded)->Arg(1024)->Arg(4096)->Unit(benchmark::kMillisecond);

void BM_ClusterRing(benchmark::State& state) {
    collective(state, TraceCollective::AllReduce, {}, TopologyShape::Ring, false);
}
BENCHMARK(BM_ClusterRing)->Arg(64)->Arg(1024)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_ClusterRing)->Arg(4096)->Iterations(1)->Unit(benchmark::kMillisecond);

void BM_ClusterAllToAll(benchmark::State& state) {
    collective(state, TraceCollective::AllToAll, {StepAlgorithm::Direct, 0}, TopologyShape::Switch, false);
}
BENCHMARK(BM_ClusterAllToAll)->Arg(256)->Arg(1024)->Unit(benchmark::kMillisecond);

/// Every rank of a network of its own kind.
void carried(benchmark::State& state, TraceCollective op, StepAlgorithm algorithm, LinkCarrying carrying,
             const FabricDimension& dimension) {
    ExecutionTrace trace;
    trace.nodes.resize(1);
    trace.nodes.front().work = TraceWork::Collective;
    trace.nodes.front().collective = op;
    trace.nodes.front().bytes = 16 << 20;
    ClusterSettings settings;
    settings.network.dimensions = {dimension};
    settings.network.carrying = carrying;
    settings.algorithms.fill({AlgorithmChoice{algorithm, 0}});
    ClusterJob job;
    job.traces.assign(static_cast<std::size_t>(dimension.size),
                      std::make_shared<const ExecutionTrace>(std::move(trace)));
    double events = 0;
    for (auto _ : state) {
        const auto outcome = runCluster(job, settings, false, {}, false);
        if (!outcome) return state.SkipWithError(outcome.error().message.c_str());
        events += static_cast<double>(outcome->events);
    }
    state.counters["events/s"] = benchmark::Counter(events, benchmark::Counter::kIsRate);
}

void BM_ClusterFluidRing(benchmark::State& state) {
    carried(state, TraceCollective::AllReduce, StepAlgorithm::Ring, LinkCarrying::Fluid,
            {TopologyShape::Ring, state.range(0), 50e9, 500});
}
BENCHMARK(BM_ClusterFluidRing)->Arg(64)->Arg(256)->Unit(benchmark::kMillisecond);

void BM_ClusterPackets(benchmark::State& state) {
    carried(state, TraceCollective::AllReduce, StepAlgorithm::Ring, LinkCarrying::Packets,
            {TopologyShape::Switch, state.range(0), 50e9, 500});
}
BENCHMARK(BM_ClusterPackets)->Arg(8)->Arg(64)->Unit(benchmark::kMillisecond);

// A fat tree of 16-port switches with equal ways, everyone to everyone.
void BM_ClusterFatTree(benchmark::State& state) {
    TopologyDimension tree;
    tree.shape = TopologyShape::FatTree;
    tree.size = state.range(0);
    tree.radix = 16;
    const auto network = expandTopology({"tree", {tree}});
    if (!network) return state.SkipWithError(network.error().message.c_str());
    FabricGraph graph{static_cast<std::int32_t>(tree.size), static_cast<std::int32_t>(network->vertices.size()), {}};
    for (const auto& edge : network->edges) graph.join(edge.a, edge.b, 50e9, 300);
    FabricDimension dimension;
    dimension.size = tree.size;
    dimension.routes = std::make_shared<const FabricRoutes>(*FabricRoutes::make(std::move(graph), true));
    carried(state, TraceCollective::AllToAll, StepAlgorithm::Direct, LinkCarrying::StoreAndForward, dimension);
}
BENCHMARK(BM_ClusterFatTree)->Arg(128)->Arg(512)->Unit(benchmark::kMillisecond);

// 96 layers of 1.8 billion parameters over tp 8, pp 16; copies as many as the devices give, 64 micro-batches.
void BM_TrainingStep(benchmark::State& state) {
    TrainingProgram program;
    program.plan.tensor = 8;
    program.plan.pipeline = 16;
    program.plan.data = state.range(0) / 128;
    program.microbatches = 64;
    constexpr std::int64_t activations = 2048 * 12288 * 2;
    LayerProgram layer;
    layer.name = "layer";
    for (int i = 0; i < 2; ++i) {
        layer.forward.push_back({2e-3, TraceCollective::AllReduce, ProgramGroup::Tensor, activations});
        layer.backward.push_back({4e-3, TraceCollective::AllReduce, ProgramGroup::Tensor, activations});
    }
    layer.parameterBytes = layer.gradientBytes = 2 * 1.8e9 / 8;
    program.layers = {layer};
    program.chunks.assign(16, ChunkProgram{std::vector<std::int32_t>(6, 0)});
    program.optimizerSeconds.assign(16, 0.02);
    program.stageBytes = activations;
    program.bucketBytes = 25 << 20;
    ClusterSettings settings;
    settings.network.dimensions = {{TopologyShape::Switch, 8, 300e9, 500},
                                   {TopologyShape::Switch, state.range(0) / 8, 25e9, 3000}};
    for (auto _ : state) {
        auto job = trainingJob(program);
        if (!job) return state.SkipWithError(job.error().message.c_str());
        const auto outcome = runCluster(std::move(*job), settings);
        if (!outcome) return state.SkipWithError(outcome.error().message.c_str());
        state.counters["step s"] = static_cast<double>(outcome->ranks.front().finish) * 1e-12;
        state.counters["messages"] = static_cast<double>(outcome->messages);
    }
}
BENCHMARK(BM_TrainingStep)->Arg(16384)->Arg(131072)->Unit(benchmark::kMillisecond);

// A trace for every one of 64 ranks, 334 thousand nodes in all, with links that carry one message at a time.
void BM_LanguageModelTraces(benchmark::State& state) {
    TrainingProgram program;
    program.plan.tensor = 8;
    program.plan.pipeline = 2;
    program.plan.data = 4;
    program.microbatches = 32;
    LayerProgram layer;
    layer.name = "layer";
    for (int i = 0; i < 2; ++i) {
        layer.forward.push_back({1e-3, TraceCollective::AllReduce, ProgramGroup::Tensor, 16 << 20});
        layer.backward.push_back({2e-3, TraceCollective::AllReduce, ProgramGroup::Tensor, 16 << 20});
    }
    layer.parameterBytes = layer.gradientBytes = 100e6;
    program.layers = {layer};
    program.chunks.assign(2, ChunkProgram{std::vector<std::int32_t>(20, 0)});
    program.optimizerSeconds.assign(2, 0.02);
    program.stageBytes = program.bucketBytes = 16 << 20;
    const auto job = everyRank(program);
    if (!job) return state.SkipWithError(job.error().message.c_str());
    double nodes = 0, events = 0;
    for (const TracePtr& trace : job->traces) nodes += static_cast<double>(trace->nodes.size());
    ClusterSettings settings;
    settings.network.congestion = state.range(0) != 0;
    settings.network.dimensions = {{TopologyShape::Switch, 8, 300e9, 500}, {TopologyShape::Switch, 8, 25e9, 3000}};
    for (auto _ : state) {
        const auto outcome = runCluster(*job, settings, false, {}, false);
        if (!outcome) return state.SkipWithError(outcome.error().message.c_str());
        events += static_cast<double>(outcome->events);
    }
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    state.counters["nodes"] = nodes;
    state.counters["events/s"] = benchmark::Counter(events, benchmark::Counter::kIsRate);
    state.counters["peak MB"] = static_cast<double>(used.ru_maxrss) / 1000;
}
BENCHMARK(BM_LanguageModelTraces)->ArgName("congestion")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

// 64 seeds of one step, on so many threads.
void BM_StepSeeds(benchmark::State& state) {
    const auto hardware = loadHardware("dgx-h100-superpod");
    WorkloadRecipe recipe;
    recipe.source = "llama-3-70b";
    recipe.options.batch = 128;
    recipe.options.sequence = 4096;
    recipe.options.phase = Phase::TrainingForward;
    const auto workload = loadWorkload(recipe);
    if (!hardware || !workload) return state.SkipWithError("a preset is missing");
    const Scenario scenario{std::make_shared<const Hardware>(hardware->hardware), *workload,
                            *parsePlan("tp=8,pp=8,dp=4,mb=32"), TrainingStep{}};
    const auto executor = makeDefaultExecutor(static_cast<int>(state.range(0)));
    for (auto _ : state) {
        EstimateContext context{*executor};
        context.wantTimeline = false;
        const auto answer = estimate(*findMethod("step-distribution"), scenario, context);
        if (!answer) return state.SkipWithError(answer.error().message.c_str());
    }
}
BENCHMARK(BM_StepSeeds)->ArgName("threads")->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
