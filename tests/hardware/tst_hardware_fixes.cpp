#include "hardware/files/catalogue.h"
#include "hardware/check/fixes.h"
#include "hardware/files/hardware_yaml.h"
#include "hardware/check/validate.h"
#include "hardware/views/device_view.h"

#include <QtTest/QtTest>

#include <set>

using namespace orrery;

namespace {

Hardware design(const QString& children) {
    const auto loaded = readHardware("orrery: hardware/1\nsystem: {children: [" + children.toStdString() + "]}\n");
    if (!loaded) qFatal("%s", toText(loaded.error()).c_str());
    return loaded->hardware;
}

std::multiset<std::string> codes(const Diagnostics& all, Severity severity) {
    std::multiset<std::string> out;
    for (const Diagnostic& one : all) {
        if (one.severity == severity) out.insert(one.code);
    }
    return out;
}

}  // namespace

class TestHardwareFixes : public QObject {
    Q_OBJECT
private slots:
    /// Every fix of every problem removes the problem it is for, and brings no error that was not there.
    void eachFixRemovesItsProblem_data() {
        QTest::addColumn<QString>("children");
        QTest::addColumn<QString>("code");
        QTest::addColumn<int>("least");  // fixes offered
        QTest::addColumn<QString>("title");
        const auto row = [](const char* name, const char* children, const char* code, int least, const char* title) {
            QTest::newRow(name) << children << code << least << title;
        };
        row("two of a name", "{kind: die, name: l2}, {kind: die, name: l2}", "hardware.duplicate-name", 1,
            "Rename the second `l2` to `l3`");
        row("three of a name", "{kind: core}, {kind: core}, {kind: core}, {kind: die, name: core2}",
            "hardware.duplicate-name", 1, "Rename the other 2 `core` to `core3` … `core4`");
        row("two of a name with a dot", "{kind: die, name: a.b}, {kind: die, name: a.b}", "hardware.duplicate-name", 1,
            "Rename the second `a.b` to `a.b2`");
        row("a slash", "{kind: die, name: a/b}, {kind: die, name: a-b}", "hardware.name", 1, "Rename it to `a-b2`");
        row("a node in a die",
            "{kind: die, name: d, children: [{kind: cluster, name: c, children: [{kind: node, name: n}]}]}",
            "hardware.nesting", 1, "Move `n` out to `system`");
        row("zero", "{kind: dram, name: m, capacity: 0 GB, bandwidth: 1 GB/s}", "hardware.zero", 1,
            "Remove `capacity` of `m`: not known");
        row("zero in a table", "{kind: vector_unit, name: v, flops: {fp32: 0 GFLOP/s, fp16: 1 GFLOP/s}}",
            "hardware.zero", 1, "Remove `flops.fp32` of `v`: not known");
        row("a word too large", "{kind: buffer, name: b, capacity: 4 B, word: 64 bit}", "hardware.smaller-than-part", 1,
            "Raise `capacity` to 64 bit, the part that it must hold");
        row("word and line too large", "{kind: cache, name: b, capacity: 4 B, word: 64 bit, line: 32 B}",
            "hardware.smaller-than-part", 1, "Raise `capacity` to 32 B, the part that it must hold");
        row("no clock",
            "{kind: die, name: d, children: [{kind: buffer, name: b, capacity: 1 KiB, bandwidth: 8 B/cycle}]}",
            "hardware.no-clock", 1, "Give `d` a clock of 1 GHz, marked as unverified");
        row("no clock beside one that has",
            "{kind: die, name: e, clock: 2 GHz}, {kind: die, name: d, children: [{kind: buffer, name: b, capacity: 1 "
            "KiB, bandwidth: 8 B/cycle}]}",
            "hardware.no-clock", 1, "Give `d` the clock of `e`, 2 GHz");
        row("a link to nowhere",
            "{kind: die, name: gpu0}, {kind: die, name: gpu1}, {kind: link, name: l, bandwidth: 1 GB/s, from: gpu0, "
            "to: gpu11}",
            "hardware.link-nowhere", 3, "Let it end at `gpu1`");
        row("a link to nowhere further down",
            "{kind: node, name: n, children: [{kind: die, name: gpu}]}, {kind: die, name: d}, {kind: link, name: l, "
            "bandwidth: 1 GB/s, from: n/gpo, to: d}",
            "hardware.link-nowhere", 3, "Let it begin at `n/gpu`");
        row("a loop", "{kind: die, name: a}, {kind: link, name: l, bandwidth: 1 GB/s, from: a, to: a}",
            "hardware.link-loop", 1, "Remove the link `l`");
        row("a port of three links",
            "{kind: switch, name: s}, {kind: die, name: a}, {kind: die, name: b}, {kind: die, name: c}, {kind: link, "
            "name: la, bandwidth: 1 GB/s, from: a, to: s, to_port: 1}, {kind: link, name: lb, bandwidth: 1 GB/s, from: "
            "s, from_port: 1, to: b}, {kind: link, name: lc, bandwidth: 1 GB/s, from: c, to: s, to_port: 1}",
            "hardware.port-used", 1, "Keep port 1 for the first link; the others take any");
        row("more copies than ports", "{kind: switch, name: s, ports: 7}, {kind: die, name: a, count: 8}",
            "hardware.ports", 1, "Raise `ports` to 8");
        row("more links than ports",
            "{kind: switch, name: s, ports: 8}, {kind: die, name: a, count: 3}, {kind: link, name: l, count: 3, "
            "bandwidth: 1 GB/s, from: a, to: s}",
            "hardware.ports", 1, "Raise `ports` to 9");
        row("memory left out",
            "{kind: die, name: a}, {kind: die, name: b}, {kind: dram, name: m, capacity: 1 GB, bandwidth: 1 GB/s}, "
            "{kind: link, name: l, bandwidth: 1 GB/s, from: a, to: b}",
            "hardware.unlinked-memory", 2, "Link `m` to `a`");
        const auto net = [&row](const char* name, const QString& rest, const char* code, const char* title) {
            row(name, qPrintable("{kind: node, name: n, count: 24}, {kind: topology, name: net, " + rest + "}"), code,
                1, title);
        };
        net("sides that do not fit", "shape: torus, dims: [4, 4, 4]", "hardware.topology-size",
            "Set `dims` to [4, 3, 2]");
        net("no sides", "shape: mesh", "hardware.missing-attribute", "Set `dims` to [6, 4]");
        net("a size that does not fit", "shape: ring, size: 20", "hardware.topology-size",
            "Remove `size`: use the number of parts beside it, 24");
        net("odd ports", "shape: fat-tree, radix: 7", "hardware.topology-radix", "Raise `radix` to 8");
        net("too few ports", "shape: switch, radix: 20", "hardware.topology-radix", "Raise `radix` to 32");
        net("a stack that does not fit",
            "children: [{kind: topology, name: a, shape: ring, size: 8}, {kind: topology, name: b, shape: ring, size: "
            "4}]",
            "hardware.topology-size", "Remove `size` of `b`: it follows from the others");
        net("no shape", "bandwidth: 1 GB/s", "hardware.missing-attribute", "Make it a switch");
        net("no radix", "shape: fat-tree", "hardware.missing-attribute", "Set `radix` to 8");
        row("no capacity", "{kind: dram, name: m, bandwidth: 1 GB/s}", "hardware.missing-attribute", 1,
            "Set `capacity` to 80 GB, marked as unverified");
        row("neither of two", "{kind: dram, name: m}", "hardware.missing-attribute", 2,
            "Set `capacity` to 80 GB, marked as unverified");
        row("no rate, no clock", "{kind: package, name: p, children: [{kind: tensor_unit, name: t}]}",
            "hardware.missing-attribute", 1, "Set `macs` to {fp16: 512/cycle, bf16: 512/cycle}, marked as unverified");
        row("a part left out",
            "{kind: die, name: a}, {kind: die, name: b}, {kind: switch, name: sw}, {kind: die, name: c}, {kind: link, "
            "name: l, bandwidth: 1 GB/s, from: a, to: sw}, {kind: link, name: m, bandwidth: 1 GB/s, from: b, to: sw}",
            "hardware.disconnected", 2, "Link `c` to `sw`");
        row("two left out",
            "{kind: die, name: a}, {kind: die, name: b}, {kind: die, name: c}, {kind: die, name: d}, {kind: link, "
            "name: "
            "l, bandwidth: 1 GB/s, from: a, to: b}",
            "hardware.disconnected", 2, "Link the 2 parts left out to `a`");
        row("nothing to join", "{kind: topology, name: net, shape: ring}", "hardware.topology-empty", 1,
            "Remove `net`");
    }
    void eachFixRemovesItsProblem() {
        QFETCH(QString, children);
        QFETCH(QString, code);
        QFETCH(int, least);
        QFETCH(QString, title);
        const Hardware before = design(children);
        const Diagnostics found = validate(before);
        const auto problem =
            std::find_if(found.begin(), found.end(), [&](const Diagnostic& d) { return d.code == code.toStdString(); });
        QVERIFY(problem != found.end());
        const auto fixes = fixesFor(before, *problem);
        QVERIFY2(int(fixes.size()) >= least, qPrintable(QString::number(fixes.size())));
        QCOMPARE(QString::fromStdString(fixes.front().title), title);
        for (const Fix& fix : fixes) {
            const auto after = fix.apply(before);
            QVERIFY2(after, after ? "" : toText(after.error()).c_str());
            const Diagnostics left = validate(*after);
            for (const Diagnostic& one : left) {
                QVERIFY2(one.code != problem->code || one.place != problem->place,
                         (fix.title + ": " + toText(one)).c_str());
            }
            const auto had = codes(found, Severity::Error), has = codes(left, Severity::Error);
            QVERIFY2(std::includes(had.begin(), had.end(), has.begin(), has.end()), fix.title.c_str());
            const auto back = readHardware(writeHardware(*after));
            QVERIFY2(back && back->hardware == *after, fix.title.c_str());
        }
    }
    /// A device of parts without one number: a fix of any of its problems gives them all, and says that nobody checked.
    void oneFixGivesAllThatIsMissing() {
        const Hardware before = design(
            "{kind: package, name: p, children: [{kind: dram, name: hbm}, {kind: die, name: d, children: [{kind: cache, "
            "name: l2}, {kind: core, name: c, children: [{kind: vector_unit, name: v}, {kind: tensor_unit, name: "
            "t}]}]}]}");
        QVERIFY(!deviceView(before));
        const Diagnostics found = validate(before);
        QCOMPARE(codes(found, Severity::Warning).count("hardware.missing-attribute"), std::size_t{5});
        for (const Diagnostic& problem : found) {
            if (problem.code != "hardware.missing-attribute") continue;
            const auto fixes = fixesFor(before, problem);
            QCOMPARE(fixes.size(), std::size_t{2});
            QCOMPARE(fixes[1].title, std::string("Set all 5 missing numbers to usual values, marked as unverified"));
            const auto after = fixes[1].apply(before);
            QVERIFY(after);
            for (const Diagnostic& left : validate(*after)) QVERIFY2(left.severity == Severity::Note, toText(left).c_str());
            const auto view = deviceView(*after);
            QVERIFY2(view, view ? "" : toText(view.error()).c_str());
            QCOMPARE(componentAt(after->root, {0})->find("clock")->source, std::string("unverified"));
            const auto read = readHardware(writeHardware(*after));
            QVERIFY(read && !read->warnings.empty() && read->warnings.front().message.starts_with("6 numbers"));
        }
        // A network's shape is no number that is usual: nobody but who draws it knows.
        const Hardware shapeless = design("{kind: topology, name: net, bandwidth: 1 GB/s}, {kind: die, name: d}");
        QVERIFY(!allMissingNumbers(shapeless));
        // What a method misses is mended alike.
        const auto refused = deviceView(before);
        QVERIFY(!fixesFor(before, refused.error()).empty());
    }
    void designsOfCodeAreMendedToo() {
        Hardware hardware;
        hardware.root.children = {{ComponentKind::Dram, "m", 0}};
        hardware.root.children[0].attributes = {{"bandwith", Measure{1e9, false, "1 GB/s"}, {}, {}}};
        for (const Diagnostic& problem : validate(hardware)) {
            if (problem.code != "hardware.count" && problem.code != "hardware.no-attribute") continue;
            const auto fixes = fixesFor(hardware, problem);
            QVERIFY(!fixes.empty());
            for (const Fix& fix : fixes) {
                const auto after = fix.apply(hardware);
                QVERIFY(after);
                for (const Diagnostic& one : validate(*after)) QVERIFY(one.code != problem.code);
            }
        }
        const auto renamed = fixesFor(hardware, validate(hardware)[1]);
        QVERIFY(!renamed.empty());
    }
    /// A problem of another design, or none at all, does no harm.
    void strangePlacesHaveNoFix() {
        const Hardware hardware = design("{kind: die, name: d}");
        for (const char* place : {"", "system", "system/x", "system/d", "system/d.clock.x", "nowhere"}) {
            for (const char* code :
                 {"hardware.duplicate-name", "hardware.link-nowhere", "hardware.ports", "hardware.nesting",
                  "hardware.topology-size", "hardware.port-used", "hardware.zero", "hardware.no-attribute", "other"}) {
                Diagnostic problem;
                problem.code = code;
                problem.place.path = place;
                for (const Fix& fix : fixesFor(hardware, problem)) (void)fix.apply(hardware);
            }
        }
    }
};

QTEST_GUILESS_MAIN(TestHardwareFixes)
#include "tst_hardware_fixes.moc"
