// Linking alone does not catch a header that leaks through a layer, so this test reads the include lines.

#include <QDirIterator>
#include <QRegularExpression>
#include <QtTest/QtTest>

#include <algorithm>

namespace {

struct SourceFile {
    QString path;  // relative to the project
    QStringList lines;
    bool isHeader() const { return path.endsWith(".h"); }
};

QList<SourceFile> sources(const QStringList& folders) {
    QList<SourceFile> files;
    const QDir root(ORRERY_SOURCE);
    for (const QString& folder : folders) {
        QDirIterator it(root.filePath(folder), {"*.h", "*.cpp"}, QDir::Files, QDirIterator::Subdirectories);
        while (it.hasNext()) {
            QFile file(it.next());
            if (!file.open(QIODevice::ReadOnly)) continue;
            files.append({root.relativeFilePath(file.fileName()), QString::fromUtf8(file.readAll()).split('\n')});
        }
    }
    return files;
}

// Calls body(file, included header) for every include line.
template <class Body>
void forEachInclude(const QStringList& folders, Body body) {
    static const QRegularExpression include(R"(^\s*#\s*include\s*[<\x22]([^>\x22]+)[>\x22])");
    for (const SourceFile& file : sources(folders)) {
        for (const QString& line : file.lines) {
            const auto match = include.match(line);
            if (match.hasMatch()) body(file, match.captured(1));
        }
    }
}

}  // namespace

class TestArch : public QObject {
    Q_OBJECT
private slots:
    void thereIsSomethingToCheck() { QVERIFY(sources({"engine", "widgets", "app"}).size() > 50); }

    void engineKnowsNoWindow() {
        QStringList breaches;
        static const QRegularExpression forbidden(R"(^(Q[A-Z]|Qt|qcustomplot|app/|widgets/))");
        forEachInclude({"engine", "app/cli"}, [&](const SourceFile& file, const QString& header) {
            if (forbidden.match(header).hasMatch() && !header.startsWith("app/cli/"))
                breaches << file.path + " includes " + header;
        });
        QVERIFY2(breaches.isEmpty(), qPrintable(breaches.join('\n')));
    }

    void widgetsDoNotKnowTheApp() {
        QStringList breaches;
        forEachInclude({"widgets"}, [&](const SourceFile& file, const QString& header) {
            if (header.startsWith("app/")) breaches << file.path + " includes " + header;
        });
        QVERIFY2(breaches.isEmpty(), qPrintable(breaches.join('\n')));
    }

    // Each engine folder may use only those above it in this list, and itself.
    void engineFoldersAreLayered() {
        const QStringList order{"base",     "hardware", "workload", "measurement", "mapping", "simulation",
                                "learning", "serving",  "methods",  "evaluation",  "study",   "store"};
        QStringList breaches;
        forEachInclude({"engine"}, [&](const SourceFile& file, const QString& header) {
            const auto own = order.indexOf(file.path.section('/', 1, 1));
            const auto used = order.indexOf(header.section('/', 0, 0));
            if (own < 0) breaches << file.path + " stands in a folder that no layer is named after";
            if (header.contains('/') && used > own) breaches << file.path + " includes " + header;
        });
        QVERIFY2(breaches.isEmpty(), qPrintable(breaches.join('\n')));
    }

    // TBB's headers break under Qt's `emit`; QCustomPlot needs Qt's keywords.
    void awkwardHeadersStayInTheirSources() {
        QStringList breaches;
        forEachInclude({"engine", "widgets", "app"}, [&](const SourceFile& file, const QString& header) {
            const bool engineSource = file.path.startsWith("engine/") && !file.isHeader();
            const bool widgetSource = file.path.startsWith("widgets/") && !file.isHeader();
            if ((header.startsWith("tbb/") || header.startsWith("oneapi/")) && !engineSource)
                breaches << file.path + " includes " + header;
            if (header.startsWith("qcustomplot") && !widgetSource) breaches << file.path + " includes " + header;
        });
        QVERIFY2(breaches.isEmpty(), qPrintable(breaches.join('\n')));
    }

