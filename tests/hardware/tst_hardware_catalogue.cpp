#include "hardware/files/catalogue.h"
#include "hardware/views/device_view.h"
#include "hardware/check/validate.h"

#include <QtTest/QtTest>

#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

using namespace orrery;

namespace {

QString text(const Diagnostic& diagnostic) {
    return QString::fromStdString(toText(diagnostic));
}

/// Rows of the published specifications that the presets are held against, by the table's name of the device.
const std::map<QString, QString> presetOf = {{"V100-SXM2-32", "v100"},
                                             {"T4", "t4"},
                                             {"A100-SXM-40", "a100-40-sxm"},
                                             {"A100-SXM-80", "a100-80-sxm"},
                                             {"A100-PCIe-80", "a100-80-pcie"},
                                             {"L4", "l4"},
                                             {"A10", "a10"},
                                             {"L40S", "l40s"},
                                             {"RTX3090", "rtx-3090"},
                                             {"RTX4090", "rtx-4090"},
                                             {"H100-SXM", "h100-sxm"},
                                             {"H100-PCIe", "h100-pcie"},
                                             {"H200-SXM", "h200-sxm"},
                                             {"B200-SXM", "b200-sxm"},
                                             {"MI210", "mi210"},
                                             {"MI250X", "mi250x"},
                                             {"MI300X", "mi300x"},
                                             {"MI300A", "mi300a"},
                                             {"TPUv3 (chip=2 cores)", "tpu-v3"},
                                             {"TPUv4", "tpu-v4"},
                                             {"TPUv5e", "tpu-v5e"},
                                             {"TPUv5p", "tpu-v5p"},
                                             {"Gaudi2", "gaudi2"},
                                             {"Gaudi3", "gaudi3"},
                                             {"Jetson-AGX-Orin-64", "jetson-agx-orin"}};

/// Cells that the presets do not follow, each for a reason.
const std::map<QString, QString> exceptions = {
    {"B200-SXM fp32", "the table gives 80 and 75 TFLOP/s; 148 SMs at 1965 MHz give 74.4, within 1.5 % of the latter"},
    {"Gaudi3 fp32", "the table's rate is of the matrix engines, whose structure for fp32 is not published"},
};

/// The first number of a cell such as `71(fp32 acc)/142(fp16 acc)` or `7700-8000`; negative if it has none.
double number(const QString& cell) {
    static const QRegularExpression leading("^\\s*([0-9.]+)");
    const auto match = leading.match(cell);
    return match.hasMatch() ? match.captured(1).toDouble() : -1;
}

/// Splits one line of CSV whose cells may be quoted.
QStringList cells(const QString& line) {
    QStringList out(QString{});
    bool quoted = false;
    for (const QChar c : line) {
        if (c == '"') {
            quoted = !quoted;
        } else if (c == ',' && !quoted) {
            out.append(QString());
        } else {
            out.last() += c;
        }
    }
    return out;
}

bool everyNumberHasASource(const Component& component, QString& which) {
    for (const Attribute& attribute : component.attributes) {
        const bool number = std::holds_alternative<Measure>(attribute.value) ||
                            std::holds_alternative<std::vector<TableRow>>(attribute.value);
        if (number && sourceOf(component, attribute).empty()) {
            which = QString::fromStdString(std::string(nameOf(component)) + "." + attribute.name);
            return false;
        }
    }
    return std::all_of(component.children.begin(), component.children.end(),
                       [&which](const Component& child) { return everyNumberHasASource(child, which); });
}

void presetRows() {
    QTest::addColumn<QString>("id");
    for (const CatalogueEntry& entry : hardwareCatalogue()) {
        QTest::newRow(entry.id.c_str()) << QString::fromStdString(entry.id);
    }
}

}  // namespace

