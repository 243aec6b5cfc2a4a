// Energies by technology (presets/technology/silicon.yaml) against what chips were measured to draw. Nothing of these
// chips is in the table.

#include "base/executor.h"
#include "hardware/area/technology.h"
#include "hardware/files/catalogue.h"
#include "mapping/mapspace_dataflow.h"
#include "methods/array/loop_nest.h"
#include "methods/method.h"

#include <QtTest/QtTest>

using namespace orrery;

namespace {

/// Joules per multiply-accumulate of the convolutions, on the chip alone, and of the parts that are no memory.
struct PerMac {
    double chip = 0, memory = 0;
    std::int64_t macs = 0;
};
PerMac modelled(const char* chip, const char* model, std::int64_t batch, DType type) {
    PerMac sum;
    WorkloadOptions options;
    options.batch = batch;
    options.weights = options.activations = options.kv = type;
    const auto workload = loadWorkload({model, options, {}});
    const auto loaded = loadHardware(chip);
    auto view = loaded ? spatialArrayView(loaded->hardware) : Expected<SpatialArrayView>(Unexpected(loaded.error()));
    if (!workload || !view) return sum;
    view->energyTable = "published";
    view->macEnergy = Joules(0);
    for (ArrayLevel& level : view->levels) level.relativeEnergy = level.energy.value = 0;
    const auto executor = makeThreadExecutor(2);
    SearchContext context{*executor};
    double joules = 0, outside = 0, macs = 0;
    for (const auto& mapped : mapOperators(*view, (*workload)->graph, {}, context)) {
        if (!mapped) continue;
        for (const MappedNest& nest : mapped->nests) {
            if (nest.problem.dimensions.size() < 5) continue;  // convolutions alone
            joules += nest.times * nest.counts().energy;
            macs += nest.times * nest.counts().operations;
            for (std::size_t l = 0; l < mapped->hardware.levels.size(); ++l) {
                if (mapped->hardware.levels[l].dram) outside += nest.times * nest.counts().levels[l].energy;
            }
        }
    }
    sum.macs = static_cast<std::int64_t>(macs);
    sum.chip = (joules - outside) / macs;
    sum.memory = outside / macs;
    return sum;
}

}  // namespace

class TestEnergyChips : public QObject {
    Q_OBJECT
private slots:
    void measuredOverModelled_data() {
        QTest::addColumn<QString>("chip");
        QTest::addColumn<QString>("model");
        QTest::addColumn<int>("batch");
        QTest::addColumn<bool>("bytes");       // 8 bit, else 16
        QTest::addColumn<double>("measured");  // pJ of a multiply-accumulate
        QTest::addColumn<double>("least");
        QTest::addColumn<double>("most");
        // Chen et al., JSSC 2017: 278 mW at 34.7 frames/s of AlexNet's convolutions (666 M multiply-accumulates), 236
        // mW at 0.7 of VGG-16's (15.3 G).
        QTest::newRow("Eyeriss, AlexNet") << "eyeriss-like"
                                          << "alexnet" << 4 << false << 278e-3 / 34.7 / 666e6 * 1e12 << 0.5 << 8.0;
        QTest::newRow("Eyeriss, VGG-16") << "eyeriss-like"
                                         << "vgg-16" << 3 << false << 236e-3 / 0.7 / 15.3e9 * 1e12 << 0.5 << 8.0;
        // Jouppi et al., ISCA 2017, tables 2 and 3: 40 W a die when busy, of which 28 W idle; CNN0 at 86 TOPS.
        QTest::newRow("TPU v1") << "tpu-v1-like"
                                << "resnet-50" << 8 << true << 40.0 / 43e12 * 1e12 << 0.5 << 8.0;
        // Zimmer et al., JSSC 2020: 0.11 pJ an operation, at the lowest of its supplies (0.42 to 1.2 V).
        QTest::newRow("Simba") << "simba-like"
                               << "resnet-50" << 8 << true << 0.22 << 0.5 << 8.0;
    }
    void measuredOverModelled() {
        QFETCH(QString, chip);
        QFETCH(QString, model);
        QFETCH(int, batch);
        QFETCH(bool, bytes);
        QFETCH(double, measured);
        QFETCH(double, least);
        QFETCH(double, most);
        const PerMac sum = modelled(qPrintable(chip), qPrintable(model), batch, bytes ? DType::I8 : DType::I16);
        QVERIFY(sum.macs > 0);
        const double ratio = measured / (sum.chip * 1e12);
        qInfo("%.3g pJ per multiply-accumulate modelled on the chip (%.3g more in DRAM), %.3g measured: ratio %.2f",
              sum.chip * 1e12, sum.memory * 1e12, measured, ratio);
        QVERIFY2(ratio >= least && ratio <= most, qPrintable(QString::number(ratio)));
    }
};

QTEST_GUILESS_MAIN(TestEnergyChips)
#include "tst_energy_chips.moc"
