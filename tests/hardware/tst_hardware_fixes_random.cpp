// Designs broken at random: whatever fix is offered, it removes the problem it is for and brings no new kind of error.

#include "hardware/attributes.h"
#include "hardware/check/fixes.h"
#include "hardware/files/hardware_yaml.h"
#include "hardware/check/validate.h"

#include <QtTest/QtTest>

#include <map>
#include <random>
#include <set>

using namespace orrery;

namespace {

class Breaker {
public:
    explicit Breaker(unsigned seed) : random_(seed), tidy_(seed % 2 == 0) {}

    Hardware design() {
        Hardware hardware;
        hardware.root.name = "system";
        fill(hardware.root, 0);
        return hardware;
    }

private:
    int below(int end) { return static_cast<int>(random_() % static_cast<unsigned>(end)); }
    template <class List>
    const auto& oneOf(const List& list) {
        return *(std::begin(list) + below(static_cast<int>(std::size(list))));
    }
    std::string name() {
        static const char* const names[] = {"gpu0", "gpu1", "gpu", "l2", "hbm", "sw", "net", "n", "a/b", ""};
        return below(30) == 0 ? "odd.name" : oneOf(names);
    }
    std::string path() { return below(3) == 0 ? name() + "/" + name() : name(); }

    /// Often what really stands there, so that links join, use ports up and leave parts out.
    std::string anEnd(const Component& parent) {
        if (parent.children.empty() || below(4) == 0) return path();
        return std::string(nameOf(parent.children[static_cast<std::size_t>(below(int(parent.children.size())))]));
    }

    void number(Component& part) {
        static const char* const texts[] = {"0 GB",
                                            "1 GB",
                                            "8 B",
                                            "64 bit",
                                            "0 GB/s",
                                            "25 GB/s",
                                            "8 B/cycle",
                                            "0 GHz",
                                            "1 GHz",
                                            "7",
                                            "8",
                                            "24",
                                            "0",
                                            "switch",
                                            "torus",
                                            "fat-tree",
                                            "ring",
                                            "mesh",
                                            "[2, 2]",
                                            "[3]",
                                            "dragonfly",
                                            "2 cycles",
                                            "bf16: 0/cycle",
                                            "fp32: 2/cycle, bf16: 8/cycle"};
        const std::vector<std::string> known = attributeNames(part.kind);
        if (known.empty()) return;
        const AttributeSpec* spec = attributeSpec(part.kind, oneOf(known));
        for (int tries = 0; tries < 12 && !part.find(spec->name); ++tries) {
            if (auto value = parseAttribute(*spec, oneOf(texts)))
                part.attributes.push_back({std::string(spec->name), std::move(*value), {}, {}});
        }
    }

    void fill(Component& parent, int depth) {
        const int children = below(depth == 0 ? 7 : 4);
        for (int i = 0; i < children; ++i) {
            Component part;
            // Mostly where it may stand, sometimes not; links and networks often.
            for (int tries = 0; tries < 20; ++tries) {
                part.kind = static_cast<ComponentKind>(1 + below(componentKindCount - 1));
                if (below(3) == 0) part.kind = ComponentKind::Link;
                if (mayContain(parent.kind, part.kind) || below(25) == 0) break;
            }
            part.name = tidy_ ? "p" + std::to_string(i) : name();
            if (below(4) == 0) part.count = below(10);
            if (part.kind == ComponentKind::Array && below(2)) part.mesh = {below(5), 4};
            if (part.kind == ComponentKind::Link) {
                for (const char* end : {"from", "to"})
                    if (below(8)) part.attributes.push_back({end, anEnd(parent), {}, {}});
                for (const char* port : {"from_port", "to_port"})
                    if (below(3) == 0) part.attributes.push_back({port, std::to_string(below(3)), {}, {}});
            }
            if (part.kind == ComponentKind::Topology && below(5)) {
                static const char* const shapes[] = {"ring", "fat-tree", "torus", "switch", "dragonfly", "mesh"};
                part.attributes.push_back({"shape", std::string(oneOf(shapes)), {}, {}});
            }
            for (int n = below(3); n > 0; --n) number(part);
            if (below(10) == 0) part.attributes.push_back({"bandwith", Measure{1e9, false, "1 GB/s"}, {}, {}});
            if (depth < 3 && below(2)) fill(part, depth + 1);
            parent.children.push_back(std::move(part));
        }
    }

