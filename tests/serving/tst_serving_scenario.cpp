// From a person's description to a fleet: memory, plans, clocks, transfers, and what cannot be.

#include "hardware/views/cluster_view.h"
#include "methods/kernel_method.h"
#include "methods/system/clock_policy.h"
#include "methods/system/iteration_times.h"
#include "methods/system/planned_fleet.h"
#include "methods/system/scenario_transfer.h"
#include "serving/serving_scenario.h"
#include "support/iteration_fixture.h"

#include <QtTest/QtTest>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

using namespace orrery;
using namespace orrery::testing;

namespace {

std::shared_ptr<const Hardware> drawing(const char* id) {
    return std::make_shared<const Hardware>(loadHardware(id)->hardware);
}
ServingScenario plain() {
    ServingScenario scenario;
    scenario.pools[0].time.method = "tile-wave";
    return scenario;
}
QString codeOf(const ServingScenario& scenario, const char* hardware = "h100-sxm") {
    const auto fleet = fleetOf(scenario, drawing(hardware));
    return fleet ? QString("none") : QString::fromStdString(fleet.error().code);
}
CapacityNeeds needs() {
    CapacityNeeds n;
    n.deviceBytes = 80e9;
    n.weightBytes = 16e9;
    n.kvBytesPerToken = 131072;
    n.activationBytes = 1e9;
    n.graphBytes = n.runtimeBytes = 5e8;
    return n;
}

}  // namespace

class TestServingScenario : public QObject {
    Q_OBJECT
private slots:
    void aDefaultScenarioIsAFleet() {
        const auto fleet = fleetOf(plain(), drawing("h100-sxm"));
        QVERIFY2(fleet, fleet ? "" : fleet.error().message.c_str());
        QCOMPARE(fleet->fleet->replicas.size(), std::size_t(1));
        const PlannedPool& pool = fleet->pools.front();
        double sum = 0;
        for (const CapacityPart& part : pool.capacity.parts) {
            QVERIFY(part.bytes >= 0);
            sum += part.bytes;
        }
        QVERIFY(std::fabs(sum / (80 * 1073741824.0) - 1) < 1e-12);
        // 8.03e9 parameters of two bytes.
        QVERIFY(std::fabs(pool.weightBytesPerDevice / 16.06e9 - 1) < 0.001);
        QVERIFY(pool.decodeSeconds > pool.weightBytesPerDevice / 3.35e12 && pool.decodeSeconds < 0.03);
        QVERIFY(pool.promptSeconds > 1024 * 2 * 7.5e9 / 989e12 && pool.promptSeconds < 0.1);
        const ReplicaSpec& replica = fleet->fleet->replicas.front();
        QVERIFY(replica.power.idle < replica.power.decode && replica.power.prompt <= 700.1);
    }

    // Arrays, NPUs and CPUs answer without a chosen method; which one is said, and a method of another kind of device
    // is refused with the names of those that could.
    void devicesOtherThanGpusArePricedToo() {
        const auto said = [](const PlannedFleet& fleet) -> std::string {
            for (const Diagnostic& each : fleet.warnings)
                if (each.code == "serving.usual-pricer") return each.message;
            return {};
        };
        for (const char* id : {"tpu-v4", "tpu-v5e", "trainium2", "epyc-9654"}) {
            ServingScenario scenario;
            scenario.model.weights = DType::I8;
            const auto fleet = fleetOf(scenario, drawing(id));
            QVERIFY2(fleet, fleet ? "" : fleet.error().message.c_str());
            const std::string sentence = said(*fleet);
            const auto named = std::ranges::find_if(kernelMethods(), [&](const KernelMethod& method) {
                return sentence.find("predicted by " + std::string(method.id) + ".") != std::string::npos;
            });
            QVERIFY2(named != kernelMethods().end(), sentence.c_str());
            QCOMPARE(fleet->pools[0].pricer, std::string(named->id));
            // The one that is said is the one that prices.
            ServingScenario chosen = scenario;
            chosen.pools[0].time.method = std::string(named->id);
            const auto again = fleetOf(chosen, drawing(id));
            QVERIFY(again && said(*again).empty());
            QCOMPARE(again->pools[0].decodeSeconds, fleet->pools[0].decodeSeconds);
            const double bandwidth =
                deviceView(DeviceRef{fleet->pools[0].design, fleet->pools[0].place}).value().main().bandwidth.value;
            // All but the embedding, a twentieth of this model, is read for each token.
            QVERIFY(fleet->pools[0].decodeSeconds >= 0.9 * fleet->pools[0].weightBytesPerDevice / bandwidth);
            chosen.pools[0].time.method = "tile-wave";
            const auto refused = fleetOf(chosen, drawing(id));
            QVERIFY(!refused && refused.error().hint.find(named->id) != std::string::npos);
            chosen.pools[0].time.method = "roofline";
            const auto bound = fleetOf(chosen, drawing(id));
            QVERIFY(!bound && bound.error().hint.find(named->id) != std::string::npos);
        }
        const auto gpu = fleetOf(ServingScenario(), drawing("h100-sxm"));
        QVERIFY(gpu && said(*gpu).empty());
        QCOMPARE(gpu->pools[0].pricer, TimeSlot{}.method);
    }