class TestHardwareCatalogue : public QObject {
    Q_OBJECT
private slots:
    void thereAreEnoughPresetsSorted() {
        const auto entries = hardwareCatalogue();
        QVERIFY2(entries.size() >= 28, qPrintable(QString::number(entries.size())));
        for (std::size_t i = 1; i < entries.size(); ++i) {
            QVERIFY(std::tie(entries[i - 1].group, entries[i - 1].name) <= std::tie(entries[i].group, entries[i].name));
        }
        for (const CatalogueEntry& entry : entries) {
            QVERIFY2(!entry.group.empty() && !entry.description.empty() && entry.name != entry.id, entry.id.c_str());
        }
    }
    void everyPresetLoadsAndIsValid_data() { presetRows(); }
    void everyPresetLoadsAndIsValid() {
        QFETCH(QString, id);
        const auto loaded = loadHardware(id.toStdString());
        QVERIFY2(loaded, qPrintable(loaded ? QString() : text(loaded.error())));
        for (const Diagnostic& warning : loaded->warnings) {
            QVERIFY2(warning.severity == Severity::Note, qPrintable(text(warning)));
        }
        for (const Diagnostic& wrong : validate(loaded->hardware)) {
            QVERIFY2(wrong.severity == Severity::Note, qPrintable(text(wrong)));
        }
    }
    void everyPresetHasAView_data() { presetRows(); }
    void everyPresetHasAView() {
        QFETCH(QString, id);
        const auto loaded = loadHardware(id.toStdString());
        QVERIFY(loaded);
        const auto view = deviceView(loaded->hardware);
        QVERIFY2(view, qPrintable(view ? QString() : text(view.error())));
        QVERIFY(!view->levels.empty());
        QVERIFY(view->main().kind == ComponentKind::Dram);
        QVERIFY(view->main().capacity.value > 0);
        QVERIFY(view->main().bandwidth.value > 0);
        for (const MemoryLevel& level : view->levels) QVERIFY2(level.capacity.value > 0, level.name.c_str());
        double best = 0;
        for (int t = 0; t < dtypeCount; ++t) best = std::max(best, view->peak(true, static_cast<DType>(t)).value);
        QVERIFY(best > 0);
    }
    void everyNumberSaysWhereItComesFrom_data() { presetRows(); }
    void everyNumberSaysWhereItComesFrom() {
        QFETCH(QString, id);
        const auto loaded = loadHardware(id.toStdString());
        QVERIFY(loaded);
        QString which;
        QVERIFY2(everyNumberHasASource(loaded->hardware.root, which), qPrintable(which));
        // A source is a key of the file's list or the word `unverified`: a misspelt key would hide the origin.
        std::vector<const Component*> open{&loaded->hardware.root};
        while (!open.empty()) {
            const Component* component = open.back();
            open.pop_back();
            for (const Component& child : component->children) open.push_back(&child);
            for (const Attribute& attribute : component->attributes) {
                const std::string_view source = sourceOf(*component, attribute);
                const auto& known = loaded->hardware.sources;
                QVERIFY2(
                    source.empty() || source == "unverified" ||
                        std::any_of(known.begin(), known.end(), [source](const Source& s) { return s.key == source; }),
                    std::string(source).c_str());
            }
        }
    }
    void aPresetIsAsTheWriterWritesIt_data() { presetRows(); }
    void aPresetIsAsTheWriterWritesIt() {
        QFETCH(QString, id);
        const auto loaded = loadHardware(id.toStdString());
        QVERIFY(loaded);
        std::ifstream stream(presetsFolder() + "/hardware/" + id.toStdString() + ".yaml");
        std::stringstream file;
        file << stream.rdbuf();
        const std::string canonical = writeHardware(loaded->hardware);
        if (canonical == file.str()) return;
        const QString folder(ORRERY_TEST_OUTPUT "/presets");
        QVERIFY(QDir().mkpath(folder));
        const QString written = folder + "/" + id + ".yaml";
        QFile out(written);
        QVERIFY(out.open(QIODevice::WriteOnly) && out.write(canonical.data(), qint64(canonical.size())) >= 0);
        QFAIL(qPrintable("not in the form in which Orrery saves it; that form is in " + written));
    }

    void peaksAgreeWithPublishedOnes_data() {
        QTest::addColumn<QStringList>("row");
        QFile file(QString(ORRERY_REFERENCE) + "/gpu/hardware_spec_table.csv");
        if (!file.open(QIODevice::ReadOnly)) QSKIP("the reference table is not here");
        file.readLine();
        while (!file.atEnd()) {
            const QStringList row = cells(QString::fromUtf8(file.readLine()).trimmed());
            QTest::newRow(qPrintable(row.first())) << row;
        }
    }
    void peaksAgreeWithPublishedOnes() {
        QFETCH(QStringList, row);
        QVERIFY2(presetOf.count(row[0]), "a device of the table has no preset");
        const auto loaded = loadHardware(presetOf.at(row[0]).toStdString());
        QVERIFY(loaded);
        const auto view = deviceView(loaded->hardware);
        QVERIFY(view);
        const auto compare = [&row](const char* what, const QString& cell, double ours) {
            const double published = number(cell);
            if (published < 0 || exceptions.count(row[0] + " " + what)) return true;
            if (std::fabs(ours / published - 1) <= 0.015) return true;
            qWarning("%s %s: preset %g, published %g", qPrintable(row[0]), what, ours, published);
            return false;
        };
        const auto tensor = [&view](DType type) { return view->peaks[1][static_cast<int>(type)].value / 1e12; };
        const auto vector = [&view](DType type) { return view->peaks[0][static_cast<int>(type)].value / 1e12; };
        bool same = compare("fp32", row[3], vector(DType::F32));
        same = compare("fp16", row[4], std::max(tensor(DType::F16), tensor(DType::BF16))) && same;
        same = compare("fp8", row[5], tensor(DType::FP8)) && same;
        same = compare("int8", row[6], std::max(tensor(DType::I8), vector(DType::I8))) && same;
        same = compare("capacity", row[7], view->main().capacity.value / 1e9) && same;
        same = compare("bandwidth", row[9], view->main().bandwidth.value / 1e9) && same;
        if (row[1].toInt() > 1 && view->cores > 1) QCOMPARE(static_cast<double>(view->cores), number(row[1]));
        QVERIFY2(same, "see the lines above");
    }
    void aWrongNameNamesTheNearest() {
        const auto missing = loadHardware("h100-smx");
        QVERIFY(!missing);
        QVERIFY2(missing.error().hint.find("h100-sxm") != std::string::npos, missing.error().hint.c_str());
        QVERIFY(loadHardware("nvidia h100 sxm"));
        QVERIFY(loadHardware(presetsFolder() + "/hardware/t4.yaml"));
        QVERIFY(!loadHardware(""));
        QVERIFY(!loadHardware("../../etc/passwd"));
    }
    void thePresetsFolderFollowsTheEnvironment() {
        const QTemporaryDir folder;
        QVERIFY(QDir(folder.path()).mkpath("hardware"));
        QVERIFY(QFile::copy(QString::fromStdString(presetsFolder()) + "/hardware/t4.yaml",
                            folder.path() + "/hardware/mine.yaml"));
        qputenv("ORRERY_PRESETS", folder.path().toUtf8());
        const auto entries = hardwareCatalogue();
        qunsetenv("ORRERY_PRESETS");
        QCOMPARE(entries.size(), std::size_t(1));
        QCOMPARE(QString::fromStdString(entries.front().id), QString("mine"));
        QVERIFY(hardwareCatalogue().size() > 1);
    }
};

QTEST_GUILESS_MAIN(TestHardwareCatalogue)
#include "tst_hardware_catalogue.moc"
