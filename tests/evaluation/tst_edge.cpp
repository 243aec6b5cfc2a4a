// Is a device told from few samples as well as its additive truth allows, with intervals that hold, and is what is no
// table refused? Devices here are made of coefficients that the test draws itself.

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

class TestEdge : public QObject {
    Q_OBJECT
private slots:
    void tenSamplesTellAnAdditiveDevice() {
        const EdgeTable table = madeTable(8, 600, 0.01, false);
        EdgeProtocol protocol;
        protocol.targets = {"device0", "device1"};
        protocol.repeats = 5;
        const auto ten = judgeEdge(table, table, protocol);
        QVERIFY(ten);
        QVERIFY2(ten->mean.spearman > 0.98, qPrintable(QString::number(ten->mean.spearman)));
        QVERIFY2(ten->mean.mape < 0.05, qPrintable(QString::number(ten->mean.mape)));
        QVERIFY2(ten->mean.coverage > 0.8, qPrintable(QString::number(ten->mean.coverage)));
        // Samples are not judged, nor are rows with the code of one.
        QVERIFY(ten->targets.front().rows <= 590 && ten->targets.front().rows > 570);
    }

    void moreSamplesAreNoWorseAndNoneAnswerToo() {
        const EdgeTable table = madeTable(8, 400, 0.02, false);
        EdgeProtocol protocol;
        protocol.targets = {"device2"};
        protocol.repeats = 5;
        double before = 1;
        for (const std::size_t samples : {3, 20, 200}) {
            protocol.samples = samples;
            const auto result = judgeEdge(table, table, protocol);
            QVERIFY(result);
            QVERIFY2(result->mean.mape < before, qPrintable(QString::number(result->mean.mape)));
            before = result->mean.mape;
        }
        QVERIFY(before < 0.025);  // 2 % of noise: mean of |normal| is 1.6 %
        protocol.samples = 0;
        const auto none = judgeEdge(table, table, protocol);
        QVERIFY(none);
        QVERIFY(none->mean.spearman > 0.9);
        protocol.prior = false;  // a roofline alone ranks too
        const auto roofline = judgeEdge(table, table, protocol);
        QVERIFY(roofline);
        QVERIFY(roofline->mean.spearman > 0.7);
        QVERIFY(roofline->mean.spearman < none->mean.spearman);
        QCOMPARE(roofline->knownDevices, std::size_t{0});
    }

    void deadCodeIsToldFromLatencies() {
        for (const bool drops : {false, true}) {
            const EdgeTable table = madeTable(3, 200, 0.01, drops);
            const auto features = edgeFeatures(table);
            QVERIFY(features);
            QCOMPARE(deadCodeRule(*features, table.values[0]), drops ? DeadCode::Dropped : DeadCode::Executed);
        }
        QCOMPARE(deadCodeRule({}, {}), DeadCode::Unclear);
    }

    // Of eight devices three drop dead code. Samples tell which a new device does, and its cells with dead code are
    // told accordingly; with none both are open.
    void deadCodeIsARuleOfTheRuntime() {
        EdgeTable table = madeTable(8, 400, 0.01, false);
        const EdgeTable drops = madeTable(8, 400, 0.01, true);
        for (const std::size_t d : {std::size_t{1}, std::size_t{4}, std::size_t{7}}) table.values[d] = drops.values[d];
        const auto features = edgeFeatures(table);
        QVERIFY(features);
        std::vector<std::size_t> dead;
        for (std::size_t r = 0; r < table.networks.size(); ++r)
            if (drops.values[0][r] < 0.7 * table.values[0][r]) dead.push_back(r);
        QVERIFY2(dead.size() >= 10, qPrintable(QString::number(dead.size())));
        for (const std::size_t target : {std::size_t{0}, std::size_t{4}}) {
            auto others = table.values;
            others.erase(others.begin() + static_cast<std::ptrdiff_t>(target));
            const auto prior = DevicePrior::learn(*features, others, analyticColumns(table));
            QVERIFY(prior);
            const auto told = [&](std::size_t count) {
                FeatureRows samples = features->none();
                std::vector<double> values;
                for (std::size_t r = 0; r < count; ++r) {
                    samples.add(features->row(7 * r));
                    values.push_back(table.values[target][7 * r]);
                }
                return prior->condition(samples, values);
            };
            const auto model = told(10), sure = told(40);
            QVERIFY(model && sure);
            // Ten point to the rule, forty settle it.
            QVERIFY2(target == 0 ? model->drops < 0.3 : model->drops > 0.5, qPrintable(QString::number(model->drops)));
            QCOMPARE(sure->drops, target == 0 ? 0.0 : 1.0);
            double error = 0;
            for (const std::size_t r : dead)
                error += std::abs(sure->mean(features->row(r)) / table.values[target][r] - 1) / double(dead.size());
            // A folding device's cells of which little is left are the hardest to tell.
            QVERIFY2(error < 0.15, qPrintable(QString::number(error)));
            const auto none = prior->condition(features->none(), {});
            QVERIFY(none);
            QVERIFY(none->drops > 0.1 && none->drops < 0.6);
        }
    }

