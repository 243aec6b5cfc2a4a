// Does the document change only through its undo list, and come back exactly?

#include "app/document/commands/comparison_edits.h"
#include "app/document/commands/component_edits.h"
#include "app/document/commands/project_edits.h"
#include "app/document/commands/set_attribute.h"
#include "app/document/commands/set_replication.h"
#include "app/document/disk_watch.h"
#include "support/studio_fixture.h"

using namespace orrery;
using namespace orrery::app;
using namespace orrery::app::test;

class TestDocument : public QObject {
    Q_OBJECT
private slots:
    void oneDragIsOneEntryAndUndoRestoresTheBytes();
    void aDragBackToItsStartLeavesNoEntry();
    void gesturesOnDifferentNumbersDoNotMerge();
    void theTextSaysWhatChanged();
    void refusedEditsChangeNothing();
    void anAttributeCanBeRemovedAndComesBack();
    void componentsMoveWithoutLoss();
    void removingADesignTakesItsScenarios();
    void choosingAPairKeepsTheOthers();
    void anAddedDesignJoinsTheScenarios();
    void savedAndLoadedIsTheSameText();
    void modifiedFollowsTheUndoList();
    void aBadFileLeavesTheOpenProject_data();
    void aBadFileLeavesTheOpenProject();
    void anUnknownMemberSurvivesEdits();
    void changesOnDiskAreNoticedButOwnSavesAreNot();
    void problemsFollowEdits();
};

void TestDocument::oneDragIsOneEntryAndUndoRestoresTheBytes() {
    Document document;
    document.reset(smallProject());
    const std::string before = document.yaml();
    QSignalSpy changes(&document, &Document::hardwareChanged);
    const int gesture = document.newGesture();
    const ComponentPath hbm = pathOf(document, "hbm3");
    for (int step = 1; step <= 20; ++step) {
        const QString value = QStringLiteral("%1 TB/s").arg(3.35 + 0.05 * step);
        QVERIFY_DONE(document.apply(setAttributeEdit(*document.state(), 0, hbm, "bandwidth", value), gesture));
    }
    QCOMPARE(changes.count(), 20);
    QCOMPARE(document.undoStack()->count(), 1);
    QCOMPARE(bandwidthOf(document, "hbm3"), 4.35e12);
    document.undoStack()->undo();
    QCOMPARE(document.yaml(), before);
    document.undoStack()->redo();
    QCOMPARE(bandwidthOf(document, "hbm3"), 4.35e12);
}

void TestDocument::aDragBackToItsStartLeavesNoEntry() {
    Document document;
    document.reset(smallProject());
    const ComponentPath hbm = pathOf(document, "hbm3");
    const int gesture = document.newGesture();
    for (const char* value : {"3.5 TB/s", "3.9 TB/s", "3.35 TB/s"}) {
        QVERIFY_DONE(document.apply(setAttributeEdit(*document.state(), 0, hbm, "bandwidth", value), gesture));
    }
    QCOMPARE(document.undoStack()->count(), 0);
    QVERIFY(!document.isModified());
}

void TestDocument::gesturesOnDifferentNumbersDoNotMerge() {
    Document document;
    document.reset(smallProject());
    const ComponentPath hbm = pathOf(document, "hbm3");
    const int gesture = document.newGesture();
    QVERIFY_DONE(document.apply(setAttributeEdit(*document.state(), 0, hbm, "bandwidth", "4 TB/s"), gesture));
    QVERIFY_DONE(document.apply(setAttributeEdit(*document.state(), 0, hbm, "capacity", "96 GB"), gesture));
    QVERIFY_DONE(
        document.apply(setAttributeEdit(*document.state(), 0, hbm, "capacity", "100 GB"), document.newGesture()));
    QVERIFY_DONE(document.apply(setAttributeEdit(*document.state(), 0, hbm, "capacity", "120 GB")));
    QCOMPARE(document.undoStack()->count(), 4);
}

