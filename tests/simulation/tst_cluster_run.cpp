// Execution traces on a cluster: to the cycle what ASTRA-sim 2.0 records; laws that hold whatever the network; runs
// that cannot end say who waits for whom.

#include "base/random.h"
#include "base/text/words.h"
#include "methods/system/cases/astra_case.h"
#include "simulation/cluster/cluster_run.h"
#include "support/table_rows.h"

#include <QtTest/QtTest>

#include <fmt/format.h>

#include <chrono>
#include <fstream>
#include <map>
#include <numeric>

using namespace orrery;

namespace {

ExecutionTrace oneCollective(TraceCollective op, std::int64_t bytes) {
    TraceBuilder builder;
    TraceNode node;
    node.id = 1;
    node.work = TraceWork::Collective;
    node.collective = op;
    node.bytes = bytes;
    builder.add(node, "collective", {});
    return *builder.finish("test");
}

ClusterOutcome outcomeOf(ClusterJob job, const ClusterSettings& settings) {
    auto outcome = runCluster(std::move(job), settings);
    if (!outcome) qFatal("%s", toText(outcome.error()).c_str());
    return std::move(*outcome);
}

TopologyShape shapeOf(std::string_view text) {
    return text == "Ring"     ? TopologyShape::Ring
           : text == "Switch" ? TopologyShape::Switch
                              : TopologyShape::FullyConnected;
}

/// A row of the table of recorded collectives as settings.
ClusterSettings settingsOf(const testing::TableRow& row) {
    const auto at = [&](std::string_view name) -> const std::string& { return row.find(name)->second; };
    ClusterSettings s;
    s.astraSim = s.network.wholeNanoseconds = true;
    s.network.congestion = at("backend") == "Aware";
    const auto shapes = splitTrimmed(at("topology"), ','), sizes = splitTrimmed(at("npus_per_dim"), ','),
               rates = splitTrimmed(at("bw"), ','), latencies = splitTrimmed(at("lat"), ',');
    for (std::size_t d = 0; d < shapes.size(); ++d)
        s.network.dimensions.push_back({shapeOf(shapes[d]), *wholeIn(sizes[d]),
                                        *numberIn(rates[d]) * 1024 * 1024 * 1024, *numberIn(latencies[d])});
    std::vector<AlgorithmChoice> choices;
    for (const std::string_view name : splitTrimmed(at("ar_impl"), '/')) choices.push_back(*algorithmChoice(name));
    s.algorithms.fill(choices);
    s.endpointDelay = *numberIn(at("endpoint_delay"));
    s.activeChunks = *wholeIn(at("active_chunks"));
    s.splits = *wholeIn(at("splits"));
    s.memoryBandwidth = *numberIn(at("local_mem_bw")) * 1e9;
    s.bandwidthAware = at("optimization") == "localBWAware";
    return s;
}

}  // namespace

class TstClusterRun : public QObject {
    Q_OBJECT
private slots:
    void recordedCollectives();
    void recordedTraces();
    void oneStandsForAll();
    void linksCarryEveryByte();
    void congestionNeverHelps();
    void oneDimensionOfMany();
    void computationHidesExchange();
    void whoNeverEnds();
    void emptyCollectivesEndOnce();
    void manyChunks();
    void hostileSizes();
    void refused();
};

// Every recorded collective, slowest and quickest rank.
void TstClusterRun::recordedCollectives() {
    const auto table = testing::tableRows(std::string(ORRERY_REFERENCE) + "/training/cases/collectives.csv");
    if (table.empty()) QSKIP("no reference data");
    int rows = 0;
    for (testing::TableRow row : table) {
        static const std::map<std::string, TraceCollective, std::less<>> ops{
            {"ALL_REDUCE", TraceCollective::AllReduce},
            {"ALL_GATHER", TraceCollective::AllGather},
            {"REDUCE_SCATTER", TraceCollective::ReduceScatter},
            {"ALL_TO_ALL", TraceCollective::AllToAll}};
        const auto op = ops.find(row["collective_or_workload"]);
        if (op == ops.end()) continue;
        ClusterJob job;
        job.traces.assign(static_cast<std::size_t>(*wholeIn(row["npus"])),
                          std::make_shared<const ExecutionTrace>(oneCollective(op->second, *wholeIn(row["size_B"]))));
        const ClusterOutcome outcome = outcomeOf(std::move(job), settingsOf(row));
        SimTime least = outcome.ranks.front().finish, most = 0;
        for (const RankResult& rank : outcome.ranks) {
            least = std::min(least, rank.finish);
            most = std::max(most, rank.finish);
        }
        const std::string seen = fmt::format("{} {} {}", row["case"], least / 1000, most / 1000);
        QCOMPARE(seen, fmt::format("{} {} {}", row["case"], row["cycles_min"], row["cycles_max"]));
        ++rows;
    }
    QVERIFY(rows > 100);
}

