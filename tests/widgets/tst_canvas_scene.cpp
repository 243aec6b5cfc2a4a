// Is the drawing's geometry right: placements, families, picking, incremental changes?
#include "hardware/files/catalogue.h"
#include "hardware/files/hardware_yaml.h"
#include "widgets/canvas/scene.h"

#include <QtTest/QtTest>

#include <array>
#include <random>

using namespace orrery;
using namespace orrery::ui;

class TestCanvasScene : public QObject {
    Q_OBJECT
private slots:
    void placementsRoundTrip();
    void foreignLinesAreKept();
    void placementsSurviveTheFile();
    void keysOfTwins();
    void childrenStandInsideAndApart();
    void pickingAgreesWithAllBoxes();
    void placementsAreWhatTheyWere();
    void movesEqualBuildingAnew_data();
    void movesEqualBuildingAnew();
    void foldedContentsAreHidden();
    void linksGoFromBorderToBorder();
    void problemsReachTheirParts();
};

namespace {

Component component(ComponentKind kind, std::string name, std::vector<Component> children = {}) {
    Component made;
    made.kind = kind;
    made.name = std::move(name);
    made.children = std::move(children);
    return made;
}

Placements several() {
    Placements placements;
    placements.at["dgx/h100/hbm3"] = {.x = 12.5, .y = -8};
    placements.at["l2#2"] = {.x = 0, .y = 0, .width = 320.5, .height = 96};
    placements.at["node 0/it's: \"odd\"\\"] = {.x = 1e6, .y = 3, .folded = true};
    placements.at["net"] = {.expanded = true, .placed = false};
    placements.at["free"] = {.placed = false};
    placements.at[""] = {.x = 8, .y = 16};
    placements.at["yes"] = {.x = 8, .y = 16};
    placements.at["12"] = {.x = 8, .y = 16};
    placements.at["naïve\tname"] = {.x = 8, .y = 16};
    return placements;
}

Component leaf(std::mt19937& random, int depth, int& names) {
    static constexpr std::array kinds{ComponentKind::Die,  ComponentKind::Core,   ComponentKind::Cache,
                                      ComponentKind::Dram, ComponentKind::Switch, ComponentKind::Mac,
                                      ComponentKind::Node, ComponentKind::Array};
    Component made = component(kinds[random() % kinds.size()], "part" + std::to_string(names++));
    if (random() % 4 == 0) made.count = 1 + random() % 200;
    if (made.kind == ComponentKind::Array) made.mesh = {4, 3};
    if (depth < 4 && random() % 3 == 0) {
        const int children = 1 + static_cast<int>(random() % 6);
        for (int i = 0; i < children; ++i) made.children.push_back(leaf(random, depth + 1, names));
        for (int i = 0; i < 2 && children > 1; ++i) {
            Component link = component(ComponentKind::Link, "wire" + std::to_string(names++));
            link.attributes.push_back({.name = "from", .value = made.children[random() % children].name});
            link.attributes.push_back({.name = "to", .value = made.children[random() % children].name});
            made.children.push_back(link);
        }
    }
    return made;
}

HardwarePtr design(Component root) {
    auto made = std::make_shared<Hardware>();
    made->root = std::move(root);
    return made;
}

HardwarePtr someDesign(unsigned seed) {
    std::mt19937 random(seed);
    int names = 0;
    Component root = component(ComponentKind::System, "system");
    for (int i = 0; i < 8; ++i) root.children.push_back(leaf(random, 0, names));
    return design(root);
}

HardwarePtr flatDesign(int count) {
    Component root = component(ComponentKind::System, "system");
    for (int i = 0; i < count; ++i) root.children.push_back(component(ComponentKind::Core, "core" + std::to_string(i)));
    return design(root);
}

PlacementsPtr withPlace(const PlacementsPtr& before, const std::string& key, const Placement& place) {
    auto made = std::make_shared<Placements>(before ? *before : Placements{});
    made->at[key] = place;
    return made;
}

QString difference(const Scene& a, const Scene& b) {
    if (a.nodes().size() != b.nodes().size() || a.links().size() != b.links().size())
        return QStringLiteral("other shape");
    for (std::size_t i = 0; i < a.nodes().size(); ++i) {
        const SceneNode& x = a.nodes()[i];
        const SceneNode& y = b.nodes()[i];
        if (x.box != y.box || x.origin != y.origin || x.hidden != y.hidden || x.folded != y.folded)
            return QStringLiteral("node %1 (%2): %3,%4 %5x%6 against %7,%8 %9x%10")
                .arg(i)
                .arg(QString::fromStdString(x.component->name))
                .arg(x.box.x())
                .arg(x.box.y())
                .arg(x.box.width())
                .arg(x.box.height())
                .arg(y.box.x())
                .arg(y.box.y())
                .arg(y.box.width())
                .arg(y.box.height());
    }
    for (std::size_t i = 0; i < a.links().size(); ++i) {
        if (a.links()[i].line != b.links()[i].line) return QStringLiteral("link %1").arg(i);
    }
    return {};
}

}  // namespace

