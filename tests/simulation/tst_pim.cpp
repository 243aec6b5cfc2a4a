// Memory that computes: counts by hand, bounds, monotonicity, what is refused, and recorded rows where they are at
// hand.

#include "base/text/csv_stream.h"
#include "simulation/pim/attention_system.h"
#include "simulation/pim/upmem.h"

#include <QtTest/QtTest>

#include <cmath>
#include <filesystem>
#include <map>

using namespace orrery;
using namespace orrery::pim;

namespace {

const std::string recorded = std::string(ORRERY_REFERENCE) + "/pim/";

/// Calls `row` for every `step`-th row, by names of columns. False: the table is not here.
template <class Row>
bool eachRow(const std::string& path, int step, Row&& row) {
    if (!std::filesystem::exists(path)) return false;
    auto table = CsvStream::open(path);
    std::vector<std::string> head;
    for (int line = 0; table && *table->next();) {
        const auto cells = table->cells();
        if (head.empty()) {
            for (const auto cell : cells) head.emplace_back(cell);
            continue;
        }
        if (line++ % step != 0) continue;
        std::map<std::string, std::string> named;
        for (std::size_t i = 0; i < head.size() && i < cells.size(); ++i) named[head[i]] = std::string(cells[i]);
        row(named);
    }
    return true;
}

struct Mean {
    double sum = 0;
    int count = 0;
    void add(double ours, double theirs) {
        if (theirs == 0) return;
        sum += std::abs(ours / theirs - 1), ++count;
    }
    double value() const { return count ? sum / count : 1; }
};

}  // namespace

class TestPim : public QObject {
    Q_OBJECT

private slots:
    void attentionCountsItsCommands() {
        // 16 heads of 128 over 2,048 keys, two bytes, at the banks: 128 keys a unit, two columns a key, scores and
        // context; one turn, so that no first row is opened for a pair.
        const auto answer = attentionOn({}, UnitPlace::Bank, false, {2048, 16, 128, 2});
        QVERIFY(answer.has_value());
        QCOMPARE(answer->commands.multiply, std::int64_t{16 * 2 * 128 * 2});
        QCOMPARE(answer->commands.write, std::int64_t{16 * 4 * 2});
        QCOMPARE(answer->multiplying, std::int64_t{2 * 128 * 2 * 4});
        QCOMPARE(answer->cycles, answer->multiplying + answer->openingRows + answer->refreshing + answer->moving);
    }
    void attentionCostsMoreWithMore() {
        for (const UnitPlace place : {UnitPlace::Bank, UnitPlace::BankGroup, UnitPlace::Buffer}) {
            std::int64_t before = 0;
            for (const std::int64_t length : {512, 1024, 2048, 4096}) {
                const auto answer = attentionOn({}, place, false, {length, 256, 128, 2});
                QVERIFY(answer->cycles > before);
                before = answer->cycles;
                QVERIFY(attentionOn({}, place, true, {length, 256, 128, 2})->cycles >= answer->cycles);
                QVERIFY(attentionOn({}, place, false, {length, 288, 128, 2})->cycles > answer->cycles);
            }
        }
        const Attention a{2048, 256, 128, 2};
        QVERIFY(attentionOn({}, UnitPlace::Bank, false, a)->cycles <
                attentionOn({}, UnitPlace::BankGroup, false, a)->cycles);
        QVERIFY(attentionOn({}, UnitPlace::BankGroup, false, a)->cycles <
                attentionOn({}, UnitPlace::Buffer, false, a)->cycles);
    }
    void attentionThatCannotBeIsRefused() {
        for (const Attention& a :
             {Attention{0, 1, 128, 2}, Attention{1, 0, 128, 2}, Attention{1, 1, -1, 2}, Attention{1, 1, 1, 64}}) {
            const auto answer = attentionOn({}, UnitPlace::Bank, false, a);
            QVERIFY(!answer && answer.error().code == "pim.attention");
        }
        QVERIFY(!placeOf("elsewhere"));
    }
    void aTokensTimeIsTheSumOfItsParts() {
        AttentionSystem system;
        system.outputLength = 8;
        for (const auto where :
             {AttentionSystem::Where::Gpu, AttentionSystem::Where::Cpu, AttentionSystem::Where::Pim}) {
            system.attention = where;
            const auto answer = answerOf(system);
            QVERIFY(answer.has_value());
            const auto& t = answer->token;
            const double parts = t.attention + t.products + t.links + t.softmax + t.rest;
            QVERIFY(std::abs(parts / t.total - 1) < 1e-9);
            QVERIFY(std::abs((t.queryKeyValue + t.projection + t.feedForward) / t.products - 1) < 1e-9);
        }
        // Attention at the banks is faster than over the GPU's own bus, and never slower when heads hide projections.
        system.batch = 64;
        const double onPim = answerOf(system)->token.total;
        system.pipelined = true;
        QVERIFY(answerOf(system)->token.total <= onPim);
        system.attention = AttentionSystem::Where::Gpu;
        QVERIFY(answerOf(system)->token.total > onPim);
    }
    void aTokensEnergyIsTheSumOfItsParts() {
        AttentionSystem system;
        system.outputLength = 4, system.batch = 32;
        const auto gpu = answerOf(system)->energy;
        QVERIFY(gpu.dram >= gpu.productMemory + gpu.attentionMemory && gpu.total > gpu.dram + gpu.links);
        // Keys and values that stay in their banks cost less than those that travel to the GPU, the less the nearer.
        system.attention = AttentionSystem::Where::Pim;
        double before = 0;
        for (const auto place : {UnitPlace::Bank, UnitPlace::BankGroup, UnitPlace::Buffer}) {
            system.place = place;
            const auto near = answerOf(system)->energy;
            QVERIFY(near.attentionMemory > before && near.attentionMemory < gpu.attentionMemory);
            QCOMPARE(near.productMemory, gpu.productMemory);
            before = near.attentionMemory;
        }
    }
    void systemsThatCannotBeAreRefused() {
        AttentionSystem system;
        system.model = "GPT-5";
        QVERIFY(answerOf(system).error().expected.find("GPT-175B") != std::string::npos);
        system = {};
        system.outputLength = 1;
        QVERIFY(!answerOf(system));
        system = {};
        system.gpus = 1000;
        QVERIFY(!answerOf(system));
        system = {};
        system.elementBytes = 4;
        QVERIFY(!answerOf(system));
    }

