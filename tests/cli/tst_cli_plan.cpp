// `orrery-cli plan`: the best plans as a table and as JSON, what fits nowhere, and what is no question.

#include "support/cli_process.h"
#include "support/schema_check.h"

#include <QtTest/QtTest>

#include <nlohmann/json.hpp>

using namespace orrery;
using namespace orrery::test;

class TstCliPlan : public QObject {
    Q_OBJECT
private slots:
    void theBestOfANode() {
        const Outcome outcome = cli({"plan", "llama-3-8b", "dgx-h100", "--batch", "16", "--seq", "2048", "--method",
                                     "tile-wave", "--price", "2.5", "--rerun", "1", "--top", "3", "--json", "-"});
        QVERIFY2(outcome.exit == 0, outcome.text().constData());
        for (const std::string& error : schemaErrors(outcome.out.toStdString(), "plan")) QFAIL(error.c_str());
        const Json json = Json::parse(outcome.out.toStdString());
        QVERIFY(json["proven"].get<bool>());
        QCOMPARE(json["priced"].get<std::uint64_t>() + json["pruned"].get<std::uint64_t>(),
                 json["plans"].get<std::uint64_t>());
        const Json& best = json["points"][0];
        QCOMPARE(best["rank"].get<int>(), 1);
        const double closed = best["closed_form"]["seconds"].get<double>();
        QVERIFY(std::abs(closed / best["run"]["seconds"].get<double>() - 1) < 0.05);
        const double dollars = 2.5 * best["closed_form"]["devices"].get<double>() * closed / 3600;
        QVERIFY(std::abs(best["closed_form"]["dollars"].get<double>() / dollars - 1) < 1e-9);
        for (const Json& point : json["points"]) QVERIFY(point["closed_form"]["seconds"].get<double>() >= closed);
    }
    void whatFitsNowhere() {
        const Outcome outcome = cli({"plan", "gpt-3-175b", "dgx-h100", "--batch", "8", "--method", "tile-wave"});
        QCOMPARE(outcome.exit, 1);
        QVERIFY2(outcome.out.contains("too much"), outcome.text().constData());
    }
    void noQuestion() {
        QCOMPARE(cli({"plan", "llama-3-8b"}).exit, 2);
        QCOMPARE(cli({"plan", "llama-3-8b", "dgx-h100", "--objective", "beauty"}).exit, 2);
        QCOMPARE(cli({"plan", "llama-3-8b", "dgx-h100", "--tp", "two"}).exit, 2);
        QCOMPARE(cli({"plan", "llama-3-8b", "dgx-h100", "--price", "-1"}).exit, 2);
        const Outcome none = cli({"plan", "llama-3-8b", "dgx-h100", "--batch", "8", "--tp", "3"});
        QCOMPARE(none.exit, 1);
        QVERIFY2(none.error.contains("plan.space"), none.text().constData());
    }
};

QTEST_APPLESS_MAIN(TstCliPlan)
#include "tst_cli_plan.moc"