    // vLLM 0.19 gives Llama-3.1 8B 2,588 blocks on an RTX 4090 (published by LLMServingSim).
    void blocksOfARealEngine() {
        ServingScenario scenario = plain();
        scenario.pools[0].hardware = "rtx-4090";
        const auto fleet = fleetOf(scenario, nullptr);
        QVERIFY2(fleet, fleet ? "" : fleet.error().message.c_str());
        const double blocks = static_cast<double>(fleet->pools[0].capacity.blocks);
        qInfo("%.0f blocks on RTX 4090, 2588 real", blocks);
        QVERIFY(std::fabs(blocks / 2588 - 1) < 0.03);
    }

    // Block counts that VIDUR prints for Llama-2 7B on an A100, with longest texts of 512 and 1,024 tokens.
    void vidursFormula() {
        CapacityNeeds n;
        n.compatibility = "vidur";
        n.deviceBytes = 80 * 1073741824.0;
        n.weightBytes = 2.0 * 32 * (4.0 * 4096 * 4096 + 3.0 * 4096 * 11008);
        n.kvBytesPerToken = 4.0 * 128 * 32 * 32;
        n.longestText = 512;
        QCOMPARE(planCapacity(n)->blocks, std::int64_t(7648));
        n.longestText = 1024;
        QCOMPARE(planCapacity(n)->blocks, std::int64_t(7616));
    }

    void capacityFollowsItsParts() {
        const std::int64_t blocks = planCapacity(needs())->blocks;
        QCOMPARE(blocks, static_cast<std::int64_t>((72e9 - 18e9) / (131072 * 16)));
        CapacityNeeds n = needs();
        n.memoryShare = 0.95;
        QVERIFY(planCapacity(n)->blocks > blocks);
        n = needs();
        n.kvBytesPerToken /= 2;
        QCOMPARE(planCapacity(n)->blocks / 2, blocks);
    }

    void whatCannotBe() {
        ServingScenario s = plain();
        s.model.source = "llama-2-70b";
        QCOMPARE(codeOf(s), QString("serving.does-not-fit"));
        s = plain();
        s.pools[0].plan.tensor = 3;
        QCOMPARE(codeOf(s), QString("plan.does-not-divide"));
        s = plain();
        s.model.source = "bert-base";
        QCOMPARE(codeOf(s), QString("workload.not-a-decoder"));
        s = plain();
        s.pools[0].time.method = "roofline";
        QCOMPARE(codeOf(s), QString("serving.no-kernel-method"));
        s = plain();
        s.pools[0].time.software = "no such";
        QCOMPARE(codeOf(s), QString("serving.no-software"));
        s = plain();
        s.pools[0].time.kind = SlotKind::Law;
        QCOMPARE(codeOf(s), QString("serving.bad-law"));
        s = plain();
        s.pools[0].time.kind = SlotKind::Table;
        s.pools[0].time.format = "unheard";
        QCOMPARE(codeOf(s), QString("serving.unknown-table"));
        s = plain();
        s.pools[0].device = "no_such_part";
        QCOMPARE(codeOf(s), QString("serving.no-device"));
        s = plain();
        s.pools[0].tokensPerBlock = 0;
        QCOMPARE(codeOf(s), QString("serving.bad-capacity"));
        s = plain();
        s.pools[0].replicas = -1;
        QCOMPARE(codeOf(s), QString("serving.bad-pool"));
        s = plain();
        s.pools[0].replicas = 0;
        QVERIFY(!fleetOf(s, drawing("h100-sxm")));
        QVERIFY(!fleetOf(plain(), nullptr));
        s = plain();
        s.pools[0].role = ReplicaRole::Prefill;
        QVERIFY(!fleetOf(s, drawing("h100-sxm")));
    }