    // Counted by hand: as written, and with what is a constant folded. Columns 1 to 3 are 1×1, 3×3 and pool, 5 and 6
    // live 1×1 and 3×3, 7 what is pooled.
    void cellsAreCountedAsWrittenAndFolded() {
        const auto space = spaceFeatures("nasbench201");
        QVERIFY(space);
        const auto rowOf = [&](const char* code) {
            std::vector<double> row;
            if (!appendFeatures(*space, code, row)) row.assign(space->names.size(), -1);
            return row;
        };
        const std::size_t h = space->half, nothing = space->nothing;
        // All three nodes hold the input: pooled once, but for the third where a zero is added to it as written.
        const auto same =
            rowOf("|skip_connect~0|+|none~0|skip_connect~1|+|avg_pool_3x3~0|avg_pool_3x3~1|avg_pool_3x3~2|");
        QCOMPARE(same[3], 3.0);
        QCOMPARE(same[7], 2.0);
        QCOMPARE(same[h + 7], 1.0);
        // The 3×3 works on zeros and is used; the 1×1 leads nowhere.
        const auto zeros = rowOf("|none~0|+|none~0|nor_conv_3x3~1|+|skip_connect~0|none~1|avg_pool_3x3~2|");
        QCOMPARE(zeros[h + 2], 1.0);
        QCOMPARE(zeros[h + 6], 0.0);
        QCOMPARE(zeros[nothing], 0.0);
        const auto dead = rowOf("|nor_conv_1x1~0|+|none~0|none~1|+|skip_connect~0|none~1|none~2|");
        QCOMPARE(dead[1], 1.0);
        QCOMPARE(dead[h + 1], 0.0);
        QCOMPARE(dead[nothing], 0.0);
        // No way from the input to the output: a constant, of which two operators of a constant are used.
        const auto constant = rowOf("|nor_conv_1x1~0|+|none~0|none~1|+|none~0|none~1|nor_conv_3x3~2|");
        QCOMPARE(constant[nothing], 1.0);
        QCOMPARE(constant[h + 1], 0.0);
        QCOMPARE(constant[h + 2], 1.0);
        QCOMPARE(constant[nothing - h], 0.0);
    }

