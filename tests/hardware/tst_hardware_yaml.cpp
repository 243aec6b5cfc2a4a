#include "base/random.h"
#include "hardware/attributes.h"
#include "hardware/files/hardware_yaml.h"
#include "base/text/nearest.h"
#include "base/text/yaml_node.h"

#include <QtTest/QtTest>

using namespace orrery;

namespace {

QString text(const Diagnostic& diagnostic) {
    return QString::fromStdString(toText(diagnostic));
}

std::string data(const char* name) {
    return std::string(ORRERY_TEST_DATA) + "/hardware/" + name;
}

/// Words that trip YAML writers: indicators, quotes, nulls, line breaks, other scripts, the separators of Unicode.
std::string word(RandomStream& random, bool plain) {
    static const std::vector<std::string> parts{
        "a",    "hbm", "L2",   " ",   "-", "?",    ":",        ": ", "#",  " #",
        ",",    "[",   "]",    "{",   "}", "&",    "*",        "!",  "|",  ">",
        "'",    "\"",  "\\",   "%",   "@", "`",    "\n",       "\t", "~",  "null",
        "true", "1",   "0x1F", "1e9", "µ", "二進", "\xc2\x85", "=",  "<<", "\xe2\x80\xa8",
        "\x7f", "---", "\x01", "...", "é", "80 GB"};
    static const std::vector<std::string> safe{"a", "b", "hbm", "l2", "x1", "core"};
    const auto& from = plain ? safe : parts;
    std::string out;
    for (std::uint64_t i = random.below(4) + 1; i > 0; --i) out += from[random.below(from.size())];
    return out;
}

Measure number(RandomStream& random, const AttributeSpec& spec) {
    const double low = std::max(spec.lowest, 1e-15), high = spec.highest;
    double value = low * std::pow(high / low, random.uniform());
    if (spec.dimension == Dimension::Count) value = std::floor(value);
    const bool perCycle = spec.dimension == Dimension::OperationRate && random.below(2) == 0;
    const std::string spelling = perCycle ? fmt::format("{}/cycle", std::max(1.0, std::floor(value)))
                                 : spec.dimension == Dimension::Count
                                     ? fmt::format("{}", value)
                                     : formatMeasure(value, spec.dimension, static_cast<int>(random.below(5)) + 2);
    auto measure = parseMeasure(spelling, spec.dimension);
    return measure ? *measure : *parseMeasure("1", spec.dimension);
}

Attribute attribute(RandomStream& random, const AttributeSpec& spec) {
    Attribute out{std::string(spec.name), {}, {}, {}};
    switch (spec.form) {
        case AttributeForm::Measure:
            out.value = number(random, spec);
            break;
        case AttributeForm::Text:
            out.value = word(random, false);
            break;
        case AttributeForm::Choice:
            out.value = std::string(spec.choices[random.below(spec.choices.size())]);
            break;
        case AttributeForm::List: {
            std::vector<std::string> items;
            for (std::uint64_t i = random.below(4); i > 0; --i) {
                items.push_back(spec.choices.empty() ? word(random, false)
                                                     : std::string(spec.choices[random.below(spec.choices.size())]));
            }
            out.value = items;
            break;
        }
        case AttributeForm::Table: {
            std::vector<TableRow> rows;
            for (const char* type : {"fp64", "fp32", "bf16", "fp8", "int8"}) {
                if (random.below(2) == 0) rows.push_back({type, number(random, spec)});
            }
            out.value = rows;
            break;
        }
    }
    if (random.below(3) == 0) out.source = word(random, false);
    if (random.below(4) == 0) out.note = word(random, false);
    return out;
}

UnknownKey unknown(RandomStream& random) {
    const std::vector<std::string> kept{"1", "[a, {b: ~}]", "{x: \"1\", y: [1, 2]}", "\"\"", "plain words", "[]", "{}"};
    return {"unknown_" + std::to_string(random.below(1000)), kept[random.below(kept.size())]};
}

std::string comment(RandomStream& random) {
    return random.below(3) ? "" : "a remark" + std::string(random.below(2) ? "\n\n  indented # again" : "");
}

Component tree(RandomStream& random, int depth) {
    Component out;
    out.kind = static_cast<ComponentKind>(1 + random.below(componentKindCount - 1));
    if (random.below(4)) out.name = word(random, random.below(2) == 0);
    if (random.below(3) == 0) out.count = static_cast<std::int64_t>(random.below(6)) + 1;
    if (random.below(6) == 0) out.mesh = {2, 3};
    for (const AttributeSpec& spec : attributeSpecs()) {
        if (spec.on(out.kind) && !out.find(spec.name) && random.below(4) == 0) {
            out.attributes.push_back(attribute(random, spec));
        }
    }
    if (random.below(8) == 0) out.unknown.push_back(unknown(random));
    out.comment = comment(random);
    if (depth > 0) {
        for (std::uint64_t i = random.below(4); i > 0; --i) out.children.push_back(tree(random, depth - 1));
    }
    return out;
}

Hardware design(RandomStream& random) {
    Hardware out;
    if (random.below(5)) out.name = word(random, false);
    if (random.below(2)) out.group = word(random, false);
    if (random.below(2)) out.description = word(random, false);
    if (random.below(2)) out.sources = {{word(random, false), word(random, false)}, {"other key", ""}};
    if (random.below(3) == 0) out.layoutYaml = "sm: [1, 2]\n\"a: b\": {x: 1}\n";
    if (random.below(3) == 0) out.unknown.push_back(unknown(random));
    out.comment = comment(random);
    for (std::uint64_t i = random.below(4); i > 0; --i) out.root.children.push_back(tree(random, 4));
    return out;
}

}  // namespace

