// Tables of measured networks: what is read, refused and known, and how models of a device are judged on them.

#include "base/random.h"
#include "evaluation/edge/bring_device.h"
#include "evaluation/edge/edge_import.h"
#include "evaluation/edge/few_shot.h"
#include "evaluation/edge/rank_confusion.h"
#include "learning/edge/dead_code.h"
#include "learning/edge/network_matrix.h"
#include "learning/edge/next_samples.h"
#include "learning/edge/simple_models.h"
#include "learning/edge/space_features.h"
#include "learning/edge/word_likeness.h"
#include "support/edge_fixture.h"
#include "workload/spaces/spaces.h"

#include <QFile>
#include <QTemporaryDir>
#include <QtTest/QtTest>

#include <set>

using namespace orrery;

class TestEdgeTables : public QObject {
    Q_OBJECT

private slots:
    void resultsAreReadAsTheyArePasted() {
        const auto read = readOwnSamples("network,latency_ms\nyolo5n,12.5\n\n\"a,b\",3\r\nr=1;4\n#x\nopen,\n");
        QVERIFY(read);
        QCOMPARE(read->size(), std::size_t{3});
        QCOMPARE((*read)[1].network, std::string("a,b"));
        QCOMPARE((*read)[2].latency, 4.0);
        const auto bad = readOwnSamples("a,1\nb,fast\n");
        QVERIFY(!bad);
        QCOMPARE(bad.error().code, std::string("edge.bad-number"));
        QCOMPARE(bad.error().place.line, 2);
        QVERIFY(!readOwnSamples("just a name\n"));
        QVERIFY(!readOwnSamples("a,0\n"));
        // The list goes out as it comes back in.
        const std::array<NextMeasurement, 2> next{{{"a,b", 0.1}, {"c", 0.1}}};
        QCOMPARE(toMeasureAsCsv(next), std::string("network,latency_ms\n\"a,b\",\nc,\n"));
        QVERIFY(readOwnSamples(toMeasureAsCsv(next))->empty());
    }

    void targetsThatCannotBeToldAreNamed() {
        EdgeTable table = madeTable(4, 60, 0.01, false);
        table.targets.push_back("empty");
        table.described.push_back("empty");
        table.values.emplace_back(60, std::nan(""));
        table.values.back()[0] = 1;
        table.values.back()[1] = 2;
        const auto result = judgeEdge(table, table, {});
        QVERIFY(result);
        QCOMPARE(result->targets.size(), std::size_t{4});
        QCOMPARE(result->leftOut.size(), std::size_t{1});
        QVERIFY(result->leftOut[0].message.starts_with("empty: "));
    }

    void rowsOfWorkAreCountedByHand() {
        const auto space = spaceFeatures("nasbench201");
        std::vector<double> row;
        QVERIFY(appendFeatures(*space, cellA, row));
        QCOMPARE(row.size(), space->names.size());
        QCOMPARE(row[2], 1.0);  // 3×3
        QCOMPARE(row[3], 1.0);  // pools
        QCOMPARE(row[4], 1.0);  // skips
        QCOMPARE(row[6], 1.0);  // live 3×3
        for (const char* id : {"fbnet", "ofa", "hat"}) QVERIFY(spaceFeatures(id));
        QVERIFY(!spaceFeatures("darts"));
        // Every listed example has a row as long as its names.
        for (const NetworkSpace& each : searchSpaces()) {
            std::vector<double> own;
            const auto features = spaceFeatures(each.id);
            QVERIFY(features && appendFeatures(*features, each.example, own));
            QCOMPARE(own.size(), features->names.size());
            for (const double value : own) QVERIFY(std::isfinite(value));
        }
    }

