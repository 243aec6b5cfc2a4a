// `orrery-cli map --mapper optimal`: what a proof says to scripts and to people.

#include "support/cli_process.h"

#include <QtTest/QtTest>

#include <nlohmann/json.hpp>

using namespace orrery::test;
using Json = nlohmann::json;

class TstCliOptimal : public QObject {
    Q_OBJECT
    static QStringList alexnet(const QStringList& more) {
        return QStringList{"map",   "--hardware",    "eyeriss-like", "--workload", "alexnet", "--weights",
                           "int16", "--activations", "int16",        "--mapper",   "optimal", "--objective",
                           "edp"} +
               more;
    }
    static bool saysItsProof(const Json& json) {
        return json["proven"].get<bool>() && json["lower_bound"].get<double>() > 0 && json["edp"].get<double>() > 0 &&
               std::abs(json["lower_bound"].get<double>() / json["edp"].get<double>() - 1) < 2e-9 &&
               json["seconds"].get<double>() >= 0;
    }

private slots:
    void filesOfTimeloopAreProven() {
        const Outcome outcome =
            cli({"map", "--timeloop", "product.yaml", "--mapper", "optimal", "--objective", "edp", "--json"},
                ORRERY_TEST_DATA "/timeloop", 60000);
        QVERIFY2(outcome.exit == 0, outcome.text());
        const Json json = Json::parse(outcome.out.toStdString());
        QVERIFY2(saysItsProof(json), outcome.text());
        QCOMPARE(json["mapper"], "optimal");
        QCOMPARE(json["objective"], "edp");
        QCOMPARE(json["value"].get<double>(), json["edp"].get<double>());
    }
    void everyOperatorOfAWorkloadIsProven() {
        const Outcome outcome = cli(alexnet({"--json"}), {}, 120000);
        QVERIFY2(outcome.exit == 0, outcome.text());
        const Json json = Json::parse(outcome.out.toStdString());
        QVERIFY(json["operators"].size() >= 8);
        for (const Json& op : json["operators"]) {
            QVERIFY2(saysItsProof(op), op.dump(2).c_str());
            for (const Json& nest : op["nests"]) QVERIFY2(saysItsProof(nest), nest.dump(2).c_str());
        }
        const Outcome one = cli(alexnet({"--operator", "conv3"}), {}, 60000);
        QVERIFY2(one.exit == 0 && one.out.contains("Proven: no mapping has a smaller edp"), one.text());
    }
    void nestsOfAttentionAreProvenTogether() {
        const QStringList question{"map",   "--hardware", "eyeriss-like", "--workload",  "bert-base",
                                   "--seq", "64",         "--weights",    "int16",       "--activations",
                                   "int16", "--mapper",   "optimal",      "--objective", "edp"};
        const Outcome outcome = cli(question + QStringList{"--json"}, {}, 240000);
        QVERIFY2(outcome.exit == 0, outcome.text());
        const Json json = Json::parse(outcome.out.toStdString());
        int several = 0;
        for (const Json& op : json["operators"]) {
            QVERIFY2(saysItsProof(op), op.dump(2).c_str());
            if (op["nests"].size() < 2) continue;
            ++several;
            double energy = 0, cycles = 0, alone = 0;
            for (const Json& nest : op["nests"]) {
                const double times = nest["times"].get<double>();
                energy += times * nest["energy_j"].get<double>();
                cycles += times * nest["cycles"].get<double>();
                alone += times * times * nest["lower_bound"].get<double>();
            }
            QVERIFY(std::abs(op["value"].get<double>() / (energy * cycles) - 1) < 1e-9);
            // More than each nest's own, as each waits for the other.
            QVERIFY(op["lower_bound"].get<double>() > alone);
        }
        QVERIFY(several > 0);
        const Outcome table = cli(question, {}, 240000);
        QVERIFY2(table.exit == 0 && table.out.contains("Proven by edp: "), table.text());
    }
    void whatIsNoTimeIsRefused() {
        const Outcome outcome = cli(alexnet({"--seconds", "soon"}));
        QVERIFY2(outcome.exit == 2 && outcome.error.contains("`--seconds soon` is no time"), outcome.text());
        const Outcome mapper = cli({"map", "--hardware", "eyeriss-like", "--workload", "alexnet", "--mapper", "best"});
        QVERIFY2(mapper.exit == 2 && mapper.error.contains("optimal"), mapper.text());
    }
};

QTEST_GUILESS_MAIN(TstCliOptimal)
#include "tst_cli_optimal.moc"
