// The shipped calibrations of attention and collectives on the rows that they were not fitted to.

#include "base/random.h"
#include "evaluation/evaluation.h"
#include "evaluation/holdout.h"
#include "hardware/files/catalogue.h"
#include "learning/calibration.h"
#include "learning/off_by_two.h"
#include "learning/section_price.h"
#include "methods/kernel_method.h"
#include "methods/method.h"

#include <QtTest/QtTest>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

using namespace orrery;

namespace {

const std::string folder = std::string(ORRERY_REFERENCE) + "/gpu/aiconfigurator/";

}  // namespace

class TestTileShipped : public QObject {
    Q_OBJECT
private slots:
    void heldOutRowsAreAsStated_data() {
        QTest::addColumn<QString>("file");
        QTest::addColumn<double>("mape");
        QTest::addColumn<double>("coverage");  // least share inside the 90 % intervals
        QTest::addColumn<double>("edges");     // largest share of extremes that were not drawn
        const auto row = [](const char* file, double mape, double coverage = 0.85, double edges = 0.01) {
            QTest::newRow(file) << QString(file) << mape << coverage << edges;
        };
        row("a100_sxm__trtllm-1.0.0__context_attention", 0.025);
        row("a100_sxm__trtllm-1.0.0__generation_attention", 0.045);
        row("a100_sxm__nccl-2.27.3__nccl", 0.058);
        row("h100_sxm__trtllm-1.3.0rc20__context_attention", 0.022);
        row("h100_sxm__trtllm-1.3.0rc20__generation_attention", 0.052);
        row("h100_sxm__nccl-2.29.2__nccl", 0.06);
        row("h100_sxm__trtllm-1.3.0rc20__custom_allreduce", 0.07);
        row("l40s__trtllm-1.3.0rc20__context_attention", 0.032);
        row("l40s__trtllm-1.3.0rc20__generation_attention", 0.056);
        row("l40s__nccl-2.27.3__nccl", 0.1);
        row("b200_sxm__nccl-2.29.2__nccl", 0.06);
        row("b200_sxm__trtllm-1.3.0rc20__context_attention", 0.03, 0.85, 0.03);
        row("b200_sxm__trtllm-1.3.0rc20__generation_attention", 0.045, 0.85, 0.03);
        row("b200_sxm__trtllm-1.3.0rc20__context_mla", 0.035, 0.85, 0.03);
        row("b200_sxm__trtllm-1.3.0rc20__generation_mla", 0.065, 0.85, 0.03);
        row("b200_sxm__trtllm-1.3.0rc20__moe", 0.08, 0.85, 0.03);
        row("a100_sxm__trtllm-1.0.0__generation_mla", 0.02, 0.85, 0.03);
        row("h100_sxm__trtllm-1.3.0rc20__context_mla", 0.035, 0.85, 0.03);
        row("h100_sxm__trtllm-1.3.0rc20__generation_mla", 0.045, 0.85, 0.03);
        row("l40s__trtllm-1.3.0rc20__moe", 0.08, 0.85, 0.03);
    }
    void heldOutRowsAreAsStated() {
        QFETCH(QString, file);
        QFETCH(double, mape);
        QFETCH(double, coverage);
        QFETCH(double, edges);
        const std::string path = folder + file.toStdString() + ".csv.gz";
        if (!std::filesystem::exists(path)) QSKIP("the reference data is not here: nothing to compare with");
        const auto tables = readReferences(std::vector<std::string>{path});
        QVERIFY2(tables, tables ? "" : toText(tables.error()).c_str());
        Holdout holdout;  // as in the calibrations' `split`
        holdout.kind = Holdout::Kind::Fraction;
        holdout.testShare = 0.8;
        holdout.seed = 1;
        const auto split = splitRows(*tables, selectRows(*tables), holdout);
        QVERIFY2(split, split ? "" : toText(split.error()).c_str());
        std::vector<RowRef> rows;  // every so many: the test is quick in builds that are not optimised
        const std::size_t step = 1 + split->test.size() / 4000;
        for (std::size_t i = 0; i < split->test.size(); i += step) rows.push_back(split->test[i]);
        const auto executor = makeSerialExecutor();
        EvaluateOptions options;
        options.executor = executor.get();
        options.calibrations = &shippedCalibrations().set;
        const auto result = evaluate(*findMethod("tile-hybrid"), *tables, rows, options);
        QVERIFY2(result, result ? "" : toText(result.error()).c_str());
        const EvaluationFigures& figures = result->figures;
        const QByteArray said = "MAPE " + QByteArray::number(figures.errors.mape) + ", in 90 % " +
                                QByteArray::number(figures.coverage90) + ", flagged " +
                                QByteArray::number(qulonglong(figures.flagged));
        QVERIFY2(figures.errors.mape < mape, said);
        QVERIFY2(figures.coverage90 > coverage && figures.coverage90 < 0.97, said);
        // By shape: what reaches flaggedAtHome is flagged for its interval.
        std::size_t shapes = 0;
        const EvaluatedRows& judged = result->rows;
        for (std::size_t i = 0; i < judged.size(); ++i) {
            const double reach = std::max(judged.high[i] / judged.predicted[i], judged.predicted[i] / judged.low[i]);
            const bool wide = reach >= 0.995 * flaggedAtHome;
            shapes += judged.domain[i] == DomainVerdict::Outside && !wide ? 1 : 0;
        }
        qInfo("flagged %zu of %zu, %zu for their shape", figures.flagged, judged.size(), shapes);
        QVERIFY2(double(shapes) <= 3 + edges * double(rows.size()), said);
    }

