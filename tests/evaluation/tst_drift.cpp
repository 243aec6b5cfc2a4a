// Software that moves: is it noticed soon and never without cause, does a repair learn from the rows that it is given
// alone, do its intervals hold, and is it better than one factor on measured versions of real engines?

#include "base/executor.h"
#include "base/random.h"
#include "evaluation/csv_file.h"
#include "evaluation/drift/drift.h"
#include "evaluation/drift/drift_export.h"
#include "evaluation/drift/drift_watch.h"
#include "learning/software_version.h"
#include "support/schema_check.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QTemporaryDir>
#include <QtTest/QtTest>

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

using namespace orrery;

namespace {

// Products of many extents, 5 us to 5 ms, whose later times are `change` of the earlier ones.
template <typename Change>
ReferenceTable driftTable(const std::string& software, Change change, double noise, std::uint64_t seed) {
    ReferenceTable made;
    made.name = software;
    made.software = software;
    made.devices = {{"H100", "h100-sxm"}};
    RandomStream random(7);
    RandomStream wobble(seed);
    for (std::int32_t i = 0; i < 400; ++i) {
        ReferenceRow row;
        row.kernel.kind = KernelKind::Gemm;
        row.kernel.type = row.kernel.weightType = DType::BF16;
        row.kernel.m = std::int64_t(1) << random.below(13);
        row.kernel.n = 256 + 64 * static_cast<std::int64_t>(random.below(100));
        row.kernel.k = 256 + 64 * static_cast<std::int64_t>(random.below(100));
        countWork(row.kernel);
        const double base = 4e-6 + row.kernel.flops / 400e12 + row.kernel.bytes() / 2e12;
        row.seconds = base * change(row.kernel, base) * std::exp(noise * wobble.normal());
        row.line = i + 2;
        made.rows.push_back(row);
    }
    return made;
}
ReferenceTable olderTable() {
    return driftTable(
        "made 1.0", [](const Kernel&, double) { return 1.0; }, 0.01, 1);
}

Drift driftOf(const std::vector<LaterRows>& rows, std::size_t repairRows = 16, int threads = 1) {
    const auto executor = makeThreadExecutor(threads);
    DriftOptions options;
    options.executor = executor.get();
    options.repairRows = repairRows;
    const auto drift = measureDrift(rows, options);
    if (!drift) qFatal("%s", toText(drift.error()).c_str());
    return *drift;
}

template <typename Change>
std::vector<LaterRows> laterBy(Change change, double noise = 0.01) {
    return laterRows(std::vector{olderTable(), driftTable("made 1.1", change, noise, 2)});
}

const QString versionsFolder = QStringLiteral(ORRERY_REFERENCE "/gpu/aiconfigurator");

std::string familyText(const LaterRows& rows) {
    return toText(rows.family) + " " + rows.from + " " + rows.to;
}

struct DriftLine {
    std::string table, system, engine, type, from, to;
    double none = 0, factor = 0;
};
// The widest comparisons without flags, as drift.csv lists them; experts over balanced and over all routings.
std::vector<DriftLine> unflaggedLines() {
    const auto file = readCsv((versionsFolder + "/other_versions/drift.csv").toStdString());
    if (!file) return {};
    std::vector<DriftLine> all;
    for (const auto& cells : file->rows) {
        const auto cell = [&](const char* name) { return cells.at(file->column(name).value()); };
        if (cell("kind").rfind("oldest-newest", 0) != 0 || !cell("flags").empty()) continue;
        all.push_back({cell("table"), cell("system"), cell("engine"), cell("type"), cell("from_version"),
                       cell("to_version"), std::stod("0" + cell("mape_none")) / 100,
                       std::stod("0" + cell("mape_factor_16_shapes")) / 100});
    }
    return all;
}

// Experts are compared where routing and work per rank mean the same in all versions: balanced, on one rank.
std::string balancedOnOneRank(const std::string& path, const QTemporaryDir& folder) {
    const auto all = readCsv(path);
    if (!all) qFatal("%s", toText(all.error()).c_str());
    const std::string made =
        folder.filePath(QFileInfo(QString::fromStdString(path)).fileName()).toStdString();
    QByteArray text = QByteArray::fromStdString(fmt::format("{}\n", fmt::join(all->header, ",")));
    for (const auto& row : all->rows) {
        const auto cell = [&](const char* name) { return row.at(all->column(name).value()); };
        if (cell("distribution") != "balanced" || cell("moe_tp_size") != "1" || cell("moe_ep_size") != "1") continue;
        text += fmt::format("{}\n", fmt::join(row, ","));
    }
    const std::string plain = made.substr(0, made.size() - std::string_view(".gz").size());
    QFile file(QString::fromStdString(plain));
    if (!file.open(QIODevice::WriteOnly) || file.write(text) != text.size()) qFatal("%s", plain.c_str());
    return plain;
}

}  // namespace