    std::mt19937 random_;
    bool tidy_;  ///< siblings have names of their own
};

std::set<std::string> errors(const Diagnostics& all) {
    std::set<std::string> codes;
    for (const Diagnostic& one : all) {
        if (one.severity == Severity::Error) codes.insert(one.code);
    }
    return codes;
}

}  // namespace

class TestHardwareFixesRandom : public QObject {
    Q_OBJECT
private slots:
    void whateverIsOfferedMends() {
        std::map<std::string, int> tried;
        int problems = 0;
        for (unsigned seed = 1; seed <= 260; ++seed) {
            const Hardware before = Breaker(seed).design();
            const Diagnostics found = validate(before);
            const auto had = errors(found);
            const auto written = readHardware(writeHardware(before));
            const bool readable = written && written->hardware == before;
            for (const Diagnostic& problem : found) {
                ++problems;
                for (const Fix& fix : fixesFor(before, problem)) {
                    ++tried[problem.code];
                    const QByteArray where =
                        QByteArray::number(seed) + " " + problem.place.path.c_str() + ": " + fix.title.c_str();
                    const auto after = fix.apply(before);
                    QVERIFY2(after, where);
                    const Diagnostics left = validate(*after);
                    for (const Diagnostic& one : left) {
                        QVERIFY2(one.code != problem.code || one.place != problem.place, where);
                        QVERIFY2(one.severity != Severity::Error || had.contains(one.code),
                                 where + " brings " + one.code.c_str());
                    }
                    if (!readable) continue;
                    const auto read = readHardware(writeHardware(*after));
                    QVERIFY2(read && read->hardware == *after, where);
                }
            }
        }
        for (const auto& [code, times] : tried) qInfo("%s: %d fixes", code.c_str(), times);
        // The corpus breaks in most of the ways that have fixes, and few offers are withheld.
        for (const char* code :
             {"hardware.duplicate-name", "hardware.name", "hardware.nesting", "hardware.zero", "hardware.no-clock",
              "hardware.no-attribute", "hardware.count", "hardware.link-nowhere", "hardware.port-used",
              "hardware.topology-empty", "hardware.missing-attribute", "hardware.disconnected"})
            QVERIFY2(tried[code] > 0, code);
        QVERIFY2(problems > 2000, qPrintable(QString::number(problems)));
    }
    /// A part that links end at takes them along.
    void aRemovedPartLeavesNoLinkToNowhere() {
        const auto read = readHardware(
            "orrery: hardware/1\nsystem: {children: [{kind: node, name: n, children: [{kind: topology, name: net, "
            "shape: "
            "ring}, {kind: switch, name: sw}, {kind: link, name: l, from: net, to: sw, bandwidth: 1 GB/s}]}]}\n");
        QVERIFY(read);
        const Diagnostics found = validate(read->hardware);
        const auto empty = std::ranges::find(found, std::string("hardware.topology-empty"), &Diagnostic::code);
        QVERIFY(empty != found.end());
        const auto fixes = fixesFor(read->hardware, *empty);
        QCOMPARE(fixes.size(), std::size_t(1));
        const auto after = fixes.front().apply(read->hardware);
        QVERIFY(after);
        QCOMPARE(after->root.children.front().children.size(), std::size_t(1));
        QVERIFY(errors(validate(*after)).empty());
    }
};

QTEST_GUILESS_MAIN(TestHardwareFixesRandom)
#include "tst_hardware_fixes_random.moc"
