// Is every figure of the handbook's page on schedules what the program says today? `ORRERY_ALL_FIGURES=1` asks all of
// them, which takes minutes; otherwise one is asked.

#include "support/cli_process.h"

#include <QFile>
#include <QtTest/QtTest>

#include <nlohmann/json.hpp>

#include <algorithm>

using namespace orrery;
using namespace orrery::test;

class TstCliScheduleFigures : public QObject {
    Q_OBJECT

    static QString row(const QString& start) {
        QFile page(ORRERY_SOURCE "/resources/handbook/schedules.md");
        if (!page.open(QIODevice::ReadOnly)) return {};
        for (const QString& line : QString::fromUtf8(page.readAll()).split('\n'))
            if (line.startsWith("| " + start)) return line;
        return {};
    }
    static nlohmann::json asked(const char* table, QStringList more) {
        const QString path = QString(ORRERY_REFERENCE "/compiler/") + table;
        if (!QFile::exists(path)) return {};
        const Outcome outcome = cli(QStringList{"schedules", path, "--json"} + more, {}, 900000);
        return outcome.exit == 0 ? nlohmann::json::parse(outcome.out.toStdString(), nullptr, false)
                                 : nlohmann::json("failed");
    }
    static QString percent(const nlohmann::json& share, int digits = 0) {
        return QString::number(100 * share.get<double>(), 'f', digits) + " %";
    }
    static bool all() { return qEnvironmentVariableIsSet("ORRERY_ALL_FIGURES"); }

private slots:
    void timesOfUnseenOperators() {
        const auto json = asked("tophub/tuned_best.csv", {});
        if (json.is_null()) QSKIP("the tuned operators are not here");
        QVERIFY(json.is_object());
        const auto& whole = json["all"];
        const QString said = row("TopHub, 2,690");
        QVERIFY2(
            said.contains(QString("MAPE %1, median %2, %3 inside 90 %")
                              .arg(percent(whole["mape"], 1), percent(whole["median"], 1), percent(whole["coverage"]))),
            whole.dump().c_str());
        // Each device with rows enough to tell: the interval is its own.
        for (const auto& device : json["devices"])
            if (device["rows"].get<int>() >= 50)
                QVERIFY2(device["coverage"].get<double>() > 0.8, device.dump().c_str());
    }
    void ranksOfUnseenOperators() {
        if (!all()) QSKIP("asked with ORRERY_ALL_FIGURES=1");
        const auto json = asked("tlcbench/autotvm_trials.csv", {});
        if (json.is_null()) QSKIP("the trials are not here");
        QVERIFY(json.is_object());
        std::vector<double> tens;
        double first = 0, ten = 0, chance = 0;
        for (const auto& one : json["operators"]) {
            if (one["schedules"].get<int>() < 50) continue;
            tens.push_back(one["top10"].get<double>());
            first += one["top1"].get<double>(), ten += tens.back(), chance += one["chance10"].get<double>();
        }
        QCOMPARE(tens.size(), std::size_t{12});
        std::sort(tens.begin(), tens.end());
        const QString said = row("TLCBench, 8,058");
        QVERIFY2(said.contains(QString("%1 of the best in the mean; %2 and more but for one. Its first choice: %3")
                                   .arg(percent(ten / 12), percent(tens[1]), percent(first / 12))),
                 json.dump().c_str());
        QVERIFY(said.contains("ten drawn blindly: " + percent(chance / 12)));
        QFile page(ORRERY_SOURCE "/resources/handbook/schedules.md");
        QVERIFY(page.open(QIODevice::ReadOnly));
        QVERIFY(json["intervals"]["coverage"].get<double>() >= 0.9);
        const QString held = QString("On TLCBench at least 90 % of the schedules are inside their intervals in the mean "
                                     "of 17 operators, and %1 first choices reach")
                                 .arg(json["intervals"]["first_held"].get<int>());
        QVERIFY2(QString::fromUtf8(page.readAll()).contains(held), qPrintable(held));
    }
    // Other models, and the prices of drawn devices, on the same operators.
    void otherModels_data() {
        QTest::addColumn<QString>("model");
        QTest::newRow("sequence") << "sequence";
        QTest::newRow("both") << "both";
    }
    void otherModels() {
        if (!all()) QSKIP("asked with ORRERY_ALL_FIGURES=1");
        QFETCH(QString, model);
        const auto json =
            asked("tlcbench/autotvm_trials.csv", {"--model", model, "--hardware", "platinum-8124m=core-i9-10940x"});
        if (json.is_null()) QSKIP("the trials are not here");
        QVERIFY(json.is_object());
        const auto said = [&](auto of) {
            double spearman = 0, first = 0, ten = 0, count = 0;
            for (const auto& one : json["operators"]) {
                if (one["schedules"].template get<int>() < 50) continue;
                const auto& figures = of(one);
                spearman += figures["spearman"].template get<double>(), first += figures["top1"].template get<double>(),
                    ten += figures["top10"].template get<double>(), count += 1;
            }
            return QString("%1 of the best in the mean; its first choice: %2; Spearman %3")
                .arg(percent(ten / count), percent(first / count), QString::number(spearman / count, 'f', 3));
        };
        const QString own = said([](const auto&one) -> const auto& { return one; }),
                      priced = said([](const auto&one) -> const auto& { return one["analytic"]; });
        QVERIFY2(row("the same, `--model " + model).contains(own), qPrintable(own));
        QVERIFY2(row("the same, priced").contains(priced), qPrintable(priced));
    }
    void programsOfAnsor() {
        if (!all()) QSKIP("asked with ORRERY_ALL_FIGURES=1");
        const auto trees = asked("ansor/t4_bert.json", {}),
                   sequence = asked("ansor/t4_bert.json", {"--model", "sequence"});
        if (trees.is_null()) QSKIP("the records are not here");
        QVERIFY(trees.is_object() && sequence.is_object());
        const auto mean = [](const nlohmann::json& json, const char* key, bool priced) {
            double sum = 0;
            for (const auto& one : json["operators"]) sum += (priced ? one["analytic"] : one)[key].get<double>();
            return sum / double(json["operators"].size());
        };
        const auto rank = [&](const nlohmann::json& json, bool priced) {
            return QString::number(mean(json, "spearman", priced), 'f', 3);
        };
        QCOMPARE(trees["operators"].size(), std::size_t{6});
        const QString told =
            QString("%1 by trees, %2 by the sequence model; %3 as priced on the drawn T4. Spearman %4, %5 and %6")
                .arg(percent(mean(trees, "top1", false)), percent(mean(sequence, "top1", false)),
                     percent(mean(trees, "top1", true)), rank(trees, false), rank(sequence, false), rank(trees, true));
        QVERIFY2(row("Ansor, 60 records").contains(told), qPrintable(told));
        QFile page(ORRERY_SOURCE "/resources/handbook/schedules.md");
        QVERIFY(page.open(QIODevice::ReadOnly));
        // Intervals have become wider since the page's figures were taken.
        QVERIFY(
            page.readAll().contains("at least 83 % of the schedules are inside their intervals by trees, and at "
                                    "least 90 % by the sequence model"));
        const auto inside = [](const nlohmann::json& json) { return json["intervals"]["coverage"].get<double>(); };
        QVERIFY2(inside(trees) > 0.825 && inside(sequence) > 0.895,
                 qPrintable(QString("%1, %2").arg(inside(trees)).arg(inside(sequence))));
        QVERIFY(trees["intervals"]["chance"].get<double>() <= 5.0 / 6 + 1e-12);
        QCOMPARE(trees["intervals"]["first_held"].get<int>(), 5);
        QCOMPARE(sequence["intervals"]["first_held"].get<int>(), 6);
    }
    void searches() {
        if (!all()) QSKIP("asked with ORRERY_ALL_FIGURES=1");
        const auto json = asked("tlcbench/autotvm_trials.csv", {"--search"});
        if (json.is_null()) QSKIP("the trials are not here");
        QVERIFY(json.is_object());
        const auto number = [&](const char* key) { return QString::number(json[key].get<double>(), 'f', 1); };
        QVERIFY2(row("TLCBench, `--search`")
                     .contains(QString("%1, so %2× fewer; %3 in the model's own order. It loses on two of 17")
                                   .arg(number("trials_guided"), number("times_fewer"), number("trials_ranked"))),
                 json.dump().c_str());
        const auto lost = std::count_if(json["searches"].begin(), json["searches"].end(), [](const auto& one) {
            return one["trials_guided"].template get<double>() > one["trials_chance"].template get<double>();
        });
        QCOMPARE(lost, 2);
    }
    void newDevices() {
        if (!all()) QSKIP("asked with ORRERY_ALL_FIGURES=1");
        const auto json = asked("tophub/tuned_best.csv", {"--new-devices"});
        if (json.is_null()) QSKIP("the tuned operators are not here");
        QVERIFY(json.is_object());
        const auto& whole = json["all"];
        QVERIFY2(row("TopHub, a device left out")
                     .contains(QString("MAPE %1, median %2;").arg(percent(whole["mape"]), percent(whole["median"]))),
                 whole.dump().c_str());
    }
};

QTEST_GUILESS_MAIN(TstCliScheduleFigures)
#include "tst_cli_schedule_figures.moc"
