// Training steps whose messages are followed over the drawn network: one device for its likes gives what all devices
// give, links are as busy as what they carry, and no answer is below the wires.

#include "base/executor.h"
#include "base/random.h"
#include "hardware/files/catalogue.h"
#include "hardware/views/cluster_view.h"
#include "methods/method.h"
#include "methods/system/training/step_network.h"
#include "simulation/cluster/followed_network.h"
#include "simulation/cluster/network_groups.h"
#include "workload/workload.h"

#include <QtTest/QtTest>

#include <fmt/format.h>

#include <filesystem>
#include <fstream>

using namespace orrery;

namespace {

NetworkTier switchTier(std::int64_t size, std::int64_t inner, double bandwidth, double latency, bool nodes) {
    NetworkTier tier;
    tier.name = nodes ? "fabric" : "nvlink";
    tier.path = "system/" + tier.name;
    tier.source = TierSource::OwnLinks;
    tier.size = size;
    tier.inner = inner;
    tier.bandwidth = tier.allToAll = BytesPerSecond(bandwidth);
    tier.latency = Seconds(latency);
    tier.betweenNodes = nodes;
    return tier;
}

NetworkTier fatTreeTier(std::int64_t size, std::int64_t inner, double bandwidth) {
    NetworkTier tier = switchTier(size, inner, bandwidth, 0, true);
    TopologyDimension stated;
    stated.shape = TopologyShape::FatTree;
    stated.size = size;
    stated.radix = 4;
    stated.bandwidth = BytesPerSecond(bandwidth);
    stated.latency = Seconds(300e-9);
    tier.stated = stated;
    tier.shape = TopologyShape::FatTree;
    return tier;
}

/// Layers with an exchange each way inside, and gradients at the end.
TrainingProgram programOf(const char* plan, std::int64_t microbatches) {
    TrainingProgram program;
    program.plan = *parsePlan(plan);
    program.microbatches = microbatches;
    LayerProgram layer;
    layer.name = "layer";
    layer.forward = {{1e-4, TraceCollective::AllReduce, ProgramGroup::Tensor, 4 << 20}};
    layer.backward = {{2e-4, TraceCollective::AllReduce, ProgramGroup::Tensor, 4 << 20}};
    if (expertsAcrossCopies(program.plan)) {
        layer.forward.push_back({1e-4, TraceCollective::AllToAll, ProgramGroup::Experts, 1 << 20});
        layer.backward.push_back({1e-4, TraceCollective::AllToAll, ProgramGroup::Experts, 1 << 20});
        layer.expertShare = 0.5;
    }
    layer.weightGradientSeconds = 1e-4;
    layer.parameterBytes = layer.gradientBytes = 8e6;
    program.layers = {layer};
    program.chunks.assign(static_cast<std::size_t>(program.plan.pipeline * program.plan.interleave),
                          ChunkProgram{{0, 0}});
    program.optimizerSeconds.assign(static_cast<std::size_t>(program.plan.pipeline), 1e-4);
    program.stageBytes = 2 << 20;
    program.bucketBytes = 10 << 20;
    return program;
}

ClusterOutcome followed(const TrainingProgram& program, const std::vector<NetworkTier>& tiers, LinkCarrying carrying,
                        bool fold, bool spans = false) {
    const auto network = StepNetwork::make(program, tiers, carrying, fold);
    if (!network) qFatal("%s", toText(network.error()).c_str());
    auto outcome = network->run(program, spans, {});
    if (!outcome) qFatal("%s", toText(outcome.error()).c_str());
    return std::move(*outcome);
}

SimTime endOf(const ClusterOutcome& outcome) {
    SimTime last = 0;
    for (const RankResult& rank : outcome.ranks) last = std::max(last, rank.finish);
    return last;
}

}  // namespace

class TstTrainingNetwork : public QObject {
    Q_OBJECT
private slots:
    void oneForItsLikes();
    void adaptersTakeTurns();
    void useIsWhatIsCarried();
    void callsAreFollowed();
    void answers();
    void refused();
};