    void badTablesNameTheirLine_data() {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QString>("code");
        QTest::addColumn<int>("line");
        const QByteArray a = cellA, b = cellB;
        QTest::newRow("no networks") << QByteArray("x,y\n1,2\n") << "edge.no-column" << 0;
        QTest::newRow("no rows") << QByteArray("arch,phone\n") << "edge.empty" << 0;
        QTest::newRow("operator") << "arch,phone\n" + a + ",1\n|conv9~0|+|none~0|none~1|+|none~0|none~1|none~2|,2\n"
                                  << "edge.bad-network" << 3;
        QTest::newRow("number") << "arch,phone\n" + a + ",1\n" + b + ",fast\n"
                                << "edge.bad-number" << 3;
        QTest::newRow("infinite") << "arch,phone\n" + a + ",1\n" + b + ",inf\n"
                                  << "edge.bad-number" << 3;
        QTest::newRow("cut off") << "arch,phone,board\n" + a + ",1,2\n" + b + ",2\n"
                                 << "edge.bad-row" << 3;
        QTest::newRow("comma in a name") << QByteArray("model,phone,board\nnet,tiny,1,2\nnet,3,4\n") << "edge.bad-row"
                                         << 2;
        QTest::newRow("negative") << "arch,phone\n" + a + ",-1\n" + b + ",2\n"
                                  << "edge.bad-number" << 2;
    }
    void badTablesNameTheirLine() {
        QFETCH(QByteArray, text);
        QFETCH(QString, code);
        QFETCH(int, line);
        QTemporaryDir folder;
        const auto table = readEdgeTable(written(folder, "t.csv", text).toStdString());
        QVERIFY(!table);
        QCOMPARE(QString::fromStdString(table.error().code), code);
        QCOMPARE(table.error().place.line, line);
    }

    // As spreadsheets write them: empty cells past the last column, and last cells that were left out.
    void rowsOfOtherLengthsWithNothingInThem() {
        QTemporaryDir folder;
        const QByteArray head = "arch,phone,board\n", a = cellA, b = cellB;
        auto read = readEdgeTable(written(folder, "long.csv", head + a + ",1,2,,\n" + b + ",2,3\n").toStdString());
        QVERIFY(read && read->notes.empty());
        QCOMPARE(read->values[1][0], 2.0);
        read =
            readEdgeTable(written(folder, "short.csv", head + a + ",1\n" + b + ",2,3\n" + a + ",4,5\n").toStdString());
        QVERIFY(read);
        QVERIFY(std::isnan(read->values[1][0]));
        QCOMPARE(read->values[1][1], 3.0);
        QCOMPARE(read->notes.size(), std::size_t{1});
        QCOMPARE(read->notes.front().code, std::string("edge.short-row"));
        QCOMPARE(read->notes.front().place.line, 2);
    }

    void aColumnWithoutVarianceIsNotedAndLeftOut() {
        QTemporaryDir folder;
        const QByteArray text =
            QByteArray("arch,phone,flat,phone_std_ms\n") + cellA + ",1,5,0.1\n" + cellB + ",2,5,0.1\n";
        const auto table = readEdgeTable(written(folder, "t.csv", text).toStdString());
        QVERIFY(table);
        QCOMPARE(table->targets, std::vector<std::string>{"phone"});
        QCOMPARE(table->notes.size(), std::size_t{2});  // the spread, and the column of one value
        QCOMPARE(table->space, std::string("nasbench201"));
        EdgeProtocol protocol;
        const auto judged = judgeEdge(*table, *table, protocol);  // two rows, both drawn
        QVERIFY(!judged);
        QCOMPARE(judged.error().code, std::string("edge.no-rows"));
    }

    void devicesMayStandInRows() {
        QTemporaryDir folder;
        const auto path = written(folder, "t.csv", "board,model,fps\na,n1,10\na,n1,20\na,n2,5\nb,n1,100\nb,n2,\n");
        const auto table =
            readEdgeTable(path.toStdString(), {.network = "", .devices = {"board"}, .values = {"fps"}, .rates = true});
        QVERIFY(table);
        QCOMPARE(table->space, std::string());
        QCOMPARE(table->targets, std::vector<std::string>{"a"});  // b has one value
        QCOMPARE(table->values[0][0], 75.0);                      // the median of 100 and 50 ms
        QCOMPARE(table->values[0][1], 200.0);
    }

