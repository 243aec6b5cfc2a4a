// What collectives cost on a drawn network: closed forms worked by hand, bounds that nothing beats, published runs.

#include "base/text/csv_stream.h"
#include "base/text/words.h"
#include "base/unit.h"
#include "hardware/files/catalogue.h"
#include "simulation/network/closed_form.h"
#include "simulation/network/fluid_flows.h"

#include <QtTest/QtTest>

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <fstream>
#include <map>
#include <random>
#include <sstream>

using namespace orrery;

namespace {

NetworkTier tier(std::int64_t size, std::int64_t inner, double bandwidth, double latency = 0, bool nodes = false) {
    NetworkTier out;
    out.name = nodes ? "fabric" : "nvlink";
    out.path = "system/" + out.name;
    out.source = TierSource::Topology;
    out.size = size;
    out.inner = inner;
    out.bandwidth = out.allToAll = BytesPerSecond(bandwidth);
    out.latency = Seconds(latency);
    out.betweenNodes = nodes;
    return out;
}

CollectivePrice priced(const NetworkModel& network, const CollectiveCall& call) {
    auto price = network.price(call);
    if (!price) qFatal("%s", toText(price.error()).c_str());
    return std::move(*price);
}

constexpr std::array<CollectiveOp, 6> every_op{CollectiveOp::AllReduce,     CollectiveOp::AllGather,
                                               CollectiveOp::ReduceScatter, CollectiveOp::AllToAll,
                                               CollectiveOp::Broadcast,     CollectiveOp::SendReceive};

bool near(double a, double b) {
    return std::abs(a - b) <= 1e-9 * std::max(std::abs(a), std::abs(b));
}

}  // namespace

class TstNetworkModels : public QObject {
    Q_OBJECT
private slots:
    void oneSwitch();
    void twoTiers();
    void published();
    void nothingBeatsTheWires();
    void moreIsNeverSlower();
    void refused();
    void flowsShareFairly();
    void flowsMoveTheirBytes();
};

// Eight devices, 100 GB/s each: an all-reduce of 800 MB sends 2·7/8 of it, 14 ms, and 14 steps of 1 us.
void TstNetworkModels::oneSwitch() {
    const std::vector tiers{tier(8, 1, 100e9, 1e-6)};
    const ClosedFormNetwork wires(tiers, wiresAlone());
    CollectiveCall call{CollectiveOp::AllReduce, 800e6, communicator(tiers, 8, 1)};
    QVERIFY(near(priced(wires, call).seconds, 14e-3 + 14e-6));
    call.op = CollectiveOp::AllGather;
    QVERIFY(near(priced(wires, call).seconds, 7e-3 + 7e-6));
    call.op = CollectiveOp::AllToAll;
    QVERIFY(near(priced(wires, call).seconds, 7e-3 + 1e-6));
    call.op = CollectiveOp::Broadcast;
    QVERIFY(near(priced(wires, call).seconds, 8e-3 + 7e-6));
    call.op = CollectiveOp::SendReceive;
    call.group = communicator(tiers, 2, 1);
    QVERIFY(near(priced(wires, call).seconds, 8e-3 + 1e-6));
    call.group = communicator(tiers, 1, 1);
    QCOMPARE(priced(wires, call).seconds, 0.0);
}