    // A constant network takes a thousandth of all others. Known devices say so before any such sample, and so wide an
    // interval is doubted.
    void networksOfWhichNothingIsLeftAreToldApart() {
        EdgeTable table = madeTable(6, 1500, 0.01, true);
        const auto features = edgeFeatures(table);
        QVERIFY(features);
        std::vector<std::size_t> constant, others;
        for (std::size_t r = 0; r < table.networks.size(); ++r)
            (features->row(r)[features->nothing] > 0 ? constant : others).push_back(r);
        QVERIFY(constant.size() >= 8);
        for (auto& device : table.values)
            for (const std::size_t r : constant) device[r] *= 1e-3;
        const auto prior = DevicePrior::learn(*features, std::span(table.values).subspan(1), analyticColumns(table));
        QVERIFY(prior);
        FeatureRows samples = features->none();
        std::vector<double> values;
        for (std::size_t i = 0; i < 12; ++i) {
            samples.add(features->row(others[3 * i]));
            values.push_back(table.values[0][others[3 * i]]);
        }
        const auto model = prior->condition(samples, values);
        QVERIFY(model);
        QVERIFY2(model->drops > 0.9, qPrintable(QString::number(model->drops)));
        for (const std::size_t r : constant) {
            const Predicted told = model->at(features->row(r));
            const double measured = table.values[0][r];
            QVERIFY2(told.mean < 2 * measured && measured < 2 * told.mean, qPrintable(QString::number(told.mean)));
            QVERIFY(told.low <= measured && measured <= told.high);
            QVERIFY(model->doubtful(told));
            QCOMPARE(model->mean(features->row(r)), told.mean);
        }
        // The others are told as if there were none of them.
        double error = 0;
        for (const std::size_t r : others)
            error += std::abs(model->mean(features->row(r)) / table.values[0][r] - 1) / double(others.size());
        QVERIFY2(error < 0.05, qPrintable(QString::number(error)));
    }

    // What closed forms say of samples left out one at a time is what leaving them out says.
    void leftOutSamplesAreToldAsIfTheyHadNotBeenMeasured() {
        const EdgeTable table = madeTable(6, 300, 0.03, false);
        const auto features = edgeFeatures(table);
        const auto prior = DevicePrior::learn(*features, std::span(table.values).subspan(1), analyticColumns(table));
        QVERIFY(prior);
        const auto conditioned = [&](std::size_t without) {
            FeatureRows samples = features->none();
            std::vector<double> values;
            for (std::size_t r = 0; r < 12; ++r) {
                if (r == without) continue;
                samples.add(features->row(r));
                values.push_back(table.values[0][r]);
            }
            return prior->condition(samples, values);
        };
        double error = 0;
        for (std::size_t r = 0; r < 12; ++r) {
            const auto model = conditioned(r);
            QVERIFY(model);
            error += std::abs(model->mean(features->row(r)) / table.values[0][r] - 1) / 12;
        }
        const auto all = conditioned(12);
        QVERIFY(all);
        QVERIFY2(std::abs(all->leftOut / error - 1) < 0.25, qPrintable(QString::number(all->leftOut / error)));
    }

    // Fifty known devices, of which forty are left out by seed: intervals of a new one hold as they say, and are
    // narrow.
    void manyKnownDevicesSayHowFarANewOneIsOff() {
        const EdgeTable table = madeTable(51, 150, 0.02, false);
        const auto features = edgeFeatures(table);
        auto prior = DevicePrior::learn(*features, std::span(table.values).subspan(1), analyticColumns(table));
        QVERIFY(prior && prior->known() > DevicePrior::mostLeftOut);
        const auto shares = [&](std::uint64_t seed) {
            prior->calibrate(*features, std::span(table.values).subspan(1), 10, seed);
            FeatureRows samples = features->none();
            std::vector<double> values;
            for (std::size_t r = 0; r < 10; ++r) samples.add(features->row(r)), values.push_back(table.values[0][r]);
            const auto model = prior->condition(samples, values);
            double held = 0, width = 0;
            for (std::size_t r = 10; model && r < 150; ++r) {
                const Predicted p = model->at(features->row(r));
                held += p.low <= table.values[0][r] && table.values[0][r] <= p.high ? 1. / 140 : 0;
                width += std::log(p.high / p.low) / 140;
            }
            return std::pair(held, width);
        };
        const auto one = shares(1), again = shares(1), other = shares(2);
        qInfo("%.0f %% hold, widths %.3f and %.3f", 100 * one.first, one.second, other.second);
        QVERIFY2(one.first >= 0.9 - 4 * std::sqrt(0.09 / 140), qPrintable(QString::number(one.first)));
        // Noise of 2 % alone makes a 90 % interval 6.6 % wide.
        QVERIFY(one.second < 4 * 0.066);
        QCOMPARE(again, one);
        QVERIFY(other.second != one.second);
    }