// Data-parallel ResNet-50, blocking and overlapped, and a transformer in tensor, pipeline and data parallel: wall time
// and the time without computation of every rank.
void TstClusterRun::recordedTraces() {
    const std::string folder = std::string(ORRERY_REFERENCE) + "/training/cases/";
    if (!std::ifstream(folder + "collectives.csv")) QSKIP("no reference data");
    const std::map<std::string, std::vector<std::pair<SimTime, SimTime>>> recorded{
        {"resnet50_dp_blocking_8npus_hgxh100", {{1098621886, 3307886}}},
        {"resnet50_dp_overlap_8npus_hgxh100", {{1082502830, 52830}}},
        {"stg_llama4L_dp2tp2pp2_hgxh100_aware", {{20725030, 7707120}, {16964388, 3926446}}}};
    for (const auto& [name, expected] : recorded) {
        auto given = readAstraCase(folder + name, true);
        if (!given) qFatal("%s", toText(given.error()).c_str());
        const ClusterOutcome outcome = outcomeOf(std::move(given->job), given->settings);
        QCOMPARE(outcome.ranks.size(), std::size_t{8});
        for (std::size_t r = 0; r < 8; ++r) {
            const auto& [wall, exposed] = expected[r * expected.size() / 8];
            QCOMPARE(outcome.ranks[r].finish, wall * 1000);
            QCOMPARE(outcome.ranks[r].finish - outcome.ranks[r].compute, exposed * 1000);
        }
    }
}

namespace {

ClusterSettings randomSettings(RandomStream& random, bool congestion) {
    ClusterSettings s;
    s.network.congestion = congestion;
    s.network.wholeNanoseconds = s.astraSim = random.below(2) == 0;
    const std::size_t dimensions = 1 + random.below(3);
    std::vector<AlgorithmChoice> choices;
    for (std::size_t d = 0; d < dimensions; ++d) {
        constexpr TopologyShape shapes[] = {TopologyShape::Ring, TopologyShape::Switch, TopologyShape::FullyConnected};
        const TopologyShape shape = shapes[random.below(3)];
        s.network.dimensions.push_back({shape, std::int64_t{2} << random.below(2),
                                        10e9 * static_cast<double>(1 + random.below(40)),
                                        static_cast<double>(random.below(2000))});
        AlgorithmChoice choice;
        const auto kind = random.below(3);
        if (kind == 1) choice = {StepAlgorithm::Direct, static_cast<std::int64_t>(random.below(4))};
        if (kind == 2 && shape != TopologyShape::Ring) choice.algorithm = StepAlgorithm::HalvingDoubling;
        choices.push_back(choice);
    }
    s.algorithms = {choices, choices, choices, {{StepAlgorithm::Direct, 0}}};
    s.endpointDelay = static_cast<double>(random.below(50));
    s.activeChunks = 1 + static_cast<std::int64_t>(random.below(3));
    s.splits = 1 + static_cast<std::int64_t>(random.below(6));
    s.memoryBandwidth = random.below(2) == 0 ? 0 : 1600e9;
    s.bandwidthAware = random.below(2) == 0;
    return s;
}

std::int64_t ranksOf(const ClusterSettings& s) {
    std::int64_t ranks = 1;
    for (const FabricDimension& one : s.network.dimensions) ranks *= one.size;
    return ranks;
}

ClusterJob jobOf(const ClusterSettings& s, ExecutionTrace trace) {
    ClusterJob job;
    job.traces.assign(static_cast<std::size_t>(ranksOf(s)), std::make_shared<const ExecutionTrace>(std::move(trace)));
    return job;
}

constexpr TraceCollective every_op[] = {TraceCollective::AllReduce, TraceCollective::AllGather,
                                        TraceCollective::ReduceScatter, TraceCollective::AllToAll};

SimTime lastOf(const ClusterOutcome& outcome) {
    SimTime last = 0;
    for (const RankResult& rank : outcome.ranks) last = std::max(last, rank.finish);
    return last;
}

TraceNode sum(std::uint64_t id, std::int64_t bytes) {
    TraceNode node;
    node.id = id;
    node.work = TraceWork::Collective;
    node.bytes = bytes;
    return node;
}

TraceNode work(std::uint64_t id, double microseconds) {
    TraceNode node;
    node.id = id;
    node.work = TraceWork::Compute;
    node.microseconds = microseconds;
    return node;
}

}  // namespace