// One device of a stage, or of a node, against every device: the same to a rounding of rates.
void TstTrainingNetwork::oneForItsLikes() {
    const std::vector<NetworkTier> switches{switchTier(4, 1, 100e9, 1e-6, false), switchTier(8, 4, 40e9, 3e-6, true)};
    const std::vector<NetworkTier> tree{switchTier(4, 1, 100e9, 1e-6, false), fatTreeTier(8, 4, 40e9)};
    int stages = 0, nodes = 0;
    for (const char* plan : {"tp=4,pp=2,dp=4,mb=4", "tp=4,dp=8,mb=2", "tp=4,pp=8,mb=8", "tp=2,dp=16", "tp=4,pp=2,dp=2",
                             "tp=2,pp=4,dp=4", "dp=32", "tp=4,pp=2,dp=4,zero=3,mb=2",
                             "tp=4,pp=2,dp=4,mb=4,sched=dualpipe", "tp=4,pp=4,dp=2,mb=4,sched=zero-bubble",
                             "tp=2,dp=16,ep=8,mb=2", "tp=4,dp=8,ep=8", "tp=4,pp=2,dp=4,ep=4,mb=2,sched=gpipe"}) {
        const TrainingProgram program = programOf(plan, std::max<std::int64_t>(1, parsePlan(plan)->microbatches));
        for (const auto* tiers : {&switches, &tree}) {
            for (const LinkCarrying carrying : {LinkCarrying::StoreAndForward, LinkCarrying::Fluid}) {
                const auto network = StepNetwork::make(program, *tiers, carrying);
                QVERIFY2(network.has_value(), network ? "" : toText(network.error()).c_str());
                stages += network->stagesFolded() ? 1 : 0;
                nodes += network->alike() > 1 ? 1 : 0;
                const SimTime few = endOf(followed(program, *tiers, carrying, true)),
                              all = endOf(followed(program, *tiers, carrying, false));
                QVERIFY2(std::abs(few - all) <= all / 1'000'000,
                         fmt::format("{} {} {}: {} and {}", plan, tiers == &tree ? "tree" : "switch", toText(carrying),
                                     few, all)
                             .c_str());
            }
        }
    }
    QVERIFY2(stages >= 6 && nodes >= 4, fmt::format("{} {}", stages, nodes).c_str());
}

// A ring over two nodes of four: with turns at the way out each device's part of the node's link is used.
void TstTrainingNetwork::adaptersTakeTurns() {
    std::vector<FabricDimension> dimensions{{TopologyShape::Switch, 4, 400e9, 0}, {TopologyShape::Switch, 4, 10e9, 0}};
    double seconds[2] = {};
    for (const bool turns : {false, true}) {
        TraceBuilder builder;
        TraceNode node;
        node.id = 1;
        node.work = TraceWork::Collective;
        node.bytes = 64 << 20;
        node.group = builder.groupNamed("half");
        builder.add(node, "sum", {});
        ClusterJob job;
        job.traces.assign(16, std::make_shared<const ExecutionTrace>());
        RankGroup half{"half", {0, 1, 2, 3, 4, 5, 6, 7}, {}, {}};
        QCOMPARE(blockOf(dimensions, half.members), 4);
        if (turns) half.block = 4;
        const auto trace = std::make_shared<const ExecutionTrace>(*builder.finish("half"));
        for (std::size_t r = 0; r < 8; ++r) job.traces[r] = trace;
        job.groups = {half};
        ClusterSettings settings;
        settings.network.dimensions = dimensions;
        settings.network.carrying = LinkCarrying::Fluid;
        settings.splits = settings.activeChunks = 4;
        const auto outcome = runCluster(job, settings);
        QVERIFY(outcome.has_value());
        seconds[turns ? 1 : 0] = static_cast<double>(endOf(*outcome)) * 1e-12;
    }
    const double one = 2 * 7 / 8.0 * (64 << 20) / 10e9;
    QVERIFY(seconds[0] >= one && seconds[0] < 1.05 * one);
    QVERIFY2(seconds[1] >= one / 4 && seconds[1] < 1.15 * one / 4, fmt::format("{} of {}", seconds[1], one).c_str());
}