    // More than 32 query heads of one cache head, by engines of which nothing was fitted. H100's rows of SGLang and
    // vLLM were seen when Kernel::flashDecoding was written; before, these rows were 8 times too slow.
    void cachesOfOtherEnginesAreReadOnce_data() {
        QTest::addColumn<QString>("file");
        for (const char* file :
             {"a100_sxm__sglang-0.5.10", "a100_sxm__vllm-0.14.0", "b200_sxm__sglang-0.5.14", "b200_sxm__vllm-0.24.0",
              "h100_sxm__sglang-0.5.14", "h100_sxm__vllm-0.24.0", "l40s__sglang-0.5.14", "l40s__vllm-0.24.0"})
            QTest::newRow(file) << QString(file);
    }
    void cachesOfOtherEnginesAreReadOnce() {
        QFETCH(QString, file);
        const std::string path = folder + "other_engines/" + file.toStdString() + "__generation_attention.csv.gz";
        if (!std::filesystem::exists(path)) QSKIP("the reference data is not here: nothing to compare with");
        const auto tables = readReferences(std::vector<std::string>{path});
        QVERIFY2(tables, tables ? "" : toText(tables.error()).c_str());
        std::vector<RowRef> rows;
        for (const RowRef& ref : selectRows(*tables)) {
            const Kernel& kernel = (*tables)[std::size_t(ref.table)].rows[std::size_t(ref.row)].kernel;
            QVERIFY(kernel.flashDecoding);
            if (kernel.attention.heads > 32 * kernel.attention.kvHeads) rows.push_back(ref);
        }
        QVERIFY(rows.size() > 100);
        const auto executor = makeSerialExecutor();
        EvaluateOptions options;
        options.executor = executor.get();
        options.calibrations = &shippedCalibrations().set;
        const auto result = evaluate(*findMethod("tile-hybrid"), *tables, rows, options);
        QVERIFY2(result, result ? "" : toText(result.error()).c_str());
        const auto& errors = result->figures.errors;
        qInfo("%zu rows: mean %.1f %%, median %.1f %%, bias %+.1f %%, in 90 %% %.0f %%", errors.rows, 100 * errors.mape,
              100 * errors.medianError, 100 * errors.bias, 100 * result->figures.coverage90);
        QVERIFY2(errors.mape < 2, qPrintable(QString::number(errors.mape)));
    }

    // Rows off by two at home, by what is flagged. Both shares move together: from a factor of 2 on instead of 1.5 64 %
    // of the bad rows were found, and 3 % of the good ones flagged. 95 and 10 % are wanted.
    void rowsOffByTwoAreFlagged() {
        std::vector<std::string> files;
        for (const char* table : {"a100_sxm__trtllm-1.0.0__", "b200_sxm__trtllm-1.3.0rc20__",
                                  "h100_sxm__trtllm-1.3.0rc20__", "l40s__trtllm-1.3.0rc20__"})
            for (const char* kind : {"gemm", "context_attention", "generation_attention", "moe"})
                files.push_back(folder + table + kind + ".csv.gz");
        if (!std::filesystem::exists(files.front())) QSKIP("the reference data is not here: nothing to compare with");
        const auto executor = makeSerialExecutor();
        EvaluateOptions options;
        options.executor = executor.get();
        options.calibrations = &shippedCalibrations().set;
        std::size_t rows = 0, wrong = 0, found = 0, flagged = 0;
        // Rows by the chance of being off by two that they state: below 1 %, to 4 %, above.
        std::array<double, 3> stated{}, seen{};
        for (const std::string& file : files) {
            const auto tables = readReferences(std::vector<std::string>{file});
            QVERIFY2(tables, tables ? "" : toText(tables.error()).c_str());
            Holdout holdout;
            holdout.kind = Holdout::Kind::Fraction;
            holdout.testShare = 0.8;
            holdout.seed = 1;
            const auto split = splitRows(*tables, selectRows(*tables), holdout);
            QVERIFY2(split, split ? "" : toText(split.error()).c_str());
            std::vector<RowRef> some;
            for (std::size_t i = 0; i < split->test.size(); i += 5) some.push_back(split->test[i]);
            const auto result = evaluate(*findMethod("tile-hybrid"), *tables, some, options);
            QVERIFY2(result, result ? "" : toText(result.error()).c_str());
            rows += result->rows.size();
            wrong += result->figures.wrong;
            found += result->figures.wrongFlagged;
            flagged += result->figures.flagged;
            const EvaluatedRows& all = result->rows;
            for (std::size_t i = 0; i < all.size(); ++i) {
                const double chance = chanceOffByTwo(all.predicted[i], all.low[i], all.high[i]);
                const std::size_t at = chance < 0.01 ? 0 : chance < 0.04 ? 1 : 2;
                stated[at] += chance;
                seen[at] += std::abs(std::log(all.measured[i] / all.predicted[i])) > std::log(2) ? 1 : 0;
            }
        }
        for (std::size_t i = 0; i < stated.size(); ++i) {
            qInfo("chances: %.0f rows off by two expected, %.0f seen", stated[i], seen[i]);
            QVERIFY(seen[i] < 2 * stated[i] && stated[i] < 2 * seen[i]);
        }
        const double recall = double(found) / double(wrong);
        const double alarms = double(flagged - found) / double(rows - wrong);
        qInfo("%zu rows, %zu off by two: %.1f %% of them flagged, and %.1f %% of the others", rows, wrong, 100 * recall,
              100 * alarms);
        QVERIFY(recall >= 0.8);
        QVERIFY(alarms <= 0.1);
    }

