// Does the palette offer every kind of component, and hand over exactly what it shows, by click, key and drag?

#include "hardware/attributes.h"
#include "hardware/files/hardware_yaml.h"
#include "hardware/network/topology.h"
#include "hardware/check/validate.h"
#include "support/drag.h"
#include "widgets/common/theme.h"
#include "widgets/library/component_palette.h"
#include "widgets/library/component_palette_model.h"

#include <QtTest>
#include <QtWidgets>

#include <algorithm>
#include <set>

using namespace orrery;
using namespace orrery::ui;

namespace {

struct Bench {
    QWidget window;
    ComponentPalette palette{&window};
    std::vector<Component> placed;

    Bench() {
        auto* row = new QHBoxLayout(&window);
        row->addWidget(&palette);
        window.resize(700, 1400);
        window.show();
        window.activateWindow();
        (void)QTest::qWaitForWindowActive(&window);
        QObject::connect(&palette, &ComponentPalette::placeRequested, &window,
                         [this](const Component& component) { placed.push_back(component); });
    }
    QPoint centre(const char* id) {
        const QModelIndex index = palette.indexOf(id);
        palette.list()->scrollTo(index);
        const QRect row = palette.list()->visualRect(index);
        return {row.center().x(), row.bottom() - 12};
    }
};

void checkValues(const Component& component) {
    for (const Attribute& attribute : component.attributes) {
        QVERIFY2(attributeSpec(component.kind, attribute.name), attribute.name.c_str());
        // Structure only: nothing that would be a claim about a product's speed, size or power.
        const auto* measure = std::get_if<Measure>(&attribute.value);
        if (!measure) continue;
        const Dimension dimension = attributeSpec(component.kind, attribute.name)->dimension;
        QVERIFY2(dimension == Dimension::Count || dimension == Dimension::Number, attribute.name.c_str());
    }
    for (const Component& child : component.children) {
        QVERIFY(mayContain(component.kind, child.kind));
        checkValues(child);
    }
}

}  // namespace