// Rows of a step's network: never more than full, and as many bytes as the exchanges need.
void TstTrainingNetwork::useIsWhatIsCarried() {
    const std::vector<NetworkTier> tiers{switchTier(4, 1, 100e9, 1e-6, false), fatTreeTier(4, 4, 40e9)};
    const TrainingProgram program = programOf("tp=4,dp=4", 1);
    const auto network = StepNetwork::make(program, tiers, LinkCarrying::StoreAndForward);
    QVERIFY(network.has_value());
    const ClusterOutcome outcome = followed(program, tiers, LinkCarrying::StoreAndForward, true, true);
    const NetworkUse use = network->useOf(outcome, tiers);
    QCOMPARE(use.rows.size(), std::size_t{4});
    QCOMPARE(use.rows[0].path, std::string("system/nvlink"));
    QCOMPARE(use.rows[2].path, std::string("system/fabric"));
    QVERIFY(use.spanSeconds * static_cast<double>(use.rows[0].busy.size()) * 1e12 >=
            static_cast<double>(endOf(outcome)));
    for (const NetworkUse::Row& row : use.rows) {
        double sum = 0;
        for (const float share : row.busy) {
            QVERIFY(share >= 0 && share <= 1);
            sum += share;
        }
        QVERIFY(sum > 0);
    }
    // Four exchanges of 4 MiB in each direction of the pass, 2·3/4 of them up a device's NVLink.
    double up = 0;
    for (const float share : use.rows[1].busy) up += share * use.spanSeconds;
    const double reached = drawnFabric(tiers, ncclTuning())->dimensions.front().bandwidth;
    QVERIFY(reached > 70e9 && reached < 100e9);
    const double expected = 4 * 1.5 * (4 << 20) / reached;
    QVERIFY2(std::abs(up - expected) < 1e-3 * expected, fmt::format("{} and {}", up, expected).c_str());
}

// A call by itself: between the wires and a few times the closed form, and the same followed either way in a switch.
void TstTrainingNetwork::callsAreFollowed() {
    const std::vector<NetworkTier> tiers{switchTier(8, 1, 450e9, 1e-6, false), switchTier(4, 8, 400e9, 3e-6, true)};
    const ClosedFormNetwork closed(tiers);
    for (const LinkCarrying carrying : {LinkCarrying::StoreAndForward, LinkCarrying::Fluid}) {
        const FollowedNetwork network(tiers, carrying);
        double last = 0;
        for (const CollectiveOp op : {CollectiveOp::AllReduce, CollectiveOp::AllGather, CollectiveOp::ReduceScatter,
                                      CollectiveOp::AllToAll, CollectiveOp::SendReceive}) {
            for (const auto& [size, stride] : {std::pair{8, 1}, std::pair{4, 8}, std::pair{32, 1}, std::pair{16, 1}}) {
                last = 0;
                for (const double bytes : {1e3, 1e6, 64e6, 1e9}) {
                    const CollectiveCall call{op, bytes, communicator(tiers, size, stride)};
                    const auto price = network.price(call), other = closed.price(call);
                    QVERIFY2(price && other, price ? "" : toText(price.error()).c_str());
                    const std::string seen = fmt::format("{} {} of {} by {}: {} against {}", toText(carrying),
                                                         toText(op), bytes, size, price->seconds, other->seconds);
                    QVERIFY2(price->seconds >= other->low && price->seconds <= price->high, seen.c_str());
                    QVERIFY2(price->seconds >= last, seen.c_str());
                    // Long messages: one direction's rings, without trees and switches that sum.
                    if (bytes >= 64e6)
                        QVERIFY2(price->seconds < 2.5 * other->seconds && price->seconds > 0.4 * other->seconds,
                                 seen.c_str());
                    last = price->seconds;
                }
            }
        }
    }
}

