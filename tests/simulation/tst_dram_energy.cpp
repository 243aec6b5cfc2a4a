// Energy from supply currents: runs worked out by hand, the parts that DRAMsim3 recorded, currents that make no sense,
// devices without any.

#include "base/text/csv_stream.h"
#include "simulation/dram/memory.h"
#include "simulation/dram/ruled/ruled_energy.h"
#include "simulation/dram/ruled/standard_rules.h"
#include "support/ruled_dram_fixture.h"

#include <filesystem>
#include <fstream>
#include <map>

using namespace orrery;
using namespace orrery::dramtest;

namespace {

const std::string recorded = std::string(ORRERY_REFERENCE) + "/dram/dramsim3/";

// Round currents of no device: standby 1 W open and 0.5 W closed, a burst 1 W and a refresh 2 W more.
DramCurrents roundCurrents() {
    DramCurrents out;
    out.id = "round", out.family = "DDR4", out.rate = 3200, out.dataPins = 64, out.gigabits = 64;
    out.rails.push_back({"VDD", 1.0, 1.5, 0.5, 1.0, 2.0, 2.0, 3.0, {}});
    return out;
}

// `key = value` lines.
std::map<std::string, double> numbersOf(const std::string& file) {
    std::map<std::string, double> out;
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);)
        if (const auto at = line.find('='); at != std::string::npos)
            out[line.substr(0, line.find_last_not_of(' ', at - 1) + 1)] = std::strtod(line.c_str() + at + 1, nullptr);
    return out;
}

}  // namespace

class TestDramEnergy : public QObject {
    Q_OBJECT

    static RuledEnergy energyOfRun(const DramRules& rules, const RuledResult& result, DramCurrents currents) {
        auto energy = ruledEnergy(rules, result, std::move(currents));
        if (!energy) qFatal("%s", toText(energy.error()).c_str());
        return std::move(*energy);
    }

private slots:
    // ACT at 1, RD at 23, data to 49: the rank is closed for one cycle and open for 48. A cycle is 0.625 ns.
    void aReadByHand() {
        const DramRules rules = rulesOf(ddr4Yaml());
        const auto result = runOf(rules, {{0, false}}, false);
        QCOMPARE(result.activeCycles, std::int64_t{48});
        QCOMPARE(result.ranks, 1);
        const double cycle = 625e-12;
        const auto energy = energyOfRun(rules, result, roundCurrents());
        const auto& joules = energy.parts.joules;
        QCOMPARE(energy.devices, 1.0);
        // tRC 74, tRAS 52, tRP 22; tBL 4.
        const double expected[] = {(1.5 * 74 - 1.0 * 52 - 0.5 * 22) * cycle, 4 * cycle, 0, 0, 48 * cycle, 0.5 * cycle};
        for (std::size_t i = 0; i < joules.size(); ++i)
            QVERIFY2(std::abs(joules[i] - expected[i]) < 1e-20, DramEnergyParts::names[i].data());
        QCOMPARE(energy.bits, 512.0);
        // Two rails with half the currents each are the same device.
        DramCurrents halves = roundCurrents();
        DramRail& first = halves.rails[0];
        for (double* each : {&first.idd0, &first.idd2n, &first.idd3n, &first.idd4r, &first.idd4w, &first.idd5b})
            *each /= 2;
        halves.rails.push_back(first);
        QCOMPARE(energyOfRun(rules, result, halves).parts.total(), energy.parts.total());
    }
    // A refresh is due at 12480: all banks are closed then, refreshed after tRP 22, and the rank counts as open for
    // tRFC 576. The second read opens its row again at 20001.
    void aRefreshByHand() {
        const DramRules rules = rulesOf(ddr4Yaml());
        const auto result = runOf(rules, {{0, false}, {64, false}}, true, "RoBaRaCoCh", "every20000");
        QCOMPARE(result.rankRefreshes, std::int64_t{1});
        QCOMPARE(result.cycles, std::int64_t{20049});
        QCOMPARE(result.activeCycles, std::int64_t{(12480 - 1) + 576 + 48});
        const auto& joules = energyOfRun(rules, result, roundCurrents()).parts.joules;
        QVERIFY(std::abs(joules[3] - 2.0 * 576 * 625e-12) < 1e-18);
        QVERIFY(std::abs(joules[5] - 0.5 * (20049 - 13103) * 625e-12) < 1e-18);
    }
    // What stands by must be the whole run, rank by rank; four devices of half the pins each take as much as two.
    void ranksAndDevicesAddUp() {
        std::string text = ddr4Yaml();
        text.replace(text.find("[1, 1, 4, 4, 65536"), 18, "[1, 2, 4, 4, 65536");
        const DramRules rules = rulesOf(text);
        std::vector<DramTraceRequest> trace;
        for (std::uint64_t i = 0; i < 3000; ++i)
            trace.push_back({i * 7919 * 64 % (std::uint64_t{1} << 34), i % 3 == 0});
        for (const bool refresh : {false, true}) {
            const auto result = runOf(rules, trace, refresh);
            QCOMPARE(result.ranks, 2);
            QVERIFY(result.activeCycles > 0 && result.activeCycles <= 2 * result.cycles);
            if (refresh) QCOMPARE(result.rankRefreshes, result.counts.commands[int(RuledCommand::RefreshAll)]);
            DramCurrents currents = roundCurrents();
            const auto one = energyOfRun(rules, result, currents).parts;
            const double second = 625e-12;
            const double standby = one.joules[4] / 1.0 + one.joules[5] / 0.5;
            QVERIFY(std::abs(standby / (2.0 * static_cast<double>(result.cycles) * second) - 1) < 1e-12);
            currents.dataPins = 16;
            const auto four = energyOfRun(rules, result, currents).parts;
            for (std::size_t i = 0; i < one.joules.size(); ++i)
                QVERIFY(std::abs(four.joules[i] - 4 * one.joules[i]) <= 1e-12 * four.joules[i]);
        }
    }
    // The other DRAM model of this folder counts the same.
    void bothModelsSayTheSame() {
        const DramStandard standard = dramStandard("ddr4-3200aa").value();
        const DramRules rules = orrery::rulesOf(standard).value();
        const auto result = runOf(rules, {{0, false}}, false);
        const auto ruled = energyOfRun(rules, result, currentsFor(rules).value()).parts;
        DramConfig config;
        config.standard = standard;
        config.refresh = DramRefresh::None;
        config.energy = publishedEnergy(standard).value();
        auto memory = DramMemory::make(config).value();
        std::vector<DramCompletion> done;
        memory.submit({0, 64, 0});
        memory.runTo(result.cycles - 1, done);  // its first activate goes at cycle 0
        const auto other = memory.energy().value();
        for (std::size_t i = 0; i < 5; ++i)
            QVERIFY2(std::abs(ruled.joules[i] - other.joules[i]) <= 1e-9 * ruled.total(),
                     DramEnergyParts::names[i].data());
    }