class TestDrift : public QObject {
    Q_OBJECT
private slots:
    void versionsAreTakenApart() {
        QCOMPARE(softwareVersion("vLLM 0.14.0").version, std::string("0.14.0"));
        QCOMPARE(softwareVersion("trtllm-1.3.0rc20").name, std::string("trtllm"));
        QCOMPARE(softwareVersion("TensorRT-LLM 1.0").name, std::string("TensorRT-LLM"));
        QVERIFY(softwareVersion("hand-written").version.empty());
        // As the projects themselves release: PEP 440 and NCCL's tags.
        const std::vector<std::string> rising{"0.5.6",   "0.5.6.post2", "0.5.9",     "0.5.10", "1.0.0.dev3",
                                              "1.0.0a1", "1.0.0rc2",    "1.0.0rc10", "1.0.0",  "1.0.0.post1",
                                              "1.0.1",   "1.2.0rc5",    "2.23",      "2.27.5", "2.28.9"};
        for (std::size_t a = 0; a < rising.size(); ++a)
            for (std::size_t b = 0; b < rising.size(); ++b)
                QVERIFY2(olderVersion(rising[a], rising[b]) == (a < b), (rising[a] + " " + rising[b]).c_str());
    }

    void sharedKernelsMeet() {
        auto older = olderTable();
        auto later = driftTable(
            "made 1.1", [](const Kernel&, double) { return 2.0; }, 0, 2);
        // A second, slower implementation of one kernel, and a kernel that one version alone has.
        later.rows.push_back(later.rows.front());
        later.rows.back().seconds *= 3;
        older.rows.push_back(older.rows.front());
        older.rows.back().kernel.m = 99'999;
        const auto rows = laterRows(std::vector{older, later});
        QCOMPARE(rows.size(), std::size_t(1));
        std::set<std::uint64_t> kernels;
        for (const auto& row : older.rows) kernels.insert(kernelIdentity(row.kernel));
        QCOMPARE(rows[0].size(), kernels.size() - 1);
        QVERIFY(std::none_of(rows[0].kernels.begin(), rows[0].kernels.end(),
                             [](const Kernel& k) { return k.m == 99'999; }));
        for (std::size_t i = 0; i < rows[0].size(); ++i)
            QVERIFY(std::abs(rows[0].measured[i] / rows[0].believed[i] / 2 - 1) < 0.1);
    }

    // Ville's inequality, however often one looks: of streams at the very edge of standing still, at most one in twenty
    // is ever called moved.
    void stillSoftwareRaisesNoAlarm() {
        int alarms = 0;
        constexpr int streams = 1000;
        for (int s = 0; s < streams; ++s) {
            RandomStream random(11, static_cast<std::uint64_t>(s));
            DriftWatch watch;
            bool alarm = false;
            for (int i = 0; i < 300; ++i) {
                watch.add(1, random.uniform() < stillShare ? 1.5 : 1.0);
                alarm = alarm || watch.moved();
            }
            alarms += alarm ? 1 : 0;
        }
        QVERIFY2(alarms <= 0.05 * streams, std::to_string(alarms).c_str());
        QVERIFY(alarms > 0);  // it is no test that never speaks
    }
    void movedSoftwareIsNoticed() {
        int noticed = 0;
        for (int s = 0; s < 200; ++s) {
            RandomStream random(12, static_cast<std::uint64_t>(s));
            DriftWatch watch;
            for (int i = 0; i < 32; ++i) watch.add(1, random.uniform() < 0.6 ? 1 / 1.2 : 1.05);
            noticed += watch.moved() ? 1 : 0;
        }
        QVERIFY2(noticed >= 190, std::to_string(noticed).c_str());
    }
    void intervalsExcuseSurprises() {
        DriftWatch watch;
        for (int i = 0; i < 40; ++i) watch.add(1, 1.4, 0.5, 1.5);
        QCOMPARE(watch.surprises(), std::size_t(0));
        QVERIFY(!watch.moved());
        watch.add(1, std::nan(""), 0.5, 1.5);
        QCOMPARE(watch.surprises(), std::size_t(1));
    }

    void oneFactorIsFound() {
        const auto drift = driftOf(laterBy([](const Kernel&, double) { return 0.6; }));
        const FamilyDrift& f = drift.families.at(0);
        QVERIFY(f.moved());
        QCOMPARE(f.noticed, 1.0);
        QVERIFY(f.figures.untouched > 0.6);
        QVERIFY(f.figures.repaired < 0.02);
        QVERIFY(f.figures.repaired < f.figures.factor + 0.005);
        QVERIFY2(f.figures.shares.factor > 0.7, std::to_string(f.figures.shares.factor).c_str());
    }
    void nothingMovedStaysUntouched() {
        const auto drift = driftOf(laterBy([](const Kernel&, double) { return 1.0; }));
        const FamilyDrift& f = drift.families.at(0);
        QVERIFY(!f.moved());
        QCOMPARE(f.noticed, 0.0);
        QVERIFY(f.figures.repaired < f.figures.untouched + 0.005);
        QVERIFY(f.figures.shares.nothing > 0.5);
    }
    // A launch that got 3 us cheaper: no factor can say it.
    void aChangeThatDependsOnTheKernelIsLearned() {
        const auto rows = laterBy([](const Kernel&, double base) { return (base - 3e-6) / base; });
        const auto drift = driftOf(rows);
        const DriftFigures& g = drift.families.at(0).figures;
        QVERIFY2(g.repaired < 0.6 * g.factor, std::to_string(g.repaired / g.factor).c_str());
        QVERIFY(g.shares.smooth > 0.9);
        QVERIFY2(g.repairedInside > 0.8 && g.repairedInside < 1, std::to_string(g.repairedInside).c_str());
        const auto more = driftOf(rows, 64);
        QVERIFY(more.families.at(0).figures.repaired < g.repaired);
    }
    // Conversation between the two sides of a split would show here.
    void judgedTimesAreNotRead() {
        auto rows = laterBy([](const Kernel& k, double) { return k.m > 64 ? 0.5 : 1.0; })[0];
        const auto inputs = inputsOf(rows);
        std::vector<std::size_t> known, asked;
        for (std::size_t i = 0; i < rows.size(); ++i) (i % 20 == 0 ? known : asked).push_back(i);
        const auto first = repair(rows, inputs, known, asked);
        for (const std::size_t i : asked) rows.measured[i] *= 17;
        const auto second = repair(rows, inputs, known, asked);
        for (std::size_t i = 0; i < asked.size(); ++i) QCOMPARE(first.rows[i].seconds, second.rows[i].seconds);
        QVERIFY(std::abs(first.shares.nothing + first.shares.factor + first.shares.smooth - 1) < 1e-9);
    }
    void withoutRowsNothingIsClaimed() {
        const auto rows = laterBy([](const Kernel&, double) { return 0.5; })[0];
        const std::vector<std::size_t> asked{0, 1};
        const auto none = repair(rows, inputsOf(rows), {}, asked);
        QVERIFY(std::abs(none.rows[0].seconds / rows.believed[0] - 1) < 1e-9);
        QVERIFY(none.rows[0].low < rows.believed[0] && none.rows[0].high > rows.believed[0]);
        QCOMPARE(medianFactor(rows, {}), 1.0);
    }

    void sameBytesOnAnyThreads() {
        std::vector<LaterRows> all;
        for (const double by : {0.5, 0.8, 1.0, 1.3}) {
            all.push_back(laterBy([by](const Kernel& k, double) { return k.n > 3000 ? by : 1.0; })[0]);
            all.back().family.software = "made" + std::to_string(by);
        }
        QCOMPARE(driftJson(driftOf(all, 16, 1)), driftJson(driftOf(all, 16, 3)));
        QCOMPARE(driftCsv(driftOf(all, 16, 2)), driftCsv(driftOf(all, 16, 2)));
    }
    void jsonKeepsItsSchema() {
        auto rows = laterBy([](const Kernel&, double) { return 0.5; });
        rows.push_back(rows[0]);
        rows[1].family.software = "other, \"quoted\"";
        const auto drift = driftOf(rows);
        const auto problems = test::schemaErrors(driftJson(drift), "drift");
        QVERIFY2(problems.empty(), problems.empty() ? "" : problems.front().c_str());
        // The width with no new row comes from the other family, which moved as much.
        QVERIFY(drift.families[0].figures.staleInside > 0.85);
        QVERIFY(driftCsv(drift).find("\"other, \"\"quoted\"\"\"") != std::string::npos);
    }
    void oneVersionIsNoQuestion() {
        QVERIFY(laterRows(std::vector{olderTable()}).empty());
        const auto executor = makeSerialExecutor();
        DriftOptions options;
        options.executor = executor.get();
        const auto none = measureDrift({}, options);
        QVERIFY(!none);
        QCOMPARE(none.error().code, std::string("drift.no-versions"));
    }

    // A method's answers as what is believed: its own intervals are judged, and kernels that it does not price are not.
    void aMethodIsHeldAgainstLaterRows() {
        const auto executor = makeSerialExecutor();
        EvaluateOptions options;
        options.executor = executor.get();
        Diagnostics warnings;
        const auto rows = laterBy([](const Kernel&, double) { return 1.0; });
        const auto believed = believedBy({"roofline", *findMethod("roofline"), {}}, rows, options, warnings);
        QVERIFY2(believed.has_value(), believed ? "" : toText(believed.error()).c_str());
        QCOMPARE(believed->size(), std::size_t(1));
        QCOMPARE(believed->at(0).size(), rows[0].size());
        QVERIFY(believed->at(0).low.size() == rows[0].size());
        // Nothing is faster than its roofline, so later rows lie above what is believed.
        QVERIFY(driftOf(*believed).families.at(0).ratioMedian > 1);
    }

    // Successive versions of TensorRT-LLM, vLLM, SGLang and NCCL on four devices: the comparisons that are sound, each
    // judged by the error of one factor from 16 shapes that the data set itself states.
    void versionsOfEnginesAreRepaired_data() {
        QTest::addColumn<QString>("table");
        QTest::addColumn<double>("published");  // median family, one factor from 16 shapes
        QTest::newRow("products") << "gemm" << 0.07;
        QTest::newRow("prefill") << "context_attention" << 0.09;
        QTest::newRow("decode") << "generation_attention" << 0.13;
        QTest::newRow("NCCL") << "nccl" << 0.06;
        QTest::newRow("experts") << "moe" << 0.03;
    }
    void versionsOfEnginesAreRepaired() {
        QFETCH(QString, table);
        QFETCH(double, published);
        const auto lines = unflaggedLines();
        if (lines.empty()) QSKIP("no tables of several versions under " ORRERY_REFERENCE);
        const std::map<std::string, std::string> devices{
            {"h100_sxm", "h100-sxm"}, {"b200_sxm", "b200-sxm"}, {"a100_sxm", "a100-80-sxm"}, {"l40s", "l40s"}};
        // What a type is called in the tables and here.
        const std::map<std::string, std::string> types{{"bfloat16", "bf16"},
                                                       {"fp8", "fp8"},
                                                       {"fp8_block", "fp8 block 128"},
                                                       {"nvfp4", "fp4 block 16"},
                                                       {"bfloat16 balanced, one rank", "bf16"},
                                                       {"fp8 balanced, one rank", "fp8"},
                                                       {"fp8_block balanced, one rank", "fp8 block 128"},
                                                       {"nvfp4 balanced, one rank", "fp4 block 16"},
                                                       {"int4_wo balanced, one rank", "int4 block 128 weights"},
                                                       {"w4a16_mxfp4 balanced, one rank", "fp4 block 32 weights"},
                                                       {"w4a8_mxfp4_mxfp8 balanced, one rank", "fp8 with fp4 block 32"},
                                                       {"bfloat16 bfloat16", "bf16"},
                                                       {"bfloat16 fp8", "bf16 fp8 kv"},
                                                       {"fp8 fp8", "fp8"},
                                                       {"all_gather", "all-gather"},
                                                       {"alltoall", "all-to-all"},
                                                       {"all_reduce", "all-reduce"},
                                                       {"reduce_scatter", "reduce-scatter"}};
        std::vector<LaterRows> rows;
        std::set<std::string> seen;
        const QTemporaryDir kept;
        for (const DriftLine& line : lines) {
            if (line.table != table.toStdString()) continue;
            // Decode is named by its cache alone.
            const auto type = types.find((table == "generation_attention" ? "bfloat16 " : "") + line.type);
            if (type == types.end()) continue;
            std::vector<std::string> files;
            for (const std::string& version : {line.from, line.to})
                for (const char* folder : {"", "/other_engines", "/other_versions"}) {
                    const auto file = versionsFolder.toStdString() + folder + "/" + line.system + "__" + line.engine +
                                      "-" + version + "__" + line.table + ".csv.gz";
                    if (QFile::exists(QString::fromStdString(file)))
                        files.push_back(table == "moe" ? balancedOnOneRank(file, kept) : file);
                }
            const auto tables = readReferences(files);
            QVERIFY2(tables.has_value(), tables ? "" : toText(tables.error()).c_str());
            for (auto& each : laterRows(*tables)) {
                if (each.family.device != devices.at(line.system) || each.family.variant != type->second ||
                    !seen.insert(familyText(each)).second)
                    continue;
                rows.push_back(std::move(each));
            }
        }
        QVERIFY2(rows.size() >= 7, std::to_string(rows.size()).c_str());
        const auto drift = driftOf(rows, 16, 2);
        const auto summary = summariesOf(drift).at(0);
        qInfo(
            "%s: %zu families, %zu moved, %zu noticed, false alarms %.1f %%; untouched %.1f, factor %.1f, repaired "
            "%.1f %%, inside %.0f %%, stale inside %.0f %%",
            qPrintable(table), summary.families, summary.moved, summary.noticed, 100 * summary.falseAlarms,
            100 * summary.untouched, 100 * summary.factor, 100 * summary.repaired, 100 * summary.repairedInside,
            100 * summary.staleInside);
        QVERIFY(summary.repaired < summary.factor + 0.005);
        QVERIFY(summary.repaired < published);
        if (summary.staleInside >= 0) QVERIFY(summary.staleInside > 0.85);
        QVERIFY(summary.repairedInside > 0.85);
        QVERIFY(summary.falseAlarms <= 0.05);
        QVERIFY(static_cast<double>(summary.noticed) >= 0.9 * static_cast<double>(summary.moved));
    }
};

QTEST_GUILESS_MAIN(TestDrift)
#include "tst_drift.moc"
