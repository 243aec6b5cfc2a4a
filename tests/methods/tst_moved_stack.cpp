// Another version of the engine that prices were learned from: where tables of both have shown that the family moved,
// an answer is wider, says so, and keeps its value; where nothing is known it stays as it was.

#include "base/executor.h"
#include "evaluation/row_pricing.h"
#include "hardware/files/catalogue.h"
#include "learning/calibration.h"
#include "learning/moved_versions.h"
#include "learning/software_version.h"
#include "methods/model/foreign_stack.h"

#include <QtTest/QtTest>

#include <cmath>
#include <set>

using namespace orrery;

namespace {

/// A section of tile-hybrid for this very device of which a move is known, and a version on the other side of it.
struct Case {
    GpuView gpu;
    Kernel kernel;  ///< of the family, whatever its extents
    std::string device, engine, learned;
    double factor = 1;
};

/// Nothing where the family needs fields that are not tried here.
std::optional<Kernel> kernelOf(KernelKind kind, std::string_view variant) {
    Kernel kernel;
    kernel.kind = kind;
    for (const DType type : {DType::BF16, DType::FP8}) {
        for (const DType cache : {DType::BF16, DType::FP8}) {
            for (const std::int32_t block : {0, 128}) {
                kernel.type = kernel.weightType = type;
                kernel.kvType = cache;
                kernel.scaleBlock = block;
                if (variantName(kernel).view() == variant) return kernel;
            }
        }
    }
    return std::nullopt;
}

std::optional<Case> knownMove() {
    for (const auto& calibration : shippedCalibrations().set.all()) {
        if (calibration->method != "tile-hybrid") continue;
        for (const CalibrationSection& section : calibration->sections) {
            if (!section.device) continue;
            auto loaded = loadHardware(section.device->id);
            if (!loaded) continue;
            auto gpu = gpuView(loaded->hardware);
            if (!gpu) continue;
            for (const MovedVersion& move : shippedMovedVersions()) {
                if (move.kind != section.kind || move.variant != section.variant || move.device != section.device->id)
                    continue;
                const std::string engine = move.software + " " + move.from;
                const auto since = movedSince(section, engine, shippedMovedVersions(), section.device->id);
                auto kernel = kernelOf(section.kind, section.variant);
                if (!since || !kernel) continue;
                return Case{std::move(*gpu), *kernel, section.device->id, engine, section.sources.front().software, 1 + since->changeHigh};
            }
        }
    }
    return std::nullopt;
}

}  // namespace

class TestMovedStack : public QObject {
    Q_OBJECT
private slots:
    void aMovedFamilyIsDoubted() {
        const auto given = knownMove();
        QVERIFY2(given, "no family that ships calibrated, and of which a kernel is made here, is known to have moved");
        const auto& set = shippedCalibrations().set;
        const ForeignStack other("tile-hybrid", set, given->gpu, given->engine);
        const ForeignStack same("tile-hybrid", set, given->gpu, given->learned);
        QVERIFY(!other.empty());
        const Kernel& kernel = given->kernel;
        QVERIFY(other.moved(kernel) && !other.foreign(kernel));
        QVERIFY2(!same.moved(kernel), given->learned.c_str());
        KernelPrice price;
        price.seconds = 1e-4, price.low = 0.95e-4, price.high = 1.06e-4;
        KernelPrice doubted = price;
        other.doubt(kernel, doubted);
        QCOMPARE(doubted.seconds, price.seconds);
        QVERIFY(doubted.low <= price.seconds / given->factor && doubted.high >= price.seconds * given->factor);
        QVERIFY(doubted.domain != DomainVerdict::Inside);
        KernelPrice kept = price;
        same.doubt(kernel, kept);
        QCOMPARE(kept.low, price.low);
        QCOMPARE(kept.high, price.high);
        // An engine without a number may be any version.
        const ForeignStack unnumbered("tile-hybrid", set, given->gpu, softwareParts(given->engine).front().name);
        QVERIFY(!unnumbered.moved(kernel));
    }
    // A row of a table that says its software is doubted like an answer.
    void aRowOfAMovedFamilyIsDoubted() {
        const auto given = knownMove();
        QVERIFY(given);
        ReferenceTable table;
        table.name = "made";
        table.devices = {{"D", given->device}};
        ReferenceRow row;
        row.kernel = given->kernel;
        row.kernel.m = row.kernel.n = row.kernel.k = 2048;
        row.kernel.attention = {4, 32, 8, 2048, 2048, 128, 128, true, true};
        countWork(row.kernel);
        row.seconds = 1e-3;
        table.rows.push_back(row);
        const auto executor = makeSerialExecutor();
        EvaluateOptions options;
        options.executor = executor.get();
        const auto priced = [&](const std::string& software) {
            table.software = software;
            Diagnostics warnings;
            const std::vector<RowRef> rows{{0, 0}};
            auto prices = priceRows(*findMethod("tile-hybrid"), std::span(&table, 1), rows, options, warnings);
            if (!prices || prices->rows.size() != 1) qFatal("one row, one price");
            return prices->rows;
        };
        const auto same = priced(given->learned), other = priced(given->engine);
        QCOMPARE(other.predicted[0], same.predicted[0]);
        QVERIFY(other.low[0] <= other.predicted[0] / given->factor);
        QVERIFY(other.high[0] >= other.predicted[0] * given->factor);
        QVERIFY(same.low[0] > other.low[0] && same.high[0] < other.high[0]);
    }
};

QTEST_GUILESS_MAIN(TestMovedStack)
#include "tst_moved_stack.moc"