    void devicesLeftOut_data() {
        QTest::addColumn<QString>("device");
        QTest::addColumn<QStringList>("tables");
        QTest::addColumn<double>("mape");
        QTest::addColumn<double>("coverage");  // least share inside the 90 % intervals
        const auto row = [](const char* device, const QStringList& tables, double mape, double coverage) {
            QTest::addRow("%s %s", device, qPrintable(tables.front())) << QString(device) << tables << mape << coverage;
        };
        const QStringList collectives{"nccl", "custom_allreduce"};
        row("h100_sxm", collectives, 0.11, 0.85);
        row("a100_sxm", collectives, 0.105, 0.85);
        row("b200_sxm", collectives, 0.105, 0.85);
        row("l40s", collectives, 0.145, 0.85);
        // Without the shared memory of Hopper nobody cuts a latent cache, or takes a narrow one as it is.
        row("a100_sxm", {"generation_mla"}, 0.16, 0.85);
        row("l40s", {"generation_mla"}, 0.18, 0.85);
        row("a100_sxm", {"context_mla"}, 0.1, 0.85);
        // A power cap, launches in cycles, a cache of one piece and warps that load before they multiply: without them
        // 0.35 of latent prefill, 0.24 of decoding and 0.37 of experts.
        row("l40s", {"context_mla"}, 0.18, 0.85);
        row("l40s", {"moe"}, 0.27, 0.85);
        row("a100_sxm", {"context_attention"}, 0.1, 0.85);
        row("h100_sxm", {"generation_attention"}, 0.2, 0.85);
    }
    // With the sections of the other devices alone.
    void devicesLeftOut() {
        QFETCH(QString, device);
        QFETCH(QStringList, tables);
        QFETCH(double, mape);
        QFETCH(double, coverage);
        if (!std::filesystem::exists(folder)) QSKIP("the reference data is not here: nothing to compare with");
        std::vector<std::string> paths;
        for (const auto& entry : std::filesystem::directory_iterator(folder)) {
            const QString name = QString::fromStdString(entry.path().filename().string());
            const auto named = [&](const QString& table) { return name.endsWith("__" + table + ".csv.gz"); };
            if (name.startsWith(device) && std::any_of(tables.begin(), tables.end(), named))
                paths.push_back(entry.path().string());
        }
        const auto read = readReferences(paths);
        QVERIFY2(read, read ? "" : toText(read.error()).c_str());
        std::vector<RowRef> rows = selectRows(*read), some;
        const std::size_t step = 1 + rows.size() / 2000;
        for (std::size_t i = 0; i < rows.size(); i += step) some.push_back(rows[i]);
        const auto executor = makeSerialExecutor();
        EvaluateOptions options;
        options.executor = executor.get();
        options.calibrations = &shippedCalibrations().set;
        options.leaveDeviceOut = true;
        const auto result = evaluate(*findMethod("tile-hybrid"), *read, some, options);
        QVERIFY2(result, result ? "" : toText(result.error()).c_str());
        QCOMPARE(result->rows.size(), some.size());
        const EvaluationFigures& figures = result->figures;
        const QByteArray said =
            "MAPE " + QByteArray::number(figures.errors.mape) + ", in 90 % " + QByteArray::number(figures.coverage90);
        qInfo("%s", said.constData());
        QVERIFY2(figures.errors.mape < mape, said);
        QVERIFY2(figures.coverage90 > coverage, said);
    }