// Whole answers over a preset: inside what the wires allow, with the use of the links beside the timeline.
void TstTrainingNetwork::answers() {
    const std::string path = fmt::format("{}/network-gpt.json", ORRERY_TEST_OUTPUT);
    std::filesystem::create_directories(ORRERY_TEST_OUTPUT);
    std::ofstream(path) << R"({"model_type": "gpt2", "n_layer": 4, "n_embd": 2048, "n_head": 16, "n_inner": 8192,
                              "vocab_size": 51200, "n_positions": 1024, "torch_dtype": "float16"})";
    WorkloadRecipe recipe;
    recipe.source = path;
    recipe.options.batch = 8;
    recipe.options.sequence = 1024;
    recipe.options.phase = Phase::TrainingForward;
    const auto workload = loadWorkload(recipe);
    QVERIFY(workload.has_value());
    auto found = loadHardware("dgx-a100-superpod");
    QVERIFY(found.has_value());
    const auto hardware = std::make_shared<const Hardware>(std::move(found->hardware));
    const auto serial = makeSerialExecutor(), threads = makeThreadExecutor(3);
    for (const char* plan : {"tp=8,pp=2,dp=4,mb=2", "tp=4,dp=8,zero=1"}) {
        std::map<std::string, Estimate> answers;
        for (const char* network : {"closed-form", "messages", "fluid", "fluid on threads"}) {
            EstimateContext context{std::string_view(network).ends_with("threads") ? *threads : *serial};
            context.options["network"] = std::string_view(network).starts_with("fluid") ? "fluid" : network;
            auto answer =
                estimate(*findMethod("tile-wave"), {hardware, *workload, *parsePlan(plan), TrainingStep{}}, context);
            QVERIFY2(answer.has_value(), answer ? "" : toText(answer.error()).c_str());
            answers.emplace(network, std::move(*answer));
        }
        const Estimate& priced = answers.at("closed-form");
        QVERIFY(priced.networkUse.rows.empty());
        for (const char* network : {"messages", "fluid"}) {
            const Estimate& one = answers.at(network);
            QVERIFY(one.interval.low <= one.latency && one.latency <= one.interval.high);
            QCOMPARE(one.interval.low.value, priced.interval.low.value);
            QVERIFY(one.latency.value > 0.5 * priced.latency.value && one.latency.value < 2 * priced.latency.value);
            QVERIFY(!one.networkUse.rows.empty() && !one.timeline.spans.empty());
        }
        QCOMPARE(answers.at("fluid").latency.value, answers.at("fluid on threads").latency.value);
        QVERIFY(answers.at("fluid").networkUse == answers.at("fluid on threads").networkUse);
    }
    // Packets of two devices: as fluid, but for headers and what storing takes.
    std::map<std::string, double> two;
    for (const char* network : {"fluid", "packets"}) {
        EstimateContext context{*serial};
        context.options["network"] = network;
        const auto answer =
            estimate(*findMethod("tile-wave"), {hardware, *workload, *parsePlan("tp=2"), TrainingStep{}}, context);
        QVERIFY2(answer.has_value(), answer ? "" : toText(answer.error()).c_str());
        two[network] = answer->latency.value;
    }
    QVERIFY2(two["packets"] > 0.99 * two["fluid"] && two["packets"] < 1.1 * two["fluid"],
             fmt::format("{} and {}", two["packets"], two["fluid"]).c_str());
}

void TstTrainingNetwork::refused() {
    const auto codeOf = [](const TrainingProgram& program, const std::vector<NetworkTier>& tiers) {
        const auto network = StepNetwork::make(program, tiers, LinkCarrying::Fluid);
        return network ? std::string() : network.error().code;
    };
    std::vector<NetworkTier> tiers{switchTier(8, 1, 100e9, 0, false), fatTreeTier(1024, 8, 100e9)};
    tiers[1].stated->radix = 32;
    QCOMPARE(codeOf(programOf("tp=2,dp=4096", 1), tiers), std::string("training.ranks"));
    tiers[1] = fatTreeTier(8, 8, 100e9);
    QCOMPARE(codeOf(programOf("tp=4,dp=16,mb=8192", 8192), tiers), std::string("network.messages"));
    tiers[1].bandwidth = BytesPerSecond(0);
    QCOMPARE(codeOf(programOf("tp=2,dp=32", 1), tiers), std::string("network.not-drawn"));
}

QTEST_GUILESS_MAIN(TstTrainingNetwork)
#include "tst_training_network.moc"
