// `orrery-cli compare`: A against B as tables, JSON and CSV, and what cannot be compared.

#include "support/cli_process.h"
#include "support/handbook_runs.h"
#include "support/schema_check.h"

#include <QtTest/QtTest>

#include <nlohmann/json.hpp>

using namespace orrery;
using namespace orrery::test;

class TstCliCompare : public QObject {
    Q_OBJECT
    const QStringList decode_{"--workload", "llama-2-7b", "--phase", "decode", "--batch", "8", "--seq", "512"};
    static Json jsonOf(const QStringList& words) {
        const Outcome outcome = cli(words + QStringList{"--json", "-"}, {}, 60000);
        if (outcome.exit != 0) qFatal("%s", outcome.text().constData());
        for (const std::string& error : schemaErrors(outcome.out.toStdString(), "comparison"))
            qFatal("%s", error.c_str());
        return Json::parse(outcome.out.toStdString());
    }

private slots:
    void memoryOrCores() {
        const Json json =
            jsonOf(QStringList{"compare", "--hardware", "h100-sxm", "--variant", "hbm3.bandwidth=6.7 TB/s", "--variant",
                               "sm.count=264", "--method", "tile-hybrid", "--device-hour", "2.5", "--waterfall",
                               "operators", "--changes", "--break-even", "hbm3.bandwidth"} +
                   decode_);
        QCOMPARE(json["cases"].size(), std::size_t{3});
        QCOMPARE(json["findings"].size(), std::size_t{2});
        const auto ratio = [&](std::size_t i, const char* column) {
            return json["cases"][i]["against_baseline"][column]["ratio"].get<double>();
        };
        QVERIFY(ratio(1, "time") < 0.8);
        QVERIFY(ratio(2, "time") > 0.9);
        QVERIFY(ratio(2, "area") > 1.3);
        QVERIFY(ratio(1, "per_dollar") > 1.2);
        for (const Json& found : json["findings"]) {
            double sum = 0;
            for (const Json& term : found["difference"]["terms"]) sum += term["delta"].get<double>();
            const double before = found["difference"]["before"], after = found["difference"]["after"];
            QVERIFY(std::abs(sum - (after - before)) <= 1e-12 * before);
        }
        const Json& change = json["findings"][0]["changes"]["changes"][0];
        QCOMPARE(change["from"].get<std::string>(), std::string("3.35 TB/s"));
        QCOMPARE(change["to"].get<std::string>(), std::string("6.7 TB/s"));
        // Of the doubled memory, the break-even is where it stands at the baseline's own.
        const double at = json["findings"][0]["break_even"]["crossings"][0]["value"];
        QVERIFY(std::abs(at / 3.35e12 - 1) < 5e-3);
    }
    void theHandbooksComparison() {
        const HandbookRun run = firstRun(handbookPage("against.md"));
        QVERIFY2(run.shown.size() >= 4 && run.arguments.value(0) == "compare", qPrintable(run.arguments.join(' ')));
        const Outcome outcome = cli(run.arguments, {}, 60000);
        QVERIFY2(outcome.exit == 0, outcome.text());
        QCOMPARE(notPrinted(run, outcome.out), QString());
    }
    void theTableSaysHowSure() {
        const QStringList words = QStringList{"compare",  "--hardware",  "a100-80-sxm", "--hardware", "h100-sxm",
                                              "--method", "tile-hybrid", "--baseline",  "h100"} +
                                  decode_;
        // The name is matched as it is written.
        QCOMPARE(cli(words).exit, 2);
        const Outcome outcome =
            cli(QStringList{"compare", "--hardware", "a100-80-sxm", "--hardware", "h100-sxm", "--method", "tile-hybrid",
                            "--baseline", "H100", "--waterfall", "causes"} +
                decode_);
        QVERIFY2(outcome.exit == 0, outcome.text().constData());
        QVERIFY2(outcome.out.contains("× as long [") && outcome.out.contains("baseline") &&
                     outcome.out.contains("kernels") && outcome.out.contains("overlap and outside operators"),
                 outcome.text().constData());
        const Outcome csv = cli(words.mid(0, 7) + decode_ + QStringList{"--csv", "-"});
        QCOMPARE(csv.out.split("\r\n", Qt::SkipEmptyParts).size(), 3);
        QVERIFY(
            csv.out.startsWith("case,hardware,workload,plan,task,method,rate_unit,time,time_low,time_high,time_ratio"));
    }
    void everyCombinationOfLists() {
        const Json json =
            jsonOf({"compare", "--hardware", "dgx-h100", "--workload", "llama-2-7b", "--workload", "llama-3-8b",
                    "--phase", "decode", "--plan", "tp=1", "--plan", "tp=2", "--method", "roofline"});
        QCOMPARE(json["cases"].size(), std::size_t{4});
        QCOMPARE(json["cases"][1]["plan"].get<std::string>().substr(0, 4), std::string("tp=2"));
        QCOMPARE(json["cases"][1]["values"]["devices"]["value"].get<double>(), 2.0);
        QVERIFY(json["one_method"].get<bool>());
    }
    void theCasesOfAProject() {
        const QString file = QStringLiteral(ORRERY_SOURCE "/presets/examples/a100-h100-or-h200.yaml");
        const Json json = jsonOf({"compare", file});
        QCOMPARE(json["cases"].size(), std::size_t{3});
        QVERIFY(json["baseline"].get<std::string>().starts_with("NVIDIA A100"));
        QVERIFY(json["cases"][0]["against_baseline"]["time"]["ratio"].get<double>() < 0.9);
        QVERIFY(jsonOf({"compare", file, "--baseline", "3"})["baseline"].get<std::string>().starts_with("NVIDIA H200"));
        QCOMPARE(cli({"compare", file, "--hardware", "t4"}).exit, 2);
        QCOMPARE(cli({"compare", "absent.yaml"}).exit, 1);
    }
    void whatCannotBeCompared() {
        const QStringList two{"compare", "--hardware", "h100-sxm", "--variant", "sm.count=66", "--method", "roofline"};
        QCOMPARE(cli({"compare"}).exit, 2);
        QCOMPARE(cli({"compare", "--hardware", "h100-sxm"}).exit, 2);
        QCOMPARE(cli(two + decode_ + QStringList{"--waterfall", "colour"}).exit, 2);
        QCOMPARE(cli(two + decode_ + QStringList{"--baseline", "7"}).exit, 2);
        QCOMPARE(cli(two + decode_ + QStringList{"--top", "0"}).exit, 2);
        QCOMPARE(cli(two + decode_ + QStringList{"--move", "both"}).exit, 2);
        QCOMPARE(cli(two + decode_ + QStringList{"--quantity", "joy"}).exit, 2);
        QCOMPARE(cli(two + decode_ + QStringList{"--device-hour", "much"}).exit, 2);
        QCOMPARE(cli(two + decode_ + QStringList{"--break-even", "hbm3.bandwidth", "--range", "8 TB/s..2 TB/s"}).exit,
                 2);
        QCOMPARE(cli(two + decode_ + QStringList{"--variant", "faster"}).exit, 2);
        // What needs two cases, or another option, is not passed over in silence.
        for (const QStringList& alone : {QStringList{"--break-even", "hbm3.bandwidth"}, QStringList{"--changes"},
                                         QStringList{"--waterfall", "operators"}}) {
            const Outcome one = cli(QStringList{"compare", "--hardware", "h100-sxm"} + decode_ + alone);
            QVERIFY2(one.exit != 0 && one.error.contains("--variant") && one.out.isEmpty(), one.text());
        }
        for (const QStringList& lost : {QStringList{"--quantity", "energy"}, QStringList{"--range", "1 TB/s..2 TB/s"},
                                        QStringList{"--move", "baseline"}})
            QVERIFY(cli(two + decode_ + lost).error.contains("--break-even"));
        const Outcome nowhere = cli(two + decode_ + QStringList{"--break-even", "warp.drive"});
        QVERIFY2(nowhere.exit == 1 && nowhere.error.contains("search.knob"), nowhere.text().constData());
        // None in the range is an answer, with its reason.
        const Outcome none =
            cli(two + decode_ + QStringList{"--break-even", "hbm3.bandwidth", "--range", "8 TB/s..9 TB/s"});
        QVERIFY2(none.exit == 0 && none.out.contains("no break-even: from 8 TB/s to 9 TB/s the time stays below"),
                 none.text().constData());
        const Outcome same = cli(two + decode_ + QStringList{"--break-even", "batch", "--quantity", "area"});
        QVERIFY2(same.exit == 0 && same.out.contains("no break-even: `batch` leaves the area as it is"),
                 same.text().constData());
    }
};

QTEST_MAIN(TstCliCompare)
#include "tst_cli_compare.moc"
