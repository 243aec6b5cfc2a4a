// Half batches that take turns on a device and on units in its memory: the schedule against one stepped tick by tick,
// its bounds, halves that add up, and what a pass and an iteration of serving save by it.

#include "hardware/files/catalogue.h"
#include "methods/model/kernel_iteration.h"
#include "methods/model/turns.h"
#include "support/iteration_fixture.h"
#include "support/kernel_fixture.h"

#include <QtTest/QtTest>

#include <array>
#include <cmath>
#include <random>

using namespace orrery;

namespace {

HardwarePtr device(const char* id) {
    auto loaded = loadHardware(id);
    if (!loaded) qFatal("%s: %s", id, loaded.error().message.c_str());
    return std::make_shared<const Hardware>(std::move(loaded->hardware));
}

/// Whole ticks: each place serves the stretches in the order first half, second half, next stretch, and a half has one
/// stretch at a time. The tick at which both are done.
int steppedTurns(const std::vector<TurnStretch>& block, int times) {
    std::vector<TurnStretch> all;
    for (int i = 0; i < times; ++i)
        for (const TurnStretch& each : block) {
            if (all.empty() || all.back().beside != each.beside)
                all.push_back(each);
            else
                all.back().seconds += each.seconds;  // a half keeps its place
        }
    struct Job {
        std::size_t half, stretch;
    };
    std::array<std::vector<Job>, 2> lines;
    for (std::size_t s = 0; s < all.size(); ++s)
        for (std::size_t h = 0; h < 2; ++h) lines[all[s].beside].push_back({h, s});
    std::array<std::size_t, 2> next{}, served{};
    std::array<int, 2> left{};
    std::array<bool, 2> busy{};
    for (int tick = 0;; ++tick) {
        for (int place = 0; place < 2; ++place) {  // what ends with this tick
            const Job* job = served[place] < lines[place].size() ? &lines[place][served[place]] : nullptr;
            if (busy[place] && left[place] == 0) busy[place] = false, ++next[job->half], ++served[place];
        }
        if (served[0] == lines[0].size() && served[1] == lines[1].size()) return tick;
        for (int place = 0; place < 2; ++place) {
            if (busy[place] || served[place] == lines[place].size()) continue;
            const Job& job = lines[place][served[place]];
            if (next[job.half] != job.stretch) continue;
            busy[place] = true;
            left[place] = static_cast<int>(all[job.stretch].seconds);
        }
        for (int place = 0; place < 2; ++place)
            if (busy[place]) --left[place];
    }
}

Expected<Composition> composed(const char* turns, std::int64_t batch, const char* placing = "attention") {
    WorkloadRecipe recipe{"llama-2-7b", {}};
    recipe.options.batch = batch;
    recipe.options.sequence = 2048;
    recipe.options.phase = Phase::Decode;
    recipe.options.weights = recipe.options.activations = recipe.options.kv = DType::F16;
    auto workload = loadWorkload(recipe);
    if (!workload) return Unexpected(std::move(workload.error()));
    const auto executor = makeSerialExecutor();
    EstimateContext context{*executor, {}, nullptr, 1, false};
    context.options = {{"turns", turns}, {"place", placing}};
    return compose({device("mi100-hbm-pim"), *workload}, *findKernelMethod("pim-offload"), {}, context);
}

double iteration(const char* turns, const testing::Work& work, const char* software = "graphs") {
    const HardwarePtr hardware = device("mi100-hbm-pim");
    const CalibrationSet none;
    KernelIterationSpec spec;
    spec.model.config = *transformerConfig("llama-2-7b");
    spec.model.weights = spec.model.activations = spec.model.kv = DType::F16;
    spec.software = *findSoftwareStack(software);
    spec.gpu = *gpuView(*hardware);
    spec.pricer = *findKernelMethod("pim-offload")
                       ->bind(*firstDevice(hardware), {none, {{"turns", turns}, {"place", "attention"}}});
    return (*KernelIterationTime::make(std::move(spec)))->price(work.work()).seconds;
}

}  // namespace

