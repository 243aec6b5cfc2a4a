// Is a wrong sparse design refused with a place and a hint, and a right one read as it says?

#include "mapping/sparse/sparse_read.h"
#include "support/sparse_fixture.h"

#include <QDirIterator>
#include <QtTest/QtTest>

#include <map>

using namespace orrery;
using namespace orrery::test;

namespace {

/// What each file of tests/data/bad/sparse is refused for; a file that is refused for another reason tests nothing.
const std::map<QString, QString> codes = {{"density-percent", "sparse.density"},
                                          {"density-negative", "sparse.density"},
                                          {"density-text", "timeloop.value"},
                                          {"density-list", "sparse.type"},
                                          {"density-missing", "sparse.density"},
                                          {"density-nan", "timeloop.value"},
                                          {"distribution-missing", "sparse.distribution"},
                                          {"distribution-unknown", "sparse.distribution"},
                                          {"distribution-key", "sparse.key"},
                                          {"densities-list", "sparse.type"},
                                          {"density-of-stranger", "sparse.tensor"},
                                          {"banded-wide", "timeloop.value"},
                                          {"banded-three-ranks", "sparse.banded"},
                                          {"data-without-file", "sparse.data"},
                                          {"data-file-missing", "sparse.data"},
                                          {"data-file-outside", "sparse.data"},
                                          {"data-file-folder", "sparse.data"},
                                          {"targets-missing", "sparse.missing"},
                                          {"targets-map", "sparse.type"},
                                          {"root-text", "sparse.type"},
                                          {"root-key", "sparse.key"},
                                          {"target-nameless", "sparse.missing"},
                                          {"target-unknown", "sparse.level"},
                                          {"target-key", "sparse.key"},
                                          {"action-type", "sparse.action"},
                                          {"action-typeless", "sparse.action"},
                                          {"action-target", "sparse.missing"},
                                          {"action-stranger", "sparse.tensor"},
                                          {"condition-text", "sparse.type"},
                                          {"options-empty", "sparse.missing"},
                                          {"options-map", "sparse.type"},
                                          {"compute-at-storage", "sparse.level"},
                                          {"compute-type", "sparse.action"},
                                          {"formats-key", "sparse.key"},
                                          {"format-nameless", "sparse.missing"},
                                          {"format-rankless", "sparse.missing"},
                                          {"ranks-empty", "sparse.ranks"},
                                          {"rank-formatless", "sparse.missing"},
                                          {"rank-format", "sparse.format"},
                                          {"rank-key", "sparse.key"},
                                          {"rank-bits-negative", "timeloop.value"},
                                          {"rank-bits-wide", "sparse.word-bits"},
                                          {"rank-bits-huge", "timeloop.value"},
                                          {"rank-order", "sparse.order"},
                                          {"rank-dimension", "sparse.dimension"},
                                          {"rank-flattened", "sparse.type"},
                                          {"compressed-over-uncompressed", "sparse.ranks"},
                                          {"ranks-too-many", "sparse.ranks"}};

/// Two matrices and a tensor of three ranks.
NestProblem problem() {
    NestProblem out = product(16, 16, 16);
    out.tensors.push_back({"C", {{"M", {{M, 1}}}, {"N", {{N, 1}}}, {"K", {{K, 1}}}}, false});
    return out;
}

Expected<std::shared_ptr<const SparseDesign>> read(const Expected<DocNode>& root, Diagnostics& warnings) {
    if (!root) return Unexpected(root.error());
    NestHardware hardware = chain({"Buffer", "DRAM"});
    hardware.arithmetic.name = "MAC";
    hardware.levels[0].metadataWordBits = 2;
    return readSparseDesign(*root, problem(), hardware, warnings);
}

Expected<std::shared_ptr<const SparseDesign>> readText(const char* text, Diagnostics& warnings) {
    return read(parseTimeloopText(text, "design.yaml"), warnings);
}

}  // namespace

