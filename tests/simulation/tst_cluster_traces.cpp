// Traces of other tools on a cluster: to the cycle what ASTRA-sim 2.0 records of its own tables of layers; one trace
// for all ranks, whatever their communicators; collectives with a root and barriers by their closed forms; every run
// ends.

#include "base/random.h"
#include "methods/system/cases/astra_case.h"
#include "simulation/cluster/trace_job.h"
#include "workload/traces/read_trace.h"

#include <QtTest/QtTest>

#include <fmt/format.h>

#include <filesystem>
#include <fstream>

using namespace orrery;

namespace {

std::string trainingPath(std::string_view path) {
    return std::string(ORRERY_REFERENCE) + "/training/" + std::string(path);
}

ClusterSettings behindSwitch(std::int64_t ranks) {
    ClusterSettings s;
    s.network.dimensions = {{TopologyShape::Switch, ranks, 100e9, 500}};
    s.splits = 4;
    s.endpointDelay = 10;
    return s;
}

TraceNode collectiveNode(std::uint64_t id, TraceCollective op, std::int64_t bytes) {
    TraceNode node;
    node.id = id;
    node.work = TraceWork::Collective;
    node.collective = op;
    node.bytes = bytes;
    return node;
}

ClusterOutcome outcomeOfTrace(ExecutionTrace trace, const ClusterSettings& settings, bool fold = true) {
    auto job = jobOfTrace(std::move(trace), settings, fold);
    if (!job) qFatal("%s", toText(job.error()).c_str());
    ClusterSettings with = settings;
    with.network = job->network;
    auto outcome = runCluster(std::move(job->job), with, false, {}, fold);
    if (!outcome) qFatal("%s", toText(outcome.error()).c_str());
    return std::move(*outcome);
}

SimTime endOf(TraceCollective op, std::int64_t bytes, const ClusterSettings& settings) {
    TraceBuilder builder;
    builder.add(collectiveNode(1, op, bytes), "exchange", {});
    return outcomeOfTrace(*builder.finish("test"), settings).ranks.front().finish;
}

}  // namespace

class TstClusterTraces : public QObject {
    Q_OBJECT
private slots:
    void resnetToTheCycle();
    void oneStandsForItsGroups();
    void rootsAndBarriers();
    void recordedTimes();
    void whatIsLeftOut();
    void everyTraceEnds();
};

// Wall and exposed time of data-parallel ResNet-50 on 2, 4 and 8 H100, blocking and overlapped.
void TstClusterTraces::resnetToTheCycle() {
    const std::string path = trainingPath("data/astra1/Resnet50_DataParallel.txt");
    if (!std::ifstream(path)) QSKIP("no reference data");
    const auto given = readAstraCase(trainingPath("cases/resnet50_dp_blocking_8npus_hgxh100"), true);
    QVERIFY2(given.has_value(), given ? "" : toText(given.error()).c_str());
    constexpr double gibibyte = 1024.0 * 1024 * 1024;
    struct Row {
        std::int64_t ranks;
        double bandwidth;
        LayerOrder order;
        SimTime wall, exposed;
    };
    for (const Row& row :
         {Row{2, 741.34, LayerOrder::Blocking, 1095888289, 574289},
          Row{4, 741.34, LayerOrder::Blocking, 1096768270, 1454270},
          Row{8, 400, LayerOrder::Blocking, 1098621886, 3307886},
          Row{2, 400, LayerOrder::Blocking, 1095314000 + 697354, 697354},
          Row{4, 400, LayerOrder::Blocking, 1095314000 + 1625120, 1625120},
          Row{2, 741.34, LayerOrder::Overlap, 1082457607, 7607}, Row{4, 741.34, LayerOrder::Overlap, 1082472678, 22678},
          Row{8, 400, LayerOrder::Overlap, 1082502830, 52830}}) {
        ClusterSettings settings = given->settings;
        settings.network.dimensions = {{TopologyShape::Switch, row.ranks, row.bandwidth * gibibyte, 936.25}};
        auto read = readTrace(path, {row.order, row.ranks});
        QVERIFY2(read.has_value(), read ? "" : toText(read.error()).c_str());
        const ClusterOutcome outcome = outcomeOfTrace(std::move(read->trace), settings);
        QCOMPARE(outcome.ranks.size(), static_cast<std::size_t>(row.ranks));
        QCOMPARE(outcome.ranks.front().finish, row.wall * 1000);
        QCOMPARE(outcome.ranks.front().finish - outcome.ranks.front().compute, row.exposed * 1000);
    }
}

