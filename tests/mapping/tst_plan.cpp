// Plans: their text, what they ask of devices, where a drawing puts them, and the one that is proposed.

#include "hardware/files/catalogue.h"
#include "mapping/placement.h"
#include "mapping/propose_plan.h"
#include "mapping/shard.h"
#include "workload/models/transformer_source.h"

#include <QtTest/QtTest>

#include <map>
#include <random>
#include <set>

using namespace orrery;

namespace {

QString codeOf(const Diagnostic& problem) {
    return QString::fromStdString(problem.code);
}

ClusterView clusterOf(const char* id) {
    const auto loaded = loadHardware(id);
    if (!loaded) qFatal("%s", toText(loaded.error()).c_str());
    auto view = clusterView(loaded->hardware);
    if (!view) qFatal("%s", toText(view.error()).c_str());
    return std::move(*view);
}

using Ranks = std::vector<std::int64_t>;

}  // namespace

class TstPlan : public QObject {
    Q_OBJECT
private slots:
    void text();
    void anyPlanIsReadBack();
    void wrongTexts_data();
    void wrongTexts();
    void devices();
    void twoNodes();
    void everyDeviceOnce();
    void uneven();
    void placement();
    void proposed();
    void experts();
};

void TstPlan::text() {
    QCOMPARE(toText(Plan{}), std::string("tp=1"));
    QCOMPARE(toText(Plan{.tensor = 8, .pipeline = 2}), std::string("tp=8,pp=2"));
    const auto read = parsePlan(" pp = 2 , tensor=8,dp=1,ep=8,cp=1,mb=16, at=node/h100");
    QVERIFY(read);
    QCOMPARE(*read, (Plan{.tensor = 8, .pipeline = 2, .expert = 8, .microbatches = 16, .placement = "node/h100"}));
    QCOMPARE(read->devices(), 16);
    QCOMPARE(*parsePlan(""), Plan{});
}

void TstPlan::anyPlanIsReadBack() {
    std::mt19937_64 random(3);
    for (int i = 0; i < 500; ++i) {
        const auto power = [&] { return std::int64_t{1} << random() % 6; };
        Plan plan{.tensor = power(), .pipeline = power(), .data = power(), .context = power()};
        plan.expert = plan.tensor * plan.data;
        plan.microbatches = static_cast<std::int64_t>(random() % 20);
        const bool even = plan.pipeline % 2 == 0 && plan.data % 2 == 0;
        if (random() % 2) plan.placement = even ? "h100+dgx/a100&a100" : "dgx/h100";
        if (random() % 2)
            for (std::int64_t s = 0; s < plan.pipeline; ++s)
                plan.layers.push_back(1 + static_cast<std::int64_t>(random() % 9));
        const auto read = parsePlan(toText(plan));
        QVERIFY(read);
        QCOMPARE(*read, plan);
    }
}

void TstPlan::wrongTexts_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("code");
    QTest::newRow("word") << "tp"
                          << "plan.syntax";
    QTest::newRow("empty item") << "tp=2,,pp=2"
                                << "plan.syntax";
    QTest::newRow("offload of a word that is none") << "offload=all"
                                                    << "plan.value";
    QTest::newRow("offload twice") << "offload=weights,offload=optimizer"
                                   << "plan.twice";
    QTest::newRow("shards of nothing") << "dp=8,shard=4"
                                       << "plan.shard";
    QTest::newRow("unknown") << "tensr=2"
                             << "plan.unknown-key";
    QTest::newRow("twice") << "tp=2,tensor=4"
                           << "plan.twice";
    QTest::newRow("zero") << "tp=0"
                          << "plan.value";
    QTest::newRow("fraction") << "pp=1.5"
                              << "plan.value";
    QTest::newRow("huge") << "dp=99999999999999999999"
                          << "plan.value";
    QTest::newRow("layers of a stage too few") << "pp=3,layers=4+4"
                                               << "plan.layers";
    QTest::newRow("layers of chunks") << "pp=2,vp=2,layers=4+4"
                                      << "plan.layers";
    QTest::newRow("layers from both ends") << "pp=2,layers=4+4,sched=dualpipe"
                                           << "plan.layers";
    QTest::newRow("no layers") << "pp=2,layers=4+0"
                               << "plan.value";
    QTest::newRow("layers that are words") << "pp=2,layers=4+many"
                                           << "plan.value";
    QTest::newRow("kinds of the stages") << "pp=3,at=h100+a100"
                                         << "plan.kinds";
    QTest::newRow("kinds of the copies") << "pp=2,dp=3,at=h100+h100&a100"
                                         << "plan.kinds";
    QTest::newRow("layers twice") << "pp=2,layers=4+4,layers=4+4"
                                  << "plan.twice";
    QTest::newRow("experts") << "tp=8,ep=3"
                             << "plan.experts";
}
void TstPlan::wrongTexts() {
    QFETCH(QString, text);
    QFETCH(QString, code);
    const auto read = parsePlan(text.toStdString());
    QVERIFY(!read);
    QCOMPARE(codeOf(read.error()), code);
    QVERIFY(!read.error().expected.empty() && !read.error().hint.empty() && !read.error().place.path.empty());
    if (text == "tensr=2") QVERIFY(QString::fromStdString(read.error().hint).contains("`tensor`"));
}