    // 22 runs recorded of DRAMsim3 with its command counts. Its energies are volts × milliamperes × cycles and must be
    // multiplied by tCK for picojoules (0.63 ns of DDR4-3200; HBM2 has 1 ns). Every part by its own command counts; its
    // standby lies between all rows closed and a row open all the time, of two ranks or eight channels.
    void dramsim3PartByPart() {
        if (!std::filesystem::exists(recorded + "runs.csv")) QSKIP("the recorded runs are not here");
        auto csv = CsvStream::open(recorded + "runs.csv");
        QVERIFY(csv && csv->next().value());
        const std::vector<std::string> header(csv->cells().begin(), csv->cells().end());
        int rows = 0;
        for (; csv->next().value(); ++rows) {
            std::map<std::string, std::string> row;
            for (std::size_t i = 0; i < header.size() && i < csv->cells().size(); ++i) row[header[i]] = csv->cells()[i];
            const auto number = [&](const char* name) { return std::stod(row[name]); };
            const auto count = [&](const char* name) { return std::stoll(row[name]); };
            const auto ini = numbersOf(recorded + "configs/" + row["config"] + ".ini");
            const bool hbm = row["config"].starts_with("HBM");
            const auto currents = loadDramCurrents(hbm ? "hbm2-8gb-x128-2000" : "ddr4-8gb-x8-3200");
            QVERIFY(currents);
            // Our file has the currents that its configuration has.
            const DramRail& rail = currents->rails.at(0);
            for (const auto& [key, amperes] : {std::pair{"IDD0", rail.idd0},
                                               {"IDD2N", rail.idd2n},
                                               {"IDD3N", rail.idd3n},
                                               {"IDD4R", rail.idd4r},
                                               {"IDD4W", rail.idd4w},
                                               {"IDD5AB", rail.idd5b}})
                QVERIFY2(std::abs(ini.at(key) - amperes * 1e3) < 1e-9, key);
            QCOMPARE(rail.volts, ini.at("VDD"));
            QCOMPARE(double(currents->dataPins), ini.at("device_width"));
            const double second = ini.at("tCK") * 1e-9, units = hbm ? 8 : 2;
            const double cycles = number("cycles"), ras = ini.at("tRAS");
            const auto command = commandEnergy(
                *currents,
                {(ras + ini.at("tRP")) * second, ras * second, ini.at("BL") / 2 * second, ini.at("tRFC") * second, 0},
                ini.at("bus_width") / currents->dataPins);
            QVERIFY(command);
            const auto parts = energyOf(*command, {count("act"), count("rd"), count("wr"), count("ref"), 0, 0, 0});
            QVERIFY(parts);
            const char* theirs[] = {"act_energy_pj", "read_energy_pj", "write_energy_pj", "ref_energy_pj"};
            double sum = 0;
            for (std::size_t i = 0; i < std::size(theirs); ++i) {
                const double its = number(theirs[i]) * ini.at("tCK") * 1e-12;
                sum += its;
                QVERIFY2(std::abs(parts->joules[i] - its) <= 6e-6 * its,  // six digits are recorded
                         qPrintable(QString("%1: %2, recorded %3").arg(theirs[i]).arg(parts->joules[i]).arg(its)));
            }
            const double standby = number("total_energy_pj") * ini.at("tCK") * 1e-12 - sum;
            QVERIFY(standby >= command->prechargedStandby * units * cycles * second);
            QVERIFY(standby <= command->activeStandby * units * cycles * second);
        }
        QCOMPARE(rows, 22);
    }
    // The files that no recorded run uses, with the numbers that the configurations of their sources have
    // (github.com/umd-memsys/DRAMsim3, commit 0eb6360 and, of DDR4-2400, 0cb7aea).
    void shippedCurrentsAreThoseOfTheirSource_data() {
        QTest::addColumn<QString>("id");
        QTest::addColumn<QList<double>>("sourced");  // IDD0 IDD2N IDD3N IDD4R IDD4W IDD5AB; rate, pins, Gb, VDD
        QTest::addRow("x4") << "ddr4-8gb-x4-3200" << QList<double>{52, 37, 47, 143, 130, 250, 3200, 4, 8, 1.2};
        QTest::addRow("x16") << "ddr4-8gb-x16-3200" << QList<double>{95, 37, 56, 302, 278, 280, 3200, 16, 8, 1.2};
        QTest::addRow("2400") << "ddr4-8gb-x8-2400" << QList<double>{48, 34, 43, 135, 123, 250, 2400, 8, 8, 1.2};
    }
    void shippedCurrentsAreThoseOfTheirSource() {
        QFETCH(QString, id);
        QFETCH(QList<double>, sourced);
        const auto file = loadDramCurrents(id.toStdString());
        QVERIFY(file && file->rails.size() == 1);
        const DramRail& rail = file->rails[0];
        const QList<double> ours{rail.idd0 * 1e3,  rail.idd2n * 1e3, rail.idd3n * 1e3, rail.idd4r * 1e3,
                                 rail.idd4w * 1e3, rail.idd5b * 1e3, file->rate,       double(file->dataPins),
                                 file->gigabits,   rail.volts};
        for (qsizetype i = 0; i < ours.size(); ++i)
            QVERIFY2(std::abs(ours[i] - sourced[i]) < 1e-9, qPrintable(QString::number(ours[i])));
    }
    // Our own run of its dependent reads (the controllers agree on them) on as many ranks takes 4 to 6 % less. That is
    // its longer run and its one refresh more: with its time, its number of refreshes and ranks that stand as closed
    // while they are refreshed, as there, the total is the recorded one within half a per cent.
    void dramsim3DependentReads() {
        const std::string folder = std::string(ORRERY_REFERENCE) + "/dram/ramulator2/";
        auto rules = readDramRules(folder + "configs/ddr4_3200.yaml");
        auto trace = readDramTrace(folder + "traces/chase_rd_64a.trace");
        if (!rules || !trace || !std::filesystem::exists(recorded + "runs.csv"))
            QSKIP("the recorded runs are not here");
        auto csv = CsvStream::open(recorded + "runs.csv");
        QVERIFY(csv && csv->next().value());
        const std::vector<std::string> header(csv->cells().begin(), csv->cells().end());
        std::map<std::string, std::string> row;
        while (csv->next().value()) {
            if (csv->cells()[0] != "DDR4_8Gb_x8_3200" || csv->cells()[1] != "chase_rd_64a.trace") continue;
            for (std::size_t i = 0; i < header.size() && i < csv->cells().size(); ++i) row[header[i]] = csv->cells()[i];
        }
        QVERIFY(!row.empty());
        const double theirs = std::stod(row["total_energy_pj"]) * std::stod(row["tck_ns"]) * 1e-12;
        rules->count[1] = 2;
        const auto result = runOf(*rules, *trace, true, "RoBaRaCoCh", "chain");
        const auto energy = energyOfRun(*rules, result, currentsFor(*rules).value());
        const double total = energy.parts.total();
        const double longer = std::stod(row["cycles"]) * std::stod(row["tck_ns"]) * 1e-9 / energy.seconds;
        const double refreshes = std::stod(row["ref"]) / static_cast<double>(result.rankRefreshes);
        const auto& parts = energy.parts.joules;
        double opening = 0;  // watts that a rank takes more with a row open
        for (const DramRail& rail : energy.currents.rails)
            opening += energy.devices * rail.volts * (rail.idd3n - rail.idd2n);
        const double closed = std::stod(row["ref"]) *
                              numbersOf(recorded + "configs/" + row["config"] + ".ini").at("tRFC") *
                              std::stod(row["tck_ns"]) * 1e-9 * opening;
        const double asLong =
            parts[0] + parts[1] + parts[2] + refreshes * parts[3] + longer * (parts[4] + parts[5]) - closed;
        qInfo("%.2f uJ, recorded %.2f; %.3f times as long, %.2f times the refreshes: %.2f", total * 1e6, theirs * 1e6,
              longer, refreshes, asLong * 1e6);
        QVERIFY(std::abs(asLong / theirs - 1) < 0.005);
        QVERIFY(total < 0.96 * theirs && total > 0.94 * theirs);
    }

