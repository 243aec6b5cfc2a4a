// Does the inspector of many components say what they share, set all of them at once, and put a drag back exactly?
// And does it show of links and networks what one needs to know?

#include "support/panels_fixture.h"
#include "widgets/common/fact_list.h"
#include "widgets/common/log_slider.h"
#include "widgets/common/theme.h"
#include "widgets/common/value_edit.h"
#include "widgets/inspector/attribute_row.h"
#include "widgets/inspector/attribute_values.h"
#include "widgets/inspector/inspector.h"
#include "widgets/inspector/topology_section.h"

#include <QtTest>
#include <QtWidgets>

#include <random>

using namespace orrery;
using namespace orrery::ui;

namespace {

struct Edit {
    ComponentPaths paths;
    QString attribute, text;
    EditPhase phase;
};

/// Takes edits as the studio's document does: Begin changes nothing.
struct Desk {
    Inspector inspector;
    HardwarePtr hardware = fixture::hardware();
    ComponentPaths paths;
    std::vector<Edit> edits;

    explicit Desk(std::initializer_list<const char*> names) {
        for (const char* name : names) paths.push_back(*findComponent(hardware->root, name));
        start();
    }
    Desk(Hardware design, ComponentPaths selected) : paths(std::move(selected)) {
        hardware = std::make_shared<const Hardware>(std::move(design));
        start();
    }
    void start() {
        QObject::connect(
            &inspector, &Inspector::attributesEdited, &inspector,
            [this](const ComponentPaths& at, const QString& attribute, const QString& text, EditPhase phase) {
                edits.push_back({at, attribute, text, phase});
                if (phase != EditPhase::Begin) set(at, attribute, text);
            });
        QObject::connect(&inspector, &Inspector::attributesRemoved, &inspector,
                         [this](const ComponentPaths& at, const QString& attribute) { set(at, attribute, {}); });
        inspector.resize(300, 900);
        inspector.showComponents(hardware, paths);
        inspector.show();
        inspector.activateWindow();
        (void)QTest::qWaitForWindowActive(&inspector);
    }
    void set(const ComponentPaths& at, const QString& attribute, const QString& text) {
        Hardware next = *hardware;
        for (const ComponentPath& path : at)
            if (!setAttribute(*componentAt(next.root, path), attribute.toStdString(), text.toStdString())) return;
        hardware = std::make_shared<const Hardware>(std::move(next));
        inspector.showComponents(hardware, paths);
    }
    template <class T>
    T* find(const char* name) {
        return inspector.findChild<T*>(QString::fromLatin1(name));
    }
    const Component& at(std::size_t i) const { return *componentAt(hardware->root, paths[i]); }
    QString value(std::size_t i, const char* attribute) const {
        const Attribute* found = at(i).find(attribute);
        return found ? QString::fromStdString(toText(found->value)) : QString();
    }
    QString title() { return find<QLabel>("inspector.title")->text(); }
};

void retype(ValueEdit* line, const QString& text) {
    QTest::mouseClick(line, Qt::LeftButton);
    line->selectAll();
    QTest::keyClicks(line, text);
    QTest::keyClick(line, Qt::Key_Return);
}

Component part(ComponentKind kind, const char* name,
               std::initializer_list<std::pair<const char*, const char*>> given = {}) {
    Component component{.kind = kind, .name = name};
    for (const auto& [attribute, text] : given) (void)setAttribute(component, attribute, text);
    return component;
}

}  // namespace