void TstPlan::devices() {
    QVERIFY(checkPlan({.tensor = 8, .data = 2}, 16));
    const auto tooMany = checkPlan({.tensor = 8, .pipeline = 4}, 16);
    QVERIFY(!tooMany);
    QCOMPARE(codeOf(tooMany.error()), QString("plan.too-many-devices"));
    Plan huge;
    huge.tensor = huge.pipeline = huge.data = huge.context = 1000000;
    QVERIFY(checkPlan(huge).has_value());
    QCOMPARE(huge.devices(), std::numeric_limits<std::int64_t>::max());
    QVERIFY(huge.split());
    const QString message = QString::fromStdString(tooMany.error().message);
    QVERIFY(message.contains("32") && message.contains("16"));
    // The product does not fit 64 bits, and is refused all the same.
    const std::int64_t most = 1000000;
    QVERIFY(!checkPlan({.tensor = most, .pipeline = most, .data = most, .context = most}, 16));
}

// Two DGX of eight: tensor parallelism inside a node, the other half of the node and the other node by data.
void TstPlan::twoNodes() {
    const ClusterView view = clusterOf("dgx-h100-x2");
    const auto place = placementOf(view, {.tensor = 4, .pipeline = 2, .data = 2});
    QVERIFY(place);
    QCOMPARE(place->tensor.ranks, (Ranks{4, 1}));
    QCOMPARE(place->data.ranks, (Ranks{2, 1}));
    QCOMPARE(place->pipeline.ranks, (Ranks{1, 2}));
    QCOMPARE(place->pipeline.stride, 8);
    QVERIFY(place->warnings.empty());
    const auto wide = placementOf(view, {.tensor = 16, .expert = 16});
    QCOMPARE(wide->tensor.ranks, (Ranks{8, 2}));
    QCOMPARE(wide->expert.ranks, (Ranks{8, 2}));
    QCOMPARE(wide->tensor.outermost(), 1);
    const auto idle = placementOf(view, {.tensor = 8});
    QCOMPARE(idle->warnings.size(), 1u);
    QCOMPARE(codeOf(idle->warnings.front()), QString("plan.idle-devices"));
    QVERIFY(QString::fromStdString(idle->warnings.front().hint).contains("2"));
}

// Ranks along the tiers are what counting the members of a group by their endpoints gives.
void TstPlan::everyDeviceOnce() {
    std::mt19937_64 random(11);
    for (int i = 0; i < 3000; ++i) {
        std::vector<NetworkTier> tiers(1 + random() % 3);
        std::int64_t devices = 1;
        for (NetworkTier& tier : tiers) {
            tier.size = 1 + static_cast<std::int64_t>(random() % 8);
            tier.inner = devices;
            devices *= tier.size;
        }
        const auto size = 1 + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(devices));
        const auto stride = 1 + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(devices / size));
        const Communicator group = communicator(tiers, size, stride);
        QCOMPARE(group.ranks.size(), tiers.size());
        std::int64_t product = 1;
        for (const std::int64_t ranks : group.ranks) product *= ranks;
        if (group.uneven) {
            QVERIFY(product >= size);
            continue;
        }
        QCOMPARE(product, size);
        // Count every group by hand: how many different endpoints of each tier share the endpoint outside.
        for (std::int64_t first = 0; first < devices; ++first) {
            const std::int64_t block = first / (size * stride) * size * stride;
            if (first - block >= stride || block + size * stride > devices) continue;
            for (std::size_t t = 0; t < tiers.size(); ++t) {
                std::map<std::int64_t, std::set<std::int64_t>> seen;
                for (std::int64_t m = 0; m < size; ++m) {
                    const std::int64_t rank = first + m * stride;
                    seen[rank / (tiers[t].inner * tiers[t].size)].insert(rank / tiers[t].inner);
                }
                for (const auto& [outside, endpoints] : seen)
                    QCOMPARE(static_cast<std::int64_t>(endpoints.size()), group.ranks[t]);
            }
        }
    }
}