class TestPanelsPalette : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { initialiseApplicationLook(); }

    void offersEveryKindAndTopology() {
        std::set<ComponentKind> kinds;
        QStringList ids;
        for (const PaletteItem& item : componentPaletteItems()) {
            QVERIFY(!ids.contains(item.id));
            ids << item.id;
            QVERIFY2(!item.meaning.isEmpty() && !item.name.isEmpty(), qPrintable(item.id));
            if (!item.id.contains('.')) kinds.insert(item.component.kind);
        }
        // Every kind but the system, which nothing may hold.
        QCOMPARE(int(kinds.size()), componentKindCount - 1);
        QVERIFY(!kinds.contains(ComponentKind::System));
        for (const char* shape : {"ring", "line", "mesh-2d", "mesh-3d", "torus-2d", "torus-3d", "fully-connected",
                                  "switch", "fat-tree", "dragonfly", "rail-optimised", "nvswitch"})
            QVERIFY2(ids.contains(QStringLiteral("topology.") + shape), shape);
        QVERIFY(ids.contains("part.nvswitch-node"));
    }

    void partsSurviveTheirYamlAndClaimNoSpeed() {
        for (const PaletteItem& item : componentPaletteItems()) {
            const auto again = readComponent(writeComponent(item.component));
            QVERIFY2(again, qPrintable(item.id));
            QCOMPARE(writeComponent(*again), writeComponent(item.component));
            checkValues(item.component);
        }
    }

    void topologiesJoinTheirSiblings_data() {
        QTest::addColumn<QString>("id");
        QTest::addColumn<int>("siblings");
        for (const auto& [id, siblings] : {std::pair{"ring", 8},
                                           {"line", 8},
                                           {"mesh-2d", 16},
                                           {"mesh-3d", 64},
                                           {"torus-2d", 16},
                                           {"torus-3d", 64},
                                           {"fully-connected", 8},
                                           {"switch", 8},
                                           {"fat-tree", 128},
                                           {"dragonfly", 72},
                                           {"rail-optimised", 8},
                                           {"nvswitch", 8}})
            QTest::newRow(id) << QString::fromUtf8(id) << siblings;
    }
    void topologiesJoinTheirSiblings() {
        QFETCH(QString, id);
        QFETCH(int, siblings);
        const auto items = componentPaletteItems();
        const auto item = std::ranges::find(items, "topology." + id, &PaletteItem::id);
        QVERIFY(item != items.end());
        Component root{.kind = ComponentKind::System, .name = "system"};
        root.children = {Component{.kind = ComponentKind::Package, .name = "gpu", .count = siblings}, item->component};
        const auto spec = topologySpec(root, {1});
        QVERIFY2(spec, spec ? "" : spec.error().message.c_str());
        const auto facts = topologyFacts(*spec);
        QVERIFY2(facts, facts ? "" : facts.error().message.c_str());
        QCOMPARE(facts->endpoints, siblings);
    }

    void modelIsSound() {
        ComponentPaletteModel model;
        QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
        CardFilter filter;
        filter.setSourceModel(&model);
        QAbstractItemModelTester second(&filter, QAbstractItemModelTester::FailureReportingMode::Fatal);
        filter.setWords("torus");
        QCOMPARE(filter.rowCount(), 2);
        filter.setWords("nothing at all");
        QCOMPARE(filter.rowCount(), 0);
        filter.setWords({});
        QCOMPARE(filter.rowCount(), model.rowCount());
    }

    void clickPlaces() {
        Bench bench;
        QTest::mouseClick(bench.palette.list()->viewport(), Qt::LeftButton, {}, bench.centre("cache"));
        QCOMPARE(bench.placed.size(), 1u);
        QCOMPARE(bench.placed[0].kind, ComponentKind::Cache);
        QVERIFY(bench.placed[0].attributes.empty());
    }

    void keysFilterAndPlace() {
        Bench bench;
        QTest::mouseClick(bench.palette.line(), Qt::LeftButton);
        QTest::keyClicks(bench.palette.line(), "3-d torus");
        QCOMPARE(bench.palette.list()->model()->rowCount(), 1);
        QTest::keyClick(bench.palette.line(), Qt::Key_Return);
        QCOMPARE(bench.placed.size(), 1u);
        QCOMPARE(bench.placed[0].kind, ComponentKind::Topology);
        QCOMPARE(toText(bench.placed[0].find("shape")->value), "torus");
        QTest::keyClick(bench.palette.line(), Qt::Key_Escape);
        QVERIFY(bench.palette.line()->text().isEmpty());
        QTest::keyClicks(bench.palette.line(), "dram");
        QTest::keyClick(bench.palette.line(), Qt::Key_Down);
        QVERIFY(bench.palette.list()->hasFocus());
        QTest::keyClick(bench.palette.list(), Qt::Key_Return);
        QCOMPARE(bench.placed.size(), 2u);
        QCOMPARE(bench.placed[1].kind, ComponentKind::Dram);
        QTest::keyClicks(bench.palette.line(), "zzz");
        QVERIFY(bench.palette.list()->isHidden());  // and says so instead
        QTest::keyClick(bench.palette.line(), Qt::Key_Return);
        QCOMPARE(bench.placed.size(), 2u);
    }

    void dragCarriesTheComponentAsYaml() {
        Bench bench;
        const auto data = fixture::dragged(bench.palette.list(), {bench.palette.indexOf("topology.torus-2d")});
        QVERIFY(data);
        QVERIFY(data->hasFormat("application/x-orrery-component"));
        const auto read = readComponent(data->data("application/x-orrery-component").toStdString());
        QVERIFY(read);
        QCOMPARE(read->kind, ComponentKind::Topology);
        QCOMPARE(QString::fromStdString(toText(read->find("dims")->value)).remove(QRegularExpression("[\\[\\] ]")),
                 "4,4");
        QCOMPARE(readComponent(data->text().toStdString())->find("dims")->value, read->find("dims")->value);
        // A press that moves on is a drag and no click.
        QWidget* viewport = bench.palette.list()->viewport();
        const QPoint from = bench.centre("cache");
        QTest::mousePress(viewport, Qt::LeftButton, {}, from);
        QTest::mouseRelease(viewport, Qt::LeftButton, {}, from + QPoint(0, 300));
        QVERIFY(bench.placed.empty());
    }
};

QTEST_MAIN(TestPanelsPalette)
#include "tst_panels_palette.moc"
