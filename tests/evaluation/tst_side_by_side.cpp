// Several methods on common rows: is the comparison of the same rows, the same on any number of threads, and is a
// method that prices less unable to change who wins?

#include "base/executor.h"
#include "evaluation/evaluation_export.h"
#include "evaluation/holdout.h"
#include "evaluation/side_by_side.h"
#include "learning/calibration.h"
#include "methods/kernel_method.h"

#include <QtTest/QtTest>

#include <algorithm>
#include <cmath>

using namespace orrery;

namespace {

Contestant contestant(const char* id) {
    const KernelMethod* kernels = findKernelMethod(id);
    if (const Method* whole = findMethod(id)) return {id, *whole, {}};
    Method method{};
    method.card.id = kernels->id;
    method.card.version = kernels->version;
    return {id, method, {}};
}

// Products on two devices, one of them a TPU that only some methods price.
ReferenceTable table() {
    ReferenceTable made;
    made.name = "products";
    made.file = "products.csv";
    made.devices = {{"H100", "h100-sxm"}, {"A100", "a100-80-sxm"}, {"TPU v3", "tpu-v3"}};
    std::int32_t line = 2;
    for (std::int32_t device = 0; device < 3; ++device) {
        for (const std::int64_t m : {16, 256, 4096}) {
            for (const std::int64_t n : {1024, 4096, 8192}) {
                ReferenceRow row;
                row.device = device;
                row.kernel.kind = KernelKind::Gemm;
                row.kernel.type = row.kernel.weightType = DType::BF16;
                row.kernel.m = m;
                row.kernel.n = n;
                row.kernel.k = 4096;
                row.seconds = 8e-6 + 2.0 * static_cast<double>(m * n) * 4096 / 200e12;
                row.line = line++;
                made.rows.push_back(row);
            }
        }
    }
    return made;
}

SideBySide judged(std::initializer_list<const char*> ids, const std::vector<ReferenceTable>& tables, int threads = 1,
                  bool equal = true) {
    std::vector<Contestant> asked;
    for (const char* id : ids) asked.push_back(contestant(id));
    const auto executor = makeThreadExecutor(threads);
    EvaluateOptions options;
    options.executor = executor.get();
    options.asMeasured = equal;
    const auto all = judgeSideBySide(asked, tables, selectRows(tables), options);
    if (!all) qFatal("%s", toText(all.error()).c_str());
    return *all;
}

}  // namespace