// Equal ranks, run once and run all: the same time to the picosecond.
void TstClusterRun::oneStandsForAll() {
    RandomStream random(20261122);
    int folded = 0;
    for (int round = 0; round < 60; ++round) {
        const ClusterSettings s = randomSettings(random, round % 3 != 0);
        const std::int64_t bytes = 1 + static_cast<std::int64_t>(random.below(1 << 22));
        const TraceCollective op = every_op[random.below(4)];
        const ClusterJob job = jobOf(s, oneCollective(op, bytes));
        folded += equalRanks(job, s) ? 1 : 0;
        auto once = runCluster(job, s, false, {}, true), all = runCluster(job, s, false, {}, false);
        QVERIFY2(once && all, once ? "" : toText(once.error()).c_str());
        QCOMPARE(once->ranks.size(), all->ranks.size());
        QCOMPARE(once->messages, all->messages);
        for (std::size_t r = 0; r < all->ranks.size(); ++r) QCOMPARE(once->ranks[r].finish, all->ranks[r].finish);
    }
    QVERIFY(folded > 40);
}

// One dimension, links that store and forward: over all links go the bytes that the algorithm sends, times their hops.
void TstClusterRun::linksCarryEveryByte() {
    for (const TopologyShape shape : {TopologyShape::Ring, TopologyShape::Switch, TopologyShape::FullyConnected}) {
        for (const TraceCollective op : every_op) {
            ClusterSettings s;
            s.network.dimensions = {{shape, 8, 50e9, 500}};
            s.splits = 4;
            constexpr std::int64_t bytes = 8 << 20;
            const auto outcome = runCluster(jobOf(s, oneCollective(op, bytes)), s, false, {}, false);
            QVERIFY(outcome.has_value());
            double carried = 0;
            for (const auto& link : outcome->links) {
                carried += link.bytes;
                QVERIFY(link.busy <= lastOf(*outcome));
            }
            // Rings: an all-reduce sends 2(n-1)/n of the buffer, a gathering n-1 shards, an all-to-all goes n/2 steps
            // on.
            const double n = 8, b = bytes;
            const double sent = op == TraceCollective::AllReduce   ? 2 * (n - 1) / n * b
                                : op == TraceCollective::AllGather ? (n - 1) * b
                                : op == TraceCollective::AllToAll  ? (n - 1) / 2 * b
                                                                   : (n - 1) / n * b;
            QCOMPARE(carried, n * sent * (shape == TopologyShape::Switch ? 2 : 1));
        }
    }
}

// Without congestion nothing waits: no run is quicker.
void TstClusterRun::congestionNeverHelps() {
    RandomStream random(7);
    for (int round = 0; round < 60; ++round) {
        ClusterSettings s = randomSettings(random, true);
        // Cut to whole nanoseconds hop by hop, a path may be one shorter than cut once.
        s.network.wholeNanoseconds = s.astraSim = false;
        // A full network stores whole messages at every hop; an empty one passes them on.
        const ClusterJob job = jobOf(s, oneCollective(every_op[random.below(4)], 1 << 20));
        const SimTime busy = lastOf(outcomeOf(job, s));
        s.network.congestion = false;
        const SimTime empty = lastOf(outcomeOf(job, s));
        QVERIFY2(busy + 1000 >= empty, fmt::format("round {}: {} < {}", round, busy, empty).c_str());
    }
}

