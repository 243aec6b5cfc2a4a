// LoRA adapters: their size, their price, and the gate that holds a policy to those that are resident.

#include "hardware/files/catalogue.h"
#include "methods/system/adapters.h"
#include "methods/system/planned_fleet.h"
#include "serving/metrics.h"
#include "support/disaggregation_fixture.h"

#include <QtTest/QtTest>

#include <algorithm>
#include <cmath>
#include <set>

using namespace orrery;
using namespace orrery::testing;

namespace {

TransformerConfig config(const char* model) {
    return *transformerConfig(model);
}

// A stream in which request i asks for adapter list[i].
std::shared_ptr<RequestStream> asking(const std::vector<Arrival>& list, const std::vector<std::int32_t>& adapters) {
    auto stream = arrivals(list);
    stream->adapter = adapters;
    return stream;
}

}  // namespace

class TestServingAdapters : public QObject {
    Q_OBJECT

private slots:
    // What peft prints as trainable parameters: 4,194,304 for rank 8 on queries and values of Llama-2 7B, 39,976,960
    // for rank 16 on all its linear layers, 41,943,040 on those of Llama-3 8B.
    void parametersOfAdapters() {
        const auto all7 = adaptedProducts(config("llama-2-7b"), AdapterTargets::All, 1);
        QCOMPARE(adapterParameters(all7, 16), 39976960.0);
        QCOMPARE(adapterParameters(adaptedProducts(config("llama-3-8b"), AdapterTargets::All, 1), 16), 41943040.0);
        // Queries, keys, values and output are alike in Llama-2 7B: twice its queries and values.
        QCOMPARE(adapterParameters(adaptedProducts(config("llama-2-7b"), AdapterTargets::Attention, 1), 8),
                 2 * 4194304.0);
        // Over two devices B of the products by columns and A of those by rows are halved: three quarters stay.
        QCOMPARE(adapterParameters(adaptedProducts(config("llama-2-7b"), AdapterTargets::Attention, 2), 8),
                 1.5 * 4194304.0);
        // Latent attention: hidden 7168, queries 1536 → 128 × 192, latent 512 + 64, → 128 × 256, output 128 × 128.
        const double latent =
            61 * 16.0 * ((7168 + 1536) + (1536 + 128 * 192) + (7168 + 576) + (512 + 128 * 256) + (128 * 128 + 7168));
        QCOMPARE(adapterParameters(adaptedProducts(config("deepseek-v3"), AdapterTargets::Attention, 1), 16), latent);
    }

    // Punica's counts by hand: 4 adapters, 64 tokens, one product of 4096 × 4096, rank 16, 16 bits.
    void extraProductsByHand() {
        const auto gpu = gpuView(loadHardware("a100-80-sxm")->hardware);
        QVERIFY(gpu);
        const auto time =
            adapterTime({{4096, 4096, 1}}, 16, DType::F16, {gpu->peak(true, DType::F16), gpu->dramBandwidth}, 1);
        IterationWork work;
        work.adapters = 4;
        work.adapterTokens = 64;
        const double bytes = (64 * (4096 + 16) + 4 * 4096 * 16) * 2.0, flops = 2.0 * 64 * 4096 * 16;
        const double each = std::max(bytes / gpu->dramBandwidth, flops / gpu->peak(true, DType::F16));
        QVERIFY(std::abs(time->price(work).lastSeconds - 2 * (each + 1e-6)) < 1e-15);
        QVERIFY(bytes / gpu->dramBandwidth > flops / gpu->peak(true, DType::F16));  // memory-bound, as Punica finds
        const double few = time->price(work).lastSeconds;
        work.adapters = 64;  // every token its own
        QVERIFY(time->price(work).lastSeconds > few);
        work.adapters = 0;
        QCOMPARE(time->price(work).lastSeconds, 0.0);
    }

