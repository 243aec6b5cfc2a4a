// A run in steps: wherever it is stopped it ends as in one go, and what is seen on the way is what has happened by
// then.

#include "base/random.h"
#include "simulation/cluster/cluster_stepper.h"

#include <QtTest/QtTest>

#include <bit>
#include <map>

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

/// Steps with sums and with messages to the next rank, of ranks that are not alike.
ClusterJob mixedJob() {
    ClusterJob job;
    for (int rank = 0; rank < 8; ++rank) {
        TraceBuilder builder;
        std::uint64_t last = 0;
        const auto add = [&](TraceNode node, std::vector<std::uint64_t> before) {
            node.id = ++last;
            builder.add(node, "n" + std::to_string(last), before);
        };
        for (int step = 0; step < 6; ++step) {
            TraceNode work;
            work.work = TraceWork::Compute;
            work.microseconds = 5 + rank + step;
            add(work, last > 0 ? std::vector<std::uint64_t>{last} : std::vector<std::uint64_t>{});
            const std::uint64_t done = last;
            TraceNode sum;
            sum.work = TraceWork::Collective;
            sum.bytes = 300'000;
            add(sum, {done});
            const std::uint64_t summed = last;
            TraceNode message;
            message.bytes = 100'000 + step;
            message.tag = step;
            message.work = TraceWork::Send;
            message.peer = (rank + 1) % 8;
            add(message, {done});
            message.work = TraceWork::Receive;
            message.peer = (rank + 7) % 8;
            add(message, {done});
            TraceNode wait;
            wait.work = TraceWork::Compute;
            wait.microseconds = 1;
            add(wait, {summed, last});
        }
        job.traces.push_back(std::make_shared<const ExecutionTrace>(*builder.finish("test")));
    }
    return job;
}

/// All that can be seen of a run, for comparing to the last bit.
std::string seen(const ClusterStepper& stepper) {
    std::string all = std::to_string(stepper.event()) + ' ' + std::to_string(stepper.next());
    const auto put = [&](auto... numbers) { ((all += ' ' + std::to_string(numbers)), ...); };
    for (const RankSpan& span : stepper.spans()) put(span.slot, span.node, span.begin, span.end);
    for (const RankResult& rank : stepper.ranks())
        put(rank.finish, rank.compute, rank.host, rank.exchange, rank.exposed);
    for (const auto& link : stepper.links()) put(std::bit_cast<std::uint64_t>(link.bytes), link.busy);
    return all;
}

}  // namespace

class TstClusterStepper : public QObject {
    Q_OBJECT
private slots:
    void stepsEndAlike();
    void whatIsSeen();
    void endsAndRefuses();
    void backAndForthIsStraightOn();
    void backIsCheap();
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

// Forward n, back k, forward k: the same as straight on, wherever states were kept, and the end is the same too.
void TstClusterStepper::backAndForthIsStraightOn() {
    for (const LinkCarrying carrying : {LinkCarrying::StoreAndForward, LinkCarrying::Fluid, LinkCarrying::Packets}) {
        ClusterSettings settings = steppedSettings(carrying);
        settings.network.useOverTime = true;
        const auto whole = runCluster(mixedJob(), settings, true, {}, false);
        QVERIFY2(whole.has_value(), whole ? "" : whole.error().message.c_str());
        QVERIFY(whole->events > 2000);
        std::map<std::uint64_t, std::string> straight;
        auto on = ClusterStepper::make(mixedJob(), settings, true);
        for (std::uint64_t event = 0; event <= whole->events; event += 97) {
            QVERIFY(on->goToEvent(event).has_value());
            QCOMPARE(on->event(), event);
            straight[event] = seen(*on);
        }
        for (const std::uint64_t interval : {1, 50, 1000, 1 << 20}) {
            auto stepper = ClusterStepper::make(mixedJob(), settings, true, interval);
            RandomStream random(interval);
            for (int i = 0; i < 60; ++i) {
                const std::uint64_t event = 97 * random.below(whole->events / 97 + 1);
                QVERIFY(stepper->goToEvent(event).has_value());
                QVERIFY2(seen(*stepper) == straight[event], "another state than straight on");
            }
            const SimTime half = whole->ranks[0].finish / 2;
            QVERIFY(stepper->goTo(half).has_value() && stepper->now() <= half && stepper->next() > half);
            const std::string there = seen(*stepper);
            QVERIFY(stepper->goTo(half / 3).has_value() && stepper->goTo(half).has_value());
            QVERIFY(seen(*stepper) == there);
            QVERIFY(stepper->advance(MessageFabric::furthest).has_value() && stepper->ended());
            const auto outcome = stepper->outcome();
            QVERIFY(outcome.has_value());
            QCOMPARE(outcome->events, whole->events);
            QCOMPARE(outcome->messages, whole->messages);
            QCOMPARE(outcome->packets.packets, whole->packets.packets);
            for (std::size_t r = 0; r < 8; ++r) QCOMPARE(outcome->ranks[r].finish, whole->ranks[r].finish);
            for (std::size_t l = 0; l < whole->links.size(); ++l)
                for (std::size_t span = 0; span < LinkUseOverTime::spans; ++span)
                    QCOMPARE(outcome->linkUse.busy(l, span), whole->linkUse.busy(l, span));
        }
    }
}

// However long the run, few states are held, and the interval grows only as far as it must.
void TstClusterStepper::backIsCheap() {
    auto stepper = ClusterStepper::make(mixedJob(), steppedSettings(LinkCarrying::Packets), false, 16);
    QVERIFY(stepper->advance(MessageFabric::furthest).has_value());
    const std::uint64_t events = stepper->event();
    QVERIFY(stepper->interval() >= events / ClusterStepper::most_kept);
    QVERIFY(stepper->interval() <= 16 + 4 * events / ClusterStepper::most_kept);
    QVERIFY(stepper->goToEvent(0).has_value() && !stepper->ended());
    QCOMPARE(stepper->event(), std::uint64_t{0});
    QVERIFY(stepper->goTo(MessageFabric::furthest).has_value());
    QCOMPARE(stepper->event(), events);
}

QTEST_GUILESS_MAIN(TstClusterStepper)
#include "tst_cluster_stepper.moc"
