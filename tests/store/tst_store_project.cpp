#include "base/random.h"
#include "hardware/files/catalogue.h"
#include "store/project/project.h"

#include <QDir>
#include <QtTest/QtTest>

#include <algorithm>

using namespace orrery;

namespace {

Project everything() {
    Project project;
    project.name = "null";  // reads as nothing where it is not quoted
    project.description = "Two lines:\n  - and \"quotes\", # no comment, \t tab, µ × …";
    for (const char* id : {"h100-sxm", "eyeriss-like", "tpu-v4"})
        project.hardware.push_back(loadHardware(id)->hardware);
    ProjectWorkload plain{"resnet-50", {"resnet-50", {}}, {}};
    ProjectWorkload full{"- all: [options]", {"./models/a b.onnx", {}}, {{"mine", "deep: [1, {two: x}]"}}};
    WorkloadOptions& options = full.recipe.options;
    options.batch = 7;
    options.sequence = 4096;
    options.image = 384;
    options.phase = Phase::TrainingForward;
    options.weights = DType::I4;
    options.activations = DType::BF16;
    options.kv = DType::FP8;
    options.flashAttention = false;
    options.bindings = {{"batch", 7}, {"odd: name", 3}};
    ProjectWorkload scaled{"scaled", {"llama-3-8b", {}}, {}};
    scaled.recipe.options.setWeights(*numberFormat("nvfp4"));
    scaled.recipe.options.setActivations(*numberFormat("fp8-block"));
    project.workloads = {plain, full, scaled};
    project.scenarios = {{"NVIDIA H100 SXM", "resnet-50", {}},
                         {"Eyeriss-like array", "- all: [options]", {{"pinned", "true"}}}};
    project.scenarios[0].software = *parseSoftware("vLLM 0.24.0(graphs=off, host=12 us)");
    project.methods = {"roofline", "a-method-of-tomorrow"};
    project.unknown = {
        {"view", "zoom: 2\nnodes:\n  - {x: 1, y: \"2\"}\n  - ~"}, {"odd: key", "\"a: b # c\""}, {"empty", "[]"}};
    return project;
}

std::string textOf(const Diagnostics& diagnostics) {
    std::string text;
    for (const Diagnostic& each : diagnostics) text += toText(each) + "\n";
    return text;
}

}  // namespace