void TstPlan::uneven() {
    const auto place = placementOf(clusterOf("dgx-h100-x2"), {.tensor = 6, .data = 2});
    QVERIFY(place);
    QVERIFY(place->tensor.uneven);
    QVERIFY(place->tensor.ranks[1] > 1);  // six of eight: the second group lies in both nodes
    QCOMPARE(codeOf(place->warnings.front()), QString("plan.uneven"));
}

void TstPlan::placement() {
    const ClusterView view = clusterOf("dgx-h100-x2");
    for (const char* name : {"h100", "dgx/h100"}) {
        const auto group = groupFor(view, {.placement = name});
        QVERIFY(group);
        QCOMPARE((*group)->name, std::string("h100"));
    }
    const auto none = placementOf(view, {.placement = "h10"});
    QVERIFY(!none);
    QCOMPARE(codeOf(none.error()), QString("plan.no-such-device"));
    QVERIFY(QString::fromStdString(none.error().hint).contains("h100"));
}

// 140 GB of Llama-2 70B in two bytes: two of 80 GB hold 70 GB each, one does not.
void TstPlan::proposed() {
    const PlanNeeds llama{"Llama-2 70B", 140e9, 0, 80, 64, 8, 28672};
    const auto two = proposePlan(llama, clusterOf("dgx-h100"));
    QVERIFY(two);
    QCOMPARE(toText(two->plan), std::string("tp=2"));
    QCOMPARE(two->bytesPerDevice, 70e9);
    QVERIFY(QString::fromStdString(two->why).contains("140 GB") && QString::fromStdString(two->why).contains("72 GB"));
    PlanNeeds small = llama;
    small.bytes = 16e9;
    QCOMPARE(proposePlan(small, clusterOf("dgx-h100"))->plan, Plan{});
    // A terabyte: all of a node's eight, and the other node as a second stage.
    PlanNeeds large = llama;
    large.bytes = 1e12;
    QCOMPARE(toText(proposePlan(large, clusterOf("dgx-h100-x2"))->plan), std::string("tp=8,pp=2"));
    const auto none = proposePlan(large, clusterOf("dgx-h100"));
    QVERIFY(!none);
    QCOMPARE(codeOf(none.error()), QString("plan.does-not-fit"));
    QVERIFY(QString::fromStdString(none.error().message).contains("1 TB"));
    // Sixty-one heads are split in stages alone.
    PlanNeeds odd = llama;
    odd.heads = odd.kvHeads = 61;
    QCOMPARE(toText(proposePlan(odd, clusterOf("dgx-h100"))->plan), std::string("pp=2"));
    // What is proposed fits, and nothing smaller in the same order does.
    std::mt19937_64 random(5);
    const ClusterView nodes[] = {clusterOf("dgx-1-v100"), clusterOf("dgx-h100")};
    for (int i = 0; i < 300; ++i) {
        PlanNeeds needs = llama;
        needs.bytes = 1e9 * static_cast<double>(1 + random() % 1100);
        const ClusterView& view = nodes[i % 2];
        const auto plan = proposePlan(needs, view);
        if (!plan) {
            QVERIFY(needs.bytes > 0.8 * 8 * 0.9 * view.groups.front().memory.value);
            continue;
        }
        QVERIFY(plan->bytesPerDevice <= 0.9 * view.groups.front().memory.value);
        QVERIFY(plan->plan.devices() <= 8);
        if (plan->plan.devices() > 1) QVERIFY(needs.bytes > 0.9 * view.groups.front().memory.value);
    }
}

// Experts over tensor-parallel devices, or over those of all data-parallel copies.
void TstPlan::experts() {
    const auto config = transformerConfig("mixtral-8x7b");
    QVERIFY(config);
    const auto inside = shardOf(*config, {.tensor = 4, .expert = 4});
    QVERIFY(inside);
    QCOMPARE(inside->experts, 2);
    QCOMPARE(inside->expertIntermediate, config->expertIntermediate);
    const auto across = shardOf(*config, {.tensor = 4, .data = 2, .expert = 8});
    QVERIFY(across);
    QCOMPARE(across->experts, 1);
    const auto wrong = shardOf(*config, {.tensor = 2, .expert = 4});
    QVERIFY(!wrong);
    QCOMPARE(codeOf(wrong.error()), QString("plan.experts"));
}

QTEST_GUILESS_MAIN(TstPlan)
#include "tst_plan.moc"