void TestCanvasScene::placementsRoundTrip() {
    const Placements placements = several();
    QCOMPARE(QString::fromStdString(writePlacements(readPlacements(writePlacements(placements)))),
             QString::fromStdString(writePlacements(placements)));
    QVERIFY(readPlacements(writePlacements(placements)) == placements);
    QCOMPARE(writePlacements({}), std::string());
    // Numbers to a tenth.
    Placements fine;
    fine.at["a"] = {.x = 1.04, .y = -0.01};
    QCOMPARE(writePlacements(fine), std::string("a: {x: 1, y: 0}\n"));
}

void TestCanvasScene::foreignLinesAreKept() {
    const std::string yaml =
        "zoom: 1.5\n"
        "a: {x: 1, y: 2}\n"
        "b: {x: 1, y: 2, colour: red}\n"
        "c: {x: 1}\n"
        "d: {x: nan, y: 2}\n"
        "e:\n"
        "  x: 3\n"
        "  y: 4\n"
        "a: {x: 9, y: 9}\n"
        "list: [1, 2]\n";
    const Placements read = readPlacements(yaml);
    QCOMPARE(read.at.size(), std::size_t(2));
    QVERIFY(read.find("a") && read.find("a")->x == 1);
    QVERIFY(read.find("e") && read.find("e")->y == 4);
    QCOMPARE(
        read.other,
        std::string(
            "zoom: 1.5\nb: {x: 1, y: 2, colour: red}\nc: {x: 1}\nd: {x: nan, y: 2}\na: {x: 9, y: 9}\nlist: [1, 2]\n"));
    QVERIFY(readPlacements(writePlacements(read)) == read);
    for (const char* odd : {"", ":", "{", "}", "a", "a:", "\"", "\"a", "\"\\x4", "\n\n", "  x: 1\n", "a: {", "- 1\n",
                            "#\n", "a: {x: 1, y: 2"}) {
        const Placements nothing = readPlacements(odd);
        QVERIFY2(nothing.at.empty(), odd);
    }
}

void TestCanvasScene::placementsSurviveTheFile() {
    const Expected<LoadedHardware> loaded = loadHardware("h100-sxm");
    QVERIFY(loaded.has_value());
    Hardware design = loaded->hardware;
    Placements placements = several();
    placements.at.erase("");
    placements.at.erase("naïve\tname");
    design.layoutYaml = writePlacements(placements);
    const Expected<LoadedHardware> again = readHardware(writeHardware(design));
    QVERIFY2(again.has_value(), again ? "" : again.error().message.c_str());
    const Placements read = readPlacements(again->hardware.layoutYaml);
    QCOMPARE(QString::fromStdString(writePlacements(read)), QString::fromStdString(writePlacements(placements)));
}