    void filesThatMakeNoSenseAreRefused_data() {
        QTest::addColumn<QString>("what");
        QTest::addColumn<QString>("with");
        QTest::addColumn<QString>("key");
        QTest::addRow("kind") << "dram-currents/1"
                              << "core/1"
                              << "dram-currents/1";
        QTest::addRow("no family") << "family: DDR4"
                                   << "familiar: DDR4"
                                   << "family";
        QTest::addRow("no rate") << "rate: 3200"
                                 << "rate: fast"
                                 << "rate";
        QTest::addRow("no pins") << "data_pins: 8"
                                 << "data_pins: 0"
                                 << "data_pins";
        QTest::addRow("no density") << "gigabits: 8\n"
                                    << ""
                                    << "gigabits";
        QTest::addRow("no source") << "source: x"
                                   << "sauce: x"
                                   << "source";
        QTest::addRow("no rails") << "rails:"
                                  << "railings:"
                                  << "rails";
        QTest::addRow("a rail that is none") << "- {name"
                                             << "- none\n  - {name"
                                             << "rails";
        QTest::addRow("a current less") << "idd4w: 150, "
                                        << ""
                                        << "idd4w";
        QTest::addRow("a negative current") << "idd0: 57"
                                            << "idd0: -57"
                                            << "idd0";
        QTest::addRow("bursts below standby") << "idd4r: 168"
                                              << "idd4r: 16"
                                              << "idd4r";
        QTest::addRow("open below closed") << "idd2n: 37"
                                           << "idd2n: 77"
                                           << "idd3n";
    }
    void filesThatMakeNoSenseAreRefused() {
        QFETCH(QString, what);
        QFETCH(QString, with);
        QFETCH(QString, key);
        QString text =
            "orrery: dram-currents/1\nfamily: DDR4\nrate: 3200\ndata_pins: 8\ngigabits: 8\nbasis: x\nsource: "
            "x\nrails:\n"
            "  - {name: VDD, volts: 1.2, idd0: 57, idd2n: 37, idd3n: 52, idd4r: 168, idd4w: 150, idd5b: 250}\n";
        QVERIFY(readDramCurrents(text.toStdString(), "good.yaml"));
        QVERIFY(text.contains(what));
        text.replace(what, with);
        const auto read = readDramCurrents(text.toStdString(), "bad.yaml");
        QVERIFY(!read);
        const auto message = toText(read.error());
        QCOMPARE(read.error().code, std::string("dram.currents"));
        QVERIFY2(message.find(key.toStdString()) != std::string::npos && read.error().place.line > 0, message.c_str());
    }
    void currentsOfAnotherDeviceAreRefused() {
        // A row cycle that is mostly standby leaves nothing for the activate.
        DramCurrents currents = roundCurrents();
        currents.rails[0].idd0 = 0.5;
        const DramRules rules = rulesOf(ddr4Yaml());
        const auto energy = ruledEnergy(rules, runOf(rules, {{0, false}}, false), currents);
        QVERIFY(!energy);
        QCOMPARE(energy.error().code, std::string("dram.currents"));
    }
    // Currents of 8 Gb are not those of 16 Gb, nor those of fewer banks; nothing is at hand for them.
    void currentsOfAnotherDensityAreNotTaken() {
        QVERIFY(currentsFor(rulesOf(ddr4Yaml())));
        std::string twice = ddr4Yaml();
        twice.replace(twice.find("65536"), 5, "131072");
        const auto none = currentsFor(rulesOf(twice));
        QVERIFY(!none);
        QCOMPARE(none.error().code, std::string("dram.no-currents"));
        QVERIFY2(none.error().message.find("16 Gb") != std::string::npos, none.error().message.c_str());
        // Named all the same, they are told apart by each of what differs.
        const auto currents = loadDramCurrents("ddr4-8gb-x8-3200").value();
        QCOMPARE(unlike(currents, deviceOf(rulesOf(ddr4Yaml()))).size(), std::size_t{0});
        QCOMPARE(unlike(currents, deviceOf(rulesOf(twice))).size(), std::size_t{1});
        QCOMPARE(unlike(currents, {"LPDDR5", 6400, 16, 0x1p29}).size(), std::size_t{3});
        QCOMPARE(unlike(currents, {"LPDDR5", 6400, 16, 0x1p30}).size(), std::size_t{4});
    }
    // What was sent takes its time; a file without that time is not one whose commands are free.
    void aTimingThatIsNotThereIsNoZero() {
        DramRules rules = rulesOf(ddr4Yaml());
        const auto result = runOf(rules, {{0, false}, {64, false}}, true, "RoBaRaCoCh", "every20000");
        for (const char* name : {"nRFC", "nRC", "nRAS"}) {
            DramRules without = rules;
            *std::ranges::find(without.timingNames, name) = "nNothing";
            const auto energy = ruledEnergy(without, result, roundCurrents());
            QVERIFY2(!energy, name);
            QCOMPARE(energy.error().code, std::string("dram.currents"));
            QVERIFY(energy.error().message.find(name) != std::string::npos);
        }
        RuledResult never = result;
        never.rankRefreshes = 0;
        *std::ranges::find(rules.timingNames, "nRFC") = "nNothing";
        QVERIFY(ruledEnergy(rules, never, roundCurrents()));
    }
    // A rank stands by as open while it has a row open or a bank in refresh, each cycle once: counted cycle by cycle
    // from the commands. Refreshes of 300 come every 220 and overlap.
    void bankRefreshesKeepTheirRankOpen() {
        const DramRules rules = rulesOf(halfClockYaml());
        for (const std::int64_t gap : {5000, 40}) {
            const auto map = RuledAddressMap::make(rules, "RoBaRaCoCh").value();
            std::vector<DramTraceRequest> trace;
            for (std::uint64_t i = 0; i < (gap > 1000 ? 3u : 200u); ++i) trace.push_back({i * 7919 * 32, i % 4 == 3});
            RuledRecord record;
            const auto result = runRuledDram(rules, map, true, {gap, false}, trace, {}, &record).value();
            QVERIFY(!record.cut);
            QCOMPARE(rules.banksPerRank(), std::int64_t{16});
            QCOMPARE(result.ranks, 4);
            std::int64_t active = 0;
            for (int rank = 0; rank < result.ranks; ++rank) {
                std::vector<char> on(static_cast<std::size_t>(result.cycles), 0);
                std::map<int, std::int64_t> open;
                const auto mark = [&](std::int64_t from, std::int64_t to) {
                    for (std::int64_t c = from; c < std::min(to, result.cycles); ++c)
                        on[static_cast<std::size_t>(c)] = 1;
                };
                for (const RuledIssued& one : record.issued) {
                    if (one.bank / 16 != rank) continue;
                    if (one.command == RuledCommand::Activate) open[one.bank] = one.cycle;
                    if (one.command == RuledCommand::Precharge) mark(open[one.bank], one.cycle), open.erase(one.bank);
                    if (one.command == RuledCommand::RefreshBank) mark(one.cycle, one.cycle + 300);
                }
                for (const auto& [bank, since] : open) mark(since, result.cycles);
                active += std::ranges::count(on, 1);
            }
            QCOMPARE(result.activeCycles, active);
        }
    }
    // The other DRAM model likewise: nobody asks for anything, a bank after the other is refreshed for 108 cycles, and
    // its rank stands by as open for so long.
    void bankRefreshesKeepTheOtherModelsRankOpen() {
        DramConfig config;
        config.standard = dramStandard("lpddr4-2400").value();
        config.refresh = DramRefresh::PerBank;
        const double second = config.standard.timing.clockPicoseconds * 1e-12;
        config.energy = DramCommandEnergy{.refreshBank = 3.0, .activeStandby = 2.0, .prechargedStandby = 1.0};
        auto memory = DramMemory::make(config).value();
        std::vector<DramCompletion> done;
        memory.submit({0, 64, 0});
        memory.runTo(40000, done);
        const auto n = memory.statistics().bankRefreshes;
        QVERIFY(n > 50);
        const auto& joules = memory.energy().value().joules;
        QCOMPARE(joules[3], 3.0 * static_cast<double>(n));
        // The request's own row is open until it is refreshed; the last refresh may be cut by the end.
        const double active = joules[4] / 2.0 / second, closed = joules[5] / second;
        QVERIFY(std::abs(active + closed - 40000) < 1e-6);
        QVERIFY2(active > 108.0 * static_cast<double>(n - 1), qPrintable(QString::number(active)));
        QVERIFY2(active < 108.0 * static_cast<double>(n) + 5000, qPrintable(QString::number(active)));
    }
    // Refreshes bank by bank need a current of their own.
    void bankRefreshesNeedTheirCurrent() {
        const DramRules rules = rulesOf(halfClockYaml());
        const auto result = runOf(rules, {{0, false}, {32, false}}, true, "RoBaRaCoCh", "every5000");
        const std::int64_t refreshes = result.counts.commands[int(RuledCommand::RefreshBank)];
        QVERIFY(refreshes > 0);
        DramCurrents currents = roundCurrents();
        QVERIFY(!ruledEnergy(rules, result, currents));
        currents.rails[0].idd5pb = 1.5;
        // 0.5 A over standby for tRFCpb 300 of 0.312 ns, in half a device.
        const auto energy = ruledEnergy(rules, result, currents);
        QVERIFY(energy);
        const double expected = static_cast<double>(refreshes) * 0.5 * 300 * 312e-12 / 2;
        QVERIFY(std::abs(energy->parts.joules[3] / expected - 1) < 1e-12);
    }
    // What nobody has published is not made up.
    void standardsWithoutCurrentsHaveNone() {
        int with = 0;
        for (const DramStandard& each : dramStandards()) {
            const auto energy = publishedEnergy(each);
            // HBM2's currents are of a channel of 4 Gb; the built-in stack has 8.
            const bool known = each.id == "ddr4-3200aa" || each.id == "ddr4-2400r";
            QVERIFY2(energy.has_value() == known, each.id.c_str());
            if (!energy) QCOMPARE(energy.error().code, std::string("dram.no-currents"));
            with += known;
        }
        QCOMPARE(with, 2);
        for (const std::string& id : dramCurrentsIds()) {
            const auto currents = loadDramCurrents(id);
            QVERIFY2(currents, id.c_str());
            QVERIFY2(!currents->source.empty() && !currents->basis.empty(), id.c_str());
        }
        const auto none = loadDramCurrents("ddr9");
        QVERIFY(!none && none.error().expected.find("ddr4-8gb-x8-3200") != std::string::npos);
    }
};

QTEST_GUILESS_MAIN(TestDramEnergy)
#include "tst_dram_energy.moc"