    // What no section was fitted to is said to be so: head sizes of A100, lengths, windows, masks.
    void unseenKernelsAreFlagged() {
        const KernelMethod* method = findKernelMethod("tile-hybrid");
        QVERIFY(method);
        int asked = 0, flagged = 0;
        const auto count = [&](const char* device, const Kernel& kernel) {
            const auto loaded = loadHardware(device);
            const auto gpu = gpuView(loaded->hardware);
            const auto pricer = method->bind(*gpu, shippedCalibrations().set);
            ++asked;
            flagged += (*pricer)->price(kernel).domain == DomainVerdict::Outside;
        };
        for (const std::int64_t batch : {1, 4, 16}) {
            Kernel kernel;
            kernel.kind = KernelKind::PrefillAttention;
            kernel.type = kernel.weightType = kernel.kvType = DType::BF16;
            kernel.attention = {batch, 32, 8, 2048, 2048, 128, 128, true, true};
            const auto with = [&](const char* device, auto&& change) {
                Kernel changed = kernel;
                change(changed);
                count(device, changed);
            };
            with("a100-80-sxm", [](Kernel& k) { k.attention.headDim = k.attention.valueDim = 256; });
            with("a100-80-sxm", [](Kernel& k) { k.window = 512; });
            with("h100-sxm", [](Kernel& k) { k.attention.causal = false; });
            with("h100-sxm", [](Kernel& k) { k.attention.queries = k.attention.keys = 131072; });
            with("h100-sxm", [](Kernel& k) { k.attention.keys = 16384; });
            with("h100-sxm", [](Kernel& k) { k.attention.headDim = k.attention.valueDim = 512; });
            kernel.kind = KernelKind::DecodeAttention;
            kernel.attention.queries = 1;
            kernel.attention.causal = false;
            with("a100-80-sxm", [](Kernel& k) { k.attention.headDim = k.attention.valueDim = 64; });
            with("h100-sxm", [](Kernel& k) { k.attention.keys = 1 << 20; });
            with("h100-sxm", [](Kernel& k) { k.attention.queries = 8; });
            with("l40s", [](Kernel& k) { k.attention = {k.attention.batch, 128, 1, 1, 4096, 576, 512, false, true}; });
        }
        QVERIFY2(flagged >= 0.9 * asked, QByteArray::number(flagged) + " of " + QByteArray::number(asked));
    }

    // Corrected or not, seen or not: units and a memory that is not cache-warm set the least time. A100's table is left
    // out of the second (its grouped rows moved half the bytes that their type says).
    void nothingBeatsUnitsOrAColdMemory() {
        RandomStream random(17);
        const KernelMethod* method = findKernelMethod("tile-hybrid");
        for (const char* device : {"h100-sxm", "a100-80-sxm", "l40s"}) {
            const auto loaded = loadHardware(device);
            const auto gpu = gpuView(loaded->hardware);
            const auto pricer = method->bind(*gpu, shippedCalibrations().set);
            for (int i = 0; i < 1500; ++i) {
                Kernel kernel;
                const bool prompt = i % 2 == 0;
                kernel.kind = prompt ? KernelKind::PrefillAttention : KernelKind::DecodeAttention;
                kernel.type = kernel.weightType = kernel.kvType = DType::BF16;
                const auto power = [&](int most) { return std::int64_t(1) << random.below(std::uint64_t(most) + 1); };
                const std::int64_t kvHeads = power(5), dim = 64 * std::int64_t(1 + random.below(8)), length = power(18);
                const std::int64_t heads = kvHeads * power(5);
                kernel.attention = {power(8), heads, kvHeads, prompt ? length : 1, length, dim, dim, prompt, true};
                const AttentionShape& a = kernel.attention;
                const double scores = double(a.queries) * (prompt ? (double(a.keys) + 1) / 2 : double(a.keys));
                const double flops = 4 * scores * double(dim) * double(a.batch * a.heads);
                const double bytes = 4.0 * double(a.batch * a.kvHeads * dim) * double(length);
                const double price = (*pricer)->price(kernel).seconds;
                const std::string what = std::string(device) + ": " + toText(kernel);
                QVERIFY2(price >= flops / gpu->peak(true, DType::BF16), what.c_str());
                if (prompt || std::string(device) == "a100-80-sxm" || bytes < 8 * gpu->l2Bytes) continue;
                QVERIFY2(price >= bytes / gpu->dramBandwidth, what.c_str());
            }
        }
    }
};

QTEST_APPLESS_MAIN(TestTileShipped)
#include "tst_tile_shipped.moc"
