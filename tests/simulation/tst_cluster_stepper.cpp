// A run in steps: wherever it is stopped it ends as in one go, and what is seen on the way is what has happened by
// then.

#include "base/random.h"
#include "simulation/cluster/cluster_stepper.h"

#include <QtTest/QtTest>

using namespace orrery;

namespace {

ClusterJob steppedJob() {
    TraceBuilder builder;
    TraceNode work;
    work.id = 1;
    work.work = TraceWork::Compute;
    work.microseconds = 10;
    builder.add(work, "work", {});
    TraceNode sum;
    sum.id = 2;
    sum.work = TraceWork::Collective;
    sum.bytes = 1 << 20;
    const std::uint64_t before[] = {1};
    builder.add(sum, "sum", before);
    ClusterJob job;
    job.traces.assign(8, std::make_shared<const ExecutionTrace>(*builder.finish("test")));
    return job;
}

ClusterSettings steppedSettings(LinkCarrying carrying) {
    ClusterSettings settings;
    settings.network.dimensions = {{TopologyShape::Ring, 8, 50e9, 500}};
    settings.network.carrying = carrying;
    settings.splits = 4;
    settings.activeChunks = 2;
    return settings;
}

}  // namespace

class TstClusterStepper : public QObject {
    Q_OBJECT
private slots:
    void stepsEndAlike();
    void whatIsSeen();
    void endsAndRefuses();
};

void TstClusterStepper::stepsEndAlike() {
    for (const LinkCarrying carrying : {LinkCarrying::StoreAndForward, LinkCarrying::Fluid, LinkCarrying::Packets}) {
        const ClusterSettings settings = steppedSettings(carrying);
        const auto whole = runCluster(steppedJob(), settings, true, {}, false);
        QVERIFY(whole.has_value());
        for (const std::uint64_t seed : {1, 2, 3}) {
            RandomStream random(seed);
            auto stepper = ClusterStepper::make(steppedJob(), settings, true);
            QVERIFY(stepper.has_value());
            SimTime at = 0;
            while (!stepper->ended()) {
                at += static_cast<SimTime>(random.below(3'000'000));
                QVERIFY(stepper->advance(at).has_value());
                QVERIFY(stepper->next() > at);
            }
            const auto outcome = stepper->outcome();
            QVERIFY(outcome.has_value());
            QCOMPARE(outcome->events, whole->events);
            QCOMPARE(outcome->spans.size(), whole->spans.size());
            for (std::size_t r = 0; r < 8; ++r) QCOMPARE(outcome->ranks[r].finish, whole->ranks[r].finish);
        }
    }
}

// While all compute no link is busy; then each of a ring's links one way round is; bytes only grow.
void TstClusterStepper::whatIsSeen() {
    auto stepper = ClusterStepper::make(steppedJob(), steppedSettings(LinkCarrying::StoreAndForward), true);
    QVERIFY(stepper.has_value());
    QVERIFY(stepper->advance(9'000'000).has_value());
    QVERIFY(stepper->busyLinks(9'000'000).empty() && stepper->spans().empty());
    QVERIFY(stepper->advance(10'100'000).has_value());
    QCOMPARE(stepper->busyLinks(10'100'000).size(), std::size_t{8});
    QCOMPARE(stepper->spans().size(), std::size_t{8});
    double before = 0;
    for (SimTime at = 11'000'000; !stepper->ended(); at += 1'000'000) {
        QVERIFY(stepper->advance(at).has_value());
        double carried = 0;
        for (const auto& link : stepper->links()) carried += link.bytes;
        QVERIFY(carried >= before);
        before = carried;
    }
    QCOMPARE(before, 8 * 2 * 7 / 8.0 * (1 << 20));
}

void TstClusterStepper::endsAndRefuses() {
    ClusterJob job = steppedJob();
    job.traces.pop_back();
    const auto refused = ClusterStepper::make(job, steppedSettings(LinkCarrying::Fluid));
    QVERIFY(!refused && refused.error().code == "cluster.ranks");
    job.traces.push_back(std::make_shared<const ExecutionTrace>());
    auto stuck = ClusterStepper::make(job, steppedSettings(LinkCarrying::Fluid));
    QVERIFY(stuck.has_value());
    QVERIFY(stuck->advance(MessageFabric::furthest).has_value());
    QVERIFY(stuck->ended());
    const auto outcome = stuck->outcome();
    QVERIFY(!outcome && outcome.error().code == "cluster.deadlock");
}

QTEST_GUILESS_MAIN(TstClusterStepper)
#include "tst_cluster_stepper.moc"