    void wholeDevicesAndWordsOfNames() {
        QTemporaryDir folder;
        const auto path = written(folder, "t.csv",
                                  "board,run,threads,network,ms,watts\n"
                                  "a,1,4,n1,1,5\na,1,4,n1_int8,2,6\na,2,1,n1,3,7\na,2,1,n1_int8,4,8\n"
                                  "b,1,4,n1,5,9\nb,1,4,n1_int8,6,1\n");
        EdgeColumns columns{.devices = {"board", "run"}, .values = {"ms"}, .whole = "board"};
        auto table = readEdgeTable(path.toStdString(), columns);
        QVERIFY(table);
        QCOMPARE(table->groups, (std::vector<std::string>{"a", "a", "b"}));
        QVERIFY(QString::fromStdString(table->described[1]).contains("threads=1"));
        columns.values = {"ms", "watts"};
        table = readEdgeTable(path.toStdString(), columns);
        QVERIFY(table);
        QCOMPARE(table->targets.size(), std::size_t{6});
        columns.without = {"INT8"};
        table = readEdgeTable(path.toStdString(), columns);  // one network: no column has two values
        QVERIFY(table);
        QCOMPARE(table->networks, std::vector<std::string>{"n1"});
        columns.without.clear();
        columns.only = {"fp16"};
        QVERIFY(!readEdgeTable(path.toStdString(), columns));
        columns.only.clear();
        columns.whole = "casing";
        QVERIFY(!readEdgeTable(path.toStdString(), columns));
    }

    void publishedTablesAreReadByDescription() {
        const auto all = shippedEdgeDescriptions();
        QVERIFY(all.size() >= 9);
        QTemporaryDir folder;
        const auto path = written(folder, "t.csv",
                                  "board,dpu_config,standard_name,fps_multithread\nx,c,n1,10\nx,c,n2,20\ny,c,n1,5\n");
        const auto table = openEdgeTable(path.toStdString());
        QVERIFY(table);
        QCOMPARE(table->targets, std::vector<std::string>{"x | c"});
        QCOMPARE(table->values[0][0], 100.0);  // per second in ms
        const std::vector<std::string> header{"arch", "phone"};
        QVERIFY(!descriptionFor(all, header));
        for (const char* broken : {"orrery: import/1\n", "orrery: edge-import/1\n", "[1]\n",
                                   "orrery: edge-import/1\ncolumns: [a]\nvalues: [b]\n",
                                   "orrery: edge-import/1\ncolumns: [a]\ncolour: red\n"}) {
            const auto read = readEdgeDescription(written(folder, "d.yaml", broken).toStdString());
            QVERIFY(!read);
            QCOMPARE(read.error().code, std::string("edge.description"));
        }
    }

    void simpleModelsAreWhatTheySay() {
        // y = 1 + 2 a + 3 b, exactly.
        FeatureRows rows{3, {}, 0};
        std::vector<double> y;
        for (int a = 0; a < 4; ++a)
            for (int b = 0; b < 4; ++b)
                rows.values.insert(rows.values.end(), {1, double(a), double(b)}), y.push_back(1 + 2 * a + 3 * b);
        const auto told = ridgeOfFour(rows, y, rows);
        for (std::size_t i = 0; i < y.size(); ++i) QVERIFY(std::abs(told[i] - y[i]) < 0.01);
        const double gap = std::nan("");
        const std::vector<std::vector<double>> devices{{1, 2, 3, gap}, {1, 5, 1, 7}, {gap, gap, gap, gap}};
        const std::array<std::size_t, 2> measured{0, 1};
        const auto likest = likestDevice(devices, measured, std::array{10.0, 20.0});
        QVERIFY(std::abs(likest[2] - 30) < 1e-9);  // the first device, ten times slower
        QVERIFY(std::isfinite(likest[3]));         // which lacks it: the second
        QVERIFY(likestDevice({}, {}, {}).empty());
    }

