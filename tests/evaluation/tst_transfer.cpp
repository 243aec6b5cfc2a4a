// Learned on one device, asked about another: is what was fitted never what is judged, is a factor found where there is
// one and missed where it is another device's, and does a place without rows say so?

#include "base/executor.h"
#include "base/hash.h"
#include "base/random.h"
#include "evaluation/transfer/transfer.h"
#include "support/schema_check.h"

#include <QtTest/QtTest>

#include <algorithm>
#include <array>
#include <cmath>

using namespace orrery;

namespace {

/// Products of many extents; times are what a roofline says times `factor`, with a little noise.
ReferenceTable productsOn(const std::string& device, double factor, std::uint64_t seed, int rows = 200) {
    ReferenceTable made;
    made.name = "products on " + device;
    made.software = "made 1.0";
    made.devices = {{device, device}};
    RandomStream random(seed);
    for (std::int32_t i = 0; i < rows; ++i) {
        ReferenceRow row;
        row.kernel.kind = KernelKind::Gemm;
        row.kernel.type = row.kernel.weightType = DType::BF16;
        row.kernel.m = 64 + 64 * static_cast<std::int64_t>(random.below(60));
        row.kernel.n = 256 + 64 * static_cast<std::int64_t>(random.below(100));
        row.kernel.k = 256 + 64 * static_cast<std::int64_t>(random.below(100));
        countWork(row.kernel);
        row.seconds = 1;
        row.line = i + 2;
        made.rows.push_back(row);
    }
    const auto executor = makeSerialExecutor();
    EvaluateOptions options;
    options.executor = executor.get();
    const std::vector<ReferenceTable> tables{made};
    const auto plain = evaluate(*findMethod("roofline"), tables, selectRows(tables), options);
    if (!plain) qFatal("%s", toText(plain.error()).c_str());
    for (std::size_t i = 0; i < plain->rows.size(); ++i)
        made.rows[static_cast<std::size_t>(plain->rows.ref[i].row)].seconds =
            plain->rows.predicted[i] * factor * std::exp(0.02 * random.normal());
    return made;
}

Expected<Transfer> transferOf(const std::vector<ReferenceTable>& tables, TransferOptions options = {}, int threads = 1,
                              const std::string& method = "roofline") {
    const auto executor = makeThreadExecutor(threads);
    options.executor = executor.get();
    constexpr std::array<std::string_view, 2> always{"GPU", "PIM"};
    return measureTransfer({method, *findMethod(method), {}}, tables, selectRows(tables), options, always);
}

/// Which half of the rows judges: as transfer.cpp has it.
bool mixedOdd(const Kernel& kernel) {
    return (mixedBits(kernelIdentity(kernel)) & 1) != 0;
}

std::size_t groupOf(const Transfer& transfer, const std::string& name) {
    const auto found = std::find_if(transfer.groups.begin(), transfer.groups.end(),
                                    [&](const TransferGroup& group) { return group.name == name; });
    return static_cast<std::size_t>(found - transfer.groups.begin());
}

}  // namespace

