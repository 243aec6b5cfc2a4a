// `orrery-cli map` beyond one mapping: the bound against the size of the buffer, operators that run together.

#include "support/cli_process.h"

#include <QtTest/QtTest>

#include <nlohmann/json.hpp>

using namespace orrery::test;
using Json = nlohmann::json;

class TstCliMap : public QObject {
    Q_OBJECT
    static QStringList question(const QStringList& more) {
        return QStringList{"map",   "--hardware",    "eyeriss-like", "--workload", "alexnet", "--weights",
                           "int16", "--activations", "int16",        "--operator", "conv3",   "--evaluations",
                           "50"} +
               more;
    }

private slots:
    void theBoundHasTheDrawnLevelsAndTheMappingOnIt() {
        const Outcome outcome = cli(question({"--bound-curve", "--json"}), {}, 60000);
        QVERIFY2(outcome.exit == 0, outcome.text());
        const Json curve = Json::parse(outcome.out.toStdString())["curves"][0];
        double words = -1, moved = 1e300;
        for (const Json& point : curve["points"]) {
            QVERIFY(point["words"].get<double>() > words && point["moved"].get<double>() < moved);
            words = point["words"].get<double>();
            moved = point["moved"].get<double>();
        }
        QCOMPARE(moved, curve["compulsory_words"].get<double>());
        // The store itself is no level of the curve.
        QCOMPARE(curve["levels"].size(), std::size_t{4});
        QCOMPARE(curve["levels"][3]["level"], "global");
        QCOMPARE(curve["levels"][3]["words"].get<double>(), 108.0 * 1024 / 2);
        QVERIFY(curve["mapping"]["moved"].get<double>() >= curve["mapping"]["moved_at_least"].get<double>());
        const Outcome csv = cli(question({"--bound-curve", "--csv", "-"}), {}, 60000);
        QVERIFY2(csv.exit == 0 && csv.out.startsWith("problem,kind,name,words,moved"), csv.text());
        QCOMPARE(csv.out.count("\"conv3\",bound,"), static_cast<int>(curve["points"].size()));
        QCOMPARE(csv.out.count("\"conv3\",mapping,"), 1);
        const Outcome text = cli(question({"--bound-curve"}), {}, 60000);
        QVERIFY2(text.exit == 0 && text.out.contains("words must move at least"), text.text());
    }
    void filesOfTimeloopNeedNoMappingForTheirBound() {
        const Outcome outcome =
            cli({"map", "--timeloop", "product.yaml", "--bound-curve", "--bound-tiles", "divisors", "--json"},
                ORRERY_TEST_DATA "/timeloop");
        QVERIFY2(outcome.exit == 0, outcome.text());
        const Json curve = Json::parse(outcome.out.toStdString())["curves"][0];
        QCOMPARE(curve["tiles"], "divisors");
        for (const Json& point : curve["points"]) {
            for (const auto& [dimension, tile] : point["tile"].items())
                QCOMPARE(curve["extents"][dimension].get<int>() % tile.get<int>(), 0);
        }
    }
    void attentionRunsTogetherOnTheArray() {
        const QStringList fusing{
            "map",         "--hardware", "tpu-v1-like",   "--workload",  "bert-base",
            "--seq",       "64",         "--fuse",        "--operators", "layers.attention..layers.o_proj",
            "--objective", "latency",    "--evaluations", "200"};
        const Outcome outcome = cli(fusing + QStringList{"--json"}, {}, 120000);
        QVERIFY2(outcome.exit == 0, outcome.text());
        const Json json = Json::parse(outcome.out.toStdString());
        QCOMPARE(json["proven"], true);
        QCOMPARE(json["lower_bound"], json["value"]);
        QVERIFY(json["cycles"].get<double>() < json["cycles_unfused"].get<double>());
        double cycles = 0;
        std::size_t operators = 0;
        for (const Json& group : json["groups"]) {
            cycles += group["cycles"].get<double>();
            operators += group["operators"].size();
        }
        QCOMPARE(operators, std::size_t{3});
        QVERIFY(std::abs(cycles - json["cycles"].get<double>()) < 1e-9 * cycles);
        const Outcome text = cli(fusing, {}, 120000);
        QVERIFY2(text.exit == 0 && text.out.contains("layers.attention (scores) + layers.attention (values)"),
                 text.text());
        const Outcome bound = cli(fusing + QStringList{"--bound-curve", "--json"}, {}, 120000);
        QVERIFY2(bound.exit == 0, bound.text());
        const Json curves = Json::parse(bound.out.toStdString());
        QCOMPARE(curves["operators"].size(), std::size_t{3});
        QVERIFY(curves["fused"].back()["moved"].get<double>() < curves["unfused"].back()["moved"].get<double>());
        const Outcome rows = cli(fusing + QStringList{"--bound-curve", "--csv", "-"}, {}, 120000);
        QVERIFY2(rows.exit == 0 && rows.out.startsWith("kind,words,moved\nunfused,"), rows.text());
        QStringList backwards = fusing;
        backwards[9] = "layers.o_proj..layers.attention";
        const Outcome range = cli(backwards);
        QVERIFY2(range.exit == 2 && range.error.contains("backwards"), range.text());
        backwards[9] = "layers.o_proj..layers.nothing";
        const Outcome name = cli(backwards);
        QVERIFY2(name.exit == 2 && name.error.contains("layers.nothing"), name.text());
        backwards[9] = "layers.o_proj..layers.o_proj";
        const Outcome one = cli(backwards);
        QVERIFY2(one.exit == 1 && one.error.contains("fewer than two"), one.text());
    }
    void whatIsNoBoundIsRefused() {
        const Outcome tiles = cli(question({"--bound-curve", "--bound-tiles", "round"}));
        QVERIFY2(tiles.exit == 2 && tiles.error.contains("any or divisors"), tiles.text());
        const Outcome name = cli(
            {"map", "--hardware", "eyeriss-like", "--workload", "alexnet", "--bound-curve", "--operator", "conv99"});
        QVERIFY2(name.exit == 2 && name.error.contains("conv99"), name.text());
    }
};

QTEST_GUILESS_MAIN(TstCliMap)
#include "tst_cli_map.moc"