    void wordsOfColumnsAreWholeOnes() {
        QTemporaryDir folder;
        const QByteArray text =
            QByteArray("arch,arrow_lake_ms,embedded_gpu_ms,pi4_1500mhz_ms,mediaplayer_ms,size_mb,run_std_ms\n") +
            cellA + ",1,2,3,4,5,6\n" + cellB + ",2,3,4,5,6,7\n";
        const auto table = readEdgeTable(written(folder, "t.csv", text).toStdString());
        QVERIFY(table);
        QCOMPARE(table->targets,
                 (std::vector<std::string>{"arrow_lake_ms", "embedded_gpu_ms", "pi4_1500mhz_ms", "mediaplayer_ms"}));
        QCOMPARE(table->notes.size(), std::size_t{1});
        QVERIFY(QString::fromStdString(table->notes[0].message).contains("size_mb, run_std_ms"));
    }

    // Latency and energy of one run know of each other, so neither tells the other.
    void sidesOfOneRunAreOneDevice() {
        EdgeTable table = madeTable(4, 80, 0.01, false);
        QTemporaryDir folder;
        QByteArray text = "arch,pi_ms,pi_mj,phone_ms\n";
        for (std::size_t r = 0; r < 80; ++r) {
            text += QByteArray::fromStdString(table.networks[r]);
            for (const double each : {table.values[0][r], 1.5 * table.values[0][r], table.values[1][r]})
                text += "," + QByteArray::number(each);
            text += "\n";
        }
        const auto read = readEdgeTable(written(folder, "t.csv", text).toStdString());
        QVERIFY(read);
        QCOMPARE(read->groups, (std::vector<std::string>{"pi", "pi", "phone"}));
        EdgeProtocol protocol;
        protocol.targets = {"pi_mj"};
        const auto result = judgeEdge(*read, *read, protocol);
        QVERIFY(result);
        QCOMPARE(result->knownDevices, std::size_t{1});
    }

    void tablesThatWouldBeMisreadAreRefused() {
        QTemporaryDir folder;
        const QByteArray hat =
            "encoder_embed_dim,encoder_layer_num,encoder_ffn_embed_dim_avg,encoder_self_attention_heads_avg,"
            "decoder_embed_dim,decoder_layer_num,decoder_ffn_embed_dim_avg,decoder_self_attention_heads_avg,"
            "decoder_ende_attention_heads_avg,decoder_arbitrary_ende_attn_avg,latency_mean_decoder\n"
            "640,6,1962,6,512,4,1920,2.5,5.5,1.5,124\n640,6,1962";
        auto read = readEdgeTable(written(folder, "hat.csv", hat + ",,,,,,,,130\n").toStdString());
        QVERIFY(!read);
        QCOMPARE(read.error().code, std::string("edge.bad-network"));
        QCOMPARE(read.error().place.line, 3);
        read = readEdgeTable(written(folder, "hat.csv", hat + "\n").toStdString());
        QVERIFY(!read);
        QCOMPARE(read.error().code, std::string("edge.bad-row"));
        QCOMPARE(read.error().place.line, 3);
        read = readEdgeTable(written(folder, "d.csv", "model,device,gmacs,rate\na,x,1,2\nb,x,2,3\n").toStdString());
        QVERIFY(!read);
        QCOMPARE(read.error().code, std::string("edge.device-column"));
        const QByteArray mixed =
            QByteArray("arch,phone_ms\nnasbench201:") + cellA + ",1\nnasbench201@1x52x16:" + cellB + ",2\n";
        read = readEdgeTable(written(folder, "m.csv", mixed).toStdString());
        QVERIFY(!read);
        QCOMPARE(read.error().code, std::string("edge.bad-network"));
        QCOMPARE(read.error().place.line, 3);
        // The line is the file's, also where rows before it were left aside.
        const QByteArray aside =
            QByteArray("board,arch,ms\na,drop,1\na,") + cellA + ",1\nb," + cellA + ",3\na,|odd|,2\n";
        read = readEdgeTable(written(folder, "l.csv", aside).toStdString(),
                             {.devices = {"board"}, .values = {"ms"}, .without = {"drop"}});
        QVERIFY(!read);
        QCOMPARE(read.error().place.line, 5);
        read = readEdgeTable(written(folder, "w.csv", QByteArray("arch,phone_ms\n") + cellA + ",1\n").toStdString(),
                             {.whole = "board"});
        QVERIFY(!read);
        QCOMPARE(read.error().code, std::string("edge.whole"));
    }