class TestTransfer : public QObject {
    Q_OBJECT
private slots:
    void factorsHoldAtHomeAndNotAbroad() {
        const std::vector<ReferenceTable> tables{productsOn("h100-sxm", 1.5, 1), productsOn("tpu-v5e", 3, 2)};
        const auto transfer = transferOf(tables);
        QVERIFY2(transfer, transfer ? "" : toText(transfer.error()).c_str());
        const std::size_t gpu = groupOf(*transfer, "h100-sxm"), tpu = groupOf(*transfer, "tpu-v5e"),
                          pim = groupOf(*transfer, "PIM");
        QVERIFY(gpu < tpu && tpu < pim && pim < transfer->groups.size());
        const auto& cells = transfer->cells;
        QVERIFY(cells[gpu][gpu].mape < 0.03 && cells[tpu][tpu].mape < 0.03);
        QVERIFY(cells[gpu][gpu].coverage90 > 0.75 && cells[gpu][tpu].coverage90 < 0.1);
        // 1.5 of 3, and 3 of 1.5.
        QVERIFY(std::fabs(cells[gpu][tpu].median + 0.5) < 0.02);
        QVERIFY(std::fabs(cells[tpu][gpu].median - 1) < 0.04);
        // With nothing learned: the roofline itself.
        QVERIFY(std::fabs(transfer->untouched[gpu].median - (1 / 1.5 - 1)) < 0.02);
        // All cells of a column are of the same rows, and no row both teaches and judges.
        QCOMPARE(cells[gpu][tpu].rows, cells[tpu][tpu].rows);
        QCOMPARE(transfer->groups[gpu].fitted + transfer->groups[gpu].judged, std::size_t(200));
        QCOMPARE(cells[tpu][gpu].rows, transfer->groups[gpu].judged);
        // No memory that computes is in these tables: its row and its column say so.
        QVERIFY(cells[gpu][pim].state == TransferCell::State::NoTruth);
        QCOMPARE(cells[gpu][pim].reason, std::string("no row of PIM is loaded"));
        QVERIFY(cells[pim][gpu].state == TransferCell::State::NotFitted && !cells[pim][gpu].reason.empty());
    }

    // Judged times do not come back through what was fitted.
    void judgedTimesAreNotRead() {
        std::vector<ReferenceTable> tables{productsOn("h100-sxm", 1.5, 1)};
        const auto before = transferOf(tables);
        QVERIFY(before);
        for (ReferenceRow& row : tables[0].rows)
            if (mixedOdd(row.kernel)) row.seconds *= 2;
        const auto after = transferOf(tables);
        QVERIFY(after);
        const std::size_t at = groupOf(*after, "h100-sxm");
        QVERIFY(std::fabs((1 + after->cells[at][at].median) - (1 + before->cells[at][at].median) / 2) < 1e-9);
    }

    void sameBytesOnAnyThreadsAndInTheirForm() {
        const std::vector<ReferenceTable> tables{productsOn("h100-sxm", 1.5, 1), productsOn("a100-80-sxm", 1.2, 3)};
        TransferOptions byPlatform;
        byPlatform.by = TransferGroups::Platform;
        for (const TransferOptions& options : {TransferOptions{}, byPlatform}) {
            const auto one = transferOf(tables, options, 1), three = transferOf(tables, options, 3);
            QVERIFY(one && three);
            QCOMPARE(transferJson(*one), transferJson(*three));
            const auto problems = test::schemaErrors(transferJson(*one), "transfer");
            QVERIFY2(problems.empty(), problems.empty() ? "" : problems.front().c_str());
            const std::string csv = transferCsv(*one);
            const auto groups = static_cast<std::ptrdiff_t>(one->groups.size());
            QCOMPARE(std::count(csv.begin(), csv.end(), '\n'), 1 + groups + groups * groups);
        }
    }

    void aMethodsOwnFitIsJudgedElsewhere() {
        const std::vector<ReferenceTable> tables{productsOn("h100-sxm", 1.5, 1), productsOn("a100-80-sxm", 1.5, 3)};
        TransferOptions own;
        own.fit = TransferFit::Own;
        const auto transfer = transferOf(tables, own, 2, "tile-wave");
        QVERIFY2(transfer, transfer ? "" : toText(transfer.error()).c_str());
        const std::size_t h100 = groupOf(*transfer, "h100-sxm");
        QVERIFY(transfer->cells[h100][h100].state == TransferCell::State::Judged);
        QVERIFY(transfer->cells[h100][h100].mape < transfer->untouched[h100].mape);
        const auto none = transferOf(tables, own, 1, "roofline");
        QVERIFY(!none);
        QCOMPARE(none.error().code, std::string("transfer.no-fit"));
    }

    void tooFewRowsTeachNothing() {
        const auto few = transferOf({productsOn("h100-sxm", 1.5, 1, 4)});
        QVERIFY(!few);
        QCOMPARE(few.error().code, std::string("transfer.few"));
    }
};

QTEST_GUILESS_MAIN(TestTransfer)
#include "tst_transfer.moc"
