#include "support/cli_process.h"
#include "support/schema_check.h"

#include <QFile>
#include <QTemporaryDir>
#include <QtTest/QtTest>

#include <cmath>

using namespace orrery::test;

// `evaluate` and `calibrate` on a table made here: products whose times a simple law gives, with a little noise.
class TestCliEvaluation : public QObject {
    Q_OBJECT
    QTemporaryDir folder_;
    QString table_;

    QString path(const char* name) const { return folder_.filePath(name); }
    void writeFile(const QString& file, const QByteArray& text) const {
        QFile out(file);
        QVERIFY(out.open(QIODevice::WriteOnly));
        out.write(text);
    }
    static Json parsed(const Outcome& outcome) { return Json::parse(outcome.out.toStdString(), nullptr, false); }

private slots:
    void initTestCase() {
        QByteArray text = "gemm_dtype,m,n,k,latency\n";
        for (int m = 16; m <= 4096; m *= 2) {
            for (int n = 1024; n <= 8192; n += 1024) {
                for (int k = 1024; k <= 8192; k += 1024) {
                    const double flops = 2.0 * m * n * k;
                    const double bytes = 2.0 * (double(m) * k + double(n) * k + double(m) * n);
                    const double wobble = 1 + 0.03 * std::sin(m + 3.0 * n + 7.0 * k);
                    const double ms = (4e-6 + std::max(flops / 650e12, bytes / 2.6e12)) * wobble * 1e3;
                    text += QString("bfloat16,%1,%2,%3,%4\n").arg(m).arg(n).arg(k).arg(ms, 0, 'g', 8).toUtf8();
                }
            }
        }
        table_ = path("h100_sxm__made-1__gemm.csv");
        writeFile(table_, text);
    }
    void figuresAreJsonAsTheSchemaSays() {
        const Outcome outcome = cli({"evaluate", "--method", "roofline", "--references", table_, "--json"});
        QVERIFY2(outcome.exit == 0, outcome.text());
        const auto errors = schemaErrors(outcome.out.toStdString(), "evaluation");
        QVERIFY2(errors.empty(), errors.empty() ? "" : errors.front().c_str());
        const Json json = parsed(outcome);
        QCOMPARE(json["rows"].get<int>(), 9 * 8 * 8);
        QCOMPARE(json["method"].get<std::string>(), std::string("roofline"));
        QCOMPARE(json["groups"].size(), std::size_t{1});
        QVERIFY(json["mape"].get<double>() > 0.1 && json["bias"].get<double>() < 0);
    }
    void rowsAreChosenAndWritten() {
        const Outcome outcome = cli({"evaluate", "--method", "roofline", "--where", "m=16..32,n=1024", "--rows",
                                     path("rows.csv"), "--references", table_});
        QVERIFY2(outcome.exit == 0 && outcome.out.contains("h100-sxm"), outcome.text());
        QFile rows(path("rows.csv"));
        QVERIFY(rows.open(QIODevice::ReadOnly));
        QCOMPARE(rows.readAll().count('\n'), 1 + 2 * 8);
    }
    // A later version of the same table in which every kernel takes 0.7 of its time.
    void driftIsNoticedAndRepaired() {
        QFile old(table_);
        QVERIFY(old.open(QIODevice::ReadOnly));
        QByteArray text = old.readLine();
        while (!old.atEnd()) {
            QList<QByteArray> cells = old.readLine().trimmed().split(',');
            cells.back() = QByteArray::number(0.7 * cells.back().toDouble(), 'g', 8);
            text += cells.join(',') + '\n';
        }
        const QString later = path("h100_sxm__made-2__gemm.csv");
        writeFile(later, text);
        const Outcome outcome = cli({"drift", table_, later, "--json", "-"});
        QVERIFY2(outcome.exit == 0, outcome.text());
        const auto errors = schemaErrors(outcome.out.toStdString(), "drift");
        QVERIFY2(errors.empty(), errors.empty() ? "" : errors.front().c_str());
        const Json family = parsed(outcome)["families"][0];
        QVERIFY(std::fabs(family["ratio"]["median"].get<double>() - 0.7) < 1e-3);
        QVERIFY(family["moved"].get<bool>() && family["noticed"].get<double>() == 1);
        QVERIFY(family["error"]["repaired"].get<double>() < 0.01 && family["error"]["untouched"].get<double>() > 0.4);
        const Outcome screen = cli({"drift", table_, later, "--method", "roofline"});
        QVERIFY2(screen.exit == 0 && screen.out.contains("believed: roofline"), screen.text());
        const Outcome alone = cli({"drift", table_});
        QVERIFY2(alone.exit == 1 && alone.error.contains("drift.no-versions"), alone.text());
        const Outcome none = cli({"drift", table_, later, "--rows", "0"});
        QVERIFY2(none.exit != 0 && none.error.contains("--rows 0"), none.text());
    }
    void whatWasHeldOutIsFoundAgain() {
        const QString calibration = path("fitted.json");
        const QStringList question{"calibrate",    "--method", "tile-hybrid", "--references", table_,       "--holdout",
                                   "fraction=0.8", "--seed",   "5",           "--date",       "2026-11-21", "--out",
                                   calibration,    "--json"};
        const Outcome fitted = cli(question, {}, 120000);
        QVERIFY2(fitted.exit == 0, fitted.text());
        const auto errors = schemaErrors(fitted.out.toStdString(), "evaluation");
        QVERIFY2(errors.empty(), errors.empty() ? "" : errors.front().c_str());
        const Outcome again = cli({"evaluate", "--method", "tile-hybrid", "--calibration", calibration, "--held-out",
                                   "--references", table_, "--json"});
        QVERIFY2(again.exit == 0, again.text());
        const Json a = parsed(fitted), b = parsed(again);
        QCOMPARE(a["rows"], b["rows"]);
        QVERIFY(std::fabs(a["rows"].get<double>() / 576 - 0.8) < 0.06);
        // The file keeps coefficients to six digits.
        QVERIFY(std::fabs(a["mape"].get<double>() - b["mape"].get<double>()) < 1e-4);
        // A fifth of the rows is enough to learn a law this simple.
        QVERIFY2(b["mape"].get<double>() < 0.06, again.text());

        QFile file(calibration);
        QVERIFY(file.open(QIODevice::ReadOnly));
        const QByteArray first = file.readAll();
        QVERIFY(first.contains("seed=5") && first.contains("2026-11-21"));
        file.close();
        QVERIFY(cli(question, {}, 120000).exit == 0);
        QVERIFY(file.open(QIODevice::ReadOnly));
        QCOMPARE(file.readAll(), first);

        const Outcome other =
            cli({"evaluate", "--method", "tile-wave", "--calibration", calibration, "--references", table_});
        QVERIFY2(other.exit == 1 && other.error.contains("calibration.method"), other.text());
    }
    void anyTableIsMappedTriedAndKept() {
        const QString bench = path("bench.csv"), kept = path("bench.yaml");
        writeFile(bench, "GPU,Precision,M,N,K,us\nH100 SXM,half,1024,4096,4096,45.3\nH100 SXM,half,0,4096,4096,45.3\n");
        const QStringList mapping{"--map",  "kind=gemm,dtype={Precision},m=M,n=N,k=K,time=us,unit=us",
                                  "--map",  "device={GPU}",
                                  "--word", "Precision=half:dtype=fp16"};
        const Outcome unknown = cli({"references", bench});
        QVERIFY2(unknown.exit == 1 && unknown.error.contains("reference.unknown-table"), unknown.text());
        const Outcome tried = cli(QStringList{"references", bench, "--save", kept} + mapping);
        QVERIFY2(tried.exit == 0 && tried.out.contains("1024×4096×4096") && tried.out.contains("h100-sxm"),
                 tried.text());
        QVERIFY2(tried.error.contains("bench.csv:3"), tried.text());
        for (const QStringList& how : {QStringList{"--import", kept}, mapping}) {
            const Outcome judged =
                cli(QStringList{"evaluate", "--method", "roofline", "--references", bench, "--json"} + how);
            QVERIFY2(judged.exit == 0, judged.text());
            QCOMPARE(parsed(judged)["rows"].get<int>(), 1);
        }
        const Outcome guessed = cli({"references", bench, "--guess", "--map", "time=us,unit=us"});
        QVERIFY2(guessed.exit == 0 && guessed.out.contains("device_column: GPU"), guessed.text());
        const Outcome wrong = cli({"references", bench, "--guess", "--map", "m=rows,time=us"});
        QVERIFY2(wrong.exit == 1 && wrong.error.contains("m=rows"), wrong.text());
        const Outcome listed = cli({"references"});
        QVERIFY2(listed.exit == 0 && listed.out.contains("vidur-attention"), listed.text());
    }
    // Several methods are judged on the rows that all of them price, and everything that is printed says so.
    void methodsStandSideBySide() {
        const QStringList two{"evaluate", "--method", "roofline", "--method", "tile-wave", "--references", table_};
        const Outcome text = cli(two);
        QVERIFY2(text.exit == 0 && text.out.contains("rows are priced by every method"), text.text());
        const Outcome judged = cli(two + QStringList{"--json", "--rows", path("both.csv")});
        QVERIFY2(judged.exit == 0, judged.text());
        const auto errors = schemaErrors(judged.out.toStdString(), "side-by-side");
        QVERIFY2(errors.empty(), errors.empty() ? "" : errors.front().c_str());
        const auto json = parsed(judged);
        QCOMPARE(json["methods"].size(), std::size_t(2));
        QCOMPARE(json["ranking"].size(), std::size_t(2));
        for (const auto& method : json["methods"]) QCOMPARE(method["rows"], json["rows_common"]);
        QFile file(path("both.csv"));
        QVERIFY(file.open(QIODevice::ReadOnly));
        QVERIFY(file.readLine().startsWith("method,common,device,"));
        // Among all, those of few rows stand below on their own.
        const QString published = QString(ORRERY_SOURCE) + "/presets/references/published-gemmini.yaml";
        const Outcome every = cli({"evaluate", "--method", "all", "--references", published, "--references", table_});
        QVERIFY2(every.exit == 0 && every.out.contains("by every compared method") && every.out.contains(" * ") &&
                     every.out.contains("not comparable") && !every.out.startsWith("0 of"),
                 every.text());
        // A folder of tables in our own format, with files beside them that are none.
        const Outcome shipped = cli({"evaluate", "--method", "roofline", "--references",
                                     QString(ORRERY_SOURCE) + "/presets/references", "--json"});
        QVERIFY2(shipped.exit == 0, shipped.text());
        QVERIFY(parsed(shipped)["references"].size() >= 5);
        const Outcome kept =
            cli({"evaluate", "--method", "tile-hybrid", "--references", table_, "--held-out", "--json"});
        const Outcome all = cli({"evaluate", "--method", "tile-hybrid", "--references", table_, "--json"});
        QVERIFY2(kept.exit == 0 && all.exit == 0, kept.text());
        QVERIFY(parsed(kept)["rows"].get<int>() < parsed(all)["rows"].get<int>());
    }
    // Every method against what ships: four platforms, all methodologies that need no file, nothing that fails.
    void everyMethodStandsInTheMatrix() {
        const QString references = QString(ORRERY_SOURCE) + "/presets/references";
        const Outcome all = cli({"evaluate", "--method", "all", "--matrix", "platform", "--references", references,
                                 "--table", path("matrix.csv")},
                                folder_.path(), 120000);
        QVERIFY2(all.exit == 0, all.text());
        for (const char* word : {"GPU", "TPU", "Accelerator", "Edge", "not applicable", "loop-nest", "npu-tile"})
            QVERIFY2(all.out.contains(word), word);
        QFile file(path("matrix.csv"));
        QVERIFY(file.open(QIODevice::ReadOnly));
        QSet<QByteArray> judged, methodologies, platforms;
        while (!file.atEnd()) {
            const QList<QByteArray> cells = file.readLine().trimmed().split(',');
            if (cells.value(4) != "judged") continue;
            judged.insert(cells[0]);
            methodologies.insert(cells[1]);
            platforms.insert(cells[3]);
            QVERIFY(cells[5].toInt() > 0);
            QVERIFY(cells[8].toDouble() <= cells[7].toDouble() && cells[7].toDouble() <= cells[9].toDouble());
        }
        QVERIFY2(judged.size() >= 15, qPrintable(QString::number(judged.size())));
        QVERIFY(methodologies.size() >= 4 && platforms.size() >= 4);
        // The fifth: what was recorded at some sizes, asked about others.
        const Outcome recorded =
            cli({"evaluate", "--method", "recorded(trace=recordings/llama-2-7b-layer-a100_trace_.csv, on=a100-80-sxm)",
                 "--references", references, "--where", "device=a100-80-sxm,kind=gemm,dtype=fp16", "--json"});
        QVERIFY2(recorded.exit == 0, recorded.text());
        QVERIFY(parsed(recorded)["rows"].get<int>() >= 20);
        QVERIFY(parsed(recorded)["mape"].get<double>() < 0.25);
        QVERIFY(parsed(recorded)["mape"].get<double>() > 0);
        const Outcome one = cli({"evaluate", "--method", "roofline", "--references", table_, "--matrix", "kind"});
        QVERIFY2(one.exit == 0 && one.out.contains("gemm ("), one.text());
    }
    // As a fresh clone is asked: no table is named, or the folder of what ships.
    void whatShipsIsJudgedWhereNoTableIsNamed() {
        const QStringList two{"evaluate", "--method", "roofline", "--method", "tile-wave", "--json"};
        const Outcome all = cli(two, {}, 120000), held = cli(two + QStringList{"--held-out"}, {}, 120000),
                      folder = cli(two + QStringList{QStringLiteral(ORRERY_SOURCE "/presets/references")}, {}, 120000),
                      gemms = cli(two + QStringList{"--where", "kind=gemm"}, {}, 120000);
        for (const Outcome* each : {&all, &held, &folder, &gemms}) QVERIFY2(each->exit == 0, each->text());
        const auto rows = [](const Outcome& outcome) { return parsed(outcome)["rows_common"].get<int>(); };
        QVERIFY2(rows(gemms) > 0 && rows(gemms) < rows(all), all.text());
        QVERIFY(rows(held) > 0 && rows(held) < rows(all));
        QCOMPARE(rows(folder), rows(all));
        // Whoever forgot a table is told what is judged, beside the answer.
        QVERIFY2(all.error.contains("that ship"), qPrintable(all.error));
        QVERIFY2(!folder.error.contains("that ship"), qPrintable(folder.error));
    }
    void wrongQuestionsAreRefused_data() {
        QTest::addColumn<QStringList>("arguments");
        QTest::addColumn<int>("exit");
        QTest::addColumn<QString>("says");
        const auto row = [](const char* name, const QStringList& arguments, int exit, const char* says) {
            QTest::newRow(name) << arguments << exit << QString(says);
        };
        const QStringList roofline{"evaluate", "--method", "roofline", "--references", "TABLE"};
        const QStringList hybrid{"calibrate", "--method", "tile-hybrid", "--references", "TABLE", "--out", "OUT"};
        row("unknown method", {"evaluate", "--method", "rooflin", "--references", "TABLE"}, 1, "method.unknown");
        row("nothing to fit", {"calibrate", "--method", "roofline", "--references", "TABLE", "--out", "OUT"}, 1,
            "nothing-to-fit");
        row("no such file", {"evaluate", "--method", "roofline", "--references", "/no/such.csv"}, 1, "/no/such.csv");
        row("no table to read so", {"evaluate", "--method", "roofline", "--import", "gems"}, 2, "--references");
        row("no such description", roofline + QStringList{"--import", "gems"}, 1, "aiconfigurator-gemm");
        row("mapped and described", roofline + QStringList{"--map", "m=m", "--import", "aiconfigurator-gemm"}, 2,
            "--map");
        row("no such field", roofline + QStringList{"--map", "colour=red"}, 1, "mapping.field");
        row("half a word", roofline + QStringList{"--word", "a=b"}, 2, "usage.word");
        row("nothing to save", {"references", "TABLE", "--save", "OUT"}, 2, "--map");
        row("wrong filter", roofline + QStringList{"--where", "colour=red"}, 2, "colour");
        row("no row left", roofline + QStringList{"--where", "dtype=fp8"}, 1, "reference.no-rows");
        row("wrong holdout", roofline + QStringList{"--holdout", "some"}, 2, "usage.holdout");
        row("empty split", hybrid + QStringList{"--holdout", "device=t4"}, 1, "reference.empty-split");
        row("wrong seed", roofline + QStringList{"--seed", "-1"}, 2, "seed");
        row("held out and left out", roofline + QStringList{"--held-out", "--leave-device-out"}, 2, "usage.twice");
        row("judged twice", roofline + QStringList{"--method", "roofline"}, 2, "stands twice");
        row("one of two unknown", roofline + QStringList{"--method", "tile-wav"}, 1, "method.unknown");
        row("wrong matrix", roofline + QStringList{"--matrix", "colour"}, 2, "usage.value");
        row("wrong truth", roofline + QStringList{"--where", "truth=guessed"}, 2, "measured, summed or simulated");
        row("no calibration", roofline + QStringList{"--calibration", "/no/such.json"}, 1, "/no/such.json");
        row("not a calibration", roofline + QStringList{"--calibration", "TABLE"}, 1, "calibration");
        row("no such start", hybrid + QStringList{"--from", "/no/such.json"}, 1, "/no/such.json");
        row("too few rows", hybrid + QStringList{"--where", "m=16,n=1024"}, 1, "calibration.few-rows");
        row("unwritable",
            {"calibrate", "--method", "tile-hybrid", "--references", "TABLE", "--where", "m=16..64", "--out",
             "/proc/none/x.json"},
            1, "/proc/none");
    }
    void wrongQuestionsAreRefused() {
        QFETCH(QStringList, arguments);
        QFETCH(int, exit);
        QFETCH(QString, says);
        arguments.replaceInStrings("TABLE", table_).replaceInStrings("OUT", path("out.json"));
        const Outcome outcome = cli(arguments, {}, 120000);
        QVERIFY2(outcome.sound() && outcome.exit == exit && outcome.out.isEmpty(), outcome.text());
        QVERIFY2(outcome.error.contains(says), outcome.text());
    }
};

QTEST_GUILESS_MAIN(TestCliEvaluation)
#include "tst_cli_evaluation.moc"
