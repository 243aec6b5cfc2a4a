// Facts of networks by name: read from columns and other tables, and of use to what is told.

#include "evaluation/edge/edge_import.h"
#include "evaluation/edge/edge_judge.h"
#include "evaluation/edge/network_facts.h"
#include "learning/edge/network_matrix.h"
#include "learning/edge/next_samples.h"
#include "support/edge_fixture.h"

#include <QtTest/QtTest>

using namespace orrery;

namespace {

// Networks of work and weights that are drawn; a device takes what its two rates say of both, and noise.
struct World {
    NetworkNames names;
    std::vector<std::vector<double>> devices;
    std::vector<double> own;  // the last device, without noise

    World(std::size_t networks, std::size_t count, double noise, double measured) {
        RandomStream random(31);
        for (std::size_t n = 0; n < networks; ++n) {
            names.networks.push_back("net" + std::to_string(n));
            names.shapes.push_back({random.normal() * 1.2, random.normal() * 1.2});
        }
        for (std::size_t d = 0; d <= count; ++d) {
            const double level = random.normal(), share = random.uniform();
            devices.emplace_back();
            for (const auto& fact : names.shapes) {
                const double exact = level + share * fact[0] + (1 - share) * fact[1];
                const bool there = d == count || random.uniform() < measured;
                devices.back().push_back(there ? std::exp(exact + (d == count ? 0 : noise * random.normal()))
                                               : std::nan(""));
            }
        }
        own = devices.back();
        devices.pop_back();
    }
};

std::vector<double> errorsOf(const NetworkMatrix& matrix, const std::vector<std::size_t>& measured,
                             const std::vector<double>& own, double& inside) {
    std::vector<double> samples, errors;
    for (const std::size_t n : measured) samples.push_back(own[n]);
    const auto told = matrix.predict(measured, samples);
    inside = 0;
    for (std::size_t n = 0; told && n < own.size(); ++n) {
        if (std::find(measured.begin(), measured.end(), n) != measured.end()) continue;
        errors.push_back(std::abs(std::log((*told)[n].mean / own[n])));
        inside += (*told)[n].low <= own[n] && own[n] <= (*told)[n].high ? 1 : 0;
    }
    inside /= static_cast<double>(errors.size());
    std::sort(errors.begin(), errors.end());
    return errors;
}

}  // namespace

class TstNetworkFacts : public QObject {
    Q_OBJECT

private slots:
    void factsAreNumbersOrSides() {
        QCOMPARE(factIn("3.5"), 3.5);
        QCOMPARE(factIn("224x200x3"), 224.0 * 200 * 3);
        QCOMPARE(factIn("8x8x3, 16x16x3"), 192.0);
        QCOMPARE(factIn("4.2 |"), 4.2);  // as one table prints it
        for (const char* none : {"", "0", "-3", "cnn", "4xtwo", "x"}) QVERIFY(std::isnan(factIn(none)));
    }

    void oneNetworkInTwoTables() {
        QCOMPARE(commonName("beit_base.in22k_ft_in1k_224"), commonName("beit_base | 224"));
        QCOMPARE(commonName("ResNet-50"), commonName("resnet_50"));
        QCOMPARE(commonName("net.tag"), std::string("net"));
        // A point within a number parts widths, not trainings.
        QVERIFY(commonName("mobilenet_v1_1.0") != commonName("mobilenet_v1_1.4"));
        QVERIFY(commonName("resnet50_224") != commonName("resnet50_288"));
    }

    // Facts are no targets, and words count where several networks share them.
    void columnsOfFactsAreRead() {
        QTemporaryDir folder;
        QByteArray text = "model_name,type,size_mb,top1,board_ms\n";
        for (int n = 0; n < 9; ++n)
            text += "odd" + QByteArray::number(n) + (n < 4 ? ",cnn," : ",mlp,") +
                    (n == 2 ? QByteArray() : QByteArray::number(1 + n)) + ",70," + QByteArray::number(2 + n) + "\n";
        const auto table = openEdgeTable(written(folder, "t.csv", text).toStdString());
        QVERIFY(table);
        QCOMPARE(table->targets, std::vector<std::string>{"board_ms"});
        QCOMPARE(table->facts, (std::vector<std::string>{"type=cnn", "type=mlp", "size_mb"}));
        QCOMPARE(table->shapes[8], (std::vector<double>{0, 1, std::log(9.0)}));
        QVERIFY(std::isnan(table->shapes[2][2]));
    }

    // A published table finds what its networks are made of among the shipped facts.
    void shippedFactsAreFoundByName() {
        QTemporaryDir folder;
        const auto path = written(folder, "t.csv",
                                  "model_name,type,size_mb,top1,board_ms\nresnet50.a1_in1k_224,cnn,97,80,10\n"
                                  "unheard_of_224,cnn,97,80,12\n");
        const auto table = openEdgeTable(path.toStdString());
        QVERIFY(table);
        const auto work = std::find(table->facts.begin(), table->facts.end(), "gmacs") - table->facts.begin();
        QVERIFY(work < std::ssize(table->facts));
        // 4.1 G multiply-accumulates: He et al., "Deep Residual Learning", table 1 says 3.8 of the first design.
        QVERIFY(std::abs(std::exp(table->shapes[0][static_cast<std::size_t>(work)]) - 4.1) < 0.1);
        QVERIFY(std::isnan(table->shapes[1][static_cast<std::size_t>(work)]));
    }