class TestPanelsMany : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { initialiseApplicationLook(); }

    void saysHowManyAndWhatOfThem() {
        Desk desk({"hbm3", "l2", "smem"});
        QCOMPARE(desk.title(), "3 components");
        QCOMPARE(desk.inspector.componentPaths().size(), 3u);
        QCOMPARE(desk.inspector.componentPath(), desk.paths.back());
        // All memories have a capacity; only a DRAM has ranks, only a cache has ways.
        QVERIFY(desk.find<ValueEdit>("inspector.capacity"));
        QVERIFY(!desk.find<ValueEdit>("inspector.ranks"));
        QVERIFY(!desk.find<ValueEdit>("inspector.ways"));
    }

    void nameIsRefusedWithTheReason() {
        Desk desk({"hbm3", "l2"});
        auto* name = desk.find<ValueEdit>("inspector.name");
        QVERIFY(!name->isEnabled());
        QVERIFY2(name->toolTip().contains("one component"), qPrintable(name->toolTip()));
    }

    void differentValuesAreMixedAndOneTextSetsAll() {
        Desk desk({"hbm3", "l2"});
        auto* line = desk.find<ValueEdit>("inspector.capacity");
        QVERIFY(line->text().isEmpty());
        QCOMPARE(line->placeholderText(), "mixed");
        const QString tip = desk.find<AttributeRow>("inspector.capacity.row")->chip()->toolTip();
        QVERIFY2(tip.contains("80 GB") && tip.contains("50 MB"), qPrintable(tip));
        retype(line, "64 MiB");
        QCOMPARE(desk.edits.size(), 1u);
        QCOMPARE(desk.edits[0].paths, desk.paths);
        QCOMPARE(desk.value(0, "capacity"), "64 MiB");
        QCOMPARE(desk.value(1, "capacity"), "64 MiB");
        QCOMPARE(line->text(), "64 MiB");
    }

    void mixedIsLeftAloneByEnterAndByLeaving() {
        Desk desk({"hbm3", "l2"});
        auto* line = desk.find<ValueEdit>("inspector.capacity");
        QTest::mouseClick(line, Qt::LeftButton);
        QTest::keyClick(line, Qt::Key_Return);
        QTest::mouseClick(desk.find<ValueEdit>("inspector.bandwidth"), Qt::LeftButton);
        QVERIFY(desk.edits.empty());
        QCOMPARE(desk.value(0, "capacity"), "80 GB");
    }

    void dragOverMixedSetsAllAndEscPutsEachBack() {
        Desk desk({"hbm3", "l2"});
        const QString first = desk.value(0, "bandwidth"), second = desk.value(1, "bandwidth");
        QVERIFY(first != second);
        auto* slider = desk.find<LogSlider>("inspector.bandwidth.slider");
        const int y = slider->height() / 2, x = slider->positionOf(slider->value());
        QTest::mousePress(slider, Qt::LeftButton, {}, {x, y});
        QTest::mouseMove(slider, {x + 30, y});
        QCOMPARE(desk.value(0, "bandwidth"), desk.value(1, "bandwidth"));  // all follow while dragging
        QTest::keyClick(slider, Qt::Key_Escape);
        QCOMPARE(desk.value(0, "bandwidth"), first);
        QCOMPARE(desk.value(1, "bandwidth"), second);
        QCOMPARE(desk.edits.front().phase, EditPhase::Begin);
        QCOMPARE(desk.edits.back().phase, EditPhase::Commit);  // the gesture ends
        QTest::mouseRelease(slider, Qt::LeftButton, {}, {x + 30, y});
        desk.edits.clear();
        QTest::mousePress(slider, Qt::LeftButton, {}, {slider->positionOf(slider->value()), y});
        QTest::mouseMove(slider, {x + 40, y});
        QTest::mouseRelease(slider, Qt::LeftButton, {}, {x + 40, y});
        QCOMPARE(desk.value(0, "bandwidth"), desk.value(1, "bandwidth"));
        QCOMPARE(std::count_if(desk.edits.begin(), desk.edits.end(),
                               [](const Edit& edit) { return edit.phase == EditPhase::Commit; }),
                 1);
    }

    void countsAndSidesOfMeshesHaveSliders() {
        Hardware design = *fixture::hardware("eyeriss-like");
        const ComponentPath array = *findComponent(design.root, "pe");
        Desk desk(design, {array});
        auto* side = desk.find<LogSlider>("inspector.mesh.1.slider");
        QVERIFY(side);
        const int y = side->height() / 2;
        QTest::mousePress(side, Qt::LeftButton, {}, {side->positionOf(12), y});
        QTest::mouseMove(side, {side->positionOf(64), y});
        QTest::mouseRelease(side, Qt::LeftButton, {}, {side->positionOf(64), y});
        QCOMPARE(desk.edits.back().attribute, "mesh");
        QCOMPARE(desk.at(0).mesh.front(), 14);
        QVERIFY(desk.at(0).mesh.back() > 40);
        QVERIFY(desk.find<LogSlider>("inspector.count.slider"));
    }

    void editingManyThenReadingBackIsTheSameForAll() {
        // Property: whatever is typed into a row of many, all of them have it afterwards.
        std::mt19937 random(3);
        const HardwarePtr design = fixture::hardware();
        const std::vector<const char*> memories{"hbm3", "l2", "smem"};
        const std::vector<std::pair<QString, QStringList>> values{{"capacity", {"1 GiB", "256 KiB", "3 MB"}},
                                                                  {"bandwidth", {"1 TB/s", "512 B/cycle", "20 GB/s"}},
                                                                  {"latency", {"10 ns", "273 cycles", "1 us"}},
                                                                  {"energy", {"1 pJ/B", "5.5 pJ/B"}},
                                                                  {"banks", {"4", "32"}},
                                                                  {"word", {"16 bit", "4 B"}}};
        for (int round = 0; round < 40; ++round) {
            ComponentPaths paths;
            for (const char* name : memories)
                if (random() % 3) paths.push_back(*findComponent(design->root, name));
            if (paths.size() < 2) continue;
            Desk desk(*design, paths);
            if (auto* more = desk.find<QToolButton>("inspector.more")) more->setChecked(true);
            const auto& [attribute, texts] = values[random() % values.size()];
            const QString text = texts[static_cast<int>(random() % static_cast<unsigned>(texts.size()))];
            auto* line = desk.find<ValueEdit>(qPrintable("inspector." + attribute));
            QVERIFY2(line, qPrintable(attribute));
            line->setFocus();
            line->setText(text);
            line->setModified(true);
            QTest::keyClick(line, Qt::Key_Return);
            for (std::size_t i = 0; i < paths.size(); ++i) QCOMPARE(desk.value(i, qPrintable(attribute)), text);
            QCOMPARE(line->text(), text);
        }
    }

    void endsOfLinksAreChosenFromTheSiblings() {
        Hardware design;
        design.name = "two";
        design.root = part(ComponentKind::System, "system");
        design.root.children = {part(ComponentKind::Package, "gpu0"), part(ComponentKind::Package, "gpu1"),
                                part(ComponentKind::Switch, "nv"),
                                part(ComponentKind::Link, "wire", {{"from", "gpu0"}})};
        design.root.children[1].children = {part(ComponentKind::Die, "die")};
        Desk desk(design, {{3}});
        auto* from = desk.find<QComboBox>("inspector.from");
        auto* to = desk.find<QComboBox>("inspector.to");
        QVERIFY(from && to && to->isVisible());
        QCOMPARE(from->currentText(), "gpu0");
        QCOMPARE(to->currentText(), "outside");
        QVERIFY(to->findText("gpu1") >= 0 && to->findText("nv") >= 0 && to->findText("gpu1/die") >= 0);
        QVERIFY(to->findText("wire") < 0);
        to->setFocus();
        to->setCurrentIndex(to->findText("gpu1/die"));
        emit to->activated(to->currentIndex());
        QCOMPARE(desk.value(0, "to"), "gpu1/die");
        from->setCurrentIndex(0);
        emit from->activated(0);
        QCOMPARE(desk.value(0, "from"), "");  // removed: it leaves its parent
    }

    void networksAskForWhatTheirShapeReads() {
        QVERIFY(shapeUses("torus", "dims") && !shapeUses("torus", "radix"));
        QVERIFY(shapeUses("fat-tree", "radix") && shapeUses("fat-tree", "oversubscription"));
        QVERIFY(!shapeUses("ring", "dims") && shapeUses("ring", "bandwidth"));
        Hardware design;
        design.name = "ring";
        design.root = part(ComponentKind::System, "system");
        design.root.children = {part(ComponentKind::Package, "gpu"),
                                part(ComponentKind::Topology, "net", {{"shape", "torus"}, {"dims", "[2, 4]"}})};
        design.root.children[0].count = 8;
        Desk desk(design, {{1}});
        const auto shown = [&](const char* row) {
            auto* found = desk.find<QWidget>(row);
            return found && found->isVisible();
        };
        QVERIFY(shown("inspector.dims.row"));
        QVERIFY(!shown("inspector.radix.row"));
        auto* section = desk.find<TopologySection>("inspector.topology");
        QVERIFY(section);
        const auto fact = [section](const QString& label) {
            for (const Fact& one : section->facts()->facts())
                if (one.label == label) return one.value;
            return QString();
        };
        // By hand: the side of 2 has 4 links, the two rings of 4 have 8; 1 + 2 hops; halving cuts each ring twice.
        QCOMPARE(fact("Endpoints"), "8");
        QCOMPARE(fact("Switches"), "0");
        QCOMPARE(fact("Links"), "12");
        QCOMPARE(fact("Diameter"), "3");
        QCOMPARE(fact("Bisection"), "4 links");
        desk.set({{1}}, "bandwidth", "50 GB/s");
        QCOMPARE(fact("Bisection"), "4 links · 200 GB/s");
        desk.set({{1}}, "dims", "[8]");
        desk.set({{1}}, "shape", "mesh");  // a line
        QCOMPARE(fact("Bisection"), "1 link · 50 GB/s");
        desk.set({{1}}, "shape", "torus");
        desk.set({{1}}, "dims", "[2, 2]");
        auto* refusal = desk.find<QLabel>("inspector.topology.refusal");
        QVERIFY(refusal->isVisible() && !refusal->text().isEmpty());  // four sides for eight siblings
        desk.set({{1}}, "dims", "");
        desk.set({{1}}, "shape", "fat-tree");
        QVERIFY(!shown("inspector.dims.row"));
        QVERIFY(shown("inspector.radix.row"));
        QCOMPARE(desk.find<QComboBox>("inspector.shape")->currentText(), "fat-tree");
    }

    void stackOfANetworkAsksForItsEdits() {
        Hardware design;
        design.name = "stack";
        design.root = part(ComponentKind::System, "system");
        design.root.children = {part(ComponentKind::Package, "gpu"), part(ComponentKind::Topology, "net")};
        design.root.children[1].children = {part(ComponentKind::Topology, "inner", {{"shape", "switch"}}),
                                            part(ComponentKind::Topology, "outer", {{"shape", "ring"}})};
        Desk desk(design, {{1}});
        auto* list = desk.find<QListWidget>("inspector.stack");
        QVERIFY(list);
        QCOMPARE(list->count(), 2);
        QSignalSpy moved(&desk.inspector, &Inspector::moveRequested),
            gone(&desk.inspector, &Inspector::removeRequested);
        QSignalSpy added(&desk.inspector, &Inspector::addRequested),
            chosen(&desk.inspector, &Inspector::selectRequested);
        list->setFocus();
        list->setCurrentRow(0);
        QTest::keyClick(list, Qt::Key_Down, Qt::AltModifier);
        QCOMPARE(moved.size(), 1);
        QCOMPARE(moved[0][0].value<ComponentPath>(), (ComponentPath{1, 0}));
        QCOMPARE(moved[0][2].toInt(), 2);  // after the one below, counted before the move
        list->setCurrentRow(1);
        QTest::keyClick(list, Qt::Key_Delete);
        QCOMPARE(gone.size(), 1);
        QCOMPARE(gone[0][0].value<ComponentPaths>(), (ComponentPaths{{1, 1}}));
        auto* menu = desk.find<QMenu>("inspector.stack.add.menu");
        QVERIFY(menu && !menu->actions().isEmpty());
        menu->actions().front()->trigger();
        QCOMPARE(added.size(), 1);
        QCOMPARE(added[0][1].value<std::vector<Component>>().size(), 1u);
        QTest::keyClick(list, Qt::Key_Return);
        QCOMPARE(chosen.size(), 1);
    }
};

QTEST_MAIN(TestPanelsMany)
#include "tst_panels_many.moc"
