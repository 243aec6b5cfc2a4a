// What collectives cost on a drawn network: closed forms worked by hand, bounds that nothing beats, published runs.

#include "base/unit.h"
#include "hardware/files/catalogue.h"
#include "simulation/network/closed_form.h"

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
    std::ifstream file(std::string(ORRERY_REFERENCE) + "/training/data/nccl/nccl_measured.csv");
    if (!file) QSKIP("no reference data");
    const struct {
        std::string_view start;
        double links;
    } machines[] = {{"8xA100", 300e9}, {"8xH100 NVLink4 (ND", 450e9}, {"8xH200", 450e9}, {"8xB200", 900e9}};
    std::map<std::string_view, std::vector<double>> errors;
    int inside = 0, all = 0;
    for (std::string line; std::getline(file, line);) {
        for (const auto& machine : machines) {
            if (!line.starts_with(machine.start)) continue;
            std::vector<std::string> cells;
            std::stringstream stream(line);
            for (std::string cell; std::getline(stream, cell, ',');) cells.push_back(cell);
            if (cells[2] != "all_reduce" || cells[4].empty()) continue;
            const double size = std::stod(cells[4]), bus = std::stod(cells[5]) * 1e9;
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

QTEST_GUILESS_MAIN(TstNetworkModels)
#include "tst_network_models.moc"