    void theSameQuestionGivesTheSameBytes() {
        const EdgeTable table = madeTable(5, 200, 0.02, true);
        EdgeProtocol protocol;
        protocol.repeats = 2;
        const auto one = judgeEdge(table, table, protocol), two = judgeEdge(table, table, protocol);
        QVERIFY(one && two);
        QCOMPARE(one->mean.mape, two->mean.mape);
        QCOMPARE(one->last.back().predicted.high, two->last.back().predicted.high);
        protocol.seed = 2;
        const auto other = judgeEdge(table, table, protocol);
        QVERIFY(other->mean.mape != one->mean.mape);
    }

    void unitsDoNotMatter() {
        EdgeTable table = madeTable(5, 200, 0.02, false);
        EdgeProtocol protocol;
        protocol.targets = {"device0"};
        const auto ms = judgeEdge(table, table, protocol);
        for (double& each : table.values[0]) each *= 1000;
        const auto us = judgeEdge(table, table, protocol);
        QVERIFY(ms && us);
        QVERIFY(std::abs(ms->mean.mape - us->mean.mape) < 1e-9);
    }

    void aNetworkOutsideOfWhatWasSeenIsFlagged() {
        const EdgeTable table = madeTable(4, 100, 0.01, false);
        const auto features = edgeFeatures(table);
        const auto prior = DevicePrior::learn(*features, table.values, analyticColumns(table));
        QVERIFY(prior);
        const auto model = prior->condition(features->none(), {});
        QVERIFY(model);
        std::vector<double> far(features->row(0).begin(), features->row(0).end());
        QVERIFY(model->outside(far) <= 1);
        far[2] = 60;  // 3×3 convolutions of a cell with sixty edges
        QVERIFY(model->outside(far) > 1);
    }

    void badSamplesAreRefused() {
        const EdgeTable table = madeTable(4, 100, 0.01, false);
        const auto features = edgeFeatures(table);
        const auto prior = DevicePrior::learn(*features, table.values, analyticColumns(table));
        FeatureRows one = features->none();
        one.add(features->row(0));
        for (const double bad : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
            const auto model = prior->condition(one, std::array{bad});
            QVERIFY(!model);
            QCOMPARE(model.error().code, std::string("edge.bad-sample"));
        }
        const auto model = prior->condition(one, std::array{2.0});  // one sample is enough for a level
        QVERIFY(model);
        const Predicted p = model->at(features->row(0));
        QVERIFY(p.low <= p.mean && p.mean <= p.high && p.low > 0);
        QVERIFY(!prior->condition(one, {}));
    }

    // A network takes a level times its own factor on every device but for 3 %: one reference tells all.
    void networksByNameAreToldFromOthersDevices() {
        RandomStream random(3);
        std::vector<std::vector<double>> devices;
        std::vector<double> factor;
        for (int n = 0; n < 12; ++n) factor.push_back(std::exp(random.normal()));
        for (int d = 0; d < 15; ++d) {
            devices.emplace_back();
            const double level = std::exp(2 * random.normal());
            for (const double f : factor) devices.back().push_back(level * f * std::exp(0.03 * random.normal()));
        }
        devices[3][5] = std::nan("");
        const std::vector<double> own = devices.back();
        devices.pop_back();
        auto matrix = NetworkMatrix::learn(devices);
        QVERIFY(matrix);
        const std::array<std::size_t, 2> measured{0, 1};
        matrix->tune(measured, 1);
        const auto told = matrix->predict(measured, std::array{own[0], own[1]});
        QVERIFY(told);
        for (std::size_t n = 2; n < own.size(); ++n) QVERIFY(std::abs(std::log((*told)[n].mean / own[n])) < 0.15);
        QVERIFY(!matrix->predict(std::array<std::size_t, 1>{99}, std::array{1.0}));
        QVERIFY(NetworkMatrix::learn(std::span(devices).first(1)));
        QVERIFY(!NetworkMatrix::learn({}));
    }