    void aLoopTakesTheLongestOfItsBounds() {
        Dpu dpu;
        dpu.cyclesPerSlot = 1, dpu.dramCyclesPerByte = 0.5;
        const auto issue = timeOf({{10, 8, 0}}, 1000, dpu);
        QCOMPARE(issue.cycles, 10'000.0);
        QVERIFY(issue.bound == DpuBound::Instructions);
        const auto dram = timeOf({{10, 40, 0}}, 1000, dpu);
        QCOMPARE(dram.cycles, 20'000.0);
        QVERIFY(dram.bound == DpuBound::DramTransfers);
        const auto lock = timeOf({{10, 8, 3}}, 1000, dpu);
        QCOMPARE(lock.cycles, 33'000.0);
        QVERIFY(lock.bound == DpuBound::Lock);
        // One tasklet has a slot in eleven; eleven fill the pipeline, more do not help.
        dpu.tasklets = 1;
        QCOMPARE(timeOf({{10, 8, 0}}, 1000, dpu).cycles, 110'000.0);
        dpu.tasklets = 11;
        QCOMPARE(timeOf({{10, 8, 0}}, 1000, dpu).cycles, 10'000.0);
        dpu.tasklets = 24;
        QCOMPARE(timeOf({{10, 8, 0}}, 1000, dpu).cycles, 10'000.0);
    }
    void kernelsShareTheirWork() {
        for (const auto& kernel : primKernels()) {
            const std::string name(kernel.name);
            const auto one = answerOf(kernel, {1, 65536, 1e6, 1e6, 0}),
                       many = answerOf(kernel, {64, 65536, 1e6, 1e6, 0});
            QVERIFY2(one && many, name.c_str());
            QVERIFY2(one->kernel.milliseconds > many->kernel.milliseconds && many->kernel.milliseconds > 0,
                     name.c_str());
            QVERIFY2(answerOf(kernel, {4, 131072})->kernel.cycles > answerOf(kernel, {4, 65536})->kernel.cycles,
                     name.c_str());
            QVERIFY2(answerOf(kernel, {4, 65536, 2e6, 0, 0})->toDpuMilliseconds >
                         answerOf(kernel, {4, 65536, 1e6, 0, 0})->toDpuMilliseconds,
                     name.c_str());
        }
        QVERIFY(!answerOf(primKernels().front(), {0, 1}) && !answerOf(primKernels().front(), {1, 0}));
        QVERIFY(primKernel("XYZ").error().expected.find("HST-S") != std::string::npos);
    }

    void recordedAttention() {
        std::map<std::string, Mean> error;
        int wrongCounts = 0;
        const bool here = eachRow(recorded + "attacc/pim_attention_cycles.csv", 7, [&](auto& row) {
            const Attention a{std::stoll(row["L"]), std::stoll(row["nhead"]), std::stoll(row["dhead"]),
                              std::stoi(row["dbyte"])};
            const auto answer = attentionOn({}, *placeOf(row["pim_type"]), row["power_constraint"] == "True", a);
            error[row["pim_type"]].add(static_cast<double>(answer->cycles), std::stod(row["cycle"]));
            wrongCounts += answer->commands.multiply != std::stoll(row["mac"]) ||
                           answer->commands.softmax != std::stoll(row["softmax"]) ||
                           answer->commands.toMultiplier != std::stoll(row["mvgb"]) ||
                           answer->commands.toSoftmax != std::stoll(row["mvsb"]) ||
                           answer->commands.write != std::stoll(row["wrgb"]);
        });
        if (!here) QSKIP("the recorded runs are not here");
        QCOMPARE(wrongCounts, 0);
        for (const auto& [type, mean] : error) qInfo("%s: %.2f %% of %d", type.c_str(), 100 * mean.value(), mean.count);
        QVERIFY(error["BA"].value() < 0.02 && error["BG"].value() < 0.01 && error["BUFFER"].value() < 0.01);
    }
    void recordedSystems() {
        Mean token, prompt;
        std::map<std::string, Mean> energies;
        const bool here = eachRow(recorded + "attacc/system_runs.csv", 1, [&](auto& row) {
            AttentionSystem s;
            s.attention = row["system"] == "dgx"       ? AttentionSystem::Where::Gpu
                          : row["system"] == "dgx-cpu" ? AttentionSystem::Where::Cpu
                                                       : AttentionSystem::Where::Pim;
            s.gpu = row["gpu"], s.gpus = std::stoi(row["ngpu"]), s.model = row["model"],
            s.elementBytes = std::stoi(row["word_bytes"]);
            s.promptLength = std::stoll(row["lin"]), s.outputLength = std::stoll(row["lout"]),
            s.batch = std::stoll(row["batch"]);
            if (!row["pim"].empty()) s.place = *placeOf(row["pim"]);
            s.powerCapped = row["power_limit"] == "True", s.sharedFeedForward = row["ff_parallel"] == "True";
            s.pipelined = row["pipeline"] == "True";
            const auto answer = answerOf(s);
            QVERIFY(answer.has_value());
            token.add(answer->token.total, std::stod(row["g_time_ms"]));
            prompt.add(answer->prompt.total, std::stod(row["s_time"]));
            const auto& e = answer->energy;
            const std::pair<const char*, double> columns[] = {{"g_energy_nJ", e.total},
                                                              {"g_dram_energy", e.dram},
                                                              {"g_fc_mem_energy", e.productMemory},
                                                              {"g_fc_comp_energy", e.productCompute},
                                                              {"g_attn_mem_energy", e.attentionMemory},
                                                              {"g_attn_comp_energy", e.attentionCompute},
                                                              {"g_comm_energy", e.links},
                                                              {"g_flops", answer->tokenFlops}};
            for (const auto& [name, ours] : columns) energies[name].add(ours, std::stod(row[name]));
        });
        if (!here) QSKIP("the recorded runs are not here");
        qInfo("token %.3f %%, prompt %.3f %% of %d", 100 * token.value(), 100 * prompt.value(), token.count);
        QVERIFY(token.value() < 0.01 && prompt.value() < 0.001);
        for (const auto& [name, mean] : energies) {
            qInfo("%s %.4f %% of %d", name.c_str(), 100 * mean.value(), mean.count);
            QVERIFY2(mean.count > 0 && mean.value() < 0.001, name.c_str());
        }
    }
    void measuredKernels() {
        std::map<std::string, Mean> kernels;
        Mean all, to, from;
        const bool here = eachRow(recorded + "upmem/prim_hw_vs_sim.csv", 1, [&](auto& row) {
            const auto kernel = primKernel(row["benchmark"]);
            QVERIFY(kernel.has_value());
            const auto answer = answerOf(
                **kernel,
                {std::stoll(row["num_dpus"]), std::stoll(row["data_param"]), std::stod(row["cpu_to_dpu_bytes_per_dpu"]),
                 std::stod(row["dpu_to_cpu_bytes_per_dpu"]), std::stod(row["dpu_to_dpu_bytes_per_dpu"])});
            kernels[row["benchmark"]].add(answer->kernel.milliseconds, std::stod(row["hw_kernel_ms"]));
            all.add(answer->kernel.milliseconds, std::stod(row["hw_kernel_ms"]));
            to.add(answer->toDpuMilliseconds, std::stod(row["hw_cpu_to_dpu_ms"]));
            from.add(answer->fromDpuMilliseconds, std::stod(row["hw_dpu_to_cpu_ms"]));
        });
        if (!here) QSKIP("the measured rows are not here");
        qInfo("kernels %.1f %%, to DPUs %.1f %%, from DPUs %.1f %%", 100 * all.value(), 100 * to.value(),
              100 * from.value());
        for (const auto& [name, mean] : kernels) QVERIFY2(mean.value() < 0.2, name.c_str());
        QVERIFY(all.value() < 0.12 && to.value() < 0.25 && from.value() < 0.25);
    }
};

QTEST_GUILESS_MAIN(TestPim)
#include "tst_pim.moc"
