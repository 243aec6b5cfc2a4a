// Energy of drawn DRAM by the supply currents of its devices, and estimates that use it: by hand from the data sheets'
// numbers in presets/memory, against recorded runs of DRAMsim3, and what has no currents.

#include "base/text/csv_stream.h"
#include "hardware/files/catalogue.h"
#include "methods/answer/dram_energy.h"
#include "methods/method.h"
#include "support/near.h"
#include "workload/workload.h"

#include <QtTest/QtTest>

#include <cmath>
#include <filesystem>
#include <map>

using namespace orrery;
using orrery::test::near;

namespace {

HardwarePtr drawn(const char* id, std::initializer_list<std::pair<const char*, const char*>> changes = {}) {
    Hardware hardware = loadHardware(id)->hardware;
    for (const auto& [path, value] : changes) hardware = withAttribute(std::move(hardware), path, value).value();
    return std::make_shared<const Hardware>(std::move(hardware));
}

Expected<DrawnDramEnergy> energyOf(const HardwarePtr& hardware) {
    return drawnDramEnergy(deviceView(*hardware)->main(), *hardware);
}

Estimate answerOf(const char* method, const HardwarePtr& hardware) {
    WorkloadRecipe recipe{"resnet-18", {}};
    recipe.options.weights = recipe.options.activations = DType::F32;
    recipe.options.image = 224;
    const auto executor = makeSerialExecutor();
    EstimateContext context{*executor, {}};
    return estimate(*findMethod(method), {hardware, *loadWorkload(recipe)}, context).value();
}

// DDR4-3200 of 8 Gb and 8 data pins in joules: 1.2 V; IDD0 57, IDD2N 37, IDD3N 52, IDD4R 168, IDD5B 250 mA; tRC 46.25,
// tRAS 32.5, tRFC 350 ns, a refresh every 7.8 us; a burst of 8 bytes takes 2.5 ns, a row has 1 KiB.
constexpr double burst = 1.2 * (168e-3 - 52e-3) * 2.5e-9;
constexpr double opening = 1.2 * (57e-3 * 46.25e-9 - 52e-3 * 32.5e-9 - 37e-3 * 13.75e-9);
constexpr double perByte = burst / 8 + opening / 1024;
constexpr double chipWatts = 1.2 * (52e-3 + (250e-3 - 52e-3) * 350 / 7800);

const std::string recorded = ORRERY_REFERENCE "/dram/dramsim3/runs.csv";

}  // namespace