class TestHardwareYaml : public QObject {
    Q_OBJECT
private slots:
    void aDesignReadsAsItIsWritten() {
        const auto loaded = readHardwareFile(data("pod.yaml"));
        QVERIFY2(loaded, qPrintable(loaded ? QString() : text(loaded.error())));
        for (const Diagnostic& warning : loaded->warnings) QFAIL(qPrintable(text(warning)));
        const Hardware& pod = loaded->hardware;
        QCOMPARE(QString::fromStdString(pod.name), QString("Two-node H100 pod"));
        QCOMPARE(QString::fromStdString(pod.comment), QString("Two nodes of eight GPUs.\nDrawn for the tests."));
        QCOMPARE(QString::fromStdString(pod.root.children[0].comment), QString("between the nodes"));
        QVERIFY(pod.root.children[1].comment.empty());
        const Component& die = pod.root.children[1].children[1];
        QCOMPARE(die.count, 8);
        QVERIFY(die.kind == ComponentKind::Die);
        const Attribute* clock = die.find("clock");
        QVERIFY(clock);
        QCOMPARE(std::get<Measure>(clock->value).si, 1.83e9);
        QCOMPARE(QString::fromStdString(clock->source), QString("me"));
        const auto& macs = std::get<std::vector<TableRow>>(die.children[2].children[2].find("macs")->value);
        QCOMPARE(macs.size(), std::size_t(2));
        QVERIFY(macs[1].value.perCycle && macs[1].value.si == 1024);
        QCOMPARE(QString::fromStdString(pod.layoutYaml), QString("dgx: [0, 0]\ndgx/h100: [1, 2.5]\n"));
    }
    void everyWrittenDesignReadsBackTheSame_data() {
        QTest::addColumn<int>("seed");
        for (int seed = 0; seed < 40; ++seed) QTest::newRow(std::to_string(seed).c_str()) << seed;
    }
    void everyWrittenDesignReadsBackTheSame() {
        QFETCH(int, seed);
        RandomStream random(static_cast<std::uint64_t>(seed), 20261120);
        const Hardware before = design(random);
        const std::string first = writeHardware(before);
        const auto after = readHardware(first);
        QVERIFY2(after, qPrintable(after ? QString() : text(after.error()) + "\n" + QString::fromStdString(first)));
        const std::string second = writeHardware(after->hardware);
        QCOMPARE(QString::fromStdString(second), QString::fromStdString(first));
        QVERIFY2(after->hardware == before, first.c_str());
        for (const Component& child : before.root.children) {
            const auto copy = readComponent(writeComponent(child));
            QVERIFY2(copy, qPrintable(copy ? QString() : text(copy.error())));
            QVERIFY2(*copy == child, writeComponent(child).c_str());
        }
    }
    void spellingsSurviveAnEditElsewhere() {
        auto loaded = readHardwareFile(data("pod.yaml"));
        QVERIFY(loaded);
        const auto edited = withAttribute(loaded->hardware, "hbm3.capacity", "96 GB");
        QVERIFY(edited);
        QString before = QString::fromStdString(writeHardware(loaded->hardware));
        const QString after = QString::fromStdString(writeHardware(*edited));
        QVERIFY(before.contains("energy: 3.9 pJ/bit") && after.contains("energy: 3.9 pJ/bit"));
        QCOMPARE(after, before.replace("capacity: 80 GB", "capacity: 96 GB"));
    }
    void leavesStandOnOneLineAndDesignsInABlock() {
        const auto loaded = readHardwareFile(data("pod.yaml"));
        QVERIFY(loaded);
        const QString out = QString::fromStdString(writeHardware(loaded->hardware));
        QVERIFY(
            out.contains("\n            - {kind: cache, name: l2, capacity: 50 MB, bandwidth: 5.5 TB/s, latency: 273 "
                         "cycles, slices: 2}\n"));
        QVERIFY(out.contains("\n    - kind: node\n      name: dgx\n      count: 2\n      children:\n"));
        for (const QString& line : out.split('\n')) QVERIFY2(line.size() <= 160, qPrintable(line));
    }
    void unknownKeysAreKeptAndNamed() {
        const auto loaded = readHardware(
            "orrery: hardware/1\nfuture: {a: [1, \"2\"]}\nsystem:\n  children:\n"
            "    - {kind: dram, name: hbm, capacty: 80 GB, bandwidth: 1 TB/s, lanes: 4}\n",
            "x.yaml");
        QVERIFY(loaded);
        QCOMPARE(loaded->warnings.size(), std::size_t(3));
        for (const Diagnostic& warning : loaded->warnings) {
            QCOMPARE(QString::fromStdString(warning.code), QString("hardware.unknown-key"));
            QCOMPARE(warning.severity, Severity::Warning);
        }
        const Diagnostic& slip = loaded->warnings[1];
        QVERIFY2(slip.hint.find("`capacity`") != std::string::npos, slip.hint.c_str());
        QCOMPARE(slip.place.line, 5);
        QCOMPARE(slip.place.column, 31);
        const QString out = QString::fromStdString(writeHardware(loaded->hardware));
        QVERIFY2(out.contains("future: {a: [1, \"2\"]}") && out.contains("capacty: 80 GB") && out.contains("lanes: 4"),
                 qPrintable(out));
    }
    void oddNumbersAreFlaggedWithTheirPlace() {
        const auto loaded = readHardware(
            "orrery: hardware/1\nsystem:\n  children:\n    - {kind: dram, name: hbm, capacity: 80, bandwidth: 3.35e30 "
            "B/s}\n");
        QVERIFY(loaded);
        QCOMPARE(loaded->warnings.size(), std::size_t(1));
        QCOMPARE(QString::fromStdString(loaded->warnings[0].code), QString("hardware.unusual-value"));
        QCOMPARE(loaded->warnings[0].place.line, 4);
        QCOMPARE(QString::fromStdString(loaded->warnings[0].place.path), QString("system/hbm.bandwidth"));
    }
    void unverifiedNumbersAreCounted() {
        const auto loaded = readHardware(
            "orrery: hardware/1\nsystem:\n  children:\n"
            "    - {kind: dram, name: hbm, capacity: {value: 80 GB, source: unverified}, bandwidth: 1 TB/s}\n"
            "    - {kind: cache, name: l2, capacity: 4 MB, keeps: [inputs], source: unverified, note: words}\n");
        QVERIFY(loaded);
        QCOMPARE(loaded->warnings.size(), std::size_t(1));
        QCOMPARE(loaded->warnings[0].severity, Severity::Note);
        QVERIFY(loaded->warnings[0].message.find("2 numbers") == 0);
        QVERIFY(loaded->warnings[0].message.find("system/l2.capacity") != std::string::npos);
    }
    void aliasesThatDoNoHarmAreWrittenOut() {
        const auto loaded = readHardware(
            "orrery: hardware/1\nsystem:\n  children:\n    - {kind: dram, name: a, capacity: &c 8 GB}\n"
            "    - {kind: dram, name: b, capacity: *c}\n");
        QVERIFY(loaded);
        QCOMPARE(std::get<Measure>(loaded->hardware.root.children[1].find("capacity")->value).si, 8e9);
        QVERIFY(writeHardware(loaded->hardware).find('*') == std::string::npos);
    }
    void numbersSetByCodeAreWrittenReadably() {
        Component die{ComponentKind::Die};
        die.attributes = {{"clock", Measure{1.5e9, false, {}}, {}, {}},
                          {"sustained", Measure{0.9, false, {}}, {}, {}},
                          {"area", Measure{8e-4, false, {}}, {}, {}},
                          {"noc_bandwidth", Measure{64, true, {}}, {}, {}}};
        const auto back = readComponent(writeComponent(die));
        QVERIFY2(back, qPrintable(back ? QString() : text(back.error())));
        for (std::size_t i = 0; i < 4; ++i) {
            const auto& measure = std::get<Measure>(back->attributes[i].value);
            QCOMPARE(measure.si, std::get<Measure>(die.attributes[i].value).si);
            QCOMPARE(measure.perCycle, i == 3);
        }
    }
    void windowsLineEndsAndAByteOrderMarkDoNotMatter() {
        const auto loaded = readHardware("\xef\xbb\xbforrery: hardware/1\r\nname: A\r\n# note\r\nsystem: {}\r\n");
        QVERIFY(loaded);
        QCOMPARE(QString::fromStdString(loaded->hardware.name), QString("A"));
    }
    void distancesCountSlips() {
        QCOMPARE(editDistance("clock", "clock"), 0);
        QCOMPARE(editDistance("clokc", "clock"), 1);
        QCOMPARE(editDistance("kitten", "sitting"), 3);
        QCOMPARE(editDistance("Tensor-Unit", "tensor_unit"), 0);
        QCOMPARE(editDistance("", "abc"), 3);
        QVERIFY(editDistance(std::string(5000, 'a'), std::string(5000, 'b')) <= 64);
        QCOMPARE(QString::fromStdString(didYouMean("capacty", {"clock", "capacity"})),
                 QString("did you mean `capacity`?"));
        QVERIFY(didYouMean("zzz", {"clock", "capacity"}).empty());
    }
    void attributesAreDeclaredOnceForEachKind() {
        const auto specs = attributeSpecs();
        for (std::size_t i = 0; i < specs.size(); ++i) {
            const std::string name(specs[i].name);
            QVERIFY2(!specs[i].meaning.empty() && specs[i].meaning.back() == '.', name.c_str());
            QVERIFY2(specs[i].kinds != 0, name.c_str());
            QVERIFY2((specs[i].form == AttributeForm::Choice) <= !specs[i].choices.empty(), name.c_str());
            const bool hasRange = specs[i].form == AttributeForm::Measure || specs[i].form == AttributeForm::Table;
            if (hasRange) QVERIFY2(specs[i].lowest < specs[i].highest, name.c_str());
            if (specs[i].fallback) {
                QVERIFY2(*specs[i].fallback >= specs[i].lowest && *specs[i].fallback <= specs[i].highest, name.c_str());
            }
            for (std::size_t j = 0; j < i; ++j) {
                QVERIFY2(specs[i].name != specs[j].name || !(specs[i].kinds & specs[j].kinds), name.c_str());
            }
        }
    }
};

QTEST_GUILESS_MAIN(TestHardwareYaml)
#include "tst_hardware_yaml.moc"