    // Devices of a table beside are known, and never judged.
    void devicesBesideAreKnownAndNotAsked() {
        EdgeTable table, beside;
        RandomStream random(3);
        table.path = "a", beside.path = "b";
        table.targets = {"mine"}, beside.targets = {"one", "two", "three"};
        table.values.resize(1), beside.values.resize(3);
        for (int n = 0; n < 30; ++n) {
            const double work = std::exp(random.normal());
            table.networks.push_back("net" + std::to_string(n) + ".tag_224");
            beside.networks.push_back("net" + std::to_string(n) + " | 224");
            table.index.push_back(n), beside.index.push_back(n);
            table.values[0].push_back(7 * work);
            for (auto& each : beside.values) each.push_back(work * std::exp(0.02 * random.normal()));
        }
        QVERIFY(!judgeEdge(table, table, {.samples = 3}));  // alone it knows nothing
        QVERIFY(addBeside(table, beside));
        const auto result = judgeEdge(table, table, {.samples = 3});
        QVERIFY(result);
        QCOMPARE(result->targets.size(), std::size_t{1});
        QCOMPARE(result->targets[0].target, std::string("mine"));
        QCOMPARE(result->knownDevices, std::size_t{3});
        QVERIFY2(result->mean.mape < 0.05, qPrintable(QString::number(result->mean.mape)));
        beside.networks.assign(30, "other");
        const auto none = addBeside(table, beside);
        QVERIFY(!none && none.error().code == "edge.no-common");
        beside.space = "fbnet";
        QCOMPARE(addBeside(table, beside).error().code, std::string("edge.space"));
    }

    // Two rates of a device stand in five samples where it is known what networks are made of.
    void devicesDifferAlongFacts() {
        World world(60, 6, 0.03, 1);
        const std::vector<std::size_t> measured{0, 1, 2, 3, 4};
        double inside = 0;
        auto with = NetworkMatrix::learn(world.devices, world.names);
        QVERIFY(with);
        with->tune(measured, 1);
        const auto told = errorsOf(*with, measured, world.own, inside);
        QVERIFY2(told[told.size() / 2] < 0.06, qPrintable(QString::number(told[told.size() / 2])));
        QVERIFY2(inside > 0.8, qPrintable(QString::number(inside)));
    }

    // Most networks on one or two of seven devices, with rests of their own: what only the device left out has must not
    // make its neighbours look sure.
    void intervalsHoldInSparseTables() {
        RandomStream random(17);
        NetworkNames names;
        std::vector<double> network;
        for (int n = 0; n < 80; ++n) {
            names.networks.push_back(std::string(1, static_cast<char>('a' + n % 26)) + std::to_string(n));
            network.push_back(random.normal());
        }
        double inside = 0, all = 0;
        std::vector<std::vector<double>> devices;
        for (int d = 0; d < 7; ++d) {
            devices.emplace_back();
            const double level = random.normal();
            for (const double each : network)
                devices.back().push_back(random.uniform() < 0.2 ? std::exp(level + each + 0.4 * random.normal())
                                                                : std::nan(""));
        }
        for (std::size_t left = 0; left < devices.size(); ++left) {
            auto known = devices;
            const auto own = known[left];
            known.erase(known.begin() + static_cast<std::ptrdiff_t>(left));
            auto matrix = NetworkMatrix::learn(known, names);
            QVERIFY(matrix);
            std::vector<std::size_t> measured;
            std::vector<double> samples;
            for (std::size_t n = 0; n < own.size() && measured.size() < 5; ++n)
                if (own[n] > 0 && matrix->tells(n)) measured.push_back(n), samples.push_back(own[n]);
            matrix->tune(measured, 1);
            const auto told = matrix->predict(measured, samples);
            QVERIFY(told);
            for (std::size_t n = measured.back() + 1; n < own.size(); ++n) {
                if (!(own[n] > 0) || !matrix->tells(n)) continue;
                inside += (*told)[n].low <= own[n] && own[n] <= (*told)[n].high ? 1 : 0;
                all += 1;
            }
        }
        QVERIFY2(inside / all > 0.86, qPrintable(QString("%1 of %2").arg(inside).arg(all)));
    }

    // A network whose times say nothing of others is no sample, however much they vary.
    void whatVariesAloneIsNotMeasured() {
        std::vector<double> together(16, 0);
        for (std::size_t i = 0; i < 4; ++i)
            for (std::size_t j = 0; j < 4; ++j) together[i * 4 + j] = i == j ? 1 : i < 3 && j < 3 ? 0.6 : 0;
        together[15] = 50;
        const std::array<std::size_t, 4> every{0, 1, 2, 3};
        QVERIFY(nextSamples(together, 0.1, every, 1).front().network < 3);
    }
};

QTEST_GUILESS_MAIN(TstNetworkFacts)
#include "tst_network_facts.moc"
