// Do the differences between two designs name what was done to one of them, and nothing else?

#include "hardware/edit/difference.h"
#include "hardware/edit/tree_edit.h"
#include "hardware/files/catalogue.h"

#include <QtTest/QtTest>

using namespace orrery;
using What = Difference::What;

namespace {

Hardware h100() {
    return loadHardware("h100-sxm").value().hardware;
}

Measure readMeasure(const char* text) {
    return parseMeasure(text, Dimension::Data).value();
}

ComponentPath pathOf(const Hardware& design, const char* name) {
    return findComponent(design.root, name).value();
}

QStringList texts(const Hardware& before, const Hardware& after) {
    QStringList all;
    for (const Difference& each : differences(before.root, after.root)) {
        all << QString::fromStdString(toText(before.root, after.root, each));
    }
    return all;
}

}  // namespace

class TestDifference : public QObject {
    Q_OBJECT
private slots:
    void equalDesignsHaveNone() {
        for (const char* id : {"h100-sxm", "t4", "tpu-v4"}) {
            const auto loaded = loadHardware(id);
            if (!loaded) continue;
            QVERIFY(differences(loaded->hardware.root, loaded->hardware.root).empty());
        }
        QVERIFY(differences(h100().root, h100().root).empty());
    }
    void aChangedNumberIsNamedWithBothValues() {
        const Hardware before = h100();
        const Hardware after = withAttribute(before, "hbm3.bandwidth", "4 TB/s").value();
        const auto found = differences(before.root, after.root);
        QCOMPARE(found.size(), std::size_t{1});
        QCOMPARE(found.front().what, What::Changed);
        QCOMPARE(found.front().attribute, std::string("bandwidth"));
        QCOMPARE(found.front().before.value(), pathOf(before, "hbm3"));
        QCOMPARE(texts(before, after), QStringList(QString::fromUtf8("hbm3 bandwidth 3.35 → 4 TB/s")));
    }
    void countsAndRemovedNumbersToo() {
        const Hardware before = h100();
        QCOMPARE(texts(before, withAttribute(before, "sm.count", "144").value()),
                 QStringList(QString::fromUtf8("sm count 132 → 144")));
        const auto found = differences(before.root, withAttribute(before, "hbm3.bandwidth", "").value().root);
        QCOMPARE(found.size(), std::size_t{1});
        QCOMPARE(found.front().to, std::string("–"));
    }
    void aSourceIsNoDifference() {
        const Hardware before = h100();
        Hardware after = before;
        componentAt(after.root, pathOf(after, "hbm3"))->find("bandwidth")->source = "somewhere else";
        after.root.comment = "looked at";
        QVERIFY(differences(before.root, after.root).empty());
    }
    void addedRemovedRenamedMoved() {
        const Hardware before = h100();
        Component l1;
        l1.kind = ComponentKind::Buffer;
        l1.name = "l1";
        const ComponentPath sm = pathOf(before, "sm"), hbm = pathOf(before, "hbm3");
        const Hardware with = added(before, sm, {l1})->design;
        QCOMPARE(texts(before, with), QStringList("added buffer l1"));
        QCOMPARE(texts(with, before), QStringList("removed buffer l1"));
        const Hardware called = renamed(before, hbm, "memory")->design;
        const auto renaming = differences(before.root, called.root);
        QCOMPARE(renaming.size(), std::size_t{1});
        QCOMPARE(renaming.front().what, What::Renamed);
        QCOMPARE(renaming.front().to, std::string("memory"));
        const auto elsewhere = reparented(with, {pathOf(with, "l1")}, ComponentPath(sm.begin(), sm.end() - 1));
        QVERIFY(elsewhere.has_value());
        const auto moving = differences(with.root, elsewhere->design.root);
        QCOMPARE(moving.size(), std::size_t{1});
        QCOMPARE(moving.front().what, What::Moved);
    }
    // Two generations call the same things otherwise: the memory, the package.
    void partsAreMatchedByTheirRole() {
        const Hardware before = loadHardware("a100-80-sxm").value().hardware, after = h100();
        const auto found = differences(before.root, after.root);
        const ComponentPath was = pathOf(before, "hbm2e"), is = pathOf(after, "hbm3");
        const auto rate = std::ranges::find_if(found, [&](const Difference& each) {
            return each.what == What::Changed && each.attribute == "bandwidth" && each.before == was;
        });
        QVERIFY(rate != found.end());
        QCOMPARE(rate->after.value(), is);
        QVERIFY2(toText(before.root, after.root, *rate).starts_with("hbm2e → hbm3: bandwidth "),
                 toText(before.root, after.root, *rate).c_str());
        for (const Difference& each : found) {
            QVERIFY(each.what != What::Removed || each.before != was);
            QVERIFY(each.what != What::Added || each.after != is);
        }
    }
    // Of several of one kind the first goes with the first; one too many is still added, another kind is not taken.
    void rolesKeepTheirOrder() {
        const auto part = [](const char* name, ComponentKind kind, const char* capacity) {
            Component made;
            made.kind = kind;
            made.name = name;
            if (capacity) made.attributes = {{"capacity", readMeasure(capacity)}};
            return made;
        };
        Component a = part("chip", ComponentKind::Die, nullptr), b = a;
        a.children = {part("l1", ComponentKind::Buffer, "1 MiB"), part("l2", ComponentKind::Buffer, "8 MiB")};
        b.children = {part("near", ComponentKind::Buffer, "2 MiB"), part("unit", ComponentKind::Dram, "1 GiB"),
                      part("far", ComponentKind::Buffer, "16 MiB"), part("last", ComponentKind::Buffer, "64 MiB")};
        QStringList said;
        for (const Difference& each : differences(a, b)) said << QString::fromStdString(toText(a, b, each));
        QCOMPARE(said, (QStringList{QString::fromUtf8("l1 → near: capacity 1 → 2 MiB"),
                                    QString::fromUtf8("l2 → far: capacity 8 → 16 MiB"), "added DRAM unit",
                                    "added buffer last"}));
    }
    void asManyOneWayAsTheOther() {
        const Hardware a = h100(), b = loadHardware("t4").value().hardware;
        QVERIFY(!differences(a.root, b.root).empty());
        QCOMPARE(differences(a.root, b.root).size(), differences(b.root, a.root).size());
    }
};

QTEST_GUILESS_MAIN(TestDifference)
#include "tst_hardware_difference.moc"