void TestDocument::theTextSaysWhatChanged() {
    Document document;
    document.reset(smallProject());
    const ComponentPath hbm = pathOf(document, "hbm3");
    const int gesture = document.newGesture();
    QVERIFY_DONE(document.apply(setAttributeEdit(*document.state(), 0, hbm, "bandwidth", "3.6 TB/s"), gesture));
    QVERIFY_DONE(document.apply(setAttributeEdit(*document.state(), 0, hbm, "bandwidth", "4 TB/s"), gesture));
    QCOMPARE(document.undoStack()->undoText(), QString::fromUtf8("hbm3 bandwidth 3.35 → 4 TB/s"));
    WorkloadOptions options = document.workload()->recipe.options;
    options.batch = 8;
    QVERIFY_DONE(document.apply(setWorkloadOptionsEdit(*document.state(), 0, options)));
    QCOMPARE(document.undoStack()->undoText(), QString::fromUtf8("Llama decode batch 1 → 8"));
    QVERIFY_DONE(document.apply(setCountEdit(*document.state(), 0, pathOf(document, "sm"), 144)));
    QCOMPARE(document.undoStack()->undoText(), QString::fromUtf8("sm count 132 → 144"));
    // A grid in place of the number, and a number in place of the grid; the mesh of an array is not its count.
    const ComponentPath sm = pathOf(document, "sm");
    QVERIFY_DONE(document.apply(setAttributeEdit(*document.state(), 0, sm, "count", "12x11")));
    QCOMPARE(document.undoStack()->undoText(), QString::fromUtf8("sm count 144 → 12×11"));
    QVERIFY_DONE(document.apply(setCountEdit(*document.state(), 0, sm, 132)));
    QCOMPARE(document.undoStack()->undoText(), QString::fromUtf8("sm count 12×11 → 132"));
    QCOMPARE(componentAt(document.hardware()->root, sm)->instances(), std::int64_t{132});
    Component array;
    array.kind = ComponentKind::Array;
    array.mesh = {14, 12};
    QCOMPARE(copiesPrinted(array), QStringLiteral("1"));
    array.count = 4;
    QCOMPARE(copiesPrinted(array), QStringLiteral("4"));
    array.kind = ComponentKind::Core;
    QCOMPARE(copiesPrinted(array), QString::fromUtf8("4 × 14×12"));
}

void TestDocument::refusedEditsChangeNothing() {
    Document document;
    document.reset(smallProject());
    const std::string before = document.yaml();
    const ComponentPath hbm = pathOf(document, "hbm3");
    const ProjectState& state = *document.state();
    const auto refuse = [&](Expected<Edit> edit) {
        const Expected<void> done = document.apply(std::move(edit));
        QVERIFY(!done);
        QVERIFY(!done.error().message.empty());
    };
    refuse(setAttributeEdit(state, 0, hbm, "bandwidth", "fast"));
    refuse(setAttributeEdit(state, 0, hbm, "bandwidth", "80 GB"));
    refuse(setAttributeEdit(state, 0, {9, 9}, "bandwidth", "1 TB/s"));
    refuse(setAttributeEdit(state, 7, hbm, "bandwidth", "1 TB/s"));
    refuse(setCountEdit(state, 0, hbm, 0));
    refuse(setMeshEdit(state, 0, hbm, {4, -1}));
    refuse(renameComponentEdit(state, 0, hbm, " "));
    refuse(renameComponentEdit(state, 0, hbm, "l2"));
    refuse(removeComponentEdit(state, 0, {}));
    refuse(moveComponentEdit(state, 0, {0}, {0, 1}, 0));
    refuse(setMethodsEdit(state, {"crystal-ball"}));
    refuse(chooseScenarioEdit(state, {"nothing", "Llama decode", {}}));
    refuse(removeCaseEdit(state, 0));
    refuse(removeCaseEdit(state, 9));
    refuse(pinCaseEdit(state, -1));
    refuse(openCaseEdit(state, 9));
    refuse(addCaseOfDesignEdit(state, 9));
    WorkloadOptions options;
    options.batch = 0;
    refuse(setWorkloadOptionsEdit(state, 0, options));
    QCOMPARE(document.undoStack()->count(), 0);
    QCOMPARE(document.yaml(), before);
}

void TestDocument::anAttributeCanBeRemovedAndComesBack() {
    Document document;
    document.reset(smallProject());
    const std::string before = document.yaml();
    const ComponentPath hbm = pathOf(document, "hbm3");
    QVERIFY_DONE(document.apply(setAttributeEdit(*document.state(), 0, hbm, "bandwidth", "")));
    QVERIFY(!componentAt(document.hardware()->root, hbm)->find("bandwidth"));
    document.undoStack()->undo();
    QCOMPARE(document.yaml(), before);
}