    void referencesThatStandNowhereAreNamed() {
        EdgeTable table = madeTable(4, 100, 0.01, false);
        EdgeProtocol protocol;
        protocol.references = {table.networks[3], "no such network"};
        const auto wrong = judgeEdge(table, table, protocol);
        QVERIFY(!wrong);
        QCOMPARE(wrong.error().code, std::string("edge.no-network"));
        protocol.references = {table.networks[3], table.networks[4]};
        table.values[0][4] = std::nan("");
        for (std::size_t r = 0; r < table.networks.size(); ++r)
            if (table.networks[r] == table.networks[4]) table.values[0][r] = std::nan("");
        const auto fewer = judgeEdge(table, table, protocol);
        QVERIFY(fewer);
        QCOMPARE(fewer->notes.size(), std::size_t{1});
        QCOMPARE(fewer->targets[0].samples, 1.0);
        QCOMPARE(fewer->targets[1].samples, 2.0);
    }

    // Rows of another table that were sampled are not judged either.
    void whatWasSampledIsNotJudgedInAnotherTable() {
        const EdgeTable table = madeTable(4, 40, 0.01, false);
        EdgeProtocol protocol;
        protocol.targets = {"device0"};
        const EdgeTable same = table;
        const auto result = judgeEdge(table, same, protocol);
        QVERIFY(result);
        QVERIFY(result->targets[0].rows <= 30);
    }

    // With no other device its own samples, each told by the others, say how wide 90 % is.
    void intervalsHoldOfOneDeviceAlone() {
        const EdgeTable table = madeTable(1, 1200, 0.06, false);
        EdgeProtocol protocol;
        protocol.repeats = 12;
        for (const std::size_t samples : {15, 30, 100, 400}) {
            protocol.samples = samples;
            const auto result = judgeEdge(table, table, protocol);
            QVERIFY(result);
            const QByteArray what = QByteArray::number(static_cast<qulonglong>(samples)) +
                                    " samples: " + QByteArray::number(result->mean.coverage);
            // Of few the largest counts, and what is left out is told worse than what is asked: wide, never narrow.
            QVERIFY2(result->mean.coverage > 0.85 && (samples < 30 || result->mean.coverage < 0.96), what);
        }
    }

    // Of left-out devices half are their four counts exactly, and their samples say so.
    void theSimpleModelIsChosenDeviceByDevice() {
        DeviceTrials trials;
        trials.samples = 10;
        for (std::size_t device = 0; device < 6; ++device) {
            const bool exact = device % 2 == 0;
            DeviceTrials::Trial trial;
            trial.device = device;
            trial.own = {0.05, std::vector<double>(10, 0.5)};
            trial.simple = {exact ? 0.001 : 0.3, std::vector<double>(10, 0.5)};
            trial.ownError = 0.05;
            trial.simpleError = exact ? 0.001 : 0.3;
            for (int i = 1; i <= 20; ++i) {
                trial.ownScores.push_back(0.1 * i);
                trial.simpleScores.push_back(0.2 * i);
            }
            trials.trials.push_back(trial);
        }
        trials.learn();
        QVERIFY(trials.simpleIsBetter({0.05, std::vector<double>(10, 0.5)}, {0.001, std::vector<double>(10, 0.5)},
                                      trials.choice));
        QVERIFY(!trials.simpleIsBetter({0.05, std::vector<double>(10, 0.5)}, {0.3, std::vector<double>(10, 0.5)},
                                       trials.choice));
        // Nine in ten of what left-out devices scored, by the model that answers.
        constexpr double trialsAlone = 1e9;
        QCOMPARE(trials.widening({}, false, trialsAlone), 1.8);
        QCOMPARE(trials.widening({}, true, trialsAlone), 3.6);
        // Of its own samples alone: the tenth of ten, since the next one may lie beyond.
        QCOMPARE(trials.widening({0, {1, 2, 3, 4, 5, 6, 7, 0.1, 0.2, 0.3}}, false, 0), 7.0);
    }