class TestSparseBad : public QObject {
    Q_OBJECT
private slots:
    void everyBadFileIsRefused_data() {
        QTest::addColumn<QString>("path");
        QDirIterator files(QString(ORRERY_TEST_DATA) + "/bad/sparse", {"*.yaml"}, QDir::Files);
        while (files.hasNext()) {
            const QString path = files.next();
            QTest::newRow(qPrintable(QFileInfo(path).completeBaseName())) << path;
        }
    }
    void everyBadFileIsRefused() {
        QFETCH(QString, path);
        const QString name = QFileInfo(path).completeBaseName();
        QVERIFY2(codes.contains(name), "say in `codes` what the file is refused for");
        Diagnostics warnings;
        const auto design = read(parseTimeloopFile(path.toStdString()), warnings);
        QVERIFY2(!design, "it was read");
        const Diagnostic& wrong = design.error();
        QCOMPARE(QString::fromStdString(wrong.code), codes.at(name));
        QVERIFY2(!wrong.expected.empty() || !wrong.hint.empty(), wrong.message.c_str());
        QVERIFY(QString::fromStdString(wrong.place.file).startsWith(QFileInfo(path).path()));
        QVERIFY(wrong.place.line > 0);
    }
    void theCorpusIsWhole() {
        QCOMPARE(QDir(QString(ORRERY_TEST_DATA) + "/bad/sparse").entryList({"*.yaml"}).size(),
                 static_cast<int>(codes.size()));
    }

    void aDesignIsReadAsItSays() {
        Diagnostics warnings;
        const auto read = readText(R"(problem:
  instance:
    densities:
      A: 0.25
      B: {distribution: hypergeometric, density: 0.5}
      Z: {distribution: banded, band-width: 1}
sparse_optimizations:
  targets:
    - name: Buffer
      representation-format:
        data-spaces:
          - name: A
            ranks:
              - {format: UOP, payload-word-bits: 3}
              - {format: B, flattened-rankIDs: [[K, M], [N]]}
            rank-application-order: inner-to-outer
      action-optimization:
        - {type: gating, options: [{target: A, condition-on: [B]}, {target: B, condition-on: [A]}]}
        - {type: skipping-spatial, target: Z, condition-on: [A, B]}
    - name: MAC
      compute-optimization: [{type: gating}, {type: skipping}]
)",
                                   warnings);
        QVERIFY2(read, read ? "" : toText(read.error()).c_str());
        const SparseDesign& design = **read;
        QVERIFY(design.active() && design.gateCompute && design.skipCompute);
        QCOMPARE(design.densities[A].kind, DensityKind::FixedStructured);
        QCOMPARE(design.densities[B].nonzeros, 128.0);
        QCOMPARE(design.densities[Z].nonzeros, 46.0);
        QVERIFY(design.densities[3].dense());
        const TensorFormat& format = design.levels[0].formats[A];
        QVERIFY(format.innerToOuter && format.compressed());
        QCOMPARE(format.ranks[0].format, RankFormat::Bitmask);
        QCOMPARE(format.ranks[0].metadataBits, 1.0);
        QCOMPARE(format.ranks[0].payloadBits, 2.0);  // the level's own
        QVERIFY(format.ranks[0].flattened == (std::vector<std::uint32_t>{1u << K | 1u << M, 1u << N}));
        QCOMPARE(format.ranks[1].payloadBits, 4.0);  // three bits do not fill eight
        QCOMPARE(warnings.size(), std::size_t{1});
        QCOMPARE(warnings[0].code, std::string("sparse.word-bits"));
        QCOMPARE(design.levels[0].actions.size(), std::size_t{2});
        QCOMPARE(design.levels[0].actions[0].options.size(), std::size_t{2});
        QCOMPARE(design.levels[0].actions[1].elimination, Elimination::SpatialSkipping);
        QCOMPARE(design.levels[0].actions[1].options[0].leaders, 1u << A | 1u << B);
    }

    void withoutASparseWordThereIsNoDesign() {
        Diagnostics warnings;
        const auto read = readText("problem: {instance: {M: 16}}", warnings);
        QVERIFY(read && !*read);
        const auto common = readText("problem: {instance: {commonDensity: 0.5}}", warnings);
        QVERIFY(common && *common && !(*common)->active());
        QCOMPARE((*common)->densities[3].density, 0.5);
    }

    /// Any part of a right file cut away is read or refused, never worse.
    void truncationsAreSurvived() {
        const std::string text =
            "sparse_optimizations:\n  targets:\n    - name: Buffer\n      representation-format:\n        "
            "data-spaces:\n"
            "          - name: A\n            ranks: [{format: UOP}, {format: CP, metadata-word-bits: 4}]\n"
            "      action-optimization:\n        - {type: skipping, target: A, condition-on: [B]}\n";
        Diagnostics warnings;
        for (std::size_t length = 0; length <= text.size(); ++length) {
            const auto read = readText(text.substr(0, length).c_str(), warnings);
            if (!read) QVERIFY(!read.error().code.empty() && !read.error().message.empty());
        }
    }
};

QTEST_APPLESS_MAIN(TestSparseBad)
#include "tst_sparse_bad.moc"