    void filesStaySmall() {
        QStringList large;
        for (const SourceFile& file : sources({"engine", "widgets", "app", "tests"})) {
            if (file.lines.size() > 700) large << QString("%1: %2 lines").arg(file.path).arg(file.lines.size());
        }
        QVERIFY2(large.isEmpty(), qPrintable(large.join('\n')));
    }

    void coloursComeFromTheTheme() {
        static const QRegularExpression literal(
            R"(QColor\(\s*(0x|\d|\x22#)|\x22#[0-9A-Fa-f]{6}\x22|Qt::(white|black|red|green|blue|yellow|cyan|magenta|gray|dark[A-Z]\w+|lightGray)\b)");
        QStringList breaches;
        for (const SourceFile& file : sources({"widgets", "app/window", "app/document"})) {
            if (file.path.startsWith("widgets/common/theme")) continue;
            for (int i = 0; i < file.lines.size(); ++i) {
                if (literal.match(file.lines[i]).hasMatch())
                    breaches << QString("%1:%2: %3").arg(file.path).arg(i + 1).arg(file.lines[i].trimmed());
            }
        }
        QVERIFY2(breaches.isEmpty(), qPrintable(breaches.join('\n')));
    }

    void headersGuardThemselvesOnce() {
        QStringList wrong;
        for (const SourceFile& file : sources({"engine", "widgets", "app"})) {
            if (file.isHeader() && file.lines.count("#pragma once") != 1) wrong << file.path;
        }
        QVERIFY2(wrong.isEmpty(), qPrintable(wrong.join('\n')));
    }

    // What base/ does once nobody writes again: a second definition is found by its name and first parameter.
    void theGroundFloorIsNotBuiltTwice() {
        static const QRegularExpression definition(
            R"(^\s*(?:[\w:<>&*, ]+\s)()"
            R"((?:ceil_?[Dd]iv\w*|divUp|divCeil|roundUp|alignUp)\((?:const )?(?:std::)?(?:u?int|size_t|long|double|auto|T))"
            R"(|(?:lower(?:ed|case|Case)?|toLower\w*|trim(?:med)?|strip(?:ped)?|split(?:Trimmed)?)\((?:const )?(?:std::string|QString))"
            R"(|(?:quantile|percentile|median)\w*\((?:const )?(?:std::(?:vector|span)<double>|std::array))"
            R"()[^;]*\{)");
        // The definitions themselves, so that the expression is seen to find what it is for.
        const QStringList home{"engine/base/maths.cpp", "engine/base/maths.h", "engine/base/text/words.cpp",
                               "engine/base/text/words.h"};
        QSet<QString> homesFound;
        QStringList again;
        for (const SourceFile& file : sources({"engine", "widgets", "app"})) {
            for (int i = 0; i < file.lines.size(); ++i) {
                if (!definition.match(file.lines[i]).hasMatch()) continue;
                if (home.contains(file.path)) {
                    homesFound.insert(file.path);
                } else {
                    again << QString("%1:%2: %3").arg(file.path).arg(i + 1).arg(file.lines[i].trimmed());
                }
            }
        }
        QCOMPARE(homesFound.size(), home.size());
        QVERIFY2(again.isEmpty(), qPrintable("these stand in engine/base already:\n" + again.join('\n')));
    }