class TestTurns : public QObject {
    Q_OBJECT
private slots:
    void schedulesAreThoseOfAClock() {
        std::mt19937 random(7);
        for (int round = 0; round < 500; ++round) {
            std::vector<TurnStretch> block(1 + random() % 6);
            double device = 0, beside = 0;
            for (TurnStretch& each : block) {
                each = {random() % 2 == 0, 1.0 + random() % 9};
                (each.beside ? beside : device) += each.seconds;
            }
            const int times = 1 + static_cast<int>(random() % 5);
            const double found = secondsOfTurns(block, times);
            QCOMPARE(found, static_cast<double>(steppedTurns(block, times)));
            QVERIFY(found >= 2 * times * std::max(device, beside));
            QVERIFY(found <= 2 * times * (device + beside));
        }
        // Many blocks are those of a clock too.
        const std::vector<TurnStretch> long3{{false, 3}, {true, 5}, {false, 1}};
        QCOMPARE(secondsOfTurns(long3, 3000), static_cast<double>(steppedTurns(long3, 3000)));
        // One stretch on each: the busier place never waits.
        for (const auto& [d, u] : {std::pair{3.0, 2.0}, {2.0, 3.0}, {1.0, 1.0}})
            QCOMPARE(secondsOfTurns(std::array{TurnStretch{false, d}, TurnStretch{true, u}}, 40),
                     2 * 40 * std::max(d, u) + std::min(d, u));
    }

    void twoHalvesAreTheWhole() {
        Kernel attention;
        attention.kind = KernelKind::DecodeAttention;
        attention.attention = {64, 32, 32, 1, 2048, 128, 128};
        countWork(attention);
        const auto half = halfOfBatch(attention);
        QVERIFY(half);
        QCOMPARE(2 * half->flops, attention.flops);
        QCOMPARE(2 * half->bytes(), attention.bytes());
        const Kernel product = fixture::product(64, 4096, 4096, DType::F16);
        const auto rows = halfOfBatch(product);
        QVERIFY(rows);
        QCOMPARE(2 * rows->flops, product.flops);
        // The weights, once more.
        QCOMPARE(2 * rows->bytes() - product.bytes(), 2.0 * 4096 * 4096);
        QVERIFY(!halfOfBatch(fixture::product(1, 4096, 4096, DType::F16)));
        attention.attention.batch = 1;
        QVERIFY(!halfOfBatch(attention));
    }

    void aPassOfManySequencesTakesLess() {
        const auto off = composed("off", 256), on = composed("on", 256);
        QVERIFY2(off && on, off ? "" : off.error().message.c_str());
        QCOMPARE(off->turns, 0.0);
        for (const Launch& launch : on->list().launches)
            QVERIFY2(launch.part == Part::Forward && halfOfBatch(launch.kernel), toText(launch.kernel).c_str());
        QVERIFY(on->turns > 0);
        // No more is hidden than the shorter side of the whole batch takes.
        double beside = 0, all = 0;
        for (std::size_t i = 0; i < on->prices.size(); ++i) {
            const Launch& launch = on->list().launches[i];
            all += launch.count * on->prices[i].seconds;
            if (on->pricer->beside(launch.kernel)) beside += launch.count * on->prices[i].seconds;
        }
        QVERIFY(beside > 0 && on->turns < std::min(beside, all - beside));
        // One sequence has no halves; with few the weights, read twice, cost more than turns save.
        QCOMPARE(composed("on", 1)->turns, 0.0);
        QVERIFY(composed("on", 2)->turns <= on->turns);
        QCOMPARE(composed("on", 256, "none")->turns, 0.0);
    }

    void anIterationTakesAsMuchLess() {
        const double off = iteration("off", testing::decodes(256, 2048)),
                     on = iteration("on", testing::decodes(256, 2048));
        QVERIFY(on < off);
        const auto pass = composed("on", 256);
        QVERIFY(pass);
        // The same kernels by another way: prices on grids, and a head that takes no turns.
        QVERIFY2(std::abs((off - on) / pass->turns - 1) < 0.15, qPrintable(QString::number((off - on) / pass->turns)));
        QCOMPARE(iteration("on", testing::decodes(1, 2048)), iteration("off", testing::decodes(1, 2048)));
        // Where the host issues each kernel, twice as many would be issued.
        QCOMPARE(iteration("on", testing::decodes(256, 2048), "eager"),
                 iteration("off", testing::decodes(256, 2048), "eager"));
        QCOMPARE(iteration("on", testing::prompts(1, 512)), iteration("off", testing::prompts(1, 512)));
    }
};

QTEST_GUILESS_MAIN(TestTurns)
#include "tst_turns.moc"
