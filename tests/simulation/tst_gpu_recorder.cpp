// The recorder of one SM: what it says must add up to what the simulator counts, and it must change nothing.

#include "hardware/files/catalogue.h"
#include "methods/gpu/gpu_machine.h"
#include "simulation/gpu/hardware_setting.h"
#include "simulation/gpu/occupancy_curve.h"
#include "simulation/gpu/recording_csv.h"
#include "simulation/gpu/simulate.h"
#include "simulation/gpu/templates/attention.h"
#include "simulation/gpu/templates/vector.h"

#include <QTest>

#include <numeric>

using namespace orrery;
using namespace orrery::gpusim;

namespace {

Machine machineFor(bool modern) {
    const auto view = gpuView(loadHardware("a100-80-sxm").value().hardware);
    if (!view) qFatal("%s", toText(view.error()).c_str());
    auto drawn = machineOf(*view);
    if (!drawn) qFatal("%s", toText(drawn.error()).c_str());
    drawn->machine.sms = 2;
    if (modern) useHardwareSetting(drawn->machine, *gpusim::generationOf("ampere"));
    return drawn->machine;
}

KernelTemplatePtr kernelOf(const QString& name) {
    if (name == "product") {
        ProductSpec spec;
        spec.m = 256, spec.n = 384, spec.k = 128;
        spec.form = {.kind = MultiplyForm::Kind::Warp, .opcode = "HMMA.16816.F32"};
        return productTemplate(spec);
    }
    if (name == "softmax") return rowsTemplate({.rows = 96, .columns = 2048});
    if (name == "reduction") return reduceTemplate({.elements = 200'000});
    if (name == "attention") {
        FlashSpec spec;
        spec.heads = spec.kvHeads = 2, spec.queries = 128, spec.keys = 256, spec.keyDim = spec.valueDim = 64;
        spec.form = {.kind = MultiplyForm::Kind::Warp, .opcode = "HMMA.16816.F32"};
        return flashTemplate(spec);
    }
    return elementsTemplate({.elements = 300'000});
}

struct Run {
    KernelResult result;
    Recording recording;
};

Run run(const KernelTemplatePtr& kernel, const Machine& machine, bool records, RecordOptions options = {}) {
    auto source = TemplateSource::open(kernel, machine);
    if (!source) qFatal("%s", toText(source.error()).c_str());
    Recorder recorder(options);
    SimulateOptions how;
    if (records) how.recorder = &recorder;
    auto result = simulate(machine, *source, how);
    if (!result) qFatal("%s", toText(result.error()).c_str());
    return {*result, records ? recorder.take() : Recording{}};
}

std::uint64_t cyclesIn(const Recording& r, SchedulerState state) {
    return r.schedulerCycles[static_cast<std::size_t>(state)];
}

}  // namespace

class TestGpuRecorder : public QObject {
    Q_OBJECT
private slots:
    void lookingChangesNothing_data() { kernels(); }
    void lookingChangesNothing() {
        QFETCH(QString, kernel);
        QFETCH(bool, modern);
        const Machine machine = machineFor(modern);
        const auto without = run(kernelOf(kernel), machine, false).result;
        const auto with = run(kernelOf(kernel), machine, true).result;
        QCOMPARE(with.cycles, without.cycles);
        QCOMPARE(with.counts.stallDependence, without.counts.stallDependence);
        QCOMPARE(with.counts.l1.reads, without.counts.l1.reads);
        QCOMPARE(with.counts.dramReads, without.counts.dramReads);
    }

    // On a machine of one SM all counters are those of the one that is watched.
    void recordedSumsAreThoseOfTheCounters_data() { kernels(); }
    void recordedSumsAreThoseOfTheCounters() {
        QFETCH(QString, kernel);
        QFETCH(bool, modern);
        Machine machine = machineFor(modern);
        machine.sms = 1;
        const auto [result, r] = run(kernelOf(kernel), machine, true);
        const Counters& n = result.counts;
        QCOMPARE(cyclesIn(r, SchedulerState::Issue), n.warpInstructions);
        QCOMPARE(cyclesIn(r, SchedulerState::NoInstruction), n.stallNoInstruction);
        QCOMPARE(cyclesIn(r, SchedulerState::Dependence), n.stallDependence);
        QCOMPARE(cyclesIn(r, SchedulerState::Unit), n.stallUnit);
        std::uint64_t warps = 0;
        for (std::size_t s = 1; s < warpStateCount; ++s) warps += r.warpCycles[s];
        QCOMPARE(warps, n.residentWarpCycles);
        std::uint64_t issues = 0, lanes = 0, byInstruction = 0;
        for (const RecordedInstruction& one : r.instructions) {
            issues += one.issues, lanes += one.lanes;
            byInstruction += std::accumulate(one.warpCycles.begin(), one.warpCycles.end(), std::uint64_t{0});
            QVERIFY2(!one.text.text.empty(), "an instruction without a name");
        }
        QCOMPARE(issues, n.warpInstructions);
        QCOMPARE(lanes, n.threadInstructions);
        QCOMPARE(byInstruction, warps);
        RecordedBin all;
        for (const RecordedBin& bin : r.bins) {
            for (std::size_t u = 0; u < unitCount; ++u) all.issues[u] += bin.issues[u];
            for (std::size_t s = 0; s < schedulerStateCount; ++s) all.schedulers[s] += bin.schedulers[s];
            all.sharedPasses += bin.sharedPasses, all.sharedConflictCycles += bin.sharedConflictCycles;
            all.l1 += bin.l1, all.l1Hits += bin.l1Hits, all.l2 += bin.l2, all.l2Hits += bin.l2Hits;
            all.dram += bin.dram;
        }
        QCOMPARE(std::accumulate(all.issues.begin(), all.issues.end(), std::uint64_t{0}), n.warpInstructions);
        QCOMPARE(all.issues[static_cast<std::size_t>(Unit::Mem)], n.memoryInstructions);
        for (std::size_t s = 1; s < schedulerStateCount; ++s) QCOMPARE(all.schedulers[s], r.schedulerCycles[s]);
        QCOMPARE(all.sharedPasses, n.sharedPasses);
        QCOMPARE(all.sharedConflictCycles, n.sharedConflictCycles);
        QCOMPARE(all.l1, n.l1.reads + n.l1.writes);
        QCOMPARE(all.l1Hits, n.l1.readHits + n.l1.writeHits);
        QCOMPARE(all.l2, n.l2.reads + n.l2.writes);
        QCOMPARE(all.l2Hits, n.l2.readHits + n.l2.writeHits);
        QCOMPARE(all.dram, n.dramReads + n.dramWrites);
    }

    // The spans tell the same story as the sums: no cycle twice, none left out.
    void spansCoverEveryCycleOnce() {
        Machine machine = machineFor(false);
        machine.sms = 1;
        const auto [result, r] = run(kernelOf("product"), machine, true);
        QCOMPARE(r.cycles, result.cycles - result.launchCycles);
        QCOMPARE(r.recorded, r.cycles);
        std::array<std::uint64_t, warpStateCount> states{};
        for (const auto& spans : r.warps) {
            for (std::size_t i = 0; i < spans.size(); ++i) {
                const std::uint64_t end = i + 1 < spans.size() ? spans[i + 1].begin : r.recorded;
                QVERIFY(end > spans[i].begin);
                states[static_cast<std::size_t>(spans[i].state)] += end - spans[i].begin;
            }
        }
        for (std::size_t s = 1; s < warpStateCount; ++s) QCOMPARE(states[s], r.warpCycles[s]);
        std::array<std::uint64_t, schedulerStateCount> schedulers{};
        for (const auto& spans : r.schedulerSpans) {
            for (std::size_t i = 0; i < spans.size(); ++i)
                schedulers[static_cast<std::size_t>(spans[i].state)] +=
                    (i + 1 < spans.size() ? spans[i + 1].begin : r.recorded) - spans[i].begin;
        }
        for (std::size_t s = 1; s < schedulerStateCount; ++s) QCOMPARE(schedulers[s], r.schedulerCycles[s]);
    }

    void aSchedulerIssuesAtMostOneWarpInACycle() {
        Machine machine = machineFor(false);
        machine.sms = 1;
        const auto r = run(kernelOf("softmax"), machine, true).recording;
        std::vector<std::vector<int>> issued(static_cast<std::size_t>(r.schedulers),
                                             std::vector<int>(static_cast<std::size_t>(r.recorded)));
        for (std::size_t w = 0; w < r.warps.size(); ++w) {
            for (const WarpSpan& span : r.warps[w]) {
                if (span.state == WarpState::Issue)
                    QCOMPARE(++issued[w % static_cast<std::size_t>(r.schedulers)][span.begin], 1);
            }
        }
    }

    // A warp at a barrier waits until the last of its block has come; one that is told so cannot issue.
    void barriersAndCopiesAreSeen() {
        Machine machine = machineFor(false);
        const auto product = run(kernelOf("product"), machine, true).recording;
        QVERIFY(product.warpCycles[static_cast<std::size_t>(WarpState::Copies)] > 0);
        QVERIFY(product.warpCycles[static_cast<std::size_t>(WarpState::Barrier)] > 0);
        for (const RecordedInstruction& one : product.instructions) {
            if (one.warpCycles[static_cast<std::size_t>(WarpState::Barrier)] > 0)
                QVERIFY2(one.text.text.starts_with("BAR"), one.text.text.c_str());
        }
        // An element-wise kernel has neither, and waits for memory above all.
        const auto elements = run(kernelOf("elements"), machine, true).recording;
        QCOMPARE(elements.warpCycles[static_cast<std::size_t>(WarpState::Barrier)], std::uint64_t{0});
        const auto memory = elements.warpCycles[static_cast<std::size_t>(WarpState::Memory)];
        for (const WarpState other : {WarpState::Shared, WarpState::Arithmetic})
            QVERIFY(memory > elements.warpCycles[static_cast<std::size_t>(other)]);
    }

    void theStackSumsToCyclesPerInstruction() {
        Machine machine = machineFor(false);
        for (const char* kernel : {"product", "softmax", "elements"}) {
            const auto [result, r] = run(kernelOf(kernel), machine, true);
            const auto stack = r.stack();
            const double sum = std::accumulate(stack.begin(), stack.end(), 0.0);
            const double expected =
                static_cast<double>(r.cycles) * r.schedulers / static_cast<double>(cyclesIn(r, SchedulerState::Issue));
            QVERIFY2(std::abs(sum - expected) < 1e-6 * expected, kernel);
        }
    }

    // The calculator of blocks against the rule by hand: A100, 64 K registers, 2,048 threads.
    void curvesOfOccupancyFall() {
        Machine machine = machineFor(false);
        KernelHeader kernel;
        kernel.grid = {100000, 1, 1}, kernel.block = {256, 1, 1}, kernel.registers = 64;
        QCOMPARE(occupancy(machine, kernel).fits, 4);  // 65,536 ÷ (256 × 64)
        kernel.registers = 32;
        QCOMPARE(occupancy(machine, kernel).fits, 8);
        for (const BlockNeed need : {BlockNeed::Registers, BlockNeed::SharedMemory}) {
            int before = machine.warps() + 1;
            for (const OccupancyPoint& point : occupancyCurve(machine, kernel, need)) {
                QVERIFY(point.warps <= before && point.warps <= machine.warps());
                before = point.warps;
            }
        }
    }

    void memoryIsBoundedAndTheSumsGoOn() {
        Machine machine = machineFor(false);
        machine.sms = 1;
        const auto whole = run(kernelOf("softmax"), machine, true).recording;
        const auto part = run(kernelOf("softmax"), machine, true, {.mostSpans = 2000, .mostBins = 16}).recording;
        std::size_t spans = 0;
        for (const auto& one : part.warps) spans += one.size();
        QVERIFY(spans <= 2000 + 64);
        QVERIFY(part.recorded > 0 && part.recorded < whole.recorded);
        QVERIFY(part.bins.size() <= 16);
        QVERIFY(part.schedulerCycles == whole.schedulerCycles);
        QVERIFY(part.warpCycles == whole.warpCycles);
    }

    void theBusiestStretchHasTheMostIssues() {
        Machine machine = machineFor(false);
        machine.sms = 1;
        const auto r = run(kernelOf("product"), machine, true).recording;
        const auto issues = [&](std::uint64_t from) {
            int sum = 0;
            for (const auto& spans : r.warps) {
                for (const WarpSpan& span : spans)
                    sum += span.state == WarpState::Issue && span.begin >= from && span.begin < from + 100;
            }
            return sum;
        };
        const int best = issues(r.busiest(100));
        for (std::uint64_t from = 0; from < r.recorded; from += 50) QVERIFY(issues(from) <= best);
    }

    void tablesHaveARowForEach() {
        Machine machine = machineFor(false);
        const auto r = run(kernelOf("elements"), machine, true).recording;
        const auto rows = [](const std::string& text) { return std::ranges::count(text, '\n') - 1; };
        QCOMPARE(rows(instructionsCsv(r)), static_cast<std::ptrdiff_t>(r.instructions.size()));
        QCOMPARE(rows(activityCsv(r)), static_cast<std::ptrdiff_t>(r.bins.size()));
        QVERIFY(rows(warpsCsv(r)) > 0);
    }

private:
    static void kernels() {
        QTest::addColumn<QString>("kernel");
        QTest::addColumn<bool>("modern");
        for (const char* kernel : {"product", "attention", "softmax", "reduction", "elements"}) {
            QTest::addRow("%s", kernel) << kernel << false;
            QTest::addRow("%s, modern core", kernel) << kernel << true;
        }
    }
};

QTEST_GUILESS_MAIN(TestGpuRecorder)
#include "tst_gpu_recorder.moc"