    // Whoever needs the tree asks hardware/ for it: walk.h to draw and edit, views/ to predict.
    void onlyHardwareReadsTheTree() {
        static const QRegularExpression reading(R"((\.|->|::)children\b(?!\())");
        QStringList breaches;
        int own = 0;
        for (const SourceFile& file : sources({"engine", "widgets", "app"})) {
            const bool home = file.path.startsWith("engine/hardware/");
            for (int i = 0; i < file.lines.size(); ++i) {
                if (!reading.match(file.lines[i]).hasMatch()) continue;
                if (home) {
                    ++own;
                } else {
                    breaches << QString("%1:%2: %3").arg(file.path).arg(i + 1).arg(file.lines[i].trimmed());
                }
            }
        }
        QVERIFY(own > 50);
        QVERIFY2(breaches.isEmpty(), qPrintable(breaches.join('\n')));
    }
    void methodsDoNotWalkTheTree() {
        QStringList breaches;
        forEachInclude({"engine"}, [&](const SourceFile& file, const QString& header) {
            // A hash goes over the whole design, and tasks of lessons name its parts.
            if (file.path.startsWith("engine/hardware/") || file.path == "engine/methods/provenance.cpp" ||
                file.path == "engine/store/lessons/lesson_facts.cpp")
                return;
            if (header == "hardware/walk.h" || header == "hardware/views/device_parts.h")
                breaches << file.path + " includes " + header;
        });
        QVERIFY2(breaches.isEmpty(), qPrintable(breaches.join('\n')));
    }

    // One reader of each form of text.
    void filesAreReadInOnePlace() {
        struct Rule {
            QRegularExpression use;
            QStringList allowed;  // folders or files
            QString instead;
        };
        const QList<Rule> rules{
            {QRegularExpression(R"(\bYAML::(LoadFile|LoadAll)\b)"), {}, "parseYaml"},
            {QRegularExpression(R"(#include <yaml-cpp/|\bYAML::)"), {"engine/base/text/yaml_parse.cpp"}, "parseYaml"},
            {QRegularExpression(R"(^std::string (yamlScalar|yamlFlow|yamlQuoted)\()"),
             {"engine/base/text/"},
             "yamlScalar or yamlFlow"},
            // nlohmann-json writes; it reads nothing.
            {QRegularExpression(R"(\b(\w*[Jj]son)::(parse|accept|sax_parse)\(|\bQJsonDocument::fromJson\b)"),
             {},
             "parseJson or JsonCursor"},
            // A whole file is one string at one place.
            {QRegularExpression(R"(\bistreambuf_iterator\b|<<\s*\w+\.rdbuf\(\))"), {}, "readFile"},
            {QRegularExpression(R"(^\s*(std::)?ifstream \w+\()"),
             {// the head of a file, or one line after the other
              "engine/hardware/files/catalogue.cpp", "engine/methods/system/cases/llmservingsim_bench.cpp",
              // a model of up to 2 GiB goes through protobuf's own stream
              "engine/workload/onnx/reader.cpp"},
             "readFile"},
            {QRegularExpression(R"(\bgzopen\b|\bgzread\b)"), {"engine/base/text/csv_stream.cpp"}, "CsvStream"},
        };
        QStringList breaches;
        for (const SourceFile& file : sources({"engine", "widgets", "app"})) {
            for (const Rule& rule : rules) {
                if (std::any_of(rule.allowed.begin(), rule.allowed.end(),
                                [&](const QString& a) { return file.path.startsWith(a); }))
                    continue;
                for (int i = 0; i < file.lines.size(); ++i) {
                    if (rule.use.match(file.lines[i]).hasMatch())
                        breaches << QString("%1:%2: use %3").arg(file.path).arg(i + 1).arg(rule.instead);
                }
            }
        }
        QVERIFY2(breaches.isEmpty(), qPrintable(breaches.join('\n')));
    }

    // Only print() of app/cli/output.cpp ends quietly where a reader has gone (`| head`) and says that a disk is full.
    void standardOutputIsWrittenInOnePlace() {
        QStringList breaches;
        static const QRegularExpression writes(
            R"(\bstd::cout\b|[,(]\s*stdout\b|\bfmt::print(ln)?\(|\bstd::v?printf\(|(^|[^\w:])(printf|puts)\()");
        for (const SourceFile& file : sources({"engine", "app/cli"})) {
            if (file.path == "app/cli/output.cpp") continue;
            for (const QString& line : file.lines)
                if (writes.match(line).hasMatch()) breaches << file.path + ": " + line.trimmed();
        }
        QVERIFY2(breaches.isEmpty(), qPrintable(breaches.join('\n')));
    }