void TestCanvasScene::keysOfTwins() {
    const Component root = component(ComponentKind::System, "s",
                                     {component(ComponentKind::Cache, "l2"), component(ComponentKind::Cache, "l2"),
                                      component(ComponentKind::Core, "a/b#1", {component(ComponentKind::Mac, "")})});
    QCOMPARE(placementKey(root, {}), std::string());
    QCOMPARE(placementKey(root, {0}), std::string("l2"));
    QCOMPARE(placementKey(root, {1}), std::string("l2#2"));
    QCOMPARE(placementKey(root, {2}), std::string("a%2Fb%231"));
    QCOMPARE(placementKey(root, {2, 0}), std::string("a%2Fb%231/mac"));
}

void TestCanvasScene::childrenStandInsideAndApart() {
    std::vector<HardwarePtr> designs;
    for (const char* id : {"h100-sxm", "dgx-h100", "eyeriss-like", "tpu-v4", "mi300a", "epyc-9654"})
        designs.push_back(std::make_shared<const Hardware>(loadHardware(id)->hardware));
    for (unsigned seed = 1; seed <= 20; ++seed) designs.push_back(someDesign(seed));
    designs.push_back(flatDesign(700));
    for (const HardwarePtr& hardware : designs) {
        Scene scene;
        scene.setDesign(hardware, nullptr);
        for (int node = 0; node < static_cast<int>(scene.nodes().size()); ++node) {
            const QRectF& box = scene.nodes()[static_cast<std::size_t>(node)].box;
            const std::vector<int> children = scene.children(node);
            for (std::size_t i = 0; i < children.size(); ++i) {
                const QRectF& a = scene.nodes()[static_cast<std::size_t>(children[i])].box;
                if (a.isEmpty()) continue;
                QVERIFY(
                    box.adjusted(contentMargin - 1, headerHeight, 1 - contentMargin, 1 - contentMargin).contains(a));
                for (std::size_t k = i + 1; k < children.size(); ++k) {
                    const QRectF& b = scene.nodes()[static_cast<std::size_t>(children[k])].box;
                    QVERIFY2(b.isEmpty() || !a.adjusted(-1, -1, 1, 1).intersects(b),
                             qPrintable(QString::fromStdString(hardware->name)));
                }
            }
        }
        Scene again;
        again.setDesign(std::make_shared<const Hardware>(*hardware), nullptr);
        QCOMPARE(difference(scene, again), QString());
    }
}

void TestCanvasScene::pickingAgreesWithAllBoxes() {
    std::vector<HardwarePtr> designs{flatDesign(900)};
    for (unsigned seed = 1; seed <= 6; ++seed) designs.push_back(someDesign(seed));
    std::mt19937 random(7);
    for (const HardwarePtr& hardware : designs) {
        Scene scene;
        PlacementsPtr places;
        scene.setDesign(hardware, places);
        for (int i = 0; i < 5; ++i) {  // some stand on others, and left of all
            const auto child = static_cast<int>(random() % hardware->root.children.size());
            places = withPlace(places, placementKey(hardware->root, {child}),
                               {.x = double(random() % 900) - 100, .y = double(random() % 600)});
            scene.setDesign(hardware, places);
        }
        const QRectF bounds = scene.bounds();
        for (int i = 0; i < 400; ++i) {
            const QPointF point(bounds.left() + bounds.width() * (random() % 1000) / 1000.0,
                                bounds.top() + bounds.height() * (random() % 1000) / 1000.0);
            // By hand: descend into the last child that holds the point.
            int expected = bounds.contains(point) ? 0 : -1;
            for (bool deeper = expected >= 0; deeper;) {
                deeper = false;
                int inner = -1;
                for (std::size_t node = 0; node < scene.nodes().size(); ++node) {
                    if (scene.nodes()[node].parent == expected && scene.nodes()[node].box.contains(point))
                        inner = static_cast<int>(node);
                }
                if (inner >= 0) {
                    expected = inner;
                    deeper = true;
                }
            }
            QCOMPARE(scene.at(point), expected);
        }
        for (int i = 0; i < 60; ++i) {
            const QRectF area(bounds.left() + bounds.width() * (random() % 1000) / 1000.0,
                              bounds.top() + bounds.height() * (random() % 1000) / 1000.0,
                              bounds.width() * (random() % 500) / 1000.0 + 1,
                              bounds.height() * (random() % 500) / 1000.0 + 1);
            for (const bool inside : {false, true}) {
                std::vector<int> expected;
                for (std::size_t node = 0; node < scene.nodes().size(); ++node) {
                    const QRectF& box = scene.nodes()[node].box;
                    if (!box.isEmpty() && (inside ? area.contains(box) : area.intersects(box)))
                        expected.push_back(static_cast<int>(node));
                }
                QCOMPARE(scene.within(area, inside), expected);
            }
        }
    }
}