    // Two kinds of devices, and only their names tell which: one sample sets a level and nothing else.
    void namesTellAKindOfDevice() {
        RandomStream random(5);
        std::vector<std::vector<double>> devices;
        NetworkNames names;
        for (int n = 0; n < 10; ++n) names.networks.push_back("net" + std::to_string(n));
        const auto row = [&](bool npu) {
            std::vector<double> out;
            for (int n = 0; n < 10; ++n)
                out.push_back((npu && n >= 5 ? 4 : 1) * (1 + n) * std::exp(0.02 * random.normal()));
            return out;
        };
        for (int d = 0; d < 16; ++d) {
            devices.push_back(row(d % 2 == 1));
            names.devices.push_back(d % 2 == 1 ? "board npu" : "board cpu");
        }
        auto matrix = NetworkMatrix::learn(devices, names);
        QVERIFY(matrix);
        const std::array<std::size_t, 1> first{0};
        matrix->tune(first, 1);
        const auto npu = matrix->predict(first, std::array{1.0}, "another npu");
        const auto cpu = matrix->predict(first, std::array{1.0}, "another cpu");
        QVERIFY(npu && cpu);
        QVERIFY2((*npu)[8].mean > 2 * (*cpu)[8].mean, qPrintable(QString::number((*npu)[8].mean / (*cpu)[8].mean)));
        // A device of the same group is never what a device is judged by.
        names.groups.assign(16, "one board");
        auto alone = NetworkMatrix::learn(devices, names);
        QVERIFY(alone);
        alone->tune(first, 1);  // nothing to leave out
        QVERIFY(alone->predict(first, std::array{1.0}));
        names.groups.pop_back();
        QVERIFY(!NetworkMatrix::learn(devices, names));
    }

    // A network that no device has, told by what it is made of: its level follows its work on all devices.
    void networksThatNoDeviceHasAreToldByTheirShape() {
        RandomStream random(13);
        NetworkNames names;
        std::vector<double> level;
        for (int n = 0; n < 24; ++n) {
            const double work = 18 + 0.3 * n, calls = 3 + random.uniform();
            names.networks.push_back("net" + std::to_string(n));
            names.shapes.push_back({work, calls});
            level.push_back(0.9 * work + 0.5 * calls - 18);
        }
        std::vector<std::vector<double>> devices;
        for (int d = 0; d < 10; ++d) {
            devices.emplace_back();
            const double own = random.normal();
            for (int n = 0; n < 24; ++n)
                devices.back().push_back(
                    n == 11 ? std::nan("")
                            : std::exp(own + level[static_cast<std::size_t>(n)] + 0.03 * random.normal()));
            names.devices.push_back("device" + std::to_string(d));
        }
        auto matrix = NetworkMatrix::learn(devices, names);
        QVERIFY(matrix);
        QVERIFY(matrix->tells(11));
        const std::array<std::size_t, 3> measured{0, 12, 20};
        matrix->tune(measured, 1);
        std::vector<double> own;
        for (const std::size_t n : measured) own.push_back(std::exp(2 + level[n]));
        const auto told = matrix->predict(measured, own);
        QVERIFY(told);
        const double truth = std::exp(2 + level[11]);
        QVERIFY2(std::abs((*told)[11].mean / truth - 1) < 0.15, qPrintable(QString::number((*told)[11].mean / truth)));
        QVERIFY((*told)[11].low < truth && truth < (*told)[11].high);
        names.shapes.clear();
        QVERIFY(!NetworkMatrix::learn(devices, names)->tells(11));
    }

    void likenessOfNames() {
        const std::array<std::string, 4> names{"yolo5d1w5_160", "yolo5d1w5_192", "resnet18_160", "b"};
        const WordLikeness words(names);
        QCOMPARE(words.between(1, 1), 1.0);
        QVERIFY(words.between(0, 1) > words.between(0, 2));
        QCOMPARE(words.between(0, 3), 0.0);
        QCOMPARE(words.between(0, 2), words.between(2, 0));
        QVERIFY(words.to("YOLO5d1w5_160")[0] > 0.99);
        QCOMPARE(words.to("")[0], 0.0);
    }