    // One hash and one comparison of kernels, one table of what a device draws without work.
    void factsStandOnce() {
        struct Fact {
            QRegularExpression words;
            QString home;
        };
        const QList<Fact> facts{
            {QRegularExpression(R"(\bstd::uint64_t (identity|kernel(Identity|Hash)\w*)\(const Kernel&)"),
             "engine/workload/kernel"},
            {QRegularExpression(R"(\bbool (sameKernel|equalKernels?)\()"), "engine/workload/kernel"},
            {QRegularExpression(
                 R"(\b(static|idle|always)_?(Share|Power|Watts)\w* = 0\.|\busualIdle\b|\bstatic_share\b)"),
             "engine/hardware/views/power_limit.h"},
            {QRegularExpression(R"(\benum class \w*Dataflow\b|\x22(weight|output|input|row)-stationary\x22)"),
             "engine/hardware/dataflow"},
            {QRegularExpression(R"(0x[bB][fF]58476[dD]1[cC][eE]4[eE]5[bB]9)"), "engine/base/hash"},
        };
        QStringList again;
        for (const SourceFile& file : sources({"engine", "widgets", "app"})) {
            for (const Fact& fact : facts) {
                if (file.path.startsWith(fact.home)) continue;
                for (int i = 0; i < file.lines.size(); ++i) {
                    if (fact.words.match(file.lines[i]).hasMatch())
                        again << QString("%1:%2 says again what %3 says").arg(file.path).arg(i + 1).arg(fact.home);
                }
            }
        }
        QVERIFY2(again.isEmpty(), qPrintable(again.join('\n')));
    }

    // Two types of one name in one namespace: the linker keeps the members of either, and no compiler says so.
    void aTypeIsDefinedOnce() {
        static const QRegularExpression opens(R"(^(?:inline )?namespace ?([\w:]*) ?\{)"),
            closes(R"(^\}\s*// namespace)"),
            type(R"(^(?:struct|class|enum class|enum) (?:\[\[\w+\]\] )?(\w+)(?: final)?(?: *:[^:].*)? *\{)");
        QHash<QString, QString> homes;
        QStringList again;
        for (const SourceFile& file : sources({"engine", "widgets"})) {
            QStringList space;
            for (const QString& line : file.lines) {
                if (const auto found = opens.match(line); found.hasMatch() && !line.trimmed().endsWith('}')) {
                    space << (found.captured(1).isEmpty() ? file.path : found.captured(1));
                } else if (closes.match(line).hasMatch() && !space.isEmpty()) {
                    space.removeLast();
                } else if (const auto defined = type.match(line); defined.hasMatch()) {
                    const QString name = (space + QStringList{defined.captured(1)}).join("::");
                    if (homes.contains(name))
                        again << QString("%1: %2 is another type in %3").arg(file.path, name, homes[name]);
                    homes.insert(name, file.path);
                }
            }
        }
        QVERIFY(homes.size() > 1000);
        QVERIFY2(again.isEmpty(), qPrintable(again.join('\n')));
    }

    void everyFolderHasAReadme() {
        QStringList missing;
        const QDir root(ORRERY_SOURCE);
        QSet<QString> folders;
        for (const SourceFile& file : sources({"engine", "widgets", "app"}))
            folders.insert(QFileInfo(file.path).path());
        for (const QString& folder : folders) {
            if (!root.exists(folder + "/README.md")) missing << folder;
        }
        QVERIFY2(missing.isEmpty(), qPrintable(missing.join('\n')));
    }
};

QTEST_GUILESS_MAIN(TestArch)
#include "tst_arch.moc"