// Two nodes of four: 100 GB/s a device inside, 40 GB/s a node between. Of 400 MB each device sends 2·3/4 inside (6 ms),
// then 2·1/2 of its quarter at a quarter of 40 GB/s (10 ms): the outer tier bounds.
void TstNetworkModels::twoTiers() {
    const std::vector tiers{tier(4, 1, 100e9), tier(2, 4, 40e9, 0, true)};
    const ClosedFormNetwork wires(tiers, wiresAlone());
    const CollectivePrice price = priced(wires, {CollectiveOp::AllReduce, 400e6, communicator(tiers, 8, 1)});
    QVERIFY(near(price.seconds, 10e-3));
    QVERIFY(near(price.high, 16e-3));
    QCOMPARE(price.boundBy, 1);
    QVERIFY(near(price.loads[0].wireBytes, 600e6));
    QVERIFY(near(price.loads[1].wireBytes, 100e6));
    // Data parallel over the nodes, one device of each: a quarter of the node's link.
    const Communicator across = communicator(tiers, 2, 4);
    QCOMPARE(across.ranks, (std::vector<std::int64_t>{1, 2}));
    QVERIFY(near(priced(wires, {CollectiveOp::AllReduce, 400e6, across}).seconds, 40e-3));
    // An all-to-all of 800 MB among eight: three peers inside (300 MB at 100 GB/s), four outside (400 MB at 10 GB/s).
    QVERIFY(near(priced(wires, {CollectiveOp::AllToAll, 800e6, communicator(tiers, 8, 1)}).seconds, 40e-3));
}

// NCCL's tuning model against the all-reduces published for eight A100, H100, H200 and B200: nine in ten are
// inside the interval, whose width A100 and H100 alone have set.
void TstNetworkModels::published() {
    auto table = CsvStream::open(std::string(ORRERY_REFERENCE) + "/training/data/nccl/nccl_measured.csv");
    if (!table) QSKIP("no reference data");
    const struct {
        std::string_view start;
        double links;
    } machines[] = {{"8xA100", 300e9}, {"8xH100 NVLink4 (ND", 450e9}, {"8xH200", 450e9}, {"8xB200", 900e9}};
    std::map<std::string_view, std::vector<double>> errors;
    int inside = 0, all = 0;
    while (table->next().value_or(false)) {
        const auto cells = table->cells();
        for (const auto& machine : machines) {
            if (!cells[0].starts_with(machine.start)) continue;
            if (cells[2] != "all_reduce" || cells[4].empty()) continue;
            const double size = *numberIn(cells[4]), bus = *numberIn(cells[5]) * 1e9;
            const std::vector tiers{tier(8, 1, machine.links)};
            const CollectivePrice price =
                priced(ClosedFormNetwork(tiers), {CollectiveOp::AllReduce, size, communicator(tiers, 8, 1)});
            const double measured = size * 1.75 / bus;
            ++all;
            if (price.low <= measured && measured <= price.high)
                ++inside;
            else
                qInfo("%s %.0f: measured %s, priced %s in %s to %s by %s", machine.start.data(), size,
                      format(Seconds(measured)).c_str(), format(Seconds(price.seconds)).c_str(),
                      format(Seconds(price.low)).c_str(), format(Seconds(price.high)).c_str(), price.algorithm.c_str());
            if (size >= 16e6) errors[machine.start].push_back(std::abs(price.seconds / measured - 1));
        }
    }
    qInfo("%d of %d inside", inside, all);
    QVERIFY(all > 80);
    QVERIFY(inside >= all - all / 10);
    for (auto& [machine, list] : errors) {
        std::sort(list.begin(), list.end());
        const double median = list[list.size() / 2];
        qInfo("%s from 16 MB on: median error %.1f %%, worst %.1f %%", machine.data(), 100 * median, 100 * list.back());
        QVERIFY2(median < 0.25, machine.data());
    }
}

namespace {

struct Drawn {
    std::vector<NetworkTier> tiers;
    Communicator group;
    double bytes = 0;
};
// Up to three tiers of powers of two, and a group that lies evenly in them.
Drawn drawnAtRandom(std::mt19937_64& random) {
    const auto upTo = [&](int most) { return std::uniform_int_distribution<int>(0, most)(random); };
    Drawn out;
    std::int64_t inner = 1;
    int doublings = 0;
    for (int t = 0; t <= upTo(2); ++t) {
        const int d = 1 + upTo(2);
        out.tiers.push_back(tier(1 << d, inner, 1e9 * (1 + upTo(900)), 1e-7 * upTo(30), t > 0));
        inner <<= d;
        doublings += d;
    }
    const int size = upTo(doublings), stride = upTo(doublings - size);
    out.group = communicator(out.tiers, 1LL << size, 1LL << stride);
    out.bytes = std::exp2(upTo(33));
    return out;
}

}  // namespace