    // Two groups of alike networks: one of each is measured first, and what is left never grows.
    void whatSaysMostIsMeasuredFirst() {
        std::vector<double> together(36, 0);
        for (std::size_t i = 0; i < 6; ++i)
            for (std::size_t j = 0; j < 6; ++j) together[i * 6 + j] = i == j ? 1 : (i < 4) == (j < 4) ? 0.9 : 0;
        const std::array<std::size_t, 6> all{0, 1, 2, 3, 4, 5};
        auto own = together;
        const auto chosen = nextSamples(own, 0.1, all, 9);
        QCOMPARE(chosen.size(), std::size_t{6});
        QVERIFY(chosen[0].network < 4);
        QVERIFY(chosen[1].network >= 4);
        double before = 1;
        for (const NextSample& each : chosen) {
            QVERIFY(each.left <= before + 1e-12);
            before = each.left;
        }
        QVERIFY(before < 0.11);
        QVERIFY(nextSamples(together, 0.1, {}, 3).empty());
    }

    // A graph network tells a device of one's own where it is chosen, and its file says the same; of names without a
    // topology there is no graph.
    void aDeviceOfOnesOwnIsToldByAGraphNetwork() {
        const EdgeTable table = madeTable(6, 200, 0.01, false);
        OwnDevice device{"device0", {}};
        for (std::size_t r = 0; r < 30; ++r) device.measured.push_back({table.networks[r], table.values[0][r]});
        BringOptions options;
        options.model = EdgeModel::Graph;
        const auto told = bringDevice(table, device, options);
        QVERIFY2(told, told ? "" : told.error().message.c_str());
        QVERIFY(told->graph());
        std::vector<double> errors;
        for (std::size_t r = 30; r < table.networks.size(); ++r) {
            const Predicted& each = told->told[r].predicted;
            QVERIFY(each.low <= each.mean && each.mean <= each.high);
            errors.push_back(std::abs(each.mean / table.values[0][r] - 1));
        }
        std::sort(errors.begin(), errors.end());
        QVERIFY2(errors[errors.size() / 2] < 0.15, qPrintable(QString::number(errors[errors.size() / 2])));
        const auto file = deviceFileOf(*told, table, device);
        QVERIFY(file);
        const QTemporaryDir folder;
        const QString path = written(folder, "board.json", QByteArray::fromStdString(writeDeviceFile(*file)));
        const auto again = readDeviceFile(path.toStdString());
        QVERIFY2(again, again ? "" : again.error().message.c_str());
        for (std::size_t r = 0; r < table.networks.size(); r += 20) {
            const auto read = again->tell(table.networks[r]);
            QVERIFY(read);
            QVERIFY(std::abs(read->mean / told->told[r].predicted.mean - 1) < 1e-4);
            QVERIFY(std::abs(read->high / told->told[r].predicted.high - 1) < 1e-4);
        }
        // Words of cells tell no other network.
        QCOMPARE(again->tell("fbnet:7 8 1 8 4 8 8 8 7 4 1 4 7 3 2 7 3 2 4 2 4 5").error().code,
                 std::string("edge.other-network"));
        EdgeTable names = table;
        names.space.clear();
        const auto none = bringDevice(names, device, options);
        QVERIFY(!none && none.error().code == "edge.no-graph");
    }

