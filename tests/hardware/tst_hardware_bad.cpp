#include "hardware/files/catalogue.h"
#include "hardware/files/hardware_yaml.h"

#include <QtTest/QtTest>

#include <map>

using namespace orrery;

namespace {

/// What each file of tests/data/bad/hardware is refused for; a file that is refused for another reason tests nothing.
const std::map<QString, QString> codes = {{"empty", "yaml.empty"},
                                          {"only-comments", "yaml.empty"},
                                          {"truncated-flow", "yaml.syntax"},
                                          {"truncated-quote", "yaml.syntax"},
                                          {"truncated-before-system", "hardware.no-system"},
                                          {"binary", "yaml.characters"},
                                          {"program", "yaml.characters"},
                                          {"latin-1", "yaml.characters"},
                                          {"utf-16", "yaml.characters"},
                                          {"overlong-utf-8", "yaml.characters"},
                                          {"tab-indent", "yaml.syntax"},
                                          {"alias-cycle", "yaml.alias-cycle"},
                                          {"alias-bomb", "yaml.too-large"},
                                          {"anchor-bomb", "yaml.too-large"},
                                          {"alias-unknown", "yaml.syntax"},
                                          {"deep-flow", "yaml.too-deep"},
                                          {"deep-components", "yaml.too-deep"},
                                          {"duplicate-key", "yaml.duplicate-key"},
                                          {"duplicate-system", "yaml.duplicate-key"},
                                          {"two-documents", "yaml.documents"},
                                          {"list-root", "hardware.not-hardware"},
                                          {"text-root", "hardware.not-hardware"},
                                          {"no-version", "hardware.not-hardware"},
                                          {"newer-version", "hardware.newer-version"},
                                          {"newer-version-huge", "hardware.newer-version"},
                                          {"version-not-number", "hardware.not-hardware"},
                                          {"version-zero", "hardware.not-hardware"},
                                          {"version-is-map", "hardware.not-hardware"},
                                          {"a-project", "hardware.not-hardware"},
                                          {"unknown-kind", "hardware.unknown-kind"},
                                          {"no-kind", "hardware.no-kind"},
                                          {"kind-is-list", "hardware.unknown-kind"},
                                          {"children-not-list", "hardware.type"},
                                          {"child-not-map", "hardware.type"},
                                          {"system-is-text", "hardware.type"},
                                          {"name-is-map", "hardware.type"},
                                          {"capacity-is-list", "hardware.type"},
                                          {"capacity-without-value", "hardware.type"},
                                          {"capacity-empty", "hardware.type"},
                                          {"stranger-beside-value", "hardware.unknown-key"},
                                          {"source-is-list", "hardware.type"},
                                          {"sources-is-list", "hardware.type"},
                                          {"layout-is-list", "hardware.type"},
                                          {"nan", "unit.number"},
                                          {"infinity", "unit.number"},
                                          {"number-overflow", "unit.range"},
                                          {"prefix-overflow", "unit.range"},
                                          {"number-underflow", "unit.range"},
                                          {"hexadecimal", "unit.unknown"},
                                          {"negative-capacity", "hardware.negative"},
                                          {"misspelt-unit", "unit.unknown"},
                                          {"unit-of-another-dimension", "unit.unknown"},
                                          {"fractional-warps", "unit.whole"},
                                          {"negative-count", "hardware.count"},
                                          {"zero-count", "hardware.count"},
                                          {"fractional-count", "hardware.type"},
                                          {"huge-count", "hardware.count-overflow"},
                                          {"count-product-overflow", "hardware.count-overflow"},
                                          {"mesh-overflow", "hardware.count-overflow"},
                                          {"mesh-negative", "hardware.count"},
                                          {"mesh-is-text", "hardware.type"},
                                          {"mesh-empty", "hardware.type"},
                                          {"unknown-choice", "hardware.choice"},
                                          {"unknown-operand", "hardware.choice"},
                                          {"unknown-number-type", "hardware.unknown-type"},
                                          {"repeated-number-type", "hardware.duplicate-type"},
                                          {"table-is-text", "hardware.type"},
                                          {"row-is-list", "hardware.type"},
                                          {"list-as-key", "yaml.key"},
                                          {"endless-key", "yaml.key"},
                                          {"bracket-mismatch", "yaml.syntax"}};

/// Words that the hint must hold where a slip is plain.
const std::map<QString, QString> hints = {
    {"unknown-kind", "tensor_unit"}, {"misspelt-unit", "GB/s"},       {"unknown-choice", "fat-tree"},
    {"unknown-operand", "weights"},  {"unknown-number-type", "bf16"}, {"stranger-beside-value", "source"},
    {"tab-indent", "spaces"},        {"a-project", "project"},        {"newer-version", "newer Orrery"}};

}  // namespace

