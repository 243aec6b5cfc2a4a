// Do hand placements follow their components, stay out of the design, and come back from the file?

#include "app/document/commands/component_edits.h"
#include "app/document/commands/layout_edits.h"
#include "app/document/commands/project_edits.h"
#include "app/document/commands/set_attribute.h"
#include "app/window/hardware/canvas_editor.h"
#include "support/studio_fixture.h"
#include "widgets/canvas/scene.h"

using namespace orrery;
using namespace orrery::app;
using namespace orrery::app::test;

namespace {

ui::PlacedAt at(const ComponentPath& path, double x, double y) {
    ui::PlacedAt place{path, {}};
    place.at.x = x;
    place.at.y = y;
    return place;
}

const ui::Placement* placeOf(const Document& document, const ComponentPath& path) {
    return document.placements()->find(ui::placementKey(document.hardware()->root, path));
}

}  // namespace

class TestDocumentLayout : public QObject {
    Q_OBJECT
private slots:
    void aMoveKeepsTheDesign() {
        Document document;
        document.reset(smallProject());
        const HardwarePtr design = document.hardware();
        const std::string before = document.yaml();
        QSignalSpy layout(&document, &Document::layoutChanged), hardware(&document, &Document::hardwareChanged);
        const ComponentPath hbm = pathOf(document, "hbm3");
        QVERIFY_DONE(document.apply(arrangeEdit(*document.state(), 0, "Move hbm3", {at(hbm, 40, 16)})));
        QCOMPARE(document.hardware(), design);
        QCOMPARE(layout.count(), 1);
        QCOMPARE(hardware.count(), 0);
        QCOMPARE(document.undoStack()->undoText(), QString("Move hbm3"));
        QCOMPARE(placeOf(document, hbm)->x, 40.0);
        QVERIFY(document.yaml() != before);
        document.undoStack()->undo();
        QCOMPARE(document.yaml(), before);
        QVERIFY(!document.apply(arrangeEdit(*document.state(), 0, "Move", {at({9, 9}, 0, 0)})));
        QVERIFY(!document.apply(arrangeEdit(*document.state(), 0, "Move", {at(hbm, qQNaN(), 0)})));
    }
    void oneGestureIsOneEntry() {
        Document document;
        document.reset(smallProject());
        const ComponentPath hbm = pathOf(document, "hbm3");
        const int gesture = document.newGesture();
        for (int step = 1; step < 9; ++step) {
            QVERIFY_DONE(
                document.apply(arrangeEdit(*document.state(), 0, "Move hbm3", {at(hbm, 8 * step, 0)}), gesture));
        }
        QCOMPARE(document.undoStack()->count(), 1);
        QCOMPARE(placeOf(document, hbm)->x, 64.0);
    }
    void placesFollowTheirComponents() {
        Document document;
        document.reset(smallProject());
        ComponentPath hbm = pathOf(document, "hbm3");
        QVERIFY_DONE(document.apply(arrangeEdit(*document.state(), 0, "Move hbm3", {at(hbm, 40, 16)})));
        QVERIFY_DONE(document.apply(renameComponentEdit(*document.state(), 0, hbm, "memory")));
        QCOMPARE(placeOf(document, hbm)->x, 40.0);
        QCOMPARE(document.placements()->at.size(), std::size_t{1});
        QVERIFY_DONE(document.apply(duplicateComponentsEdit(*document.state(), 0, {hbm}, 8, 24)));
        const ComponentPath copy = pathOf(document, "memory2");
        QCOMPARE(placeOf(document, copy)->x, 48.0);
        QCOMPARE(placeOf(document, copy)->y, 40.0);
        QVERIFY_DONE(document.apply(removeComponentsEdit(*document.state(), 0, {hbm})));
        QCOMPARE(document.placements()->at.size(), std::size_t{1});
        QVERIFY_DONE(document.apply(arrangeAutomaticallyEdit(*document.state(), 0, {})));
        QVERIFY(document.placements()->at.empty());
    }
    void aCardThatGrowsPushesItsNeighboursAside() {
        Document document;
        document.reset(smallProject());
        DocumentCanvasEditor editor(document);
        Component package{.kind = ComponentKind::Package, .name = "chip"}, array{.kind = ComponentKind::Array,
                                                                                  .name = "grid"},
            memory{.kind = ComponentKind::Dram, .name = "below"};
        array.children.push_back({.kind = ComponentKind::Mac, .name = "unit"});
        package.children = {array, memory};
        const auto made = editor.add({}, {package}, {});
        QVERIFY_DONE(made);
        const ComponentPath chip = made->front();
        const auto boxOf = [&](const char* name) {
            ui::Scene scene;
            scene.setDesign(document.hardware(), document.placements());
            return scene.nodes()[static_cast<std::size_t>(scene.find(pathOf(document, name)))].box;
        };
        const double under = boxOf("grid").height() + 8;
        QVERIFY_DONE(editor.arrange(
            "Place", {at(pathOf(document, "grid"), 0, 0), at(pathOf(document, "below"), 0, under)}, 0));
        QVERIFY(!boxOf("grid").intersects(boxOf("below")));
        const QRectF grid = boxOf("grid"), below = boxOf("below");
        const int entries = document.undoStack()->count();
        // A line more on the innermost card, as the inspector writes it.
        QVERIFY_DONE(document.apply(setAttributeEdit(*document.state(), 0, pathOf(document, "unit"), "macs.int8", "1")));
        QVERIFY(boxOf("grid").height() > grid.height());
        QVERIFY(!boxOf("grid").intersects(boxOf("below")));
        QCOMPARE(document.undoStack()->count(), entries + 1);
        document.undoStack()->undo();
        QCOMPARE(boxOf("grid"), grid);
        QCOMPARE(boxOf("below"), below);
        // What does not grow moves nobody, and what nobody placed stays laid out by itself.
        document.undoStack()->redo();
        const QRectF stands = boxOf("below");
        QVERIFY_DONE(document.apply(setAttributeEdit(*document.state(), 0, pathOf(document, "unit"), "macs.int8", "2")));
        QCOMPARE(boxOf("below"), stands);
        QVERIFY(!placeOf(document, pathOf(document, "unit")));
    }
    void savedAndLoadedIsAFixedPoint() {
        QTemporaryDir folder;
        const QString file = folder.filePath("a.yaml");
        Document document;
        Project project = smallProject();
        project.hardware.front().layoutYaml = "view: {zoom: 2}\n";  // by hand, not ours
        document.reset(project);
        const ComponentPath hbm = pathOf(document, "hbm3");
        QVERIFY_DONE(document.apply(arrangeEdit(*document.state(), 0, "Move hbm3", {at(hbm, 40.25, -16)})));
        QVERIFY_DONE(document.apply(deriveHardwareEdit(*document.state(), 0, "Mine")));
        QVERIFY_DONE(document.saveAs(file));
        const std::string once = document.yaml();
        QVERIFY(once.find("view: {zoom: 2}") != std::string::npos);
        QVERIFY(once.find("derived_from") != std::string::npos);
        Document other;
        QVERIFY_DONE(other.load(file));
        QVERIFY_DONE(other.saveAs(file));
        QCOMPARE(other.savedText(), document.savedText());
        QCOMPARE(other.hardware()->derivedFrom, smallProject().hardware.front().name);
        QVERIFY(other.hardware()->layoutYaml.empty());
    }
    void renamingADesignTakesScenariosAlong() {
        Document document;
        document.reset(smallProject());
        QVERIFY_DONE(document.apply(deriveHardwareEdit(*document.state(), 0)));
        QVERIFY_DONE(document.apply(renameHardwareEdit(*document.state(), 0, "Base")));
        QCOMPARE(document.state()->hardware.back()->derivedFrom, std::string("Base"));
        for (const ScenarioRef& each : document.state()->scenarios) {
            QVERIFY(document.state()->hardwareIndex(each.hardware) >= 0);
        }
        QVERIFY(!document.apply(
            renameHardwareEdit(*document.state(), 0, QString::fromStdString(document.state()->hardware[1]->name))));
        QVERIFY_DONE(document.apply(reorderHardwareEdit(*document.state(), 0, 2)));
        QCOMPARE(document.state()->hardware[2]->name, std::string("Base"));
    }
    void theEditorEditsTheDesignThatItIsFor() {
        Document document;
        document.reset(smallProject());
        DocumentCanvasEditor editor(document, [] { return 1; });
        const HardwarePtr first = document.state()->hardware[0];
        Component die;
        die.kind = ComponentKind::Package;
        die.name = "extra";
        const auto made = editor.add({}, {die, die}, {});
        QVERIFY_DONE(made);
        QCOMPARE(made->size(), std::size_t{2});
        QCOMPARE(document.undoStack()->undoText(), QString("Add 2 components"));
        const auto link = editor.link(made->front(), made->back(), {});
        QVERIFY_DONE(link);
        QCOMPARE(document.undoStack()->undoText(), QString("Link extra to extra2"));
        QVERIFY_DONE(editor.setAttribute(*made, "count", "4"));
        QCOMPARE(document.undoStack()->undoText(), QString::fromUtf8("2 components count 1 → 4"));
        QVERIFY(!editor.remove({}));
        QCOMPARE(document.state()->hardware[0], first);
        while (document.undoStack()->canUndo()) document.undoStack()->undo();
        QVERIFY(!document.isModified());
    }
};

QTEST_MAIN(TestDocumentLayout)
#include "tst_document_layout.moc"