void TestDocument::componentsMoveWithoutLoss() {
    Document document;
    document.reset(smallProject());
    const auto names = [&] {
        QStringList found;
        for (const Component& child : componentAt(document.hardware()->root, {0})->children) {
            found << QString::fromStdString(child.name);
        }
        return found;
    };
    const QStringList before = names();
    QVERIFY(before.size() >= 3);
    QVERIFY_DONE(document.apply(moveComponentEdit(*document.state(), 0, {0, 0}, {0}, -1)));
    QStringList expected = before.mid(1) + before.mid(0, 1);
    QCOMPARE(names(), expected);
    document.undoStack()->undo();
    QVERIFY_DONE(document.apply(moveComponentEdit(*document.state(), 0, {0, 2}, {0}, 0)));
    expected = before;
    expected.move(2, 0);
    QCOMPARE(names(), expected);
    // A copy gets a name of its own.
    const Component copy = *componentAt(document.hardware()->root, pathOf(document, "l2"));
    QVERIFY_DONE(document.apply(addComponentEdit(*document.state(), 0, {0}, copy)));
    QCOMPARE(names().last(), QStringLiteral("l2_2"));  // not `l3`: that would be another thing
}

void TestDocument::removingADesignTakesItsScenarios() {
    Document document;
    document.reset(smallProject());
    QVERIFY_DONE(document.apply(removeHardwareEdit(*document.state(), 0)));
    QCOMPARE(document.state()->hardware.size(), 1u);
    QVERIFY(document.hardware());
    QCOMPARE(document.hardware()->name, document.state()->scenarios.front().hardware);
    QVERIFY(!document.apply(removeHardwareEdit(*document.state(), 0)));  // the last one stays
}

void TestDocument::choosingAPairKeepsTheOthers() {
    Document document;
    document.reset(smallProject());
    QSignalSpy pair(&document, &Document::scenarioChanged);
    const std::string t4 = document.state()->hardware[1]->name;
    QVERIFY_DONE(document.apply(chooseScenarioEdit(*document.state(), {t4, "ResNet", {}})));
    QCOMPARE(document.state()->scenarios.size(), 2u);
    QCOMPARE(document.hardware()->name, t4);
    QCOMPARE(document.workload()->name, std::string("ResNet"));
    QCOMPARE(pair.count(), 1);
    QVERIFY_DONE(document.apply(chooseScenarioEdit(*document.state(), document.state()->scenarios[1])));
    QCOMPARE(document.state()->scenarios.size(), 2u);
}

void TestDocument::anAddedDesignJoinsTheScenarios() {
    Document document;
    document.reset(smallProject());
    const std::string before = document.hardware()->name;
    QVERIFY_DONE(document.apply(addHardwareEdit(*document.state(), loadHardware("l4")->hardware)));
    QCOMPARE(document.hardware()->name, loadHardware("l4")->hardware.name);
    QCOMPARE(document.state()->scenarios.size(), 2u);
    QCOMPARE(document.state()->scenarios[1].hardware, before);
    QVERIFY_DONE(document.apply(addWorkloadEdit(*document.state(), {"ResNet", {"resnet-50", {}}, {}})));
    QCOMPARE(document.workload()->name, std::string("ResNet 2"));  // the name was taken
    QCOMPARE(document.state()->scenarios.size(), 3u);
}

void TestDocument::savedAndLoadedIsTheSameText() {
    const QTemporaryDir folder;
    const QString file = folder.filePath("a project.yaml");
    Document document;
    document.reset(smallProject());
    QVERIFY_DONE(
        document.apply(setAttributeEdit(*document.state(), 0, pathOf(document, "hbm3"), "bandwidth", "4 TB/s")));
    QVERIFY_DONE(document.saveAs(file));
    Document other;
    QVERIFY_DONE(other.load(file));
    QCOMPARE(other.yaml(), document.yaml());
    QVERIFY(sameContent(*other.state(), *document.state()));
    QVERIFY(!other.isModified());
    QVERIFY_DONE(other.save());
    QFile text(file);
    QVERIFY(text.open(QIODevice::ReadOnly));
    QCOMPARE(text.readAll().toStdString(), document.savedText());
}

void TestDocument::modifiedFollowsTheUndoList() {
    const QTemporaryDir folder;
    Document document;
    document.reset(smallProject());
    QSignalSpy told(&document, &Document::modifiedChanged);
    const ComponentPath hbm = pathOf(document, "hbm3");
    QVERIFY_DONE(document.apply(setAttributeEdit(*document.state(), 0, hbm, "bandwidth", "4 TB/s")));
    QVERIFY(document.isModified());
    QVERIFY_DONE(document.saveAs(folder.filePath("p.yaml")));
    QVERIFY(!document.isModified());
    document.undoStack()->undo();
    QVERIFY(document.isModified());
    document.undoStack()->redo();
    QVERIFY(!document.isModified());
    QCOMPARE(told.count(), 4);
    // Recovered work counts as unsaved although its undo list is empty.
    document.reset(smallProject(), folder.filePath("p.yaml"), true);
    QVERIFY(document.isModified());
    QVERIFY_DONE(document.save());
    QVERIFY(!document.isModified());
}