class TestDrawnDram : public QObject {
    Q_OBJECT

private slots:
    void modulesByHand() {
        const auto server = energyOf(drawn("core-i9-10940x", {{"ddr4.timing", "DDR4-3200"}}));
        QVERIFY2(server, server ? "" : server.error().message.c_str());
        QCOMPARE(server->devices, 64.0);  // 64 GB of 8 Gb
        QVERIFY(near(server->reading.value, perByte, 1e-9));
        QVERIFY(near(server->standing.value, 64 * chipWatts, 1e-9));
        QVERIFY(!server->stacked);
        // Ranks and channels that are drawn tell the chips apart: 16 data pins each have currents of their own.
        const auto wide = energyOf(drawn("core-i9-10940x", {{"ddr4.timing", "DDR4-3200"}, {"ddr4.chips", "4"},
                                                            {"ddr4.ranks", "4"}}));
        QVERIFY2(wide, wide ? "" : wide.error().message.c_str());
        QVERIFY(wide->title.find("16 data pins") != std::string::npos);
        QVERIFY(near(wide->standing.value, 64 * 1.2 * (56e-3 + (280e-3 - 56e-3) * 350 / 7800), 1e-9));
        QVERIFY(wide->read.uses(wide->read.parts.front().path, "chips"));
        // A Xeon of 128 GB beside UPMEM's modules.
        const auto host = energyOf(drawn("upmem-server"));
        QVERIFY2(host, host ? "" : host.error().message.c_str());
        QCOMPARE(host->devices, 128.0);
        QVERIFY(host->title.find("DDR4-2400") != std::string::npos);
    }
    // A stack of 4 GB has eight channels of 4 Gb: 1.2 V; 65, 40, 55, 390, 250 mA; tRC 48, tRAS 34, tRFC 260 ns every
    // 3.9 us; 64 bytes in 2 ns.
    void stacksByHand() {
        const auto four = energyOf(drawn("mi100-hbm-pim", {{"hbm_pim.capacity", "4 GB"}}));
        QVERIFY2(four, four ? "" : four.error().message.c_str());
        QCOMPARE(four->devices, 32.0);
        const double open = 1.2 * (65e-3 * 48e-9 - 55e-3 * 34e-9 - 40e-3 * 14e-9);
        QVERIFY(near(four->reading.value, 1.2 * 335e-3 * 2e-9 / 64 + open / 2048, 1e-9));
        QVERIFY(near(four->standing.value, 32 * 1.2 * (55e-3 + 195e-3 * 260 / 3900), 1e-9));
        QVERIFY(four->stacked && four->read.uses(four->read.parts.front().path, "channels"));
        const auto six = energyOf(drawn("mi100-hbm-pim"));
        QVERIFY(!six && six.error().code == "dram.no-currents");
        QVERIFY2(six.error().message.find("6 Gb") != std::string::npos, six.error().message.c_str());
    }
    void whatHasNoCurrentsSaysSo() {
        for (const char* id : {"epyc-9654", "core-i9-10940x", "apple-m1-cpu", "h100-sxm", "p100", "tpu-v4"}) {
            const auto hardware = drawn(id);
            const auto none = energyOf(hardware);
            QVERIFY2(!none && none.error().code == "dram.no-currents", id);
            const std::string timing = deviceView(*hardware)->main().timing;
            QVERIFY2(none.error().message.find(timing) != std::string::npos, none.error().message.c_str());
        }
        // A family without a rate, a rate that begins as another.
        for (const char* timing : {"DDR4", "DDR4-24", "DDR4-240", "", "-", "DDR4-"})
            QVERIFY2(!energyOf(drawn("core-i9-10940x", {{"ddr4.timing", timing}})), timing);
    }
    // Two ranks of eight devices, 3,000 reads in a row: DRAMsim3 counts volts x milliamperes x cycles of 0.63 ns. Its
    // rows are closed for a part of the time, when standing by takes a third less.
    void aStreamOfDramsim3() {
        if (!std::filesystem::exists(recorded)) QSKIP("the recorded runs are not here");
        auto csv = CsvStream::open(recorded);
        QVERIFY(csv && csv->next().value());
        const std::vector<std::string> header(csv->cells().begin(), csv->cells().end());
        const auto dram = energyOf(drawn("core-i9-10940x", {{"ddr4.timing", "DDR4-3200"}})).value();
        int seen = 0;
        while (csv->next().value()) {
            std::map<std::string, std::string> row;
            for (std::size_t i = 0; i < header.size(); ++i) row[header[i]] = csv->cells()[i];
            if (row["config"] != "DDR4_8Gb_x8_3200" || row["trace"] != "stream_rd_64a.trace" || row["injection"] != "asap")
                continue;
            ++seen;
            const auto value = [&](const char* name) { return std::stod(row[name]); };
            const double cycle = value("tck_ns") * 1e-9, joules = 1e-12 * value("tck_ns");
            const double bytes = 64 * value("reads");
            QVERIFY(near(bytes * (dram.reading.value - opening / 1024), joules * value("read_energy_pj"), 0.01));
            const double all =
                bytes * dram.reading.value + 16 / dram.devices * dram.standing.value * cycle * value("cycles");
            qInfo("stream: %.3g J, DRAMsim3 %.3g J", all, joules * value("total_energy_pj"));
            QVERIFY(near(all, joules * value("total_energy_pj"), 0.1));
        }
        QCOMPARE(seen, 1);
    }
    void estimatesUseIt_data() {
        QTest::addColumn<QString>("method");
        for (const char* id : {"roofline", "cpu-roofline", "core-windows"}) QTest::newRow(id) << QString(id);
    }
    // Against the same design whose memory states the energy of a byte: what standing by adds, and the words.
    void estimatesUseIt() {
        QFETCH(QString, method);
        const QByteArray id = method.toLatin1();
        const auto plain = drawn("core-i9-10940x", {{"ddr4.timing", "DDR4-3200"}});
        const auto stated = drawn("core-i9-10940x", {{"ddr4.timing", "DDR4-3200"}, {"ddr4.energy", "50 pJ/B"}});
        const auto unknown = drawn("core-i9-10940x");
        const Estimate by = answerOf(id, plain), with = answerOf(id, stated), without = answerOf(id, unknown);
        double bytes = 0, seconds = 0;
        for (std::size_t i = 0; i < by.operators.size(); ++i) {
            bytes += by.operators.bytes[i];
            seconds += by.operators.seconds[i];
        }
        const double dram = bytes * perByte + 64 * chipWatts * seconds;
        QVERIFY(by.energy && with.energy && without.energy);
        QVERIFY(near(by.energy->value - with.energy->value, dram - bytes * 50e-12, 1e-6));
        QVERIFY(near(without.energy->value - with.energy->value, bytes * (78.4e-12 - 50e-12), 1e-6));
        const auto figure = [](const Estimate& e) { return std::ranges::find(e.figures, "DRAM energy", &Figure::label); };
        QVERIFY(figure(by) != by.figures.end() && near(figure(by)->value, dram, 1e-9));
        QVERIFY(figure(with) == with.figures.end() && figure(without) == without.figures.end());
        const auto says = [](const Estimate& e, std::string_view words) {
            return std::ranges::any_of(e.assumptions,
                                       [&](const std::string& each) { return each.find(words) != std::string::npos; });
        };
        QVERIFY(says(by, "by supply currents of its 64 devices (DDR4-3200, 8 Gb, 8 data pins)"));
        QVERIFY(says(without, "no supply currents of DDR4-2933 are at hand"));
        QVERIFY(!says(with, "supply currents"));
    }
};

QTEST_GUILESS_MAIN(TestDrawnDram)
#include "tst_drawn_dram.moc"
