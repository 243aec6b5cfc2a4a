#include "store/project/project.h"
#include "store/project/study_file.h"
#include "store/project/what_ifs.h"

#include <QtTest/QtTest>

using namespace orrery;

namespace {

Project projectWith(std::vector<WhatIf> changes) {
    Project project;
    ProjectWorkload workload{"resnet-50", {"resnet-50", {}}, {}};
    workload.recipe.whatIfs = std::move(changes);
    project.workloads = {workload};
    return project;
}

}  // namespace

class TestStoreWhatIf : public QObject {
    Q_OBJECT
private slots:
    void whatIfsComeBackAsTheyWere() {
        const std::vector<WhatIf> changes{
            RetypeKind{OperatorKind::Conv, DType::FP8},
            FuseOperators{{"layer1.0.1.conv", "odd, [name]", "a: b # c", "null", "two\nlines"}, "stem: all"},
            FuseOperators{{"a", "b"}, ""}, ReshapeOperator{"/features/0/Conv", 1, {1, 64, 7, 7}},
            ReshapeOperator{"x y", -3, {}}};
        const std::string once = writeProject(projectWith(changes));
        const auto read = readProject(once);
        QVERIFY2(read, read ? "" : toText(read.error()).c_str());
        QVERIFY(read->warnings.empty());
        QVERIFY(read->project.workloads[0].recipe.whatIfs == changes);
        QCOMPARE(QString::fromStdString(writeProject(read->project)), QString::fromStdString(once));
        QVERIFY(writeProject(projectWith({})).find("what_if") == std::string::npos);
    }

    // An ONNX file keeps its types: the usual type of weights beside it is no answer in that type.
    void typesOfAFileAreNotNamedAnew() {
        const std::string model = ORRERY_SOURCE "/presets/examples/models/pocket-vit.onnx";
        const auto warned = [&](const std::string& weights, const std::string& source) {
            const auto read =
                readProject("orrery: project/1\nworkloads:\n  - {source: " + source + ", weights: " + weights + "}\n");
            if (!read) qFatal("%s", toText(read.error()).c_str());
            return std::ranges::any_of(read->warnings, [](const auto& each) { return each.code == "recipe.weights"; });
        };
        QVERIFY(warned("fp16", model));
        QVERIFY(!warned("int8", model));
        QVERIFY(!warned("fp16", "llama-2-7b"));
        const auto sweep = [&](const std::string& weights) {
            return readStudy("orrery: study/1\nhardware: [h100-sxm]\nworkloads: [" + model + "]\nsweep: {weights: [" +
                             weights + "]}\n");
        };
        const auto narrow = sweep("int8, nvfp4");
        QVERIFY2(narrow, narrow ? "" : toText(narrow.error()).c_str());
        const auto wrong = sweep("fp16, int8");
        QVERIFY(!wrong);
        QCOMPARE(QString::fromStdString(wrong.error().code), QStringLiteral("workload.weights"));
    }

    void whatCannotBeReadIsRefusedWithItsPlace_data() {
        QTest::addColumn<QString>("entry");
        QTest::addColumn<QString>("code");
        QTest::newRow("a change of tomorrow") << "{prune: Conv}"
                                              << "what-if.unknown";
        QTest::newRow("no mapping") << "fuse"
                                    << "yaml.type";
        QTest::newRow("no such kind") << "{retype: Convolution, type: int8}"
                                      << "what-if.kind";
        QTest::newRow("no such type") << "{retype: Conv, type: int7}"
                                      << "what-if.type";
        QTest::newRow("no type") << "{retype: Conv}"
                                 << "";
        QTest::newRow("no list") << "{fuse: {a: b}}"
                                 << "";
        QTest::newRow("no extents") << "{reshape: a}"
                                    << "";
        QTest::newRow("an extent of nothing") << "{reshape: a, extents: [0]}"
                                              << "";
        QTest::newRow("an extent that is no number") << "{reshape: a, extents: [many]}"
                                                     << "";
        QTest::newRow("two tensors") << "{reshape: a, input: 0, output: 0, extents: [1]}"
                                     << "what-if.tensor";
        QTest::newRow("a negative slot") << "{reshape: a, input: -1, extents: [1]}"
                                         << "";
    }
    void whatCannotBeReadIsRefusedWithItsPlace() {
        QFETCH(QString, entry);
        QFETCH(QString, code);
        const std::string text =
            "orrery: project/1\nworkloads:\n  - source: resnet-50\n    what_if:\n      - " + entry.toStdString() + "\n";
        const auto read = readProject(text, "p.orrery");
        QVERIFY(!read);
        if (!code.isEmpty()) QCOMPARE(QString::fromStdString(read.error().code), code);
        QCOMPARE(read.error().place.file, std::string("p.orrery"));
        QVERIFY2(read.error().place.line > 2, toText(read.error()).c_str());
        QVERIFY(!read.error().expected.empty());
    }
    void oneChangeOrAListAsText() {
        const auto one = parseWhatIfs("{retype: MatMul, type: int8}");
        QVERIFY(one && one->size() == 1);
        QCOMPARE(std::get<RetypeKind>(one->front()), (RetypeKind{OperatorKind::MatMul, DType::I8}));
        const auto two = parseWhatIfs("[{fuse: [a, b], name: ab}, {reshape: c, output: 0, extents: [4, 8]}]");
        QVERIFY(two && two->size() == 2);
        for (const char* wrong : {"", "x", "{retype: Nothing, type: int8}", "{retype: MatMul}",
                                  "{retype: MatMul, type: int8, tipe: x}", "[[", "{fuse: a, b}", "{paint: red}"})
            QVERIFY2(!parseWhatIfs(wrong), wrong);
    }
    void aStudyAsksWithTheModelChanged() {
        const char* const text =
            "orrery: study/1\nhardware: [h100-sxm]\nmethods: [roofline]\nworkloads:\n  - resnet-50\n"
            "  - {source: resnet-50, name: int8, what_if: [{retype: MatMul, type: int8}]}\n";
        const auto loaded = readStudy(text);
        QVERIFY2(loaded, loaded ? "" : toText(loaded.error()).c_str());
        QCOMPARE(loaded->study.scenarios.size(), std::size_t(2));
        QVERIFY(loaded->study.scenarios[0].workload->recipe.whatIfs.empty());
        QCOMPARE(loaded->study.scenarios[1].workload->recipe.whatIfs.size(), std::size_t(1));
        QVERIFY(
            !readStudy("orrery: study/1\nhardware: [h100-sxm]\nworkloads:\n  - {source: resnet-50, what_if: [{retype: "
                       "Nothing, type: int8}]}\n"));
    }
};

QTEST_GUILESS_MAIN(TestStoreWhatIf)
#include "tst_store_what_if.moc"