    void doubtFindsMostOfWhatWasOffByTwo() {
        std::vector<double> far, near;
        for (int i = 1; i <= 100; ++i) far.push_back(0.4 + 0.001 * i), near.push_back(0.001 * i);
        // 95 % of the far rows reach 0.405, and no other row does.
        QVERIFY(std::abs(std::log(doubtOf(far, near)) - 0.406) < 2e-3);
        for (double& each : near) each += 0.5;  // now one in ten of the others decides
        QVERIFY(std::abs(std::log(doubtOf(far, near)) - 0.59) < 2e-3);
        QCOMPARE(doubtOf({}, near), 2.0);
        QCOMPARE(doubtOf({3.0}, {0.1}), 2.0);  // never later than at 2×
    }

    // 90 % of rows that were not sampled are meant to lie inside.
    void intervalsHoldOfTenSamples() {
        const EdgeTable table = madeTable(8, 900, 0.03, false);
        EdgeProtocol protocol;
        protocol.repeats = 3;
        for (const std::size_t samples : {5, 10, 30, 100}) {
            protocol.samples = samples;
            const auto result = judgeEdge(table, table, protocol);
            QVERIFY(result);
            const QByteArray what = QByteArray::number(static_cast<qulonglong>(samples)) +
                                    " samples: " + QByteArray::number(result->mean.coverage);
            QVERIFY2(result->mean.coverage > 0.8 && result->mean.coverage < 0.985, what);
        }
    }

    // A device that is exactly its four counts, unlike all others: the simple model answers, and says so.
    void theSimpleModelAnswersWhereItIsNoWorse() {
        EdgeTable table = madeTable(2, 600, 0.01, false);
        RandomStream random(21);
        for (std::size_t r = 0; r < table.networks.size(); ++r)
            table.values[0][r] = latencyOf(table.networks[r], {5, 0.4, 3, 0.6}, false, 0.2, random);
        EdgeProtocol protocol;
        protocol.targets = {"device0"};
        protocol.samples = 40;
        protocol.repeats = 8;
        const auto result = judgeEdge(table, table, protocol);
        QVERIFY(result);
        const EdgeJudgement& judged = result->targets[0];
        QVERIFY2(judged.mape < 1.05 * judged.simpleMape, qPrintable(QString::number(judged.mape / judged.simpleMape)));
        QVERIFY(judged.coverage > 0.8);
        // By name: one device is a copy of another but for its level, the rest scatter.
        std::vector<std::vector<double>> devices;
        for (int d = 0; d < 12; ++d) {
            devices.emplace_back();
            for (int n = 0; n < 20; ++n)
                devices.back().push_back(d % 2 == 1
                                             ? 3 * devices[static_cast<std::size_t>(d) - 1][static_cast<std::size_t>(n)]
                                             : std::exp(2 * random.normal()));
        }
        auto matrix = NetworkMatrix::learn(devices);
        QVERIFY(matrix);
        const std::array<std::size_t, 4> measured{0, 1, 2, 3};
        matrix->tune(measured, 1);
        QVERIFY(matrix->simple());
        std::vector<double> own;
        for (const std::size_t n : measured) own.push_back(7 * devices[4][n]);
        const auto told = matrix->predict(measured, own);
        QVERIFY(told);
        QVERIFY(std::abs((*told)[15].mean / (7 * devices[4][15]) - 1) < 1e-6);
    }

