#include "hardware/attributes.h"
#include "hardware/component.h"
#include "hardware/files/hardware_yaml.h"
#include "hardware/walk.h"

#include <QtTest/QtTest>

using namespace orrery;

namespace {

Hardware pod() {
    auto loaded = readHardwareFile(std::string(ORRERY_TEST_DATA) + "/hardware/pod.yaml");
    return loaded ? loaded->hardware : Hardware();
}

double number(const Hardware& hardware, const char* component, const char* attribute) {
    const auto path = findComponent(hardware.root, component);
    const Attribute* found = path ? componentAt(hardware.root, *path)->find(attribute) : nullptr;
    return found ? std::get<Measure>(found->value).si : -1;
}

QString q(const std::string& text) {
    return QString::fromStdString(text);
}

}  // namespace

class TestHardwarePaths : public QObject {
    Q_OBJECT
private slots:
    void aWalkMeetsEveryComponentOnceContainersFirst() {
        const Hardware hardware = pod();
        std::vector<ComponentPath> met;
        walk(hardware.root, [&](const Component& component, const ComponentPath& path) {
            if (componentAt(hardware.root, path) != &component) qFatal("a path that leads elsewhere");
            met.push_back(path);
            return true;
        });
        QVERIFY(std::is_sorted(met.begin(), met.end()));  // a path is less than those that it begins
        QVERIFY(std::adjacent_find(met.begin(), met.end()) == met.end());
        std::size_t parts = 0;
        for (const ComponentPath& path : met) {
            QVERIFY(!path.empty());
            parts += partsIn(*componentAt(hardware.root, path)).size();
        }
        QCOMPARE(parts + partsIn(hardware.root).size(), met.size());
        QVERIFY(met.size() > 10);
        // Where it is told not to, it goes no deeper.
        std::size_t top = 0;
        walk(hardware.root, [&](const Component&, const ComponentPath&) { return ++top, false; });
        QCOMPARE(top, partsIn(hardware.root).size());
    }
    void theOutermostOfAKindHideThoseInside() {
        Hardware hardware = pod();
        const auto memories = outermost(hardware.root, ComponentKind::Dram);
        QVERIFY(!memories.empty());
        for (const ComponentPath& path : memories)
            QVERIFY(componentAt(hardware.root, path)->kind == ComponentKind::Dram);
        Component stack{ComponentKind::Topology, "stack"};
        addPart(stack, {ComponentKind::Topology, "inner"});
        const auto before = outermost(hardware.root, ComponentKind::Topology).size();
        addPart(hardware.root, stack);
        QCOMPARE(outermost(hardware.root, ComponentKind::Topology).size(), before + 1);
        std::size_t changed = 0;
        changeAll(hardware.root, [&](Component& component) { component.comment = "seen", ++changed; });
        std::size_t seen = 0;
        walk(hardware.root,
             [&](const Component& c, const ComponentPath&) { return seen += c.comment == "seen", true; });
        QCOMPARE(seen, changed);
        const std::size_t parts = partsIn(hardware.root).size();
        QCOMPARE(takeParts(std::move(hardware.root)).size(), parts);
    }
    void kindsReadBackAsTheyAreWritten() {
        for (int i = 0; i < componentKindCount; ++i) {
            const auto kind = static_cast<ComponentKind>(i);
            QVERIFY(componentKind(toText(kind)) == kind);
            QVERIFY(!label(kind).empty());
        }
        QVERIFY(!componentKind("gpu"));
    }
    void componentsAreFoundByTheShortestName_data() {
        QTest::addColumn<QString>("names");
        QTest::addColumn<QString>("path");
        const QString die = "system/dgx/h100";
        QTest::newRow("root") << "system"
                              << "system";
        QTest::newRow("empty is the root") << ""
                                           << "system";
        QTest::newRow("name") << "hbm3" << die + "/hbm3";
        QTest::newRow("names") << "sm/smem" << die + "/sm/smem";
        QTest::newRow("names with a gap") << "dgx/smem" << die + "/sm/smem";
        QTest::newRow("whole path") << die + "/l2" << die + "/l2";
        QTest::newRow("other case") << "H100/HBM3" << die + "/hbm3";
        QTest::newRow("unnamed, by kind") << "register_file" << die + "/sm/register_file";
        QTest::newRow("by the start of the kind") << "tensor" << die + "/sm/tensor_unit";
    }
    void componentsAreFoundByTheShortestName() {
        QFETCH(QString, names);
        QFETCH(QString, path);
        const Hardware hardware = pod();
        const auto found = findComponent(hardware.root, names.toStdString());
        QVERIFY(found);
        QCOMPARE(q(pathText(hardware.root, *found)), path);
    }
    void whatIsNotThereIsSaidWithTheNearest() {
        const Hardware hardware = pod();
        const auto slip = findComponent(hardware.root, "hmb3");
        QVERIFY(!slip);
        QCOMPARE(q(slip.error().code), QString("hardware.no-component"));
        QVERIFY2(slip.error().hint.find("`hbm3`") != std::string::npos, slip.error().hint.c_str());
        QVERIFY(!findComponent(hardware.root, "smem/sm"));
        QVERIFY(!findComponent(hardware.root, "dgx/hbm3/sm"));
    }
    void whatFitsTwiceIsNotGuessed() {
        Hardware hardware = pod();
        Component other = hardware.root.children[1];
        other.name = "dgx2";
        hardware.root.children.push_back(other);
        const auto twice = findComponent(hardware.root, "hbm3");
        QVERIFY(!twice);
        QCOMPARE(q(twice.error().code), QString("hardware.ambiguous-component"));
        QVERIFY(twice.error().hint.find("system/dgx/h100/hbm3") != std::string::npos);
        QVERIFY(twice.error().hint.find("system/dgx2/h100/hbm3") != std::string::npos);
        const auto full = findComponent(hardware.root, "dgx2/hbm3");
        QVERIFY(full);
        QCOMPARE(q(pathText(hardware.root, *full)), QString("system/dgx2/h100/hbm3"));
        QVERIFY(!withAttribute(hardware, "hbm3.bandwidth", "4 TB/s"));
        const auto clock = withAttribute(hardware, "clock", "2 GHz");
        QVERIFY(!clock);
        QCOMPARE(q(clock.error().code), QString("hardware.ambiguous-attribute"));
    }
    void pathsOutsideTheTreeAreNull() {
        const Hardware hardware = pod();
        QVERIFY(!componentAt(hardware.root, {0, 0}));
        QVERIFY(!componentAt(hardware.root, {-1}));
        QVERIFY(!componentAt(hardware.root, {99}));
        QVERIFY(componentAt(hardware.root, {}) == &hardware.root);
    }
    void attributesAreSetByPath() {
        const Hardware before = pod();
        const auto bandwidth = withAttribute(before, "hbm3.bandwidth", "4 TB/s");
        QVERIFY(bandwidth);
        QCOMPARE(number(*bandwidth, "hbm3", "bandwidth"), 4e12);
        const auto count = withAttribute(before, "sm.count", "144");
        QVERIFY(count);
        QCOMPARE(componentAt(count->root, *findComponent(count->root, "sm"))->count, 144);
        const auto clock = withAttribute(before, "clock", "2 GHz");
        QVERIFY(clock);
        QCOMPARE(number(*clock, "h100", "clock"), 2e9);
        const auto row = withAttribute(before, "tensor.macs.bf16", "1024/cycle");
        QVERIFY(row);
        const auto* tensor = componentAt(row->root, *findComponent(row->root, "tensor"));
        const auto& rows = std::get<std::vector<TableRow>>(tensor->find("macs")->value);
        QCOMPARE(rows.size(), std::size_t(2));
        QCOMPARE(rows[0].value.si, 1024.0);
        const auto alias = withAttribute(before, "macs.float8_e4m3fn", "2048/cycle");
        QVERIFY(alias);
        const auto& same = std::get<std::vector<TableRow>>(
            componentAt(alias->root, *findComponent(alias->root, "tensor"))->find("macs")->value);
        QCOMPARE(same.size(), std::size_t(2));
        QCOMPARE(same[1].value.si, 2048.0);
        const auto mesh = withAttribute(before, "sm.mesh", "4 x 3");
        QVERIFY(mesh);
        QCOMPARE(componentAt(mesh->root, *findComponent(mesh->root, "sm"))->instances(), 132 * 12);
        const auto word = withAttribute(before, "network.shape", "torus");
        QVERIFY(word);
        QVERIFY(withAttribute(before, "network.dims", "[4, 4]"));
        QVERIFY(withAttribute(before, "h100.launch_overhead", "3 us"));
    }
    void theOutermostOwnerIsMeantWhereOthersStandInside() {
        Hardware hardware = pod();
        const auto path = findComponent(hardware.root, "tensor");
        QVERIFY(setAttribute(*componentAt(hardware.root, *path), "clock", "1.6 GHz"));
        const auto clock = withAttribute(hardware, "clock", "2 GHz");
        QVERIFY(clock);
        QCOMPARE(number(*clock, "h100", "clock"), 2e9);
        QCOMPARE(number(*clock, "tensor", "clock"), 1.6e9);
    }
    void aChangedNumberLosesItsSource() {
        const Hardware before = pod();
        const auto same = withAttribute(before, "hbm3.bandwidth", "3.35 TB/s");
        QVERIFY(same && *same == before);
        const auto changed = withAttribute(before, "hbm3.bandwidth", "4 TB/s");
        const auto* hbm = componentAt(changed->root, *findComponent(changed->root, "hbm3"));
        QCOMPARE(q(hbm->find("bandwidth")->source), QString("edited"));
        const auto removed = withAttribute(before, "hbm3.bandwidth", "");
        QVERIFY(removed);
        QCOMPARE(number(*removed, "hbm3", "bandwidth"), -1.0);
    }
    void wrongSettingsAreRefused_data() {
        QTest::addColumn<QString>("path");
        QTest::addColumn<QString>("value");
        QTest::addColumn<QString>("code");
        QTest::addColumn<QString>("help");
        QTest::newRow("no such component") << "hbm4.bandwidth"
                                           << "4 TB/s"
                                           << "hardware.no-component"
                                           << "hbm3";
        QTest::newRow("no such attribute") << "hbm3.bandwith"
                                           << "4 TB/s"
                                           << "hardware.no-attribute"
                                           << "bandwidth";
        QTest::newRow("attribute of others") << "hbm3.lanes"
                                             << "4"
                                             << "hardware.no-attribute"
                                             << "vector_unit";
        QTest::newRow("slip without a component") << "clokc"
                                                  << "4 GHz"
                                                  << "hardware.no-attribute"
                                                  << "clock";
        QTest::newRow("several owners") << "capacity"
                                        << "4 GB"
                                        << "hardware.ambiguous-attribute"
                                        << "hbm3.capacity";
        QTest::newRow("unit") << "hbm3.bandwidth"
                              << "4 TBps"
                              << "unit.unknown"
                              << "TB/s";
        QTest::newRow("not a number") << "hbm3.bandwidth"
                                      << "fast"
                                      << "unit.number"
                                      << "";
        QTest::newRow("negative") << "hbm3.bandwidth"
                                  << "-4 TB/s"
                                  << "hardware.negative"
                                  << "";
        QTest::newRow("nan") << "clock"
                             << "nan"
                             << "unit.number"
                             << "";
        QTest::newRow("count zero") << "sm.count"
                                    << "0"
                                    << "hardware.count"
                                    << "";
        QTest::newRow("count fraction") << "sm.count"
                                        << "1.5"
                                        << "hardware.count"
                                        << "";
        QTest::newRow("mesh of words") << "sm.mesh"
                                       << "a x b"
                                       << "hardware.count"
                                       << "";
        QTest::newRow("mesh of five") << "sm.mesh"
                                      << "1x1x1x1x1"
                                      << "hardware.mesh"
                                      << "";
        QTest::newRow("type") << "tensor.macs.bf61"
                              << "8/cycle"
                              << "hardware.unknown-type"
                              << "bf16";
        QTest::newRow("row of a number") << "hbm3.capacity.bf16"
                                         << "8"
                                         << "hardware.no-attribute"
                                         << "";
        QTest::newRow("choice") << "network.shape"
                                << "fat-tre"
                                << "hardware.choice"
                                << "fat-tree";
        QTest::newRow("empty path") << ""
                                    << "1"
                                    << "hardware.no-attribute"
                                    << "";
        QTest::newRow("dots") << "..."
                              << "1"
                              << "hardware.no-component"
                              << "";
    }
    void wrongSettingsAreRefused() {
        QFETCH(QString, path);
        QFETCH(QString, value);
        QFETCH(QString, code);
        QFETCH(QString, help);
        const auto result = withAttribute(pod(), path.toStdString(), value.toStdString());
        QVERIFY(!result);
        const std::string text = toText(result.error());
        QCOMPARE(q(result.error().code), code);
        QVERIFY2(q(result.error().hint).contains(help), text.c_str());
        QVERIFY2(!result.error().expected.empty() || !result.error().hint.empty(), text.c_str());
    }
    // Rows × columns are a grid of copies, a number after them takes it away; never do they replace what is no copies.
    void rowsAndColumnsAreCopiesWhereNothingElseIsLost() {
        const auto sm = [](const Hardware& hardware) {
            return componentAt(hardware.root, *findComponent(hardware.root, "sm"));
        };
        const auto grid = withAttribute(pod(), "sm.count", "12x11");
        QVERIFY(grid);
        QCOMPARE(sm(*grid)->count, std::int64_t{1});
        QCOMPARE(sm(*grid)->mesh, (std::vector<std::int64_t>{12, 11}));
        const auto other = withAttribute(*grid, "sm.count", "6X22");
        QVERIFY(other);
        QCOMPARE(sm(*other)->mesh, (std::vector<std::int64_t>{6, 22}));
        QCOMPARE(sm(*other)->instances(), std::int64_t{132});
        for (const std::int64_t count : {1, 132}) {
            const auto plain = withAttribute(*grid, "sm.count", std::to_string(count));
            QVERIFY(plain);
            QCOMPARE(sm(*plain)->instances(), count);
            QVERIFY(sm(*plain)->mesh.empty());
        }
        QVERIFY(!withAttribute(*grid, "sm.count", "12x"));

        Component array;
        array.kind = ComponentKind::Array;
        array.mesh = {128, 128};
        const Component before = array;
        const auto refused = setAttribute(array, "count", "2x2");
        QVERIFY(!refused);
        QCOMPARE(q(refused.error().code), QString("hardware.count"));
        QVERIFY2(q(refused.error().hint).contains("mesh"), refused.error().hint.c_str());
        QVERIFY(array == before);
        QVERIFY(setAttribute(array, "count", "4"));
        QCOMPARE(array.instances(), std::int64_t{4 * 128 * 128});
        array.mesh.clear();  // an array of the shape that its kind has by itself is no other
        QVERIFY(!setAttribute(array, "count", "2x2"));

        Component both;
        both.kind = ComponentKind::Core;
        both.count = 4;
        both.mesh = {14, 12};
        QVERIFY(!setAttribute(both, "count", "2x2"));
        QCOMPARE(both.instances(), std::int64_t{4 * 14 * 12});
    }
    void instancesMultiply() {
        Component component;
        component.count = 3;
        component.mesh = {14, 12};
        QCOMPARE(component.instances(), 504);
        component.mesh = {std::int64_t{1} << 40, std::int64_t{1} << 40};
        QCOMPARE(component.instances(), std::numeric_limits<std::int64_t>::max());
    }
    void perBankMultipliesByTheDram() {
        const auto loaded = readHardwareFile(std::string(ORRERY_TEST_DATA) + "/hardware/pim.yaml");
        QVERIFY(loaded);
        const Component& dimm = loaded->hardware.root.children[1];
        QCOMPARE(instancesIn(dimm, dimm.children[0]), 2 * 8 * 8);
        const auto chip = withAttribute(loaded->hardware, "dpu.per", "chip");
        QVERIFY(chip);
        QCOMPARE(instancesIn(chip->root.children[1], chip->root.children[1].children[0]), 2 * 8);
    }
    void valuesPrintAsTheyRead() {
        for (const AttributeSpec& spec : attributeSpecs()) {
            const std::string text = spec.form == AttributeForm::Table    ? "bf16: 512/cycle, fp8: 1024/cycle"
                                     : spec.form == AttributeForm::Choice ? std::string(spec.choices.front())
                                     : spec.form == AttributeForm::List
                                         ? spec.choices.empty() ? "4, 4" : "inputs, outputs"
                                         : "16";
            const auto value = parseAttribute(spec, text);
            QVERIFY2(value, std::string(spec.name).c_str());
            QCOMPARE(q(toText(*value)), q(text));
        }
    }
};

QTEST_GUILESS_MAIN(TestHardwarePaths)
#include "tst_hardware_paths.moc"