class TestHardwareBad : public QObject {
    Q_OBJECT
private slots:
    void badFilesAreRefusedWithPlaceAndHelp_data() {
        QTest::addColumn<QString>("file");
        const QDir folder(QString(ORRERY_TEST_DATA) + "/bad/hardware");
        for (const QString& name : folder.entryList({"*.yaml"}, QDir::Files)) {
            QTest::newRow(qPrintable(name.chopped(5))) << folder.filePath(name);
        }
    }
    void badFilesAreRefusedWithPlaceAndHelp() {
        QFETCH(QString, file);
        const QString name = QFileInfo(file).completeBaseName();
        QVERIFY2(codes.count(name), "the file has no expected code in this test");
        const auto loaded = readHardwareFile(file.toStdString());
        QVERIFY2(!loaded, "the file was read without complaint");
        const Diagnostic& wrong = loaded.error();
        const std::string text = toText(wrong);
        QCOMPARE(QString::fromStdString(wrong.code), codes.at(name));
        QCOMPARE(wrong.severity, Severity::Error);
        QVERIFY2(wrong.place.file == file.toStdString() && wrong.place.line > 0 && wrong.place.column > 0,
                 text.c_str());
        QVERIFY2(!wrong.message.empty() && !(wrong.expected.empty() && wrong.hint.empty()), text.c_str());
        if (hints.count(name)) {
            QVERIFY2(QString::fromStdString(wrong.hint).contains(hints.at(name)), text.c_str());
        }
    }
    void everyExpectedFileIsThere() {
        for (const auto& [name, code] : codes) {
            QVERIFY2(QFile::exists(QString(ORRERY_TEST_DATA) + "/bad/hardware/" + name + ".yaml"), qPrintable(name));
        }
    }
    void oversizedTextIsRefusedBeforeItIsParsed() {
        std::string text = "orrery: hardware/1\nname: big\ndescription: \"";
        text.append(17u << 20, 'x');
        const auto loaded = readHardware(text + "\"\nsystem: {}\n", "big.yaml");
        QVERIFY(!loaded);
        QCOMPARE(QString::fromStdString(loaded.error().code), QString("yaml.too-large"));
    }
    void missingFilesAndFoldersAreRefused() {
        for (const std::string& path : {std::string("/nowhere/at/all.yaml"), QDir::tempPath().toStdString()}) {
            const auto loaded = readHardwareFile(path);
            QVERIFY(!loaded);
            QCOMPARE(QString::fromStdString(loaded.error().code), QString("hardware.unreadable"));
            QCOMPARE(loaded.error().place.file, path);
        }
    }
    void filesWithoutAnEndAreRefused() {
        if (!QFile::exists("/dev/zero")) QSKIP("there is no /dev/zero here");
        const auto loaded = readHardwareFile("/dev/zero");
        QVERIFY(!loaded);
        QCOMPARE(QString::fromStdString(loaded.error().code), QString("yaml.too-large"));
    }
    /// Every prefix of a real file and every flipped byte either reads or is refused; nothing crashes or hangs.
    void cutAndFlippedFilesNeverCrash() {
        QFile file(QString::fromStdString(presetsFolder()) + "/hardware/eyeriss-like.yaml");
        QVERIFY(file.open(QIODevice::ReadOnly));
        const std::string text = file.readAll().toStdString();
        for (std::size_t length = 0; length < text.size(); length += 7) {
            const auto cut = readHardware(std::string_view(text).substr(0, length), "cut");
            if (!cut) QVERIFY(cut.error().place.line > 0);
        }
        for (std::size_t at = 0; at < text.size(); at += 37) {
            for (const char other : {'\0', '\t', ':', '{', '*', '&', '\xff', '-'}) {
                std::string flipped = text;
                flipped[at] = other;
                const auto read = readHardware(flipped, "flipped");
                if (!read) QVERIFY2(read.error().place.line > 0, toText(read.error()).c_str());
            }
        }
    }
};

QTEST_GUILESS_MAIN(TestHardwareBad)
#include "tst_hardware_bad.moc"