class TestSideBySide : public QObject {
    Q_OBJECT
private slots:
    void figuresAreOfCommonRows() {
        const std::vector<ReferenceTable> tables{table()};
        const SideBySide all = judged({"roofline", "tile-wave"}, tables);
        QCOMPARE(all.asked, std::size_t(27));
        // Tiles and waves are of GPUs: the TPU's nine rows are the roofline's alone.
        QCOMPARE(all.common.size(), std::size_t(18));
        QCOMPARE(all.methods[0].own->rows.size(), std::size_t(27));
        QCOMPARE(all.methods[1].own->rows.size(), std::size_t(18));
        for (const JudgedMethod& method : all.methods) {
            QCOMPARE(method.common.figures.errors.rows, std::size_t(18));
            double sum = 0;
            const EvaluatedRows& rows = method.own->rows;
            for (std::size_t i = 0; i < rows.size(); ++i) {
                const bool shared = std::find(all.common.begin(), all.common.end(), rows.ref[i]) != all.common.end();
                if (shared) sum += std::fabs(rows.error(i));
            }
            QVERIFY(std::fabs(method.common.figures.errors.mape - sum / 18) < 1e-12);
            QVERIFY(method.common.mapeLow <= method.common.figures.errors.mape &&
                    method.common.mapeHigh >= method.common.figures.errors.mape);
        }
        // The roofline knows neither clock nor software of the rows behind tile-wave: each is first of its own.
        for (const JudgedMethod& method : all.methods) {
            QCOMPARE(method.common.equals, std::size_t(1));
            QCOMPARE(method.common.firstShare, 1.0);
        }
        QVERIFY(all.methods[0].common.group != all.methods[1].common.group);
        QCOMPARE(all.methods[0].stack, std::string("none"));
        QVERIFY(all.methods[1].stack != "none" && all.methods[1].clock == "as fitted");
        const SideBySide own = judged({"roofline", "tile-wave"}, tables, 1, false);
        QVERIFY(std::fabs(own.methods[0].common.firstShare + own.methods[1].common.firstShare - 1) < 1e-12);
        QCOMPARE(own.methods[0].common.equals, std::size_t(2));
        const auto mape = [&](std::size_t place) { return all.methods[all.ranking[place]].common.figures.errors.mape; };
        QVERIFY(mape(0) <= mape(1));
    }
    // Asked among all, a method of few rows stands apart and leaves the others their rows; named, it is compared.
    void narrowOnesStandApart() {
        ReferenceTable wide = table();
        std::vector<ReferenceTable> tables{wide};
        const auto executor = makeSerialExecutor();
        EvaluateOptions options;
        options.executor = executor.get();
        const auto with = [&](bool always) {
            std::vector<Contestant> asked{contestant("roofline"), contestant("hierarchical-roofline"),
                                          contestant("systolic-closed-form")};
            for (Contestant& each : asked) each.always = always;
            auto all = judgeSideBySide(asked, tables, selectRows(tables), options);
            if (!all) qFatal("%s", toText(all.error()).c_str());
            return std::move(*all);
        };
        const SideBySide apart = with(false), named = with(true);
        QCOMPARE(apart.methods[2].own->rows.size(), std::size_t(9));  // the TPU's alone
        QCOMPARE(apart.common.size(), std::size_t(27));
        QCOMPARE(apart.ranking.size(), std::size_t(2));
        QVERIFY(apart.methods[0].compared && apart.methods[1].compared && !apart.methods[2].compared);
        QCOMPARE(apart.methods[2].common.figures.errors.mape, apart.methods[2].own->figures.errors.mape);
        QCOMPARE(named.common.size(), std::size_t(9));
        QCOMPARE(named.ranking.size(), std::size_t(3));
        QVERIFY(sideBySideJson(apart, tables, {}).find("\"compared\": false") != std::string::npos);
    }
    void threadsChangeNothing() {
        const std::vector<ReferenceTable> tables{table()};
        const SideBySide one = judged({"roofline", "tile-wave", "tile-hybrid"}, tables, 1);
        const SideBySide three = judged({"roofline", "tile-wave", "tile-hybrid"}, tables, 3);
        QCOMPARE(one.ranking, three.ranking);
        for (std::size_t m = 0; m < 3; ++m) {
            QCOMPARE(one.methods[m].common.figures.errors.mape, three.methods[m].common.figures.errors.mape);
            QCOMPARE(one.methods[m].common.mapeLow, three.methods[m].common.mapeLow);
            QCOMPARE(one.methods[m].common.firstShare, three.methods[m].common.firstShare);
        }
    }
    void aMethodThatAnswersNoneIsNamed() {
        ReferenceTable tpu = table();
        std::erase_if(tpu.rows, [](const ReferenceRow& row) { return row.device != 2; });
        const std::vector<ReferenceTable> tables{tpu};
        const SideBySide all = judged({"tile-wave", "roofline"}, tables);
        QVERIFY(!all.methods[0].own && all.methods[0].refusal && !all.methods[0].refusal->message.empty());
        QCOMPARE(all.common.size(), std::size_t(9));
        QCOMPARE(all.ranking, std::vector<std::size_t>{1});
    }
    // The shipped sections record their split: what is left of the rows is its test side.
    void heldOutIsTheTestSideOfTheShippedSplits() {
        const std::vector<ReferenceTable> tables{table()};
        const auto rows = selectRows(tables);
        Diagnostics warnings;
        const auto left = heldOutRows(shippedCalibrations().set, "booster", tables, rows, warnings);
        QVERIFY(left);
        const auto split = splitRows(tables, rows, *parseHoldout("fraction=0.8", 1));
        QVERIFY(split);
        QCOMPARE(*left, split->test);
        QVERIFY(left->size() < rows.size());
    }
};

QTEST_GUILESS_MAIN(TestSideBySide)
#include "tst_side_by_side.moc"
