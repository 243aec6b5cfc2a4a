// The comparison page on the command line: a judging file is answered, left as a folder, joined by results of others,
// and all of it is the same twice; survey and transfer say what they were asked. On questions that take seconds.

#include "support/cli_process.h"
#include "support/schema_check.h"

#include <QDir>
#include <QRegularExpression>
#include <QtTest/QtTest>

using namespace orrery;
using namespace orrery::test;

namespace {

constexpr int minute = 60'000;  // ms; of slow builds too

const char* const page =
    "orrery: judging/1\nname: Products\nmeaning: Products of two GPUs\nwhere: \"kind=gemm, device=h100-sxm\"\n"
    "methods: [roofline, tile-wave, tile-hybrid]\npublished: true\n";
const char* const suite =
    "orrery: benchmark/1\nname: Small\nparts:\n"
    "  - {id: gpu, name: On a GPU, where: \"kind=gemm, device=h100-sxm\", methods: [roofline, tile-wave]}\n"
    "  - {id: tpu, name: On a TPU, where: \"platform=TPU\", methods: [roofline, systolic-closed-form]}\n";

QString between(const QString& text, const QString& before) {
    static const QRegularExpression digits("[0-9a-f]{16}");
    const auto at = text.indexOf(before);
    return at < 0 ? QString() : digits.match(text, at).captured();
}

}  // namespace