    // Punica states 2 ms more per token (Chen et al., abstract) for models of 7B on A100, rank 16, batches of up to 32.
    void aTokensPriceAsPublished() {
        const auto gpu = gpuView(loadHardware("a100-80-sxm")->hardware);
        QVERIFY(gpu);
        const auto time = adapterTime(adaptedProducts(config("llama-2-7b"), AdapterTargets::All, 1), 16, DType::F16,
                                      {gpu->peak(true, DType::F16), gpu->dramBandwidth}, 1);
        IterationWork work;
        work.adapters = work.adapterTokens = 32;
        const double seconds = time->price(work).lastSeconds;
        qInfo("%.2f ms more per token, 2 ms published", seconds * 1e3);
        QVERIFY(std::abs(seconds / 2e-3 - 1) < 0.25);
    }

    // One slot, prompts of 100 ms, adapters 0 and 1: the second waits for the first to leave, both are loaded once,
    // half a second each.
    void loadsOnPaper() {
        FleetSpec fleet;
        fleet.replicas.push_back(paperReplica(ReplicaRole::Whole));
        fleet.replicas[0].adapters = {1, 0.5, nullptr};
        const auto stream = asking({{0, 100, 3}, {0, 100, 3}, {0, 100, 3}}, {0, 1, 0});
        const ServingResult result = serve(fleet, stream);
        QCOMPARE(QString::fromStdString(broken(result, *stream)), QString());
        // 0 and 2 share adapter 0: 0.5 + 2 × 0.1 s of prompts, then two steps of 10 ms; then 0.5 + 0.1 and two steps.
        QVERIFY(std::abs(ended(result, 0) - 0.72) < 1e-9);
        QVERIFY(std::abs(ended(result, 2) - 0.72) < 1e-9);
        QVERIFY(std::abs(ended(result, 1) - (0.72 + 0.6 + 0.02)) < 1e-9);
        const ServingMetrics metrics = measure(result, fleet);
        QCOMPARE(metrics.adapterLoads, std::uint64_t{2});
        QCOMPARE(metrics.adapterLoadSeconds, 1.0);
        QCOMPARE(metrics.adapterHitRate, 1 - 2.0 / 6);  // three iterations each
        // With two slots all three go together.
        fleet.replicas[0].adapters.count = 2;
        const ServingResult both = serve(fleet, stream);
        QVERIFY(std::abs(ended(both, 1) - (1.0 + 0.3 + 0.02)) < 1e-9);
        // Without adapters nothing changes.
        fleet.replicas[0].adapters = {};
        QVERIFY(std::abs(ended(serve(fleet, stream), 1) - 0.32) < 1e-9);
    }

    void gatedPoliciesConserve_data() {
        QTest::addColumn<QString>("policy");
        for (const SchedulerCard& card : schedulers()) QTest::addRow("%s", card.id.data()) << QString(card.id.data());
    }
    void gatedPoliciesConserve() {
        QFETCH(QString, policy);
        for (unsigned seed = 1; seed <= 4; ++seed) {
            FleetSpec fleet;
            for (int i = 0; i < 2; ++i) {
                fleet.replicas.push_back(paperReplica(ReplicaRole::Whole, 100, policy.toStdString().c_str()));
                fleet.replicas.back().adapters = {static_cast<std::int32_t>(seed), 0.01, nullptr};
            }
            if (seed == 3) fleet.failures.push_back({0, 1.0, 2.0, false});
            if (seed == 4) fleet.failures.push_back({1, 1.0, 2.0, true});
            const auto stream = randomArrivals(seed, 150, 20, 300, 30);
            for (RequestIndex r = 0; r < stream->size(); ++r)
                stream->adapter.push_back(static_cast<std::int32_t>((r * 7) % 11) - 1);
            const ServingResult result = serve(fleet, stream);
            QCOMPARE(QString::fromStdString(broken(result, *stream)), QString());
            for (const ReplicaTotals& totals : result.replicas) {
                QVERIFY(totals.adapterLoads <= totals.adapterUses);
                QVERIFY(std::abs(totals.adapterSeconds - 0.01 * static_cast<double>(totals.adapterLoads)) < 1e-9);
            }
            // Where every adapter has a slot, each is loaded once per replica at most, and nobody is held.
            for (ReplicaSpec& replica : fleet.replicas) replica.adapters = {10, 0, nullptr};
            fleet.failures.clear();
            const ServingResult free = serve(fleet, stream);
            FleetSpec without = fleet;
            for (ReplicaSpec& replica : without.replicas) replica.adapters = {};
            QCOMPARE(free.requests.ended, serve(without, stream).requests.ended);
            for (const ReplicaTotals& totals : free.replicas) QVERIFY(totals.adapterLoads <= 10);
        }
    }