    void timesAreKept() {
        IterationTimes cache;
        FleetOptions options;
        options.cache = &cache;
        const auto design = drawing("h100-sxm");
        ServingScenario scenario = plain();
        const auto first = fleetOf(scenario, design, options);
        scenario.pools[0].scheduler.maxSequences = 7;
        const auto second = fleetOf(scenario, design, options);
        QCOMPARE(first->fleet->replicas[0].time, second->fleet->replicas[0].time);
        scenario.model.kv = DType::FP8;
        const auto third = fleetOf(scenario, design, options);
        QVERIFY(first->fleet->replicas[0].time != third->fleet->replicas[0].time);
        QVERIFY(third->pools[0].capacity.blocks > 1.9 * static_cast<double>(first->pools[0].capacity.blocks));
    }

    void onlyTheTimesUsedLastAreKept() {
        IterationTimes cache;
        cache.parts().most = 2;
        FleetOptions options;
        options.cache = &cache;
        // As edits of a slider: each another device.
        const auto timeAt = [&](double share) {
            Hardware design = *drawing("h100-sxm");
            Component& memory = *componentAt(design.root, findComponent(design.root, "hbm3").value());
            std::get<Measure>(memory.find("bandwidth")->value).si *= share;
            return fleetOf(plain(), std::make_shared<const Hardware>(std::move(design)), options)
                ->fleet->replicas[0]
                .time;
        };
        const auto first = timeAt(1), second = timeAt(0.9);
        QVERIFY(first != second);
        QCOMPARE(timeAt(1), first);  // used again: the other is now the oldest
        (void)timeAt(0.8);
        QCOMPARE(cache.parts().size(), std::size_t{2});
        QCOMPARE(timeAt(1), first);
        QVERIFY(timeAt(0.9) != second);
    }

    void transfersFollowTheDrawing() {
        ServingScenario scenario = plain();
        scenario.pools.push_back(scenario.pools[0]);
        scenario.pools[0].role = ReplicaRole::Prefill;
        scenario.pools[1].role = ReplicaRole::Decode;
        scenario.pools[1].name = "decode";
        const auto single = fleetOf(scenario, drawing("h100-sxm"));
        QVERIFY2(single, single ? "" : single.error().message.c_str());
        QVERIFY(single->fleet->transfer.bytesPerSecond > 20e9 && single->fleet->transfer.bytesPerSecond < 1e12);
        const auto nodes = fleetOf(scenario, drawing("dgx-h100-x2"));
        QVERIFY2(nodes, nodes ? "" : nodes.error().message.c_str());
        QVERIFY(nodes->fleet->transfer.bytesPerSecond > 0);
        scenario.transfer = TransferSpec{.bytesPerSecond = 123};
        QCOMPARE(fleetOf(scenario, drawing("h100-sxm"))->fleet->transfer.bytesPerSecond, 123.0);
        // Nothing drawn and no links of its own: no way, and no assumption about one.
        const auto none = transferOf(Hardware{}, {}, {}, 0, 2);
        QVERIFY(!none && none.error().code == "serving.transfer-not-drawn" && !none.error().hint.empty());
        QCOMPARE(transferOf(Hardware{}, {}, {}, 1e9, 2)->transfer.bytesPerSecond, 2e9);
        scenario.transfer.reset();
        QCOMPARE(codeOf(scenario, "jetson-agx-orin"), QString("serving.transfer-not-drawn"));
        scenario.transfer = TransferSpec{.bytesPerSecond = 1e9};
        QCOMPARE(codeOf(scenario, "jetson-agx-orin"), QString("none"));
        // Links between the parts, no topology: as the cluster view has them.
        scenario.transfer.reset();
        const auto mesh = fleetOf(scenario, drawing("dgx-1-v100"));
        QVERIFY2(mesh, mesh ? "" : mesh.error().message.c_str());
        const auto view = clusterView(*drawing("dgx-1-v100"));
        QCOMPARE(mesh->fleet->transfer.bytesPerSecond, view->groups.front().tiers.back().perDevice().value);
    }

