// Families that moved between two versions of an engine: are the right versions taken to lie between, does a price of a
// moved family become wider and say so, and does nothing change where nothing is known?

#include "base/executor.h"
#include "learning/moved_versions.h"
#include "learning/section_price.h"
#include "learning/software_version.h"

#include <QTemporaryDir>
#include <QtTest/QtTest>

#include <cmath>
#include <fstream>

using namespace orrery;

namespace {

MovedVersion move(const char* device, const char* from, const char* to, double high) {
    return {"trtllm", device, "bf16", KernelKind::Gemm, from, to, 400, 0.2, high};
}

const std::vector<MovedVersion> known{
    move("h100-sxm", "1.0.0", "1.2.0rc5", 0.5),
    move("h100-sxm", "1.2.0rc5", "1.3.0rc10", 0.3),
    move("b200-sxm", "1.2.0rc5", "1.3.0rc10", 0.9),
    {"trtllm", "a100-80-sxm", "bf16", KernelKind::Gemm, "1.2.0rc5", "1.3.0rc10", 400, 0.02, 0.05}};

std::optional<MovedVersion> between(const char* a, const char* b, const char* device = "h100-sxm") {
    return movedBetween(known, "trtllm", a, b, KernelKind::Gemm, "bf16", device);
}

}  // namespace

class TestMovedVersions : public QObject {
    Q_OBJECT
private slots:
    void onlyMovesBetweenTheVersionsCount() {
        QCOMPARE(between("1.2.0rc5", "1.3.0rc10")->changeHigh, 0.3);
        QCOMPARE(between("1.3.0rc10", "1.2.0rc5")->changeHigh, 0.3);
        // Several steps: the widest of them.
        QCOMPARE(between("1.0.0", "1.3.0rc20")->changeHigh, 0.5);
        // Inside of a step one does not know on which side of the change one stands.
        QCOMPARE(between("1.1.0", "1.0.0")->changeHigh, 0.5);
        QVERIFY(!between("1.3.0rc10", "1.3.0rc20"));
        QVERIFY(!between("1.2.0rc5", "1.2.0rc5"));
        QVERIFY(!movedBetween(known, "vllm", "1.0.0", "1.3.0", KernelKind::Gemm, "bf16", "h100-sxm"));
        QVERIFY(!movedBetween(known, "trtllm", "1.0.0", "1.3.0", KernelKind::Gemm, "fp8", "h100-sxm"));
        // Of a device that nobody compared, what any device showed.
        QCOMPARE(between("1.2.0rc5", "1.3.0rc10", "l40s")->changeHigh, 0.9);
        // What stood still here is not doubted because it moved elsewhere.
        QVERIFY(!between("1.2.0rc5", "1.3.0rc10", "a100-80-sxm"));
    }
    void sectionsAreAskedByTheirSources() {
        CalibrationSection section;
        section.kind = KernelKind::Gemm;
        section.variant = "bf16";
        section.sources.push_back({});
        section.sources.back().software = "nccl-2.29.2 + trtllm-1.3.0rc10";
        QCOMPARE(movedSince(section, "TensorRT-LLM 1.2.0rc5", known, "h100-sxm")->changeHigh, 0.3);
        QVERIFY(!movedSince(section, "TensorRT-LLM 1.3.0rc10", known, "h100-sxm"));
        QVERIFY(!movedSince(section, "TensorRT-LLM", known, "h100-sxm"));
        QVERIFY(!movedSince(section, "vLLM 0.14.0", known, "h100-sxm"));
    }
    void aPriceBecomesWiderByTheMove() {
        SectionPrice price{1e-3, 0.9e-3, 1.1e-3, DomainVerdict::Inside, DomainVerdict::Inside};
        changeVersion(price, 1.5);
        QVERIFY(price.low < 0.9e-3 && price.high > 1.1e-3);
        // 90 % of the kernels stay within the factor, and the price's own error comes on top.
        QVERIFY(price.low <= 1e-3 / 1.5 && price.high >= 1.5e-3);
        QVERIFY(price.domain != DomainVerdict::Inside);
        QCOMPARE(price.seconds, 1e-3);
        SectionPrice still{1e-3, 0.9e-3, 1.1e-3, DomainVerdict::Inside, DomainVerdict::Inside};
        changeVersion(still, 1);
        QCOMPARE(still.low, 0.9e-3);
    }
    void partsOfSoftware() {
        const auto parts = softwareParts("nccl-2.27.3 + TensorRT-LLM 1.3.0rc20");
        QCOMPARE(parts.size(), std::size_t(2));
        QCOMPARE(parts[0].name, std::string("nccl"));
        QCOMPARE(parts[0].version, std::string("2.27.3"));
        QCOMPARE(parts[1].name, std::string("trtllm"));
        QCOMPARE(parts[1].version, std::string("1.3.0rc20"));
    }
    // What ships was measured, moved, and is newer than it is old.
    void whatShipsIsSound() {
        const auto& shipped = shippedMovedVersions();
        std::size_t moved = 0;
        for (const MovedVersion& each : shipped) {
            QVERIFY(each.changeMedian >= 0 && each.changeHigh >= each.changeMedian);
            moved += each.moved() ? 1 : 0;
            QVERIFY(olderVersion(each.from, each.to) && each.kernels >= 20 && !each.software.empty());
        }
        QVERIFY(moved >= 3 && moved < shipped.size());
        QTemporaryDir folder;
        const std::string bad = folder.filePath("bad.csv").toStdString();
        std::ofstream(bad) << "software,device\ntrtllm,h100-sxm\n";
        QVERIFY(!readMovedVersions(bad));
    }
};

QTEST_GUILESS_MAIN(TestMovedVersions)
#include "tst_moved_versions.moc"