void TestCanvasScene::placementsAreWhatTheyWere() {
    for (unsigned seed = 1; seed <= 8; ++seed) {
        const HardwarePtr hardware = someDesign(seed);
        Scene scene;
        scene.setDesign(hardware, nullptr);
        for (int node = 1; node < static_cast<int>(scene.nodes().size()); ++node) {
            const SceneNode& shown = scene.nodes()[static_cast<std::size_t>(node)];
            if (shown.box.isEmpty()) continue;
            QVERIFY(scene.placementAt(shown.parent, shown.box.topLeft(), node) == scene.placementOf(node));
            QCOMPARE(scene.find(scene.path(node)), node);
        }
        // Freezing a family changes nothing.
        Placements frozen;
        for (const PlacedAt& placed : scene.frozen(0)) frozen.at[placementKey(hardware->root, placed.path)] = placed.at;
        Scene again;
        again.setDesign(hardware, std::make_shared<const Placements>(frozen));
        QCOMPARE(difference(scene, again), QString());
    }
}

void TestCanvasScene::movesEqualBuildingAnew_data() {
    QTest::addColumn<int>("seed");
    for (int seed = 1; seed <= 6; ++seed) QTest::addRow("%d", seed) << seed;
    QTest::newRow("flat") << 0;
}

void TestCanvasScene::movesEqualBuildingAnew() {
    QFETCH(int, seed);
    const HardwarePtr hardware = seed ? someDesign(static_cast<unsigned>(seed)) : flatDesign(800);
    std::mt19937 random(static_cast<unsigned>(seed) + 100);
    Scene scene;
    PlacementsPtr places = std::make_shared<const Placements>();
    scene.setDesign(hardware, places);
    for (int step = 0; step < 150; ++step) {
        auto next = std::make_shared<Placements>(*places);
        for (int i = 0; i < 1 + static_cast<int>(random() % 3); ++i) {
            const int node = 1 + static_cast<int>(random() % (scene.nodes().size() - 1));
            const std::string key = placementKey(hardware->root, scene.path(node));
            Placement place;
            if (const Placement* before = places->find(key)) place = *before;
            place.placed = random() % 8 != 0;
            switch (random() % 5) {
                case 0:
                    next->at.erase(key);
                    continue;
                case 1:
                    place.width = random() % 600;
                    place.height = random() % 400;
                    break;
                case 2:
                    place.folded = !place.folded;
                    break;
                default:
                    place.x = double(random() % 800) - 150;
                    place.y = double(random() % 500) - 100;
            }
            next->at[key] = place;
        }
        places = next;
        scene.setDesign(hardware, places);
        Scene anew;
        anew.setDesign(hardware, places);
        QVERIFY2(difference(scene, anew).isEmpty(),
                 qPrintable(QStringLiteral("step %1: %2").arg(step).arg(difference(scene, anew))));
    }
}

