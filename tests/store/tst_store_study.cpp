#include "hardware/files/catalogue.h"
#include "methods/among_all.h"
#include "store/project/project.h"
#include "store/project/study_file.h"
#include "store/project/study_to_project.h"

#include <QDir>
#include <QtTest/QtTest>

#include <set>

using namespace orrery;

class TestStoreStudy : public QObject {
    Q_OBJECT
private slots:
    // What the studio opens asks the same as the study.
    void aStudyIsAProjectThatAsksTheSame() {
        const auto loaded = readStudy(
            "orrery: study/1\nname: Two\nhardware: [h100-sxm]\nworkloads: [resnet-50]\nmethods: [roofline]\n"
            "sweep: {hbm3.bandwidth: [2 TB/s, 3 TB/s], batch: [1, 8]}\n");
        QVERIFY2(loaded, loaded ? "" : toText(loaded.error()).c_str());
        const auto project = projectOfStudy(loaded->study);
        QVERIFY(project);
        QCOMPARE(project->hardware.size(), std::size_t(2));
        QVERIFY(project->hardware[0].name != project->hardware[1].name);
        QVERIFY(project->workloads.size() == 2 && project->workloads[0].name != project->workloads[1].name);
        const auto again = studyOfProject(*project);
        QVERIFY2(again, again ? "" : toText(again.error()).c_str());
        const auto& asked = loaded->study.scenarios;
        QCOMPARE(again->study.scenarios.size(), asked.size());
        QCOMPARE(again->study.methods, loaded->study.methods);
        const auto serial = makeSerialExecutor();
        for (std::size_t i = 0; i < asked.size(); ++i) {
            EstimateContext context{*serial};
            const auto one = estimate(*findMethod("roofline"), asked[i], context);
            const auto other = estimate(*findMethod("roofline"), again->study.scenarios[i], context);
            QVERIFY(one && other);
            QCOMPARE(one->latency.value, other->latency.value);
        }
        Study many = loaded->study;
        while (many.scenarios.size() <= mostShownScenarios) many.scenarios.push_back(many.scenarios.front());
        const auto refused = projectOfStudy(many);
        QVERIFY(!refused && refused.error().code == "study.too-large" && !refused.error().hint.empty());
    }
    void everyCombinationIsAScenarioWithANameOfItsOwn() {
        const auto loaded = readStudy(
            "orrery: study/1\nname: Bandwidth or batch?\nhardware: [h100-sxm]\n"
            "workloads: [resnet-50, {source: vgg-16, name: VGG, weights: int8}]\nmethods: [roofline]\n"
            "sweep: {hbm3.bandwidth: [2 TB/s, 3.35 TB/s], batch: [1, 8, 64]}\nseed: 7\n");
        QVERIFY2(loaded, loaded ? "" : toText(loaded.error()).c_str());
        const Study& study = loaded->study;
        QCOMPARE(study.scenarios.size(), std::size_t{2 * 2 * 3});
        QCOMPARE(study.methods, std::vector<std::string>{"roofline"});
        QCOMPARE(study.seed, std::uint64_t{7});
        QVERIFY(!loaded->timelines);
        std::set<std::string> names;
        std::set<double> bandwidths;
        std::set<std::int64_t> batches;
        for (const Scenario& scenario : study.scenarios) {
            names.insert(scenario.name());
            batches.insert(scenario.workload->recipe.options.batch);
            bandwidths.insert(deviceView(*scenario.hardware)->main().bandwidth.value);
            QVERIFY((scenario.workload->recipe.options.weights == DType::I8) ==
                    (scenario.workload->name.rfind("VGG", 0) == 0));
        }
        QCOMPARE(names.size(), study.scenarios.size());
        QCOMPARE(batches, (std::set<std::int64_t>{1, 8, 64}));
        QCOMPARE(bandwidths, (std::set<double>{2e12, 3.35e12}));
    }
    void withoutMethodsAllAnswer() {
        const auto loaded = readStudy("orrery: study/1\nhardware: [h100-sxm]\nworkloads: [resnet-50]\n");
        QVERIFY(loaded);
        const auto all =
            std::ranges::count_if(builtinMethods(), [](const Method& method) { return standsAmongAll(method.card); });
        QVERIFY(all >= 20);
        QCOMPARE(loaded->study.methods.size(), static_cast<std::size_t>(all));
    }
    void filesAreFoundFromTheStudysFolder() {
        QTemporaryDir folder;
        const std::string base = folder.path().toStdString();
        QVERIFY(saveFileAtomically(base + "/chip.yaml", writeHardware(loadHardware("h100-sxm")->hardware)));
        QVERIFY(saveFileAtomically(
            base + "/s.yaml",
            "orrery: study/1\nhardware: [{file: chip.yaml, name: Mine, set: {sm.count: 144}}, ./chip.yaml]\n"
            "workloads: [resnet-50]\ntimelines: true\n"));
        const auto loaded = readStudyFile(base + "/s.yaml");
        QVERIFY2(loaded, loaded ? "" : toText(loaded.error()).c_str());
        QCOMPARE(loaded->study.name, std::string("s"));
        QVERIFY(loaded->timelines);
        QCOMPARE(loaded->study.scenarios.at(0).hardware->name, std::string("Mine"));
        QCOMPARE(deviceView(*loaded->study.scenarios[0].hardware)->cores, 144);
    }
    void badFilesGetADiagnostic_data() {
        QTest::addColumn<QString>("path");
        const QDir folder(ORRERY_TEST_DATA "/bad/study");
        const auto files = folder.entryList(QDir::Files);
        QVERIFY(files.size() >= 6);
        for (const QString& file : files) QTest::newRow(qPrintable(file)) << folder.filePath(file);
    }
    void badFilesGetADiagnostic() {
        QFETCH(QString, path);
        const auto loaded = readStudyFile(path.toStdString());
        QVERIFY(!loaded);
        const Diagnostic& error = loaded.error();
        QVERIFY2(!error.place.file.empty(), toText(error).c_str());
        QVERIFY2(!error.expected.empty() || !error.hint.empty(), toText(error).c_str());
    }
    void aSlipNamesItsLine() {
        const auto loaded = readStudy(
            "orrery: study/1\nhardware: [h100-sxm]\nworkloads: [resnet-50]\nsweep:\n  batch: [1]\n"
            "  hbm3.bandwidth: [2 TB/s, 3 TBps]\n",
            "s.yaml");
        QVERIFY(!loaded);
        QCOMPARE(loaded.error().place.line, 6);
        QVERIFY2(loaded.error().hint.find("TB/s") != std::string::npos, toText(loaded.error()).c_str());
    }
};

QTEST_GUILESS_MAIN(TestStoreStudy)
#include "tst_store_study.moc"