void TestDocument::aBadFileLeavesTheOpenProject_data() {
    QTest::addColumn<QByteArray>("content");
    QTest::addColumn<QString>("says");
    QTest::newRow("empty") << QByteArray() << QString();
    QTest::newRow("not yaml") << QByteArray("{[") << QString();
    QTest::newRow("binary") << QByteArray("\x00\x01\xff\xfe", 4) << QString();
    QTest::newRow("another document") << QByteArray("orrery: hardware/1\nname: x\n") << QStringLiteral("project");
    QTest::newRow("newer version") << QByteArray("orrery: project/99\nname: x\n") << QStringLiteral("99");
    QTest::newRow("wrong type") << QByteArray("orrery: project/1\nhardware: 7\n") << QStringLiteral("hardware");
}

void TestDocument::aBadFileLeavesTheOpenProject() {
    QFETCH(QByteArray, content);
    QFETCH(QString, says);
    const QTemporaryDir folder;
    const QString file = folder.filePath("bad.yaml");
    QFile bad(file);
    QVERIFY(bad.open(QIODevice::WriteOnly));
    bad.write(content);
    bad.close();
    Document document;
    document.reset(smallProject());
    QVERIFY_DONE(document.apply(setCountEdit(*document.state(), 0, pathOf(document, "sm"), 144)));
    const std::string before = document.yaml();
    const Expected<Diagnostics> loaded = document.load(file);
    QVERIFY(!loaded);
    const QString text = QString::fromStdString(orrery::toText(loaded.error()));
    QVERIFY2(text.contains(says, Qt::CaseInsensitive), qPrintable(text));
    QVERIFY2(!loaded.error().place.file.empty(), "the diagnostic names the file");
    QCOMPARE(document.yaml(), before);
    QCOMPARE(document.undoStack()->count(), 1);
    QVERIFY(document.isModified());
}

void TestDocument::anUnknownMemberSurvivesEdits() {
    const QTemporaryDir folder;
    const QString file = folder.filePath("p.yaml");
    Document document;
    document.reset(smallProject());
    QVERIFY_DONE(document.saveAs(file));
    QFile text(file);
    QVERIFY(text.open(QIODevice::Append));
    text.write("colour_of_the_moon: {side: dark}\n");
    text.close();
    Document later;
    QVERIFY_DONE(later.load(file));
    QVERIFY_DONE(later.apply(setCountEdit(*later.state(), 0, pathOf(later, "sm"), 144)));
    QVERIFY_DONE(later.save());
    QVERIFY(QString::fromStdString(later.savedText()).contains("colour_of_the_moon"));
}

void TestDocument::changesOnDiskAreNoticedButOwnSavesAreNot() {
    const QTemporaryDir folder;
    const QString file = folder.filePath("p.yaml");
    Document document;
    DiskWatch watch(document);
    QSignalSpy changed(&watch, &DiskWatch::changedOnDisk);
    QSignalSpy removed(&watch, &DiskWatch::removedFromDisk);
    document.reset(smallProject());
    QVERIFY_DONE(document.saveAs(file));
    QVERIFY_DONE(document.apply(setCountEdit(*document.state(), 0, pathOf(document, "sm"), 144)));
    QVERIFY_DONE(document.save());
    QFile other(file);
    QVERIFY(other.open(QIODevice::Append));
    other.write("# by hand\n");
    other.close();
    QTRY_COMPARE(changed.count(), 1);
    QVERIFY(QFile::remove(file));
    QTRY_COMPARE(removed.count(), 1);
    QCOMPARE(changed.count(), 1);  // none of the two saves was taken for another program's
}

void TestDocument::problemsFollowEdits() {
    Document document;
    document.reset(smallProject());
    const auto errors = [&] {
        return std::ranges::count_if(document.problems(),
                                     [](const Diagnostic& d) { return d.severity == Severity::Error; });
    };
    QCOMPARE(errors(), 0);
    QSignalSpy told(&document, &Document::problemsChanged);
    QVERIFY_DONE(document.apply(setAttributeEdit(*document.state(), 0, pathOf(document, "hbm3"), "bandwidth", "")));
    QVERIFY(!document.problems().empty());
    QVERIFY(told.count() > 0);
    document.undoStack()->undo();
    QCOMPARE(errors(), 0);
}

QTEST_MAIN(TestDocument)
#include "tst_document.moc"