void TstNetworkModels::nothingBeatsTheWires() {
    std::mt19937_64 random(20261122);
    for (int i = 0; i < 2000; ++i) {
        const Drawn drawn = drawnAtRandom(random);
        std::int64_t product = 1;
        for (const std::int64_t ranks : drawn.group.ranks) product *= ranks;
        QCOMPARE(product, drawn.group.size);
        QVERIFY(!drawn.group.uneven);
        for (const CollectiveOp op : every_op) {
            const CollectiveCall call{op, drawn.bytes, drawn.group};
            for (const CollectiveSoftware* software : {&wiresAlone(), &ncclTuning()}) {
                const CollectivePrice price = priced(ClosedFormNetwork(drawn.tiers, *software), call);
                if (drawn.group.size == 1) {
                    QCOMPARE(price.seconds, 0.0);
                    continue;
                }
                QVERIFY(price.low > 0 && price.low <= price.seconds && price.seconds <= price.high);
                // Of the bytes that enter the outermost tier no less than one buffer's share crosses it.
                const auto t = static_cast<std::size_t>(drawn.group.outermost());
                double inside = 1;
                for (std::size_t j = 0; j < t; ++j) inside *= static_cast<double>(drawn.group.ranks[j]);
                const auto r = static_cast<double>(drawn.group.ranks[t]);
                const bool alone = op == CollectiveOp::SendReceive;
                const double least =
                    drawn.bytes * (r - 1) / r / (alone ? 1 : inside) / drawn.tiers[t].perDevice().value;
                QVERIFY(price.seconds >= least * (1 - 1e-12));
            }
            const double wires = priced(ClosedFormNetwork(drawn.tiers, wiresAlone()), call).low;
            QVERIFY(priced(ClosedFormNetwork(drawn.tiers), call).seconds >= wires);
        }
    }
}

void TstNetworkModels::moreIsNeverSlower() {
    std::mt19937_64 random(7);
    for (int i = 0; i < 2000; ++i) {
        Drawn drawn = drawnAtRandom(random);
        for (const CollectiveOp op : every_op) {
            const CollectivePrice before = priced(ClosedFormNetwork(drawn.tiers), {op, drawn.bytes, drawn.group});
            const CollectivePrice fewer = priced(ClosedFormNetwork(drawn.tiers), {op, drawn.bytes / 2, drawn.group});
            QVERIFY(fewer.seconds <= before.seconds);
            auto wider = drawn.tiers;
            NetworkTier& one = wider[random() % wider.size()];
            one.bandwidth *= 2;
            one.allToAll *= 2;
            // The switch that reduces comes with a bandwidth: an all-reduce there is chosen only where it is faster.
            QVERIFY(priced(ClosedFormNetwork(wider), {op, drawn.bytes, drawn.group}).seconds <= before.seconds);
        }
    }
}

void TstNetworkModels::refused() {
    std::vector tiers{tier(8, 1, 100e9), tier(4, 8, 0, 0, true)};
    const ClosedFormNetwork network(tiers);
    const auto crossing = network.price({CollectiveOp::AllReduce, 1e6, communicator(tiers, 16, 1)});
    QVERIFY(!crossing);
    QCOMPARE(crossing.error().code, std::string("network.not-drawn"));
    QCOMPARE(crossing.error().place.path, std::string("system/fabric.bandwidth"));  // the field to fill
    QVERIFY(network.price({CollectiveOp::AllReduce, 1e6, communicator(tiers, 8, 1)}));
    QCOMPARE(network.price({CollectiveOp::AllReduce, 1e6, Communicator{4, 1, {4}, false}}).error().code,
             std::string("network.group"));
    QCOMPARE(network.price({CollectiveOp::AllReduce, -1, communicator(tiers, 8, 1)}).error().code,
             std::string("network.bytes"));
}

