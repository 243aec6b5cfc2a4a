#include "hardware/area/technology.h"
#include "mapping/energy_tables.h"
#include "support/near.h"

#include <QtTest/QtTest>

#include <cmath>

using namespace orrery;
using orrery::test::near;

namespace {

NestHardware memories(std::initializer_list<double> bytes) {
    NestHardware hardware;
    for (const double one : bytes) {
        NestLevel level;
        level.name = std::to_string(one);
        level.capacityWords = one / 2;
        hardware.levels.push_back(level);
    }
    NestLevel dram;
    dram.dram = true;
    hardware.levels.push_back(dram);
    return hardware;
}

}  // namespace

class TestEnergyTables : public QObject {
    Q_OBJECT
private slots:
    // The anchors of the ratio model: 1, 6 and 200 times a 16 bit operation.
    void ratios() {
        QVERIFY(near(ratioSramEnergy(256, 16), 1e-12));
        QVERIFY(near(ratioSramEnergy(51200, 16), 6e-12));
        QVERIFY(near(ratioDramEnergy(16), 200e-12));
        QVERIFY(near(ratioMacEnergy(16), 1e-12));
        QVERIFY(near(ratioMacEnergy(8), 0.25e-12));
        NestHardware hardware = memories({512, 102400});
        applyRatioEnergies(hardware);
        QVERIFY(near(hardware.levels[0].energy.vectorRead, 1e-12));
        QVERIFY(near(hardware.levels[1].energy.vectorUpdate, 6e-12));
        QVERIFY(near(hardware.levels[2].energy.vectorWrite, 200e-12));
        for (const NestLevel& level : hardware.levels) QVERIFY(!level.energy.source.empty());
    }

    void publishedEntriesComeBack() {
        NestHardware hardware = memories({8192, 32768, 1048576});
        hardware.arithmetic.wordBits = 32;
        QVERIFY(applyTechnologyEnergies(hardware, 45));
        QVERIFY(near(hardware.levels[0].energy.vectorRead, 2.5e-12));  // 16 of 64 bits
        QVERIFY(near(hardware.levels[1].energy.vectorRead, 5e-12));
        QVERIFY(near(hardware.levels[2].energy.vectorRead, 25e-12));
        QVERIFY(near(hardware.levels[3].energy.vectorRead, 128e-12));
        QVERIFY(near(hardware.arithmetic.energy, 3.2e-12));
        hardware.arithmetic.wordBits = 8;
        QVERIFY(applyTechnologyEnergies(hardware, 45));
        QVERIFY(near(hardware.arithmetic.energy, 0.23e-12));
    }

    void largerMemoriesCostMore() {
        NestHardware hardware = memories({2, 64, 1024, 9000, 20000, 32768, 50000, 400000, 4e6});
        QVERIFY(applyTechnologyEnergies(hardware, 28));
        for (std::size_t l = 1; l < hardware.levels.size(); ++l) {
            QVERIFY(hardware.levels[l].energy.vectorRead >= hardware.levels[l - 1].energy.vectorRead);
        }
    }

    void everyEntryHasItsSource() {
        QVERIFY(silicon());
        QVERIFY(silicon()->energies.size() >= 15);
        for (const EnergyEntry& entry : silicon()->energies) {
            QVERIFY(entry.energy > 0 && entry.bits > 0 && !entry.source.empty());
        }
    }

    void scaling() {
        QVERIFY(near(technologyEnergyFactor(45, 45).value(), 1));
        // By hand at 0.8 V: 7 nm 0.065358, 45 nm 0.69302.
        QVERIFY(near(technologyEnergyFactor(45, 7).value(), 0.065358 / 0.69302, 1e-4));
        QVERIFY(near(technologyEnergyFactor(45, 16).value() * technologyEnergyFactor(16, 7).value(),
                     technologyEnergyFactor(45, 7).value()));
        double before = technologyEnergyFactor(45, 130).value();
        for (double node = 120; node >= 7; node -= 1) {
            const double now = technologyEnergyFactor(45, node).value();
            if (node < 60) QVERIFY(now <= before * 1.001);
            before = now;
        }
        for (const double outside : {6.0, 180.0, 0.0}) {
            const auto none = technologyEnergyFactor(45, outside);
            QVERIFY(!none);
            QCOMPARE(none.error().code, std::string("energy.technology"));
        }
    }
};

QTEST_GUILESS_MAIN(TestEnergyTables)
#include "tst_energy_tables.moc"