void TestCanvasScene::foldedContentsAreHidden() {
    const HardwarePtr hardware = std::make_shared<const Hardware>(loadHardware("h100-sxm")->hardware);
    Scene scene;
    scene.setDesign(hardware, nullptr);
    const int device = scene.children(0).front();
    const QSizeF open = scene.nodes()[static_cast<std::size_t>(device)].box.size();
    scene.setDesign(hardware, withPlace(nullptr, placementKey(hardware->root, scene.path(device)),
                                        {.folded = true, .placed = false}));
    const SceneNode& folded = scene.nodes()[static_cast<std::size_t>(device)];
    QVERIFY(folded.folded && folded.box.width() < open.width());
    for (int node = device + 1; node < folded.next; ++node)
        QVERIFY(scene.nodes()[static_cast<std::size_t>(node)].hidden);
    QCOMPARE(scene.at(folded.box.center()), device);
}

void TestCanvasScene::linksGoFromBorderToBorder() {
    Component root = component(ComponentKind::System, "system");
    for (int i = 0; i < 8; ++i) root.children.push_back(component(ComponentKind::Die, "gpu" + std::to_string(i)));
    for (int i = 0; i < 8; ++i) {
        for (int k = i + 1; k < 8; k += 2) {
            Component link = component(ComponentKind::Link, "l" + std::to_string(i) + std::to_string(k));
            link.attributes.push_back({.name = "from", .value = "gpu" + std::to_string(i)});
            link.attributes.push_back({.name = "to", .value = "gpu" + std::to_string(k)});
            root.children.push_back(link);
        }
    }
    Component broken = component(ComponentKind::Link, "broken");
    broken.attributes.push_back({.name = "from", .value = std::string("gpu0")});
    broken.attributes.push_back({.name = "to", .value = std::string("nobody")});
    root.children.push_back(broken);
    Scene scene;
    scene.setDesign(design(root), nullptr);
    const auto onBorder = [](const QRectF& box, const QPointF& at) {
        const bool x = qFuzzyCompare(at.x() + 1e4, box.left() + 1e4) || qFuzzyCompare(at.x() + 1e4, box.right() + 1e4);
        const bool y = qFuzzyCompare(at.y() + 1e4, box.top() + 1e4) || qFuzzyCompare(at.y() + 1e4, box.bottom() + 1e4);
        return (x && at.y() >= box.top() && at.y() <= box.bottom()) ||
               (y && at.x() >= box.left() && at.x() <= box.right());
    };
    int whole = 0;
    for (const SceneLink& link : scene.links()) {
        QVERIFY(link.line.size() >= 2);
        for (qsizetype i = 0; i + 1 < link.line.size(); ++i)
            QVERIFY(link.line[i].x() == link.line[i + 1].x() || link.line[i].y() == link.line[i + 1].y());
        if (link.broken) continue;
        ++whole;
        QVERIFY(onBorder(scene.nodes()[static_cast<std::size_t>(link.from)].box, link.line.first()));
        QVERIFY(onBorder(scene.nodes()[static_cast<std::size_t>(link.to)].box, link.line.last()));
        const QPointF middle = (link.line[0] + link.line[1]) / 2;
        QCOMPARE(scene.linkAt(middle, 2) >= 0, true);
    }
    QCOMPARE(whole, 16);
    QVERIFY(scene.links().back().broken);
}

void TestCanvasScene::problemsReachTheirParts() {
    const HardwarePtr hardware = std::make_shared<const Hardware>(loadHardware("h100-sxm")->hardware);
    Scene scene;
    scene.setDesign(hardware, nullptr);
    const int device = scene.children(0).front();
    Diagnostic problem = warning("x", "y");
    problem.place.path = pathText(hardware->root, scene.path(device)) + ".clock";
    scene.setProblems({problem});
    QCOMPARE(int(scene.nodes()[static_cast<std::size_t>(device)].worst), int(Severity::Warning));
    QCOMPARE(int(scene.nodes()[0].worst), -1);
    scene.setProblems({});
    QCOMPARE(int(scene.nodes()[static_cast<std::size_t>(device)].worst), -1);
}

QTEST_MAIN(TestCanvasScene)
#include "tst_canvas_scene.moc"
