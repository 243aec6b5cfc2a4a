#include "hardware/files/hardware_yaml.h"
#include "hardware/check/validate.h"

#include <QtTest/QtTest>

using namespace orrery;

namespace {

Diagnostics problems(const QString& children) {
    const auto loaded = readHardware("orrery: hardware/1\nsystem: {children: [" + children.toStdString() + "]}\n");
    return loaded ? validate(loaded->hardware) : Diagnostics{loaded.error()};
}

int number(const Diagnostics& all, const QString& code) {
    return static_cast<int>(std::count_if(
        all.begin(), all.end(), [&code](const Diagnostic& d) { return QString::fromStdString(d.code) == code; }));
}

}  // namespace

class TestHardwareValidate : public QObject {
    Q_OBJECT
private slots:
    /// Each rule sees one design that breaks it and one, changed as little as possible, that does not.
    void eachRuleFailsAndPasses_data() {
        QTest::addColumn<QString>("wrong");
        QTest::addColumn<QString>("right");
        QTest::addColumn<QString>("code");
        QTest::addColumn<QString>("place");
        const QString memory = "{kind: dram, name: hbm, capacity: 80 GB, bandwidth: 3 TB/s}";
        QTest::newRow("a die in a buffer")
            << "{kind: buffer, name: b, capacity: 1 KiB, children: [{kind: die, name: d}]}"
            << "{kind: die, name: d, children: [{kind: buffer, name: b, capacity: 1 KiB}]}"
            << "hardware.nesting"
            << "system/b/d";
        QTest::newRow("a node in a die") << "{kind: die, name: d, children: [{kind: node, name: n}]}"
                                         << "{kind: node, name: n, children: [{kind: die, name: d}]}"
                                         << "hardware.nesting"
                                         << "system/d/n";
        QTest::newRow("siblings of one name")
            << memory + "," + memory << memory + "," + QString(memory).replace("hbm", "hbm2")
            << "hardware.duplicate-name"
            << "system/hbm";
        QTest::newRow("unnamed siblings of one kind") << "{kind: core}, {kind: core}"
                                                      << "{kind: core}, {kind: die}"
                                                      << "hardware.duplicate-name"
                                                      << "system/core";
        QTest::newRow("a slash in a name") << "{kind: die, name: a/b}"
                                           << "{kind: die, name: a-b}"
                                           << "hardware.name"
                                           << "system/a/b";
        QTest::newRow("no capacity") << "{kind: cache, name: l2}"
                                     << "{kind: cache, name: l2, capacity: 4 MB}"
                                     << "hardware.missing-attribute"
                                     << "system/l2.capacity";
        QTest::newRow("no bandwidth") << "{kind: dram, name: hbm, capacity: 80 GB}" << memory
                                      << "hardware.missing-attribute"
                                      << "system/hbm.bandwidth";
        QTest::newRow("no rates") << "{kind: vector_unit, name: v}"
                                  << "{kind: vector_unit, name: v, flops: {fp32: 2 GFLOP/s}}"
                                  << "hardware.missing-attribute"
                                  << "system/v.flops";
        QTest::newRow("a link without a rate") << "{kind: link, name: l}"
                                               << "{kind: link, name: l, bandwidth: 1 GB/s}"
                                               << "hardware.missing-attribute"
                                               << "system/l.bandwidth";
        QTest::newRow("zero") << QString(memory).replace("80 GB", "0 GB") << memory << "hardware.zero"
                              << "system/hbm.capacity";
        QTest::newRow("unusual") << QString(memory).replace("80 GB", "0.1 bit") << memory << "hardware.unusual-value"
                                 << "system/hbm.capacity";
        QTest::newRow("unusual row")
            << "{kind: die, name: d, clock: 1 GHz, children: [{kind: tensor_unit, name: t, macs: {bf16: 1e300/cycle}}]}"
            << "{kind: die, name: d, clock: 1 GHz, children: [{kind: tensor_unit, name: t, macs: {bf16: 512/cycle}}]}"
            << "hardware.unusual-value"
            << "system/d/t.macs.bf16";
        QTest::newRow("per cycle without a clock")
            << "{kind: die, name: d, children: [{kind: buffer, name: b, capacity: 1 KiB, bandwidth: 8 B/cycle}]}"
            << "{kind: die, name: d, clock: 1 GHz, children: [{kind: buffer, name: b, capacity: 1 KiB, bandwidth: 8 "
               "B/cycle}]}"
            << "hardware.no-clock"
            << "system/d/b.bandwidth";
        QTest::newRow("a word larger than the buffer") << "{kind: buffer, name: b, capacity: 4 B, word: 64 bit}"
                                                       << "{kind: buffer, name: b, capacity: 8 B, word: 64 bit}"
                                                       << "hardware.smaller-than-part"
                                                       << "system/b.capacity";
        QTest::newRow("a line larger than the cache") << "{kind: cache, name: c, capacity: 32 B, line: 64 B}"
                                                      << "{kind: cache, name: c, capacity: 64 B, line: 64 B}"
                                                      << "hardware.smaller-than-part"
                                                      << "system/c.capacity";
        QTest::newRow("a link to nowhere")
            << "{kind: die, name: a}, {kind: link, name: l, bandwidth: 1 GB/s, from: a, to: b}"
            << "{kind: die, name: a}, {kind: die, name: b}, {kind: link, name: l, bandwidth: 1 GB/s, from: a, to: b}"
            << "hardware.link-nowhere"
            << "system/l.to";
        QTest::newRow("a link to itself")
            << "{kind: die, name: a}, {kind: link, name: l, bandwidth: 1 GB/s, from: a, to: a}"
            << "{kind: die, name: a}, {kind: link, name: l, bandwidth: 1 GB/s, from: a}"
            << "hardware.link-loop"
            << "system/l";
        QTest::newRow("more devices than ports") << "{kind: switch, name: s, ports: 7}, {kind: die, name: a, count: 8}"
                                                 << "{kind: switch, name: s, ports: 8}, {kind: die, name: a, count: 8}"
                                                 << "hardware.ports"
                                                 << "system/s.ports";
        QTest::newRow("more links than ports") << "{kind: switch, name: s, ports: 2}, {kind: die, name: a}, {kind: "
                                                  "link, name: l, count: 3, bandwidth: 1 GB/s, from: a, to: s}"
                                               << "{kind: switch, name: s, ports: 2}, {kind: die, name: a}, {kind: "
                                                  "link, name: l, count: 2, bandwidth: 1 GB/s, from: a, to: s}"
                                               << "hardware.ports"
                                               << "system/s.ports";
        QTest::newRow("a link to nowhere further down")
            << "{kind: node, name: n, children: [{kind: die, name: a}]}, {kind: die, name: b}, {kind: link, name: l, "
               "bandwidth: 1 GB/s, from: n/c, to: b}"
            << "{kind: node, name: n, children: [{kind: die, name: a}]}, {kind: die, name: b}, {kind: link, name: l, "
               "bandwidth: 1 GB/s, from: n/a, to: b}"
            << "hardware.link-nowhere"
            << "system/l.from";
        QTest::newRow("copies linked to a switch")
            << "{kind: switch, name: s, ports: 7}, {kind: die, name: a, count: 8}, {kind: link, name: l, bandwidth: 1 "
               "GB/s, from: a, to: s}"
            << "{kind: switch, name: s, ports: 8}, {kind: die, name: a, count: 8}, {kind: link, name: l, bandwidth: 1 "
               "GB/s, from: a, to: s}"
            << "hardware.ports"
            << "system/s.ports";
        const QString two =
            "{kind: die, name: a}, {kind: die, name: b}, {kind: switch, name: s}, {kind: link, name: "
            "la, bandwidth: 1 GB/s, from: a, to: s, to_port: 1}, ";
        QTest::newRow("a port used twice")
            << two + "{kind: link, name: lb, bandwidth: 1 GB/s, from: b, to: s, to_port: 1}"
            << two + "{kind: link, name: lb, bandwidth: 1 GB/s, from: b, to: s, to_port: 2}"
            << "hardware.port-used"
            << "system/lb.to_port";
        const QString linked =
            "{kind: die, name: a}, {kind: die, name: b}, {kind: dram, name: m, capacity: 1 GB, "
            "bandwidth: 1 GB/s}, {kind: link, name: l, bandwidth: 1 GB/s, from: a, to: b}";
        QTest::newRow("memory left out") << linked
                                         << linked + ", {kind: link, name: k, bandwidth: 1 GB/s, from: m, to: b}"
                                         << "hardware.unlinked-memory"
                                         << "system/m";
        const QString three =
            "{kind: die, name: a}, {kind: die, name: b}, {kind: die, name: c}, {kind: link, name: l, "
            "bandwidth: 1 GB/s, from: a, to: b}";
        QTest::newRow("a part left out") << three
                                         << three + ", {kind: link, name: k, bandwidth: 1 GB/s, from: b, to: c}"
                                         << "hardware.disconnected"
                                         << "system/c";
        QTest::newRow("a switch left out beside a network")
            << "{kind: die, name: a}, {kind: die, name: b}, {kind: switch, name: s}, {kind: topology, name: t, shape: "
               "ring}, {kind: link, name: l, bandwidth: 1 GB/s, from: a, to: b}"
            << "{kind: die, name: a}, {kind: die, name: b}, {kind: switch, name: s}, {kind: topology, name: t, shape: "
               "ring}, {kind: link, name: l, bandwidth: 1 GB/s, from: a, to: s}"
            << "hardware.disconnected"
            << "system/s";
        QTest::newRow("a fat tree of odd switches")
            << "{kind: die, name: a, count: 4}, {kind: topology, name: t, shape: fat-tree, radix: 5}"
            << "{kind: die, name: a, count: 4}, {kind: topology, name: t, shape: fat-tree, radix: 6}"
            << "hardware.topology-radix"
            << "system/t.radix";
        QTest::newRow("an empty design") << "" << memory << "hardware.empty"
                                         << "system";
    }
    void eachRuleFailsAndPasses() {
        QFETCH(QString, wrong);
        QFETCH(QString, right);
        QFETCH(QString, code);
        QFETCH(QString, place);
        const Diagnostics found = problems(wrong);
        QCOMPARE(number(found, code), 1);
        for (const Diagnostic& one : found) {
            if (QString::fromStdString(one.code) != code) continue;
            QCOMPARE(QString::fromStdString(one.place.path), place);
            QVERIFY2(!one.hint.empty() || !one.expected.empty(), toText(one).c_str());
        }
        QCOMPARE(number(problems(right), code), 0);
    }
    /// What the reader refuses can still be built by code.
    void designsBuiltByCodeAreCheckedToo() {
        Hardware hardware;
        hardware.root.kind = ComponentKind::Die;
        QCOMPARE(number(validate(hardware), "hardware.root"), 1);
        hardware.root.kind = ComponentKind::System;
        Component dram{ComponentKind::Dram, "hbm", 0};
        dram.attributes = {{"capacity", Measure{-1, false, "-1 B"}, {}, {}},
                           {"bandwidth", Measure{std::nan(""), false, "nan"}, {}, {}},
                           {"colour", std::string("red"), {}, {}}};
        hardware.root.children = {dram};
        const Diagnostics found = validate(hardware);
        QCOMPARE(number(found, "hardware.number"), 2);
        QCOMPARE(number(found, "hardware.count"), 1);
        QCOMPARE(number(found, "hardware.no-attribute"), 1);
        QCOMPARE(number(found, "hardware.root"), 0);
    }
    /// What validate lets through can be written and read back, at the very edge of both limits.
    void whatIsAllowedCanBeReadBack() {
        const auto nested = [](int depth) {
            Component inner{ComponentKind::TensorUnit, "t"};
            inner.attributes = {{"clock", Measure{1e9, false, "1 GHz"}, {}, {}},
                                {"macs", std::vector<TableRow>{{"bf16", Measure{1, true, "1/cycle"}}}, "here", {}}};
            for (int i = 1; i < depth; ++i) {
                Component outer{ComponentKind::Cluster, "c"};
                outer.children = {std::move(inner)};
                inner = std::move(outer);
            }
            Hardware hardware;
            hardware.root.children = {std::move(inner)};
            return hardware;
        };
        QCOMPARE(number(validate(nested(30)), "hardware.too-deep"), 0);
        const auto back = readHardware(writeHardware(nested(30)));
        QVERIFY(back && back->hardware == nested(30));
        QCOMPARE(number(validate(nested(31)), "hardware.too-deep"), 1);
        QCOMPARE(number(validate(nested(40)), "hardware.too-deep"), 1);

        Hardware many = nested(3);
        many.root.children[0].count = std::int64_t{1} << 30;
        many.root.children[0].children[0].count = std::int64_t{1} << 23;
        QCOMPARE(number(validate(many), "hardware.count-overflow"), 0);
        QVERIFY(readHardware(writeHardware(many)));
        many.root.children[0].children[0].count *= 2;
        QCOMPARE(number(validate(many), "hardware.count-overflow"), 1);
        QVERIFY(!readHardware(writeHardware(many)));
        many.root.children[0].children[0].mesh = {std::int64_t{1} << 62, std::int64_t{1} << 62};
        QCOMPARE(number(validate(many), "hardware.count-overflow"), 1);
    }
    void containmentMatchesTheSketches() {
        using enum ComponentKind;
        QVERIFY(mayContain(System, Node) && mayContain(Node, Die) && mayContain(Die, Dram) && mayContain(Die, Core));
        QVERIFY(mayContain(Core, TensorUnit) && mayContain(Array, Mac) && mayContain(Dram, Core));
        for (int i = 0; i < componentKindCount; ++i) {
            const auto kind = static_cast<ComponentKind>(i);
            QVERIFY(!mayContain(kind, System));
            QVERIFY(!mayContain(Cache, kind) && !mayContain(Link, kind) && !mayContain(RegisterFile, kind));
        }
    }
    /// What joins parts that a link further out reaches is no hole; nor is a part that nothing here is said to join.
    void noWarningWhereLinksAreMeantOtherwise() {
        for (const char* children :
             {"{kind: node, name: n, children: [{kind: die, name: a}, {kind: die, name: b}, {kind: die, name: c}, "
              "{kind: "
              "link, name: l, bandwidth: 1 GB/s, from: a, to: b}]}, {kind: switch, name: s}, {kind: link, name: u, "
              "bandwidth: 1 GB/s, from: n/b, to: s}, {kind: link, name: v, bandwidth: 1 GB/s, from: n/c, to: s}",
              "{kind: die, name: a}, {kind: die, name: b}, {kind: link, name: l, bandwidth: 1 GB/s, from: a}",
              "{kind: die, name: a}, {kind: die, name: b}, {kind: link, name: l, count: 8, bandwidth: 1 GB/s}",
              "{kind: die, name: a, count: 8}, {kind: switch, name: s, count: 4, ports: 64}",
              "{kind: die, name: a}, {kind: dram, name: m, capacity: 1 GB, bandwidth: 1 GB/s}, {kind: die, name: b}"}) {
            for (const Diagnostic& wrong : problems(children)) QFAIL(toText(wrong).c_str());
        }
    }
    void theSketchesAreInOrder() {
        for (const char* name : {"pod", "pim"}) {
            const auto loaded = readHardwareFile(std::string(ORRERY_TEST_DATA) + "/hardware/" + name + ".yaml");
            QVERIFY(loaded);
            for (const Diagnostic& wrong : validate(loaded->hardware)) QFAIL(toText(wrong).c_str());
        }
    }
};

QTEST_GUILESS_MAIN(TestHardwareValidate)
#include "tst_hardware_validate.moc"