// Links of 10 and 6 B/s; the second flow crosses both. The tighter one gives 3 to each of its two, the first takes 7.
void TstNetworkModels::flowsShareFairly() {
    FluidFlows flows({10, 6}, LinkSharing::Fair, 0.5);
    const std::int32_t first[] = {0}, both[] = {0, 1}, second[] = {1};
    flows.start(1, first, 70, 0);
    flows.start(2, both, 6, 0);
    flows.start(3, second, 12, 0);
    QCOMPARE(flows.rate(0), 7.0);
    QCOMPARE(flows.rate(1), 3.0);
    QCOMPARE(flows.rate(2), 3.0);
    std::vector<std::pair<std::uint32_t, double>> order;
    std::vector<std::uint32_t> done;
    while (flows.next() != FluidFlows::never) {
        const SimTime now = flows.next();
        done.clear();
        flows.arrivals(now, done);
        for (const std::uint32_t one : done) order.emplace_back(one, toSeconds(now));
    }
    // The second ends at 2 s; then the third has 6 left at 6 B/s, the first 56 at 10. Each arrives half a second later.
    QCOMPARE(order.size(), 3u);
    QCOMPARE(order[0].first, 2u);
    QVERIFY(std::abs(order[0].second - 2.5) < 1e-9);
    QCOMPARE(order[1].first, 3u);
    QVERIFY(std::abs(order[1].second - 3.5) < 1e-9);
    QVERIFY(std::abs(order[2].second - 8.1) < 1e-9);
}

// Whatever is shared how: no link carries more than it can, all bytes arrive, and never sooner than alone.
void TstNetworkModels::flowsMoveTheirBytes() {
    std::mt19937_64 random(17);
    for (int round = 0; round < 200; ++round) {
        for (const LinkSharing sharing : {LinkSharing::None, LinkSharing::Fifo, LinkSharing::Fair}) {
            std::vector<double> capacities(2 + random() % 6);
            for (double& each : capacities) each = static_cast<double>(1 + random() % 100);
            FluidFlows flows(capacities, sharing, 0);
            std::vector<double> alone;
            std::vector<std::vector<std::int32_t>> paths;
            const auto count = static_cast<std::uint32_t>(1 + random() % 8);
            for (std::uint32_t i = 0; i < count; ++i) {
                std::vector<std::int32_t> path;
                for (std::size_t link = 0; link < capacities.size(); ++link)
                    if (random() % 2 || path.empty()) path.push_back(static_cast<std::int32_t>(link));
                const auto bytes = static_cast<double>(1 + random() % 1000);
                double narrowest = 1e9;
                for (const std::int32_t link : path)
                    narrowest = std::min(narrowest, capacities[static_cast<std::size_t>(link)]);
                alone.push_back(bytes / narrowest);
                paths.push_back(path);
                flows.start(i, path, bytes, 0);
            }
            if (sharing != LinkSharing::None) {
                std::vector<double> used(capacities.size());
                for (std::size_t i = 0; i < paths.size(); ++i)
                    for (const std::int32_t link : paths[i]) used[static_cast<std::size_t>(link)] += flows.rate(i);
                for (std::size_t link = 0; link < used.size(); ++link)
                    QVERIFY(used[link] <= capacities[link] * (1 + 1e-12));
            }
            std::size_t arrived = 0;
            std::vector<std::uint32_t> done;
            for (int guard = 0; guard < 1000 && flows.next() != FluidFlows::never; ++guard) {
                const SimTime now = flows.next();
                done.clear();
                flows.arrivals(now, done);
                arrived += done.size();
                for (const std::uint32_t one : done) QVERIFY(toSeconds(now) >= alone[one] - 1e-9);
            }
            QCOMPARE(arrived, paths.size());
        }
    }
}

QTEST_GUILESS_MAIN(TstNetworkModels)
#include "tst_network_models.moc"