    void aDeviceOfOnesOwnIsToldBetterWithEachSample() {
        const EdgeTable table = madeTable(9, 200, 0.01, false);
        OwnDevice device{"device0", {}};
        const auto none = bringDevice(table, device);
        QVERIFY(none);
        QCOMPARE(none->next.size(), std::size_t{8});
        QCOMPARE(none->knownDevices, std::size_t{8});
        for (std::size_t i = 1; i < none->next.size(); ++i)
            QVERIFY(none->next[i].error <= none->next[i - 1].error + 1e-12);
        for (const NextMeasurement& each : none->next) {
            const auto at = std::find(table.networks.begin(), table.networks.end(), each.network);
            device.measured.push_back(
                {each.network, table.values[0][static_cast<std::size_t>(at - table.networks.begin())]});
        }
        const auto told = bringDevice(table, device);
        QVERIFY(told);
        QVERIFY(told->error < none->error);
        QVERIFY(told->width < none->width);
        // What was learned of the others before says the same.
        const auto others = learnOthers(table, device.name, {});
        QVERIFY(others);
        const auto again = bringDevice(table, device, {}, *others);
        QVERIFY(again && again->told.size() == told->told.size());
        for (std::size_t r = 0; r < told->told.size(); ++r)
            QCOMPARE(again->told[r].predicted.mean, told->told[r].predicted.mean);
        std::vector<double> errors;
        for (std::size_t r = 0; r < table.networks.size(); ++r)
            errors.push_back(std::abs(told->told[r].predicted.mean / table.values[0][r] - 1));
        std::sort(errors.begin(), errors.end());
        QVERIFY2(errors[100] < 0.04, qPrintable(QString::number(errors[100])));
        const auto steps = sampleSteps(table, device);
        QVERIFY(steps);
        QCOMPARE(steps->size(), device.measured.size());
        QVERIFY(std::isnan(steps->back().error));
        BringOptions until;
        until.until = none->next[2].error;
        const auto fewer = bringDevice(table, {"device0", {}}, until);
        QVERIFY(fewer);
        QVERIFY(fewer->next.size() <= 3);
        device.measured.push_back({"no such cell", 3});
        const auto noted = bringDevice(table, device);
        QVERIFY(noted && noted->notes.size() == 1);
        device.measured.push_back({table.networks[0], -1});
        QVERIFY(!bringDevice(table, device));
    }

    // By name, on runs of boards: a new device belongs to none, and what no other has says nothing.
    void aNewDeviceAmongRunsOfBoards() {
        RandomStream random(11);
        EdgeTable table;
        table.path = "made";
        for (int n = 0; n < 14; ++n) {
            table.networks.push_back("net" + std::to_string(n));
            table.index.push_back(n);
        }
        for (int d = 0; d < 8; ++d) {
            table.targets.push_back("board" + std::to_string(d / 2) + " | " + std::to_string(d));
            table.described.push_back(table.targets.back());
            table.groups.push_back("board" + std::to_string(d / 2));
            table.values.emplace_back();
            for (int n = 0; n < 14; ++n)
                table.values.back().push_back((1 + d) * (2 + n) * std::exp(0.05 * random.normal()));
            if (d > 0) table.values.back()[13] = std::nan("");
        }
        const auto none = bringDevice(table, {"mine", {}});
        QVERIFY(none);
        QCOMPARE(none->knownDevices, std::size_t{8});
        QVERIFY(std::isnan(none->error));  // no sample, no level
        QVERIFY(none->told.empty());
        const auto told = bringDevice(table, {"mine", {{"net0", 20}, {"net5", 70}}});
        QVERIFY(told);
        QVERIFY2(std::abs(told->told[9].predicted.mean / 110 - 1) < 0.2,
                 qPrintable(QString::number(told->told[9].predicted.mean)));
        const auto first = bringDevice(table, {table.targets[0], {{"net13", 20}, {"net0", 2}}});
        QVERIFY(first);
        QCOMPARE(first->knownDevices, std::size_t{6});  // not the other run of its board
        QCOMPARE(first->notes.size(), std::size_t{1});  // net13 is its own alone
        OwnDevice many{"mine", {}};
        for (int n = 0; n < 13; ++n)
            many.measured.push_back({table.networks[static_cast<std::size_t>(n)], 10.0 * (2 + n)});
        const auto steps = sampleSteps(table, many);
        QVERIFY(steps);
        QCOMPARE(steps->size(), std::size_t{13});
        QVERIFY(steps->at(8).error < 0.1 && steps->at(8).rank > 0.9);
    }
};

QTEST_GUILESS_MAIN(TestEdge)
#include "tst_edge.moc"