    void theLowestClockKeepsThePromiseAndSavesEnergy() {
        const auto time = iterationTime({.model = "llama-2-70b", .tensor = 2});
        for (const int batch : {8, 64, 256}) {
            const Work work = decodes(batch, 1024);
            const double nominal = time->price(work.work()).lastSeconds;
            const auto joules = [&](double share) {
                const IterationPrice price = time->price(work.work(), share);
                return price.watts * price.lastSeconds;
            };
            double before = 0;
            for (const double slack : {1.0, 1.1, 1.3, 2.0}) {
                const double share = lowestClock(*time, work.work(), slack * nominal);
                QVERIFY(time->price(work.work(), share).lastSeconds <= slack * nominal * (1 + 1e-9));
                QVERIFY(joules(share) <= joules(1) * (1 + 1e-12));
                const double saved = 1 - joules(share) / joules(1);
                QVERIFY(saved >= before - 1e-12);
                before = saved;
            }
            qInfo("batch %d: %.1f %% less energy per token at twice the time", batch, 100 * before);
            QVERIFY(before > 0);
        }
        const Work prompt = prompts(1, 512);
        QCOMPARE(lowestClock(*time, prompt.work(), 1e9), 1.0);
    }

    void aPoolsCapReachesTimeAndPower() {
        ServingScenario scenario = plain();
        PoolSpec& pool = scenario.pools[0];
        const auto free = fleetOf(scenario, drawing("h100-sxm"));
        pool.powerCap = 350;
        const auto capped = fleetOf(scenario, drawing("h100-sxm"));
        QVERIFY(free && capped);
        QVERIFY(capped->pools[0].promptSeconds > 1.1 * free->pools[0].promptSeconds);
        const ReplicaPower &before = free->fleet->replicas[0].power, &now = capped->fleet->replicas[0].power;
        QVERIFY(now.prompt <= 350.001 && now.prompt < before.prompt);
        QCOMPARE(now.idle, before.idle);  // what stands still draws as before
        QVERIFY(QString::fromStdString(fmt::format("{}", fmt::join(capped->pools[0].assumptions, "|")))
                    .contains("Power is held at 350"));
        // Tables and laws have no clock: said, not hidden.
        pool.time.kind = SlotKind::Law;
        pool.time.law.fixed = 0.01;
        const auto law = fleetOf(scenario, drawing("h100-sxm"));
        QVERIFY(law);
        QCOMPARE(QString::fromStdString(law->warnings.front().code), QString("serving.cap-without-clock"));
        pool = plain().pools[0];
        pool.powerCap = 100;
        const auto refused = fleetOf(scenario, drawing("h100-sxm"));
        QVERIFY(!refused);
        QCOMPARE(QString::fromStdString(refused.error().code), QString("serving.bad-power-cap"));
        QCOMPARE(QString::fromStdString(refused.error().place.path), QString("pools/replicas/power_cap"));
    }

    void aLawIsALine() {
        ServingScenario scenario = plain();
        scenario.pools[0].time.kind = SlotKind::Law;
        scenario.pools[0].time.law = {.fixed = 1e-3, .perToken = 1e-5, .perSequence = 1e-4};
        const auto fleet = fleetOf(scenario, drawing("h100-sxm"));
        QVERIFY(fleet);
        const Work work = decodes(4, 100);
        QVERIFY(std::fabs(fleet->fleet->replicas[0].time->price(work.work()).lastSeconds - 1.44e-3) < 1e-15);
    }
};

QTEST_GUILESS_MAIN(TestServingScenario)
#include "tst_serving_scenario.moc"