class TestStoreProject : public QObject {
    Q_OBJECT
private slots:
    void writingAndReadingAgainIsAFixedPoint() {
        const Project project = everything();
        const std::string once = writeProject(project);
        const auto read = readProject(once, "p.orrery");
        QVERIFY2(read, read ? "" : toText(read.error()).c_str());
        QVERIFY(read->migratedFrom.empty());
        const std::string twice = writeProject(read->project);
        QCOMPARE(QString::fromStdString(twice), QString::fromStdString(once));
        QCOMPARE(read->project.name, project.name);
        QCOMPARE(read->project.description, project.description);
        QVERIFY(read->project.hardware == project.hardware);
        QVERIFY(read->project.workloads[0] == project.workloads[0]);
        QVERIFY(read->project.workloads[1].recipe == project.workloads[1].recipe);
        QVERIFY(read->project.scenarios[0] == project.scenarios[0]);
        QCOMPARE(read->project.methods, project.methods);
        QCOMPARE(read->project.unknown.size(), std::size_t{3});
    }
    void everyDeviceOfTheCatalogueSurvivesInAProject() {
        Project project;
        for (const CatalogueEntry& entry : hardwareCatalogue())
            project.hardware.push_back(loadHardware(entry.id)->hardware);
        QVERIFY(project.hardware.size() >= 25);
        const auto read = readProject(writeProject(project));
        QVERIFY2(read, read ? "" : toText(read.error()).c_str());
        for (std::size_t i = 0; i < project.hardware.size(); ++i) {
            QVERIFY2(read->project.hardware[i] == project.hardware[i], project.hardware[i].name.c_str());
        }
    }
    void onlyOptionsThatDifferAreWritten() {
        Project project;
        project.workloads = {{"vgg-16", {"vgg-16", {}}, {}}};
        QCOMPARE(QString::fromStdString(writeProject(project)), "orrery: project/1\nworkloads:\n  - source: vgg-16\n");
        project.workloads[0].recipe.options.kv = DType::I8;
        QCOMPARE(QString::fromStdString(writeProject(project)),
                 "orrery: project/1\nworkloads:\n  - source: vgg-16\n    kv: int8\n");
    }
    void pricesOfDeviceHoursAreKept() {
        Project project;
        project.prices = {{"", 2.5}};
        QCOMPARE(QString::fromStdString(writeProject(project)), "orrery: project/1\ndevice_hour: 2.5\n");
        QVERIFY(readProject(writeProject(project))->project == project);
        project.prices = {{"", 1}, {"a100", 1.25}, {"h100", 2.99}};
        const auto read = readProject(writeProject(project));
        QVERIFY(read && read->project == project && read->warnings.empty());
        for (const char* bad : {"device_hour: cheap\n", "device_hour: -1\n", "device_hour: {h100: 1e9}\n",
                                "device_hour: [2.5]\n", "device_hour: nan\n"}) {
            const auto refused = readProject(std::string("orrery: project/1\n") + bad, "p.orrery");
            QVERIFY2(!refused, bad);
            QCOMPARE(refused.error().place.line, 2);
        }
    }
    void unknownKeysAreKeptAndNamed() {
        const auto read = readProject(
            "orrery: project/1\nmetods: [roofline]\nlayout: {a: [1, 2], b: {c: 'x: y'}}\n"
            "workloads:\n  - {source: vgg-16, colour: teal}\n");
        QVERIFY(read);
        QCOMPARE(read->warnings.size(), std::size_t{3});
        QVERIFY2(textOf(read->warnings).find("did you mean `methods`?") != std::string::npos,
                 textOf(read->warnings).c_str());
        const QString written = QString::fromStdString(writeProject(read->project));
        QVERIFY2(written.contains("colour: teal"), qPrintable(written));
        const auto again = readProject(written.toStdString());
        QVERIFY(again && again->project == read->project);
    }
    void anOlderVersionIsBroughtUpToDateAndSaysHow() {
        const auto read = readProjectFile(ORRERY_TEST_DATA "/projects/project_0.yaml");
        QVERIFY2(read, read ? "" : toText(read.error()).c_str());
        QCOMPARE(read->migratedFrom, std::string("project/0"));
        const Project& project = read->project;
        QCOMPARE(project.hardware.at(0).name, std::string("Small chip"));
        const WorkloadOptions& chat = project.workloads.at(0).recipe.options;
        QCOMPARE(project.workloads[0].recipe.source, std::string("llama-2-7b"));
        QCOMPARE(chat.sequence, 1024);
        QVERIFY(chat.weights == DType::I8 && chat.activations == DType::I8 && chat.kv == DType::I8);
        QVERIFY(project.workloads.at(1).recipe.options.weights == DType::F16);
        QVERIFY(
            (project.scenarios == std::vector<ScenarioRef>{{"Small chip", "Chat", {}}, {"Small chip", "Vision", {}}}));
        const std::string told = textOf(read->warnings);
        for (const char* word : {"`devices`", "`models`", "`questions`", "`precision`", "`seq`"}) {
            QVERIFY2(told.find(word) != std::string::npos, (std::string(word) + " is not among\n" + told).c_str());
        }
        QCOMPARE(project.unknown.at(0).key, std::string("colour"));
        QVERIFY(writeProject(project).rfind("orrery: project/1\n", 0) == 0);
    }
    void aNewerVersionIsRefusedInAClearSentence() {
        const auto read = readProject("orrery: project/7\n", "p.orrery");
        QVERIFY(!read);
        QCOMPARE(read.error().code, std::string("document.newer"));
        QVERIFY(read.error().message.find("newer Orrery") != std::string::npos);
        QCOMPARE(read.error().place.line, 1);
    }
    void anErrorInADesignNamesTheLineOfTheProject() {
        const auto read = readProject(
            "orrery: project/1\nname: x\nhardware:\n  - orrery: hardware/1\n    name: Bad\n"
            "    system:\n      children:\n        - kind: die\n          name: chip\n"
            "          clock: 3 parsecs\n",
            "p.orrery");
        QVERIFY(!read);
        QCOMPARE(read.error().place.file, std::string("p.orrery"));
        QCOMPARE(read.error().place.line, 10);
    }
    void aPresetBecomesAWholeDesign() {
        const auto read = readProject("orrery: project/1\nhardware:\n  - {preset: h100-sxm, name: Mine}\n");
        QVERIFY2(read, read ? "" : toText(read.error()).c_str());
        QCOMPARE(read->project.hardware.at(0).name, std::string("Mine"));
        QVERIFY(writeProject(read->project).find("hbm3") != std::string::npos);
    }
    void badFilesGetADiagnostic_data() {
        QTest::addColumn<QString>("path");
        const QDir folder(ORRERY_TEST_DATA "/bad/project");
        const auto files = folder.entryList(QDir::Files);
        QVERIFY(files.size() >= 6);
        for (const QString& file : files) QTest::newRow(qPrintable(file)) << folder.filePath(file);
    }
    void badFilesGetADiagnostic() {
        QFETCH(QString, path);
        const auto read = readProjectFile(path.toStdString());
        QVERIFY(!read);
        const Diagnostic& error = read.error();
        QVERIFY2(!error.place.file.empty(), toText(error).c_str());
        QVERIFY2(!error.expected.empty() || !error.hint.empty(), toText(error).c_str());
    }
    void aFileCutAnywhereIsReadOrRefused() {
        const std::string whole = writeProject(everything());
        std::size_t refused = 0;
        for (std::size_t length = 0; length < whole.size(); length += 37) {
            const auto read = readProject(std::string_view(whole).substr(0, length));
            if (!read) ++refused;
        }
        QVERIFY(refused > 0);
    }
    void aSpoiltFileIsReadOrRefused() {
        Project project = everything();
        project.hardware.resize(1);
        project.scenarios.resize(1);
        const std::string whole = writeProject(project);
        using namespace std::string_view_literals;
        const std::string_view odd =
            "{}[]:,-#&*!|>'\"%@` \n\t\0\xff"
            "09az~?"sv;
        int readable = 0;
        RandomStream random(20);
        for (int round = 0; round < 400; ++round) {
            std::string text = whole;
            for (std::uint64_t change = random.below(6) + 1; change > 0; --change) {
                const auto at = static_cast<std::size_t>(random.below(text.size()));
                switch (random.below(3)) {
                    case 0:
                        text[at] = odd[random.below(odd.size())];
                        break;
                    case 1:
                        text.erase(at, random.below(20));
                        break;
                    default:
                        text.insert(at,
                                    text.substr(static_cast<std::size_t>(random.below(text.size())), random.below(40)));
                }
            }
            const auto read = readProject(text, "p.orrery");
            if (!read) {
                QVERIFY2(!read.error().message.empty() && !read.error().place.file.empty(),
                         toText(read.error()).c_str());
                continue;
            }
            ++readable;
            // What could be read can be written, and then reads as the same.
            const auto again = readProject(writeProject(read->project));
            QVERIFY2(again, again ? "" : (toText(again.error()) + "\n" + writeProject(read->project)).c_str());
            QCOMPARE(writeProject(again->project), writeProject(read->project));
        }
        QVERIFY2(readable > 20, "the changes are too rough to test what is read");
    }
    void tooManyEntriesAreRefusedBeforeTheyAreKept() {
        std::string text = "orrery: project/1\nkept: [";
        for (int i = 0; i < 1100000; ++i) text += "x,";
        const auto read = readProject(text + "x]\n");
        QVERIFY(!read);
        QCOMPARE(read.error().code, std::string("yaml.too-large"));
    }
    void modelsAreStoredRelativeToTheProject() {
        QTemporaryDir folder;
        QDir(folder.path()).mkpath("here/models");
        const std::string base = folder.path().toStdString();
        Project project;
        for (const std::string& source : {base + "/here/models/a.onnx", base + "/up.json",
                                          std::string("/far/away/b.onnx"), std::string("resnet-50")}) {
            project.workloads.push_back({source, {source, {}}, {}});
        }
        QVERIFY(saveProjectFile(base + "/here/p.orrery", project));
        const auto text = readFile(base + "/here/p.orrery");
        QVERIFY2(text->find("source: models/a.onnx") != std::string::npos, text->c_str());
        QVERIFY2(text->find("source: ../up.json") != std::string::npos, text->c_str());
        QVERIFY2(text->find("source: /far/away/b.onnx") != std::string::npos, text->c_str());
        QVERIFY(text->find("source: resnet-50") != std::string::npos);
        QVERIFY(QFile::rename(folder.filePath("here"), folder.filePath("moved")));
        const auto moved = readProjectFile(base + "/moved/p.orrery");
        QVERIFY(moved);
        QCOMPARE(moved->project.workloads[0].recipe.source, base + "/moved/models/a.onnx");
        QCOMPARE(moved->project.workloads[1].recipe.source, base + "/up.json");
        QCOMPARE(moved->project.workloads[3].recipe.source, std::string("resnet-50"));
    }
};

QTEST_GUILESS_MAIN(TestStoreProject)
#include "tst_store_project.moc"