class TestCliJudging : public QObject {
    Q_OBJECT
    QTemporaryDir folder_;
    QString path(const char* name) const { return folder_.filePath(name); }
    QString written(const char* name, const QByteArray& text) const {
        QFile file(path(name));
        return file.open(QIODevice::WriteOnly) && file.write(text) == text.size() ? file.fileName() : QString();
    }
    QByteArray read(const QString& name) const {
        QFile file(name);
        return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    }

private slots:
    void aPageIsAnsweredTwiceAlike() {
        const QString file = written("page.yaml", page);
        const Outcome first = cli({"evaluate", file}, folder_.path(), minute);
        QVERIFY2(first.exit == 0, first.text());
        for (const char* word : {"Products of two GPUs", "roofline", "tile-hybrid", "MAPE", "per answer", "/10"})
            QVERIFY2(first.out.contains(word), first.text());
        const Outcome one = cli({"evaluate", file, "--json", "--no-timings"}, folder_.path(), minute);
        const Outcome two = cli({"evaluate", file, "--json", "--no-timings"}, folder_.path(), minute);
        QVERIFY2(one.exit == 0 && one.out == two.out, one.text());
        const auto errors = schemaErrors(one.out.toStdString(), "judging");
        QVERIFY2(errors.empty(), errors.empty() ? "" : errors.front().c_str());
        QVERIFY(!between(first.out, "results ").isEmpty());
        QVERIFY(one.out.contains(between(first.out, "results ")));
    }
    void aPageLeavesItsFigures() {
        const QString file = written("page.yaml", page), out = path("paper");
        const Outcome made = cli({"study", file, "--out", out}, folder_.path(), 2 * minute);
        QVERIFY2(made.exit == 0, made.text());
        for (const char* name :
             {"report.html", "plane.svg", "plane-column.svg", "matrix.svg", "errors.svg", "growth.svg",
              "survey-platform.svg", "figures.csv", "table.tex", "lineage.bib", "rows.csv", "judging.yaml"})
            QVERIFY2(QFileInfo(QDir(out).filePath(name)).size() > 100, name);
        // The file that it leaves has the same numbers, and says that they are those with which it was saved.
        const Outcome again = cli({"evaluate", QDir(out).filePath("judging.yaml")}, folder_.path(), minute);
        QVERIFY2(again.exit == 0 && again.out.contains("as the file was saved"), again.text());
        QVERIFY2(!again.error.contains("warning"), again.text());
        // Saved by another version, of other calibrations and numbers, it says so.
        QByteArray changed = read(QDir(out).filePath("judging.yaml"));
        changed.replace(between(changed, "calibrations: ").toUtf8(), "0123456789abcdef");
        changed.replace(between(changed, "results: ").toUtf8(), "fedcba9876543210");
        const Outcome other = cli({"evaluate", written("changed.yaml", changed)}, folder_.path(), minute);
        QVERIFY2(other.exit == 0 && other.error.contains("calibrations") && other.error.contains("predictions"),
                 other.text());
        QVERIFY2(!other.out.contains("as the file was saved"), other.text());
    }
    void resultsOfOthersStandInTheSuite() {
        const QString file = written("suite.yaml", suite), rows = path("questions.csv");
        const Outcome asked = cli({"benchmark", file, "--questions", rows}, folder_.path(), minute);
        QVERIFY2(asked.exit == 0 && asked.out.isEmpty(), asked.text());
        const QList<QByteArray> lines = read(rows).split('\n');
        QVERIFY(lines.size() > 20 && lines.front().startsWith("row,device,"));
        const auto heads = lines.front().split(',');
        const auto measured = heads.indexOf("measured_s");
        QVERIFY2(measured > 0, lines.front());
        // A tool that measured the same, and says nothing of the TPU.
        QByteArray theirs = "method,row,predicted_s\n";
        for (qsizetype i = 1; i < lines.size(); ++i) {
            if (!lines[i].contains("h100-sxm")) continue;
            // No cell before the time has a comma.
            const auto cells = lines[i].split(',');
            theirs += "oracle," + cells.front() + "," + cells[measured] + "\n";
        }
        QVERIFY(theirs.count('\n') > 10);
        const Outcome judged =
            cli({"benchmark", file, "--results", written("theirs.csv", theirs), "--json"}, folder_.path(), minute);
        QVERIFY2(judged.exit == 0, judged.text());
        const Json json = Json::parse(judged.out.toStdString(), nullptr, false);
        QVERIFY2(json.is_object() && json["parts"].size() == 2, judged.text());
        bool found = false;
        for (const Json& method : json["parts"][0]["methods"]) {
            if (method["method"] != "oracle") continue;
            found = true;
            QVERIFY(method["imported_from"] == "theirs.csv");
            QVERIFY(std::abs(method["own"]["mape"].get<double>()) < 1e-5);
        }
        QVERIFY2(found, judged.text());
        // The same line twice is one prediction; another one of the same row is a slip, and neither is taken.
        const QByteArray last = theirs.mid(theirs.lastIndexOf('\n', theirs.size() - 2) + 1);
        const Outcome twice = cli({"benchmark", file, "--results", written("twice.csv", theirs + last), "--json"},
                                  folder_.path(), minute);
        QVERIFY2(twice.exit == 0, twice.text());
        const QByteArray differs = last.left(last.lastIndexOf(',') + 1) + "7.5\n";
        const Outcome two =
            cli({"benchmark", file, "--results", written("two.csv", theirs + differs)}, folder_.path(), minute);
        QVERIFY2(two.exit == 1 && two.error.contains("results.twice") &&
                     two.error.contains(QString("two.csv:%1").arg(theirs.count('\n') + 1)),
                 two.text());
        // One part alone, and a part that there is not.
        const Outcome part = cli({"benchmark", file, "--part", "tpu"}, folder_.path(), minute);
        QVERIFY2(part.exit == 0 && part.out.contains("On a TPU") && !part.out.contains("On a GPU"), part.text());
        const Outcome none = cli({"benchmark", file, "--part", "tpus"}, folder_.path(), minute);
        QVERIFY2(none.exit != 0 && none.error.contains("`tpu`"), none.text());
        // Results that fit nowhere are refused before any method is asked.
        const Outcome wrong = cli({"benchmark", "--results", written("none.csv", "method,row,predicted_s\nx,0,-1\n")},
                                  folder_.path(), minute);
        QVERIFY2(wrong.exit == 1 && wrong.error.contains("none.csv:2"), wrong.text());
    }
    void theSurveyHasAMarkForEachMethodThatRowsJudge() {
        const QStringList asked{"survey", "--where", "device=h100-sxm|tpu-v3-core, kind=gemm", "--method",
                                "roofline,tile-wave,systolic-closed-form"};
        const Outcome json = cli(asked + QStringList{"--json", "-"}, folder_.path(), minute);
        QVERIFY2(json.exit == 0, json.text());
        const auto errors = schemaErrors(json.out.toStdString(), "survey");
        QVERIFY2(errors.empty(), errors.empty() ? "" : errors.front().c_str());
        const Outcome text = cli(asked, folder_.path(), minute);
        QVERIFY2(text.exit == 0 && text.out.contains("3 methods") && text.out.contains("furthest off"), text.text());
        // Without the rows of the TPU its marks are gone, and the table says that nothing is there.
        const Outcome less =
            cli({"survey", "--where", "device=h100-sxm, kind=gemm", "--method", "roofline,systolic-closed-form"},
                folder_.path(), minute);
        QVERIFY2(less.exit == 0 && less.out.contains("no row of TPU is loaded"), less.text());
        // A platform that no device is of is a slip, not an empty table.
        const Outcome slip = cli({"survey", "--where", "platform=GPUs"}, folder_.path(), minute);
        QVERIFY2(slip.exit == 1 && slip.error.contains("reference.filter") && slip.error.contains("`GPU`"),
                 slip.text());
    }
    void whatOneDeviceTeachesIsJudgedOnOthers() {
        const Outcome text = cli({"transfer", "--where", "kind=gemm", "--by", "platform"}, folder_.path(), minute);
        QVERIFY2(text.exit == 0 && text.out.contains("GPU") && text.out.contains("nothing"), text.text());
        const Outcome json =
            cli({"transfer", "--where", "kind=gemm", "--by", "platform", "--json", "-"}, folder_.path(), minute);
        const auto errors = schemaErrors(json.out.toStdString(), "transfer");
        QVERIFY2(json.exit == 0 && errors.empty(), errors.empty() ? json.text().constData() : errors.front().c_str());
        const Outcome wrong = cli({"transfer", "--by", "colour"}, folder_.path(), minute);
        QVERIFY2(wrong.exit != 0 && wrong.error.contains("device or platform"), wrong.text());
    }
};

QTEST_GUILESS_MAIN(TestCliJudging)
#include "tst_cli_judging.moc"