// A collective within one dimension of a larger network takes the time of that dimension alone.
void TstClusterRun::oneDimensionOfMany() {
    RandomStream random(11);
    for (int round = 0; round < 30; ++round) {
        ClusterSettings s = randomSettings(random, true);
        ExecutionTrace trace = oneCollective(every_op[random.below(4)], 1 << 20);
        const std::size_t d = random.below(s.network.dimensions.size());
        trace.nodes.front().dimensions = 1U << d;
        // The smallest chunk depends on the number of all ranks; a megabyte is above it.
        const SimTime many = lastOf(outcomeOf(jobOf(s, trace), s));
        ClusterSettings one = s;
        one.network.dimensions = {s.network.dimensions[d]};
        for (auto& choices : one.algorithms) choices = {choices[std::min(d, choices.size() - 1)]};
        trace.nodes.front().dimensions = ~0U;
        QCOMPARE(many, lastOf(outcomeOf(jobOf(one, trace), one)));
    }
}

// 10 ms of computation beside an all-reduce that takes less: nothing of it is waited for. Behind it: everything.
void TstClusterRun::computationHidesExchange() {
    ClusterSettings s;
    s.network.dimensions = {{TopologyShape::Switch, 4, 100e9, 0}};
    for (const bool behind : {false, true}) {
        TraceBuilder builder;
        builder.add(work(1, 1000), "forward", {});
        const std::uint64_t first[] = {1};
        builder.add(sum(2, 100 << 20), "gradients", first);
        const std::uint64_t then[] = {behind ? 2ULL : 1ULL};
        builder.add(work(3, 10000), "backward", then);
        const RankResult rank = outcomeOf(jobOf(s, *builder.finish("test")), s).ranks.front();
        QCOMPARE(rank.compute, SimTime{11'000'000'000});
        // Six steps of a quarter over two hops.
        const double expected = 6 * 2 * (100 << 20) / 4.0 / 100e9 * 1e12;
        QVERIFY(std::abs(static_cast<double>(rank.exchange) - expected) < 100);
        QCOMPARE(rank.exposed, behind ? rank.exchange : SimTime{0});
        QCOMPARE(rank.finish, rank.compute + rank.exposed);
    }
}

// Rank 2 sends where the others meet, rank 3 awaits what nobody sends: the run ends and says so.
void TstClusterRun::whoNeverEnds() {
    ClusterSettings s;
    s.network.dimensions = {{TopologyShape::Switch, 4, 100e9, 0}};
    ClusterJob job = jobOf(s, oneCollective(TraceCollective::AllReduce, 1 << 20));
    TraceBuilder lonely;
    TraceNode waits;
    waits.id = 5;
    waits.work = TraceWork::Receive;
    waits.peer = 1;
    waits.tag = 9;
    waits.bytes = 64;
    lonely.add(waits, "gradient_in", {});
    job.traces[3] = std::make_shared<const ExecutionTrace>(*lonely.finish("test"));
    const auto stuck = runCluster(job, s);
    QVERIFY(!stuck);
    QCOMPARE(stuck.error().code, std::string("cluster.deadlock"));
    QVERIFY2(stuck.error().message.find("in which rank 3 never takes part") != std::string::npos,
             stuck.error().message.c_str());
    QVERIFY2(stuck.error().message.find("64 B with tag 9 from rank 1 (node 5, gradient_in)") != std::string::npos,
             stuck.error().message.c_str());
}

// A collective without bytes ends for each rank that calls it, and for nobody else: ranks 0 and 2 call one at the same
// tick, between them rank 1 ends work of no length and then calls a sum, for which rank 3 comes a millisecond later.
void TstClusterRun::emptyCollectivesEndOnce() {
    ClusterSettings s;
    s.network.dimensions = {{TopologyShape::Switch, 4, 100e9, 0}};
    const auto traceOf = [](std::vector<TraceNode> nodes, std::string group) {
        TraceBuilder builder;
        for (TraceNode& node : nodes) {
            if (node.work == TraceWork::Collective) node.group = builder.groupNamed(group);
            const std::uint64_t before[] = {node.id - 1};
            builder.add(node, "node", std::span(before).first(node.id > 1 ? 1 : 0));
        }
        return std::make_shared<const ExecutionTrace>(*builder.finish("test"));
    };
    ClusterJob job;
    job.traces = {traceOf({sum(1, 0)}, "even"), traceOf({work(1, 0), sum(2, 1000)}, "odd"),
                  traceOf({sum(1, 0)}, "even"), traceOf({work(1, 1000), sum(2, 1000)}, "odd")};
    job.groups = {{"even", {0, 2}, {}, {}}, {"odd", {1, 3}, {}, {}}};
    const ClusterOutcome outcome = outcomeOf(job, s);
    QCOMPARE(outcome.ranks[0].finish, SimTime{0});
    QVERIFY(outcome.ranks[1].finish > SimTime{1'000'000'000} && outcome.ranks[3].finish > SimTime{1'000'000'000});
}

// Chunks by the hundred thousand wait in one queue: time grows with their number, not with its square.
void TstClusterRun::manyChunks() {
    ClusterSettings s;
    s.network.dimensions = {{TopologyShape::Ring, 2, 100e9, 0}};
    s.splits = 300000;
    const auto begun = std::chrono::steady_clock::now();
    const ClusterOutcome outcome = outcomeOf(jobOf(s, oneCollective(TraceCollective::ReduceScatter, 600000)), s);
    QCOMPARE(outcome.messages, std::uint64_t{2 * 300000});
    // A byte at 100 GB/s takes 10 ps; chunks go one after the other.
    QCOMPARE(lastOf(outcome), SimTime{300000 * 10});
    QVERIFY(std::chrono::steady_clock::now() - begun < std::chrono::seconds(20));
}

// What files may claim: no overflow, no memory for it, no run without end.
void TstClusterRun::hostileSizes() {
    ClusterSettings s;
    s.network.dimensions = {{TopologyShape::Ring, 4, 100e9, 0}};
    const auto codeOf = [](ClusterJob job, const ClusterSettings& settings) {
        const auto outcome = runCluster(std::move(job), settings);
        return outcome ? std::string() : outcome.error().code;
    };
    const auto allGather = [](std::int64_t bytes) { return oneCollective(TraceCollective::AllGather, bytes); };
    // 9e15 B among 4,096 are more than 63 bits count.
    ClusterSettings large = s;
    large.network.dimensions = {{TopologyShape::Switch, 4096, 1e9, 0}};
    QCOMPARE(codeOf(jobOf(large, allGather(9'000'000'000'000'000)), large), std::string("network.bytes"));
    // Times beyond what ticks count: of a link, of a record, of reductions, of an endpoint.
    ClusterSettings slow = s;
    slow.network.dimensions.front().bandwidth = 1e-300;
    for (const bool congestion : {true, false}) {
        slow.network.congestion = congestion;
        slow.network.wholeNanoseconds = congestion;
        QCOMPARE(codeOf(jobOf(slow, allGather(1000)), slow), std::string("cluster.time"));
    }
    TraceBuilder ages;
    ages.add(work(1, 1.8e19), "ages", {});
    QCOMPARE(codeOf(jobOf(s, *ages.finish("test")), s), std::string("cluster.time"));
    ClusterSettings stiff = s;
    stiff.memoryBandwidth = 1e-9;
    stiff.endpointDelay = 1e30;
    QCOMPARE(codeOf(jobOf(stiff, oneCollective(TraceCollective::AllReduce, 1 << 20)), stiff),
             std::string("cluster.time"));
    // Chunks: too many, or too many of all ranks together.
    ClusterSettings chunks = s;
    chunks.splits = 1'000'000'000;
    QCOMPARE(codeOf(jobOf(chunks, allGather(1'000'000'000'000)), chunks), std::string("cluster.chunks"));
    chunks.network.dimensions = {{TopologyShape::Switch, 1024, 1e9, 0}};
    chunks.splits = 100'000;
    const auto unfolded = runCluster(jobOf(chunks, allGather(1 << 30)), chunks, false, {}, false);
    QVERIFY(!unfolded);
    QCOMPARE(unfolded.error().code, std::string("cluster.chunks"));
    // Links and messages: everyone to everyone among 16,384.
    ClusterSettings full = s;
    full.network.dimensions = {{TopologyShape::FullyConnected, 16384, 1e9, 0}};
    full.algorithms.fill({{StepAlgorithm::Direct, 0}});
    for (const bool congestion : {true, false}) {
        full.network.congestion = congestion;
        const auto all = runCluster(jobOf(full, allGather(1 << 20)), full, false, {}, false);
        QVERIFY(!all);
        QCOMPARE(all.error().code, std::string(congestion ? "network.shape" : "cluster.chunks"));
    }
    // Steps that 26 bits do not count.
    ClusterSettings wide = s;
    wide.network.dimensions = {{TopologyShape::Ring, 1 << 17, 1e9, 0}};
    QCOMPARE(codeOf(jobOf(wide, oneCollective(TraceCollective::AllToAll, 1 << 20)), wide),
             std::string("network.algorithm"));
    // Sixteen million devices and two traces: refused before links are made for them.
    ClusterJob few = jobOf(s, allGather(1));
    ClusterSettings many = s;
    many.network.dimensions = {{TopologyShape::Ring, 1 << 24, 1e9, 0}};
    QCOMPARE(codeOf(few, many), std::string("cluster.ranks"));
    few.slotOf = {0, 1, 2, 7};
    QCOMPARE(codeOf(few, s), std::string("cluster.ranks"));
    few.slotOf = {0, 1, 2, 2};
    QCOMPARE(codeOf(few, s), std::string("cluster.ranks"));
    TraceNode nobody;
    nobody.id = 1;
    for (const TraceWork kind : {TraceWork::Send, TraceWork::Receive}) {
        nobody.work = kind;
        TraceBuilder builder;
        builder.add(nobody, "nobody", {});
        QCOMPARE(codeOf(jobOf(s, *builder.finish("test")), s), std::string("cluster.peer"));
    }
}

void TstClusterRun::refused() {
    ClusterSettings s;
    s.network.dimensions = {{TopologyShape::Switch, 4, 100e9, 0}};
    const auto codeOf = [](ClusterJob job, const ClusterSettings& settings) {
        const auto outcome = runCluster(std::move(job), settings);
        return outcome ? std::string() : outcome.error().code;
    };
    const ExecutionTrace one = oneCollective(TraceCollective::AllReduce, 1 << 20);
    ClusterJob other = jobOf(s, one);
    other.traces[2] = std::make_shared<const ExecutionTrace>(oneCollective(TraceCollective::AllReduce, 1 << 21));
    QCOMPARE(codeOf(other, s), std::string("cluster.mismatch"));
    ClusterJob few = jobOf(s, one);
    few.traces.pop_back();
    QCOMPARE(codeOf(few, s), std::string("cluster.ranks"));
    ClusterSettings compatible = s;
    compatible.astraSim = true;
    QCOMPARE(codeOf(jobOf(s, oneCollective(TraceCollective::Gather, 1)), compatible),
             std::string("cluster.collective"));
    ExecutionTrace named = one;
    named.groups = {"tp"};
    named.nodes.front().group = 0;
    QCOMPARE(codeOf(jobOf(s, named), s), std::string("cluster.group"));
    ClusterJob grouped = jobOf(s, named);
    grouped.groups.resize(1);
    grouped.groups.front().name = "tp";
    grouped.groups.front().members = {0, 1, 9};
    QCOMPARE(codeOf(grouped, s), std::string("cluster.group"));
    grouped.groups.front().members = {0, 1};
    QCOMPARE(codeOf(grouped, s), std::string("cluster.not-member"));
    ExecutionTrace itself = one;
    itself.nodes.front().work = TraceWork::Send;
    itself.nodes.front().peer = 4;
    QCOMPARE(codeOf(jobOf(s, itself), s), std::string("cluster.peer"));
    ClusterSettings dead = s;
    dead.network.dimensions.front().bandwidth = 0;
    QCOMPARE(codeOf(jobOf(s, one), dead), std::string("network.shape"));
    ClusterSettings tree = s;
    tree.algorithms.fill({{StepAlgorithm::DoubleBinaryTree, 0}});
    QCOMPARE(codeOf(jobOf(s, oneCollective(TraceCollective::AllGather, 1)), tree), std::string("network.algorithm"));
    std::stop_source stop;
    stop.request_stop();
    const auto stopped = runCluster(jobOf(s, one), s, false, stop.get_token());
    QVERIFY(!stopped && stopped.error().code == "study.cancelled");
}

QTEST_APPLESS_MAIN(TstClusterRun)
#include "tst_cluster_run.moc"