// Tensor, data and expert parallel ranks behind a switch, on full connections and on dimensions of their groups' sizes:
// the one that stands for all ends when all do, each on its own.
void TstClusterTraces::oneStandsForItsGroups() {
    RandomStream random(14);
    int folded = 0;
    for (int round = 0; round < 40; ++round) {
        const std::int64_t tensor = std::int64_t{2} << random.below(2), expert = std::int64_t{1} << random.below(2);
        const std::int64_t ranks = tensor * expert * 4;
        LayerTable table;
        table.policy = LayerPolicy::Transformer;
        table.modelParallel = tensor;
        table.expertParallel = expert;
        for (int l = 0; l < 4; ++l) {
            TextLayer layer;
            layer.name = fmt::format("layer {}", l);
            layer.policy = table.policy;
            for (LayerPart* part : {&layer.forward, &layer.input, &layer.weight}) {
                constexpr TraceCollective ops[] = {TraceCollective::AllReduce,     TraceCollective::AllGather,
                                                   TraceCollective::ReduceScatter, TraceCollective::AllToAll,
                                                   TraceCollective::Broadcast,     TraceCollective::Barrier};
                part->microseconds = static_cast<double>(random.below(100));
                part->exchanges = random.below(4) > 0;
                part->collective = ops[random.below(6)];
                part->expert = random.below(4) == 0;
                part->likes = !part->expert && part == &layer.weight && random.below(3) == 0;
                part->bytes = static_cast<std::int64_t>(random.below(1 << 22));
            }
            table.layers.push_back(layer);
        }
        ClusterSettings s = behindSwitch(ranks);
        s.activeChunks = 1 + static_cast<std::int64_t>(random.below(2));
        s.network.congestion = random.below(2) == 0;
        if (round % 4 == 1) s.network.dimensions.front().shape = TopologyShape::FullyConnected;
        if (round % 4 == 2) s.network.dimensions.front().shape = TopologyShape::Ring;
        if (round % 4 == 3 && expert == 1)
            s.network.dimensions = {{TopologyShape::Ring, tensor, 100e9, 100}, {TopologyShape::Switch, 4, 50e9, 700}};
        const auto trace =
            layerTrace(table, random.below(2) == 0 ? LayerOrder::Blocking : LayerOrder::Overlap, ranks, "t");
        QVERIFY2(trace.has_value(), trace ? "" : toText(trace.error()).c_str());
        const auto job = jobOfTrace(*trace, s);
        QVERIFY(job.has_value());
        folded += job->job.slotOf.empty() ? 0 : 1;
        const ClusterOutcome one = outcomeOfTrace(*trace, s), all = outcomeOfTrace(*trace, s, false);
        QCOMPARE(all.ranks.size(), static_cast<std::size_t>(ranks));
        for (std::size_t r = 0; r < all.ranks.size(); ++r) {
            const RankResult& mine = one.ranks[r % one.ranks.size()];
            QCOMPARE(mine.finish, all.ranks[r].finish);
            QCOMPARE(mine.exposed, all.ranks[r].exposed);
        }
    }
    QVERIFY(folded > 15);
}