    void flagsAreCounted() {
        const std::array<EdgePrediction, 4> rows{{{"t", "a", 1, {3, 2, 4}},                          // far, not flagged
                                                  {"t", "b", 1, {3, 1, 9}, EdgeDoubt::Wide},         // far and flagged
                                                  {"t", "c", 1, {1, 0.4, 1.5}, EdgeDoubt::Outside},  // near, flagged
                                                  {"t", "d", 1, {1, 0.9, 1.1}}}};
        const std::vector<double> simple(4, std::nan(""));
        const EdgeJudgement judged = judgeEdgeRows(rows, simple);
        QCOMPARE(judged.flags.found(), 0.5);
        QCOMPARE(judged.flags.precision(), 0.5);
        QVERIFY(std::isnan(judgeEdgeRows(std::span(rows).last(1), std::span(simple).last(1)).flags.found()));
    }

    void ranksOfTwoDevicesAreConfused() {
        std::vector<double> up, down;
        for (int i = 0; i < 20; ++i) up.push_back(1 + i), down.push_back(21 - i);
        const auto same = rankConfusion(up, up), turned = rankConfusion(up, down);
        QVERIFY(same && turned);
        for (std::size_t p = 0; p < 5; ++p) {
            QCOMPARE(same->cells[p * 5 + p], 4.0);
            QCOMPARE(turned->cells[p * 5 + 4 - p], 4.0);
        }
        QCOMPARE(same->kept, 1.0);
        QCOMPARE(turned->kept, 0.0);
        QCOMPARE(turned->spearman, -1.0);
        up[3] = std::nan("");
        QCOMPARE(rankConfusion(up, down)->networks, std::size_t{19});
        QVERIFY(!rankConfusion(std::span(up).first(9), std::span(down).first(9)));
        QVERIFY(!rankConfusion(up, std::span(down).first(9)));
    }

    void tablesOfNetworksAreToldFromOthers() {
        QTemporaryDir folder;
        QVERIFY(isEdgeTable(written(folder, "a.csv", "idx,arch,phone\n").toStdString()));
        QVERIFY(isEdgeTable(
            written(folder, "b.csv", "model,board,dpu_config,standard_name,fps_multithread\n").toStdString()));
        QVERIFY(!isEdgeTable(written(folder, "c.csv", "m,n,k,time_us\n").toStdString()));
        QVERIFY(!isEdgeTable(written(folder, "d.yaml", "arch,phone\n").toStdString()));
        QVERIFY(!isEdgeTable("absent.csv"));
        // Columns beside the name make another network.
        const auto path = written(folder, "e.csv", "model,side,board,ms\na,1,x,1\na,2,x,3\nb,1,x,2\n");
        const auto table =
            readEdgeTable(path.toStdString(), {.with = {"side"}, .devices = {"board"}, .values = {"ms"}});
        QVERIFY(table);
        QCOMPARE(table->networks, (std::vector<std::string>{"a | 1", "a | 2", "b | 1"}));
    }

    // The few-shot protocol of HELP on its six devices, from its nine training devices.
    void helpsProtocolIsBeaten() {
        const QString path = ORRERY_REFERENCE "/edge/help/nasbench201_latency_ms.csv";
        if (!QFile::exists(path)) QSKIP("the reference data is not here");
        const auto table = readEdgeTable(path.toStdString());
        QVERIFY(table);
        EdgeProtocol protocol;
        protocol.targets = {"titan_rtx_256", "gold_6226", "fpga", "pixel2", "raspi4", "eyeriss"};
        protocol.priorTargets = {"1080ti_1",    "1080ti_32", "1080ti_256",     "silver_4114", "silver_4210r",
                                 "samsung_a50", "pixel3",    "essential_ph_1", "samsung_s7"};
        protocol.pool = {0, 900};
        protocol.test = {900, 1900};
        protocol.trim = 0.1;
        protocol.repeats = 5;
        for (const auto& [samples, least] : {std::pair{10, 0.96}, {5, 0.89}, {0, 0.87}}) {
            protocol.samples = static_cast<std::size_t>(samples);
            const auto result = judgeEdge(*table, *table, protocol);
            QVERIFY(result);
            QVERIFY2(result->mean.spearman >= least, qPrintable(QString::number(result->mean.spearman)));
        }
    }
};

QTEST_GUILESS_MAIN(TestEdgeTables)
#include "tst_edge_tables.moc"