    // No iteration has more adapters than slots, unless caches came from elsewhere.
    void slotsHold() {
        FleetSpec fleet;
        fleet.replicas.push_back(paperReplica(ReplicaRole::Whole, 400, "vllm-v1"));
        fleet.replicas[0].adapters = {3, 0.001, nullptr};
        const auto stream = randomArrivals(5, 200, 40, 200, 20);
        for (RequestIndex r = 0; r < stream->size(); ++r) stream->adapter.push_back(static_cast<std::int32_t>(r % 9));
        ServingOptions options;
        options.batches = options.members = true;
        const auto result = simulate(std::make_shared<FleetSpec>(fleet), stream, options);
        QVERIFY(result);
        const BatchLog& log = result->batches;
        for (std::size_t i = 0; i < log.size(); ++i) {
            std::set<std::int32_t> seen;
            for (auto m = log.memberBegin[i]; m < log.memberBegin[i + 1]; ++m)
                seen.insert(stream->adapter[log.member[m]]);
            QVERIFY(seen.size() <= 3);
        }
    }

    // A cache that has come passes the gate, so that its blocks never wait for an adapter; nothing is lost on the way.
    void cachesFromElsewherePass() {
        for (const char* policy : {"vllm-v1", "vllm-v0", "sarathi"}) {
            FleetSpec fleet;
            for (const ReplicaRole role : {ReplicaRole::Prefill, ReplicaRole::Prefill, ReplicaRole::Decode}) {
                fleet.replicas.push_back(paperReplica(role, 200, policy));
                fleet.replicas.back().adapters = {2, 0.002, nullptr};
            }
            fleet.transfer.bytesPerSecond = 1e7;
            fleet.failures.push_back({1, 2.0, 1.0, false});
            const auto stream = randomArrivals(8, 150, 10, 300, 30);
            for (RequestIndex r = 0; r < stream->size(); ++r)
                stream->adapter.push_back(static_cast<std::int32_t>(r % 7));
            const ServingResult result = serve(fleet, stream);
            QCOMPARE(QString::fromStdString(broken(result, *stream)), QString());
            for (const RequestState state : result.requests.state) QCOMPARE(state, RequestState::Done);
            QCOMPARE(serve(fleet, stream).requests.ended, result.requests.ended);
        }
    }

    void adaptersOfAScenario() {
        ServingScenario scenario;
        PoolSpec pool;
        pool.hardware = "h100-sxm";
        pool.time.method = "tile-wave";
        scenario.pools = {pool};
        const auto plain = fleetOf(scenario, nullptr);
        scenario.tenants = {{"all", 1, 100, 1}};
        const auto planned = fleetOf(scenario, nullptr);
        QVERIFY2(planned, planned ? "" : toText(planned.error()).c_str());
        const AdapterSlots& slot = planned->fleet->replicas[0].adapters;
        QCOMPARE(slot.count, 8);
        // Rank 16 on attention of Llama-3 8B: 32 × 16 × 2 × (4096 + 4096 + 4096 + 1024) parameters of two bytes.
        const double bytes = 2.0 * 32 * 16 * (8192 + 2 * 5120 + 8192);
        QVERIFY(std::abs(slot.loadSeconds - bytes / 25e9) < 1e-12);
        const auto lost = plain->pools[0].capacity.blocks - planned->pools[0].capacity.blocks;
        QVERIFY(std::abs(static_cast<double>(lost) - 8 * bytes / (131072 * 16)) <= 1);
    }
};

QTEST_GUILESS_MAIN(TestServingAdapters)
#include "tst_serving_adapters.moc"