// A chain passes four pieces: 7 + 4 - 1 steps among eight. A root takes seven parts. A barrier is fourteen empty steps.
void TstClusterTraces::rootsAndBarriers() {
    ClusterSettings s = behindSwitch(8);
    constexpr std::int64_t bytes = 4'000'000;
    // Two links of 500 ns; a link takes a nanosecond for 100 bytes.
    s.network.congestion = false;
    const SimTime piece = (2 * 500 + 10'000) * 1000, whole = (2 * 500 + 40'000) * 1000, delay = 10'000;
    QCOMPARE(endOf(TraceCollective::Broadcast, bytes, s), delay + 10 * (piece + delay));
    QCOMPARE(endOf(TraceCollective::Reduce, bytes, s), delay + 10 * (piece + delay));
    QCOMPARE(endOf(TraceCollective::Gather, bytes, s), 2 * delay + whole + 6 * 40'000'000);
    QCOMPARE(endOf(TraceCollective::Scatter, bytes, s), 2 * delay + whole + 6 * 40'000'000);
    QCOMPARE(endOf(TraceCollective::Barrier, 0, s), delay + 14 * (1'000'000 + delay));
    // Summing costs, and a group of two takes one step a piece.
    s.memoryBandwidth = 1000e9;
    QCOMPARE(endOf(TraceCollective::Reduce, bytes, s), delay + 10 * (piece + delay + 3 * 1'000'000));
    // Whatever the bytes, the run ends: here with a word about its length.
    for (const TraceCollective op : {TraceCollective::Broadcast, TraceCollective::Gather}) {
        ClusterJob endless;
        TraceBuilder builder;
        builder.add(collectiveNode(1, op, 9'000'000'000'000'000), "all there is", {});
        endless.traces.assign(8, std::make_shared<const ExecutionTrace>(*builder.finish("test")));
        ClusterSettings slow = s;
        slow.network.dimensions.front().bandwidth = 1000;
        const auto never = runCluster(std::move(endless), slow);
        QVERIFY(!never && never.error().code == "cluster.time");
    }
    // Nobody leaves a barrier or a broadcast before the last has come.
    for (const TraceCollective op : {TraceCollective::Barrier, TraceCollective::Broadcast}) {
        ClusterJob job;
        for (int r = 0; r < 8; ++r) {
            TraceBuilder builder;
            TraceNode work;
            work.id = 1;
            work.work = TraceWork::Compute;
            work.microseconds = r == 3 ? 5000 : 1;
            builder.add(work, "work", {});
            const std::uint64_t waits[] = {1};
            builder.add(collectiveNode(2, op, bytes), "meet", waits);
            job.traces.push_back(std::make_shared<const ExecutionTrace>(*builder.finish("test")));
        }
        const auto outcome = runCluster(std::move(job), s);
        QVERIFY2(outcome.has_value(), outcome ? "" : toText(outcome.error()).c_str());
        for (const RankResult& rank : outcome->ranks) QVERIFY(rank.finish > SimTime{5'000'000'000});
        QCOMPARE(outcome->warnings.size(), std::size_t{op == TraceCollective::Broadcast ? 1U : 0U});
    }
}

void TstClusterTraces::recordedTimes() {
    TraceBuilder builder;
    TraceNode node = collectiveNode(1, TraceCollective::AllReduce, 0);
    node.microseconds = 77;
    builder.add(node, "kernel", {});
    const ClusterOutcome outcome = outcomeOfTrace(*builder.finish("test"), behindSwitch(4));
    QCOMPARE(outcome.ranks.front().finish, SimTime{77'000'000});
    QCOMPARE(outcome.ranks.front().exchange, SimTime{77'000'000});
    QCOMPARE(outcome.ranks.front().compute, SimTime{0});
}

void TstClusterTraces::whatIsLeftOut() {
    TraceBuilder builder;
    TraceNode send;
    send.id = 1;
    send.work = TraceWork::Send;
    send.peer = 9;
    builder.add(send, "to the next stage", {});
    TraceNode load;
    load.id = 2;
    load.work = TraceWork::Load;
    load.bytes = 1000;
    builder.add(load, "from the host", {});
    TraceNode grouped = collectiveNode(3, TraceCollective::AllReduce, 1 << 20);
    grouped.group = builder.groupNamed("somebody");
    builder.add(grouped, "sum", {});
    TraceNode beyond = collectiveNode(4, TraceCollective::AllReduce, 1 << 20);
    beyond.dimensions = 4;
    builder.add(beyond, "elsewhere", {});
    const ExecutionTrace trace = *builder.finish("test");
    const auto job = jobOfTrace(trace, behindSwitch(4));
    QVERIFY(job.has_value());
    std::vector<std::string> codes;
    for (const Diagnostic& one : job->warnings) codes.push_back(one.code);
    QCOMPARE(codes, (std::vector<std::string>{"trace.group", "trace.messages", "trace.memory", "trace.dimensions"}));
    QVERIFY(outcomeOfTrace(trace, behindSwitch(4)).ranks.front().finish > 0);
    ClusterSettings alone = behindSwitch(4);
    alone.network.dimensions.clear();
    QCOMPARE(outcomeOfTrace(trace, alone).ranks.front().finish, SimTime{0});
    ExecutionTrace odd = trace;
    odd.members = {{3, 1, {}}};
    const auto refused = jobOfTrace(odd, behindSwitch(4));
    QVERIFY(!refused && refused.error().code == "cluster.group");
    const auto many = jobOfTrace(trace, behindSwitch(std::int64_t{1} << 40));
    QVERIFY(!many && many.error().code == "cluster.ranks");
}

// Whatever stands in the folders of traces, alone and on more ranks, on links that are busy and that are not.
void TstClusterTraces::everyTraceEnds() {
    if (!std::ifstream(trainingPath("data/astra1/README.md"))) QSKIP("no reference data");
    int runs = 0;
    for (const char* folder : {"astra1", "simai", "triosim", "chakra"}) {
        for (const auto& entry :
             std::filesystem::recursive_directory_iterator(trainingPath(fmt::format("data/{}", folder)))) {
            if (!entry.is_regular_file()) continue;
            auto read = readTrace(entry.path().string());
            if (!read) continue;
            double recorded = 0;
            for (const TraceNode& node : read->trace.nodes)
                if (!node.onHost && node.work == TraceWork::Compute) recorded += node.microseconds;
            const std::int64_t ranks = read->trace.ranks > 1 ? read->trace.ranks : 8;
            for (const bool congestion : {true, false}) {
                ClusterSettings s = behindSwitch(ranks);
                s.network.congestion = congestion;
                const ClusterOutcome outcome = outcomeOfTrace(read->trace, s);
                const RankResult& rank = outcome.ranks.front();
                QVERIFY2(std::abs(static_cast<double>(rank.compute) / 1e6 - recorded) < 1e-3 * (1 + recorded),
                         entry.path().c_str());
                QVERIFY(rank.finish >= rank.compute);
                ++runs;
            }
        }
    }
    QVERIFY(runs >= 48);
}

QTEST_APPLESS_MAIN(TstClusterTraces)
#include "tst_cluster_traces.moc"
