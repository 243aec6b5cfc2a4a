// A channel whose rules are a file: cycles worked out by hand and recorded of Ramulator 2.1, conservation, bounds,
// jumps in time that change nothing, and files that make no sense.

#include "base/random.h"
#include "base/text/csv_stream.h"
#include "simulation/dram/ruled/binding.h"
#include "simulation/dram/ruled/counted_bounds.h"
#include "simulation/dram/ruled/standard_rules.h"
#include "support/plain_dram.h"
#include "support/ruled_dram_fixture.h"

#include <array>
#include <filesystem>
#include <map>
#include <numeric>

using namespace orrery;
using namespace orrery::dramtest;

namespace {

const std::string recorded = std::string(ORRERY_REFERENCE) + "/dram/ramulator2/";

std::vector<DramTraceRequest> someTraffic(int n, std::uint64_t seed, double writes, std::uint64_t span) {
    RandomStream random(seed);
    std::vector<DramTraceRequest> out;
    std::uint64_t at = 0;
    for (int i = 0; i < n; ++i) {
        at =
            random.uniform() < 0.6 ? at + 64 : static_cast<std::uint64_t>(random.uniform() * static_cast<double>(span));
        out.push_back({at & ~std::uint64_t{63}, random.uniform() < writes});
    }
    return out;
}

std::string replaced(std::string text, const std::string& what, const std::string& with) {
    const auto at = text.find(what);
    if (at == std::string::npos) qFatal("'%s' is not in the configuration", what.c_str());
    return text.replace(at, what.size(), with);
}

}  // namespace

class TestRuledDram : public QObject {
    Q_OBJECT

private slots:
    // ACT at 1, RD after tRCD 22, data after CL 22 + BL 4: 49. The same cycles were recorded of Ramulator 2.1.
    void aFewRequestsToTheCycle_data() {
        QTest::addColumn<QString>("trace");
        QTest::addColumn<QList<int>>("done");
        QTest::addColumn<int>("forwarded");
        QTest::addColumn<int>("merged");
        QTest::addRow("read") << "R 0" << QList<int>{49} << 0 << 0;
        QTest::addRow("write") << "W 0" << QList<int>{23} << 0 << 0;
        QTest::addRow("hit") << "R 0\nR 0x40" << QList<int>{49, 57} << 0 << 0;
        QTest::addRow("conflict") << "R 0\nR 0x20000" << QList<int>{49, 123} << 0 << 0;
        QTest::addRow("other group") << "R 0\nR 0x2000" << QList<int>{49, 53} << 0 << 0;
        QTest::addRow("other bank") << "R 0\nR 0x8000" << QList<int>{49, 57} << 0 << 0;
        QTest::addRow("write after read") << "R 0\nW 0x40" << QList<int>{49, 35} << 0 << 0;
        QTest::addRow("read after write") << "W 0\nR 0x40" << QList<int>{23, 81} << 0 << 0;
        QTest::addRow("eight banks") << "R 0\nR 0x2000\nR 0x4000\nR 0x6000\nR 0x8000\nR 0xa000\nR 0xc000\nR 0xe000"
                                     << QList<int>{49, 53, 57, 61, 84, 88, 92, 96} << 0 << 0;
        QTest::addRow("conflicts") << "R 0\nR 0x20000\nR 0x40000\nR 0x60000" << QList<int>{49, 123, 197, 271} << 0 << 0;
        // A write that has opened its row can be read no more from the buffer: WR at 23, RD after CWL 16 + BL 4 + WTR_L
        // 12, data after CL 22 + BL 4.
        QTest::addRow("a write that has begun") << "W 0\nR 0" << QList<int>{23, 81} << 0 << 0;
        // The second write waits for the first one's row: PRE after CWL 16 + BL 4 + WR 24, ACT after RP 22, WR after
        // RCD
        // 22. A read of it returns in the next cycle, a write to it is absorbed.
        QTest::addRow("forwarded") << "W 0\nW 0x20000\nR 0x20000" << QList<int>{23, 111, 3} << 1 << 0;
        QTest::addRow("merged") << "W 0\nW 0x20000\nW 0x20000" << QList<int>{23, 111, 2} << 0 << 1;
    }
    void aFewRequestsToTheCycle() {
        QFETCH(QString, trace);
        QFETCH(QList<int>, done);
        QFETCH(int, forwarded);
        QFETCH(int, merged);
        const auto requests = readDramTrace(std::string_view(trace.toStdString()), std::string("t"));
        QVERIFY(requests.has_value());
        auto rules = rulesOf(ddr4Yaml());
        const auto result = runOf(rules, *requests, false);
        for (int i = 0; i < done.size(); ++i) {
            QCOMPARE(result.accepted[static_cast<std::size_t>(i)], std::int64_t{i});
            QCOMPARE(result.done[static_cast<std::size_t>(i)], std::int64_t{done[i]});
        }
        QCOMPARE(result.counts.forwarded, std::int64_t{forwarded});
        QCOMPARE(result.counts.merged, std::int64_t{merged});
    }

    void nothingIsLostAndNothingBeatsTheBus_data() {
        QTest::addColumn<QString>("mapping");
        QTest::addColumn<bool>("refresh");
        QTest::addColumn<double>("writes");
        for (const char* mapping : {"RoBaRaCoCh", "MOP4CLXOR"})
            for (const bool refresh : {false, true})
                for (const double writes : {0.0, 0.3, 1.0})
                    QTest::addRow("%s %d %.1f", mapping, refresh, writes) << mapping << refresh << writes;
    }
    void nothingIsLostAndNothingBeatsTheBus() {
        QFETCH(QString, mapping);
        QFETCH(bool, refresh);
        QFETCH(double, writes);
        const auto rules = rulesOf(ddr4Yaml());
        const auto trace = someTraffic(3000, 7, writes, 1u << 24);
        const auto r = runOf(rules, trace, refresh, mapping.toUtf8());
        const auto& c = r.counts;
        const auto commands = [&](RuledCommand command) { return c.commands[static_cast<int>(command)]; };
        QCOMPARE(commands(RuledCommand::Read) + c.forwarded, r.reads);
        QCOMPARE(commands(RuledCommand::Write) + c.merged, r.writes);
        QCOMPARE(c.rowHits + c.rowMisses + c.rowConflicts,
                 commands(RuledCommand::Read) + commands(RuledCommand::Write));
        QVERIFY(commands(RuledCommand::Activate) >= commands(RuledCommand::Precharge));
        QCOMPARE(commands(RuledCommand::RefreshAll) > 0, refresh && r.cycles > 13'100);
        QVERIFY(r.bytesPerSecond <= rules.peakBandwidth());
        for (std::size_t i = 0; i < trace.size(); ++i) {
            QVERIFY(r.done[i] >= r.accepted[i]);
            if (i > 0) QVERIFY(r.accepted[i] > r.accepted[i - 1]);
        }
        // What the data bus waited for is all of its time.
        const auto waited = std::accumulate(r.waits.begin(), r.waits.end(), std::int64_t{0});
        QVERIFY(waited <= r.cycles && waited + rules.readLatency + 100 >= r.cycles);
    }

    void jumpsInTimeChangeNothing_data() {
        QTest::addColumn<QString>("below");
        QTest::addColumn<QString>("injection");
        QTest::addColumn<double>("writes");
        QTest::addColumn<int>("span");
        QTest::addRow("now and then") << "0.2"
                                      << "every7" << 0.4 << (1 << 22);
        QTest::addRow("as soon as there is room") << "0.2"
                                                  << "asap" << 0.4 << (1 << 22);
        // Full buffers still answer what is written to a place that waits already.
        QTest::addRow("few places, written again and again") << "0.2"
                                                             << "asap" << 0.9 << (1 << 12);
        QTest::addRow("few places, written and read") << "0.2"
                                                      << "every3" << 0.6 << (1 << 12);
        QTest::addRow("a watermark above the other") << "0.9"
                                                     << "every7" << 0.4 << (1 << 22);
    }
    void jumpsInTimeChangeNothing() {
        QFETCH(QString, below);
        QFETCH(QString, injection);
        QFETCH(double, writes);
        QFETCH(int, span);
        const auto rules =
            rulesOf(replaced(ddr4Yaml(), "wr_low_watermark: 0.2", "wr_low_watermark: " + below.toStdString()));
        const auto map = RuledAddressMap::make(rules, "MOP4CLXOR");
        const auto trace = someTraffic(1500, 11, writes, static_cast<std::uint64_t>(span));
        const auto jumped = runOf(rules, trace, true, "MOP4CLXOR", injection.toUtf8());
        const auto every = RuledInjection::parse(injection.toStdString())->every;
        // The same, one cycle after the other.
        RuledDramController<> controller(rules, true);
        std::vector<RuledDone> done;
        std::vector<std::int64_t> cycle(trace.size(), -1);
        std::size_t next = 0;
        std::int64_t earliest = 0;
        while (next < trace.size() || !controller.idle()) {
            const auto now = controller.now();
            if (next < trace.size() && now >= earliest) {
                const auto answer =
                    controller.offer(static_cast<int>(next), trace[next].write, map->place(trace[next].address));
                if (answer != RuledOffer::Refused) {
                    if (answer == RuledOffer::Forwarded) cycle[next] = now + 1;
                    if (answer == RuledOffer::Merged) cycle[next] = now;
                    earliest = now + every;
                    ++next;
                }
            }
            done.clear();
            controller.tick(done);
            for (const auto& one : done) cycle[static_cast<std::size_t>(one.request)] = one.cycle;
        }
        QVERIFY(cycle == jumped.done);
    }

    // Every number of the fast controller is that of the plain one: all controllers, one word of banks and several,
    // lanes of every size for which it is compiled.
    void aPlainTwinSaysTheSame_data() {
        QTest::addColumn<QString>("config");
        for (const char* id : {"ddr4-3200aa", "ddr5-4800b", "gddr6-14000", "hbm2-2000", "hbm3-6400", "hbm4-8000"})
            QTest::addRow("%s", id) << id;
        QTest::addRow("two ranks") << "[1, 2, 4, 4, 65536";
        QTest::addRow("four ranks") << "[1, 4, 4, 2, 65536";
        QTest::addRow("four words of banks") << "[1, 4, 8, 8, 65536";
        QTest::addRow("one bank") << "[1, 1, 1, 1, 65536";
        QTest::addRow("no groups") << "[1, 1, 1, 128, 65536";
        QTest::addRow("half clocks") << "half clocks";
        QTest::addRow("write clock") << "write clock";
        for (const char* name : {"lpddr5_6400", "hbm3_6400", "hbm4_8000", "gddr6_14000"})
            QTest::addRow("recorded %s", name) << QString::fromStdString(recorded + "configs/" + name + ".yaml");
    }
    void aPlainTwinSaysTheSame() {
        QFETCH(QString, config);
        const auto name = config.toStdString();
        if (name.ends_with(".yaml") && !std::filesystem::exists(name)) QSKIP("the configuration is not here");
        auto rules = name.starts_with("[")     ? rulesOf(replaced(ddr4Yaml(), "[1, 1, 4, 4, 65536", name))
                     : name.ends_with(".yaml") ? readDramRules(name).value()
                     : name == "half clocks"   ? rulesOf(halfClockYaml())
                     : name == "write clock"   ? rulesOf(writeClockYaml())
                                               : orrery::rulesOf(dramStandard(name).value()).value();
        // Refreshes come as often as there is time for a few requests between them.
        for (std::size_t i = 0; i < rules.timingNames.size(); ++i)
            if (rules.timingNames[i] == "nREFI") rules.timing[i] = 1500;
        const auto bytes = static_cast<std::uint64_t>(rules.burstBytes());
        std::array<std::int64_t, ruledCommands> seen{};
        // Rows are closed by their last access too, where the rules have reads and writes that do.
        const bool closes = setPage(rules, "closed", false).has_value();
        QCOMPARE(closes, name.ends_with(".yaml") || rules.commands.back() == "WRA");
        // HBM3's constraints do not say when a bank may be refreshed after RDA: derived.
        const bool renews = setPage(rules, "closed", true).has_value();
        QCOMPARE(renews, closes);
        QVERIFY(setPage(rules, "open", true));
        for (int round = 0; round < (closes ? 16 : 8); ++round) {
            // From a few rows, where hits and forwards are, to the whole channel; few writes to all.
            auto trace = someTraffic(160, 100 + static_cast<std::uint64_t>(round), 0.15 * (round % 8),
                                     std::uint64_t{1} << (13 + 3 * (round % 5)));
            for (auto& request : trace) request.address = request.address / 64 * bytes;
            const bool refresh = round % 2 == 0;
            const auto every = std::int64_t{1} + (round % 3 == 2 ? 9 : 0);
            const auto map = RuledAddressMap::make(rules, round % 4 < 2 ? "RoBaRaCoCh" : "MOP4CLXOR");
            QVERIFY(!closes || setPage(rules, round < 8 ? "open" : "closed", refresh));
            PlainDram plain(rules, refresh);
            const auto done = plain.run(trace, *map, every);
            const auto fast = runRuledDram(rules, *map, refresh, {every, false}, trace).value();
            QVERIFY2(fast.done == done, qPrintable(QString("round %1").arg(round)));
            QVERIFY(fast.accepted == plain.accepted());
            QCOMPARE(fast.counts.rowHits, plain.hits);
            QCOMPARE(fast.counts.rowMisses, plain.misses);
            QCOMPARE(fast.counts.rowConflicts, plain.conflicts);
            QCOMPARE(fast.counts.forwarded, plain.forwarded);
            QCOMPARE(fast.counts.merged, plain.merged);
            // No pair: lists that go through a constructor are gone after it.
            const struct {
                RuledCommand command;
                std::initializer_list<const char*> names;
            } commands[] = {{RuledCommand::Activate, {"ACT", "ACT1"}},
                            {RuledCommand::Precharge, {"PRE", "PREpb"}},
                            {RuledCommand::Read, {"RD"}},
                            {RuledCommand::Write, {"WR"}},
                            {RuledCommand::PrechargeAll, {"PREA", "PREab"}},
                            {RuledCommand::RefreshAll, {"REFab"}},
                            {RuledCommand::RefreshBank, {"REFpb"}},
                            {RuledCommand::ActivateSecond, {"ACT2"}},
                            {RuledCommand::SyncRead, {"CAS_RD"}},
                            {RuledCommand::SyncWrite, {"CAS_WR"}},
                            {RuledCommand::ReadPrecharge, {"RDA"}},
                            {RuledCommand::WritePrecharge, {"WRA"}}};
            QCOMPARE(std::size(commands), std::size_t{ruledCommands});
            for (const auto& [command, names] : commands) {
                const auto at = static_cast<std::size_t>(command);
                QVERIFY2(fast.counts.commands[at] == plain.sent(names), *names.begin());
                seen[at] += plain.sent(names);
            }
            QCOMPARE(fast.counts.total(), plain.sent());
        }
        // What is compared has happened: all but what this controller has no use for.
        const bool half = rules.controller == RuledController::HalfClock;
        const bool clocked = rules.controller == RuledController::WriteClock;
        for (const auto always : {RuledCommand::Activate, RuledCommand::Precharge, RuledCommand::Read,
                                  RuledCommand::Write, half ? RuledCommand::RefreshBank : RuledCommand::RefreshAll})
            QVERIFY(seen[static_cast<std::size_t>(always)] > 0);
        QCOMPARE(seen[static_cast<std::size_t>(RuledCommand::PrechargeAll)] > 0, !half);
        for (const auto only : {RuledCommand::ActivateSecond, RuledCommand::SyncRead, RuledCommand::SyncWrite})
            QCOMPARE(seen[static_cast<std::size_t>(only)] > 0, clocked);
        for (const auto closing : {RuledCommand::ReadPrecharge, RuledCommand::WritePrecharge})
            QCOMPARE(seen[static_cast<std::size_t>(closing)] > 0, closes);
    }

    void aStreamInOneBankGroupIsBoundByItsTiming() {
        const auto rules = rulesOf(ddr4Yaml());
        std::vector<DramTraceRequest> stream;
        for (std::uint64_t i = 0; i < 4000; ++i) stream.push_back({i * 64, false});
        const auto slow = runOf(rules, stream, false);
        const auto fast = runOf(rules, stream, false, "MOP4CLXOR");
        // Row openings overlap with the neighbouring bank's bursts, so a little more than one burst in eight cycles.
        QVERIFY(slow.bytesPerSecond < 0.7 * rules.peakBandwidth());
        QVERIFY(fast.bytesPerSecond > 0.9 * rules.peakBandwidth());
        const auto why = dramBindings(rules, slow);
        QCOMPARE(why[0].timing == "data bus" ? why[1].timing : why[0].timing, std::string("nCCDL"));
        const auto wideAwake = dramBindings(rules, fast);
        QCOMPARE(wideAwake[0].timing, std::string("data bus"));
        // A longer tCCD_L can only slow it down.
        const auto longer = rulesOf(replaced(ddr4Yaml(), "[2, [3], [3], 8]", "[2, [3], [3], 12]"));
        QVERIFY(runOf(longer, stream, false).cycles > slow.cycles);
    }

    // Closed forms by hand: 128 bursts of one row wait for tCCD_L each; 100 rows of one bank for tRC; a stream that
    // changes its bank group for the bus alone; dependent reads of one row for its opening and what each takes alone.
    void countsTellTheLeastTime() {
        const auto rules = rulesOf(ddr4Yaml());
        const auto boundsOf = [&](std::uint64_t stride, int n, const char* mapping, const char* injection) {
            std::vector<DramTraceRequest> trace;
            for (int i = 0; i < n; ++i) trace.push_back({static_cast<std::uint64_t>(i) * stride, false});
            return dramCountedBounds(rules, *RuledAddressMap::make(rules, mapping), false,
                                     *RuledInjection::parse(injection), trace);
        };
        const std::int64_t returns = 26;  // CL 22 + BL 4
        const auto row = boundsOf(64, 128, "RoBaRaCoCh", "asap").front();
        QCOMPARE(row.timing, std::string("nCCDL"));
        QCOMPARE(row.cycles, 127 * 8 + returns);
        const auto rows = boundsOf(0x20000, 100, "RoBaRaCoCh", "asap").front();
        QCOMPARE(rows.timing, std::string("nRC"));
        QCOMPARE(rows.cycles, 99 * 74 + returns);
        const auto bus = boundsOf(64, 4000, "MOP4CLXOR", "asap").front();
        QCOMPARE(bus.timing, std::string("data bus"));
        QCOMPARE(bus.cycles, 3999 * 4 + returns);
        const auto chain = boundsOf(64, 128, "RoBaRaCoCh", "chain").front();
        QCOMPARE(chain.timing, std::string("requests"));
        QCOMPARE(chain.cycles, 22 + 128 * returns);
        const auto apart = boundsOf(64, 101, "MOP4CLXOR", "every50").front();
        QCOMPARE(apart.timing, std::string("requests"));
        QCOMPARE(apart.cycles, std::int64_t{5000});
        QVERIFY(boundsOf(64, 0, "RoBaRaCoCh", "asap").empty());
    }
    // Whatever arrives, no run is faster.
    void noRunBeatsTheCounts() {
        const auto rules = rulesOf(ddr4Yaml());
        double nearest = 0;
        for (std::uint64_t seed = 1; seed <= 6; ++seed) {
            const auto trace = someTraffic(600, seed, seed % 3 * 0.4, seed % 2 ? 1u << 14 : 1u << 26);
            for (const char* mapping : {"RoBaRaCoCh", "MOP4CLXOR"}) {
                for (const char* injection : {"asap", "every7", "chain"}) {
                    for (const bool refresh : {false, true}) {
                        const auto bounds = dramCountedBounds(rules, *RuledAddressMap::make(rules, mapping), refresh,
                                                              *RuledInjection::parse(injection), trace);
                        const auto cycles = runOf(rules, trace, refresh, mapping, injection).cycles;
                        QVERIFY2(bounds.front().cycles <= cycles,
                                 qPrintable(QString("seed %1, %2, %3: %4 by %5, run %6")
                                                .arg(seed)
                                                .arg(mapping, injection)
                                                .arg(bounds.front().cycles)
                                                .arg(QString::fromStdString(bounds.front().timing))
                                                .arg(cycles)));
                        nearest = std::max(nearest, double(bounds.front().cycles) / double(cycles));
                    }
                }
            }
        }
        QVERIFY(nearest > 0.95);
    }

    void filesThatMakeNoSenseAreRefused_data() {
        QTest::addColumn<QString>("what");
        QTest::addColumn<QString>("with");
        QTest::addColumn<QString>("says");
        QTest::addRow("controller") << "impl: GenericDDR"
                                    << "impl: Quantum"
                                    << "no controller 'Quantum'";
        QTest::addRow("scheduler") << "FRFCFS"
                                   << "BLISS"
                                   << "'BLISS'";
        QTest::addRow("a timing less") << "22, 22, 22, 52"
                                       << "22, 22, 52"
                                       << "20 timings of DDR4";
        QTest::addRow("no number") << "22, 22, 22, 52"
                                   << "22, 22, many, 52"
                                   << "many";
        QTest::addRow("tRAS over tRC") << "52, 74"
                                       << "92, 74"
                                       << "nRAS is 92";
        QTest::addRow("refresh all the time") << "576, 12480"
                                              << "576, 500"
                                              << "a refresh takes 576";
        QTest::addRow("no burst") << "[3200, 4,"
                                  << "[3200, 0,"
                                  << "nBL is 0";
        QTest::addRow("burst of nothing") << "2, 625]"
                                          << "2, 62500]"
                                          << "beats";
        QTest::addRow("bank count") << "[1, 1, 4, 4,"
                                    << "[1, 1, 4, 5,"
                                    << "power of two";
        QTest::addRow("a level less") << "[1, 1, 4, 4, 65536"
                                      << "[1, 4, 4, 65536"
                                      << "levels";
        QTest::addRow("unknown family") << "impl: DDR4"
                                        << "impl: DDR9"
                                        << "'DDR9'";
        QTest::addRow("a command that is none") << "[2, [3], [3], 8]"
                                                << "[2, [9], [3], 8]"
                                                << "timing_constraints";
        QTest::addRow("a level that is none") << "[3, [1], [0], 22]"
                                              << "[4, [1], [0], 22]"
                                              << "timing_constraints";
        QTest::addRow("a window of siblings") << "[1, [0], [0], 34, 4]"
                                              << "[1, [0], [0], 34, 4, true]"
                                              << "a window of 4 commands acts on siblings";
        QTest::addRow("half a constraint") << "[3, [1], [0], 22]"
                                           << "[3, [1]]"
                                           << "no constraint";
        QTest::addRow("no latency") << "read_latency: 26"
                                    << "read_lateness: 26"
                                    << "read_latency";
    }
    void filesThatMakeNoSenseAreRefused() {
        QFETCH(QString, what);
        QFETCH(QString, with);
        QFETCH(QString, says);
        const auto text = replaced(ddr4Yaml(), what.toStdString(), with.toStdString());
        const auto rules = readDramRules(std::string_view(text), std::string("bad.yaml"));
        QVERIFY(!rules);
        const auto message = toText(rules.error());
        QVERIFY2(message.find(says.toStdString()) != std::string::npos, message.c_str());
        QVERIFY2(rules.error().place.line > 0 && !rules.error().expected.empty(), message.c_str());
    }
    // Refreshes bank by bank that come faster than they can go would queue for ever.
    void bankRefreshesThatComeTooFastAreRefused_data() {
        QTest::addColumn<QString>("what");
        QTest::addColumn<QString>("with");
        QTest::addColumn<QString>("says");
        QTest::addRow("every cycle") << "7040, 220,"
                                     << "7040, 1,"
                                     << "nREFIpb > 16";
        QTest::addRow("as fast as they can go") << "7040, 220,"
                                                << "7040, 16,"
                                                << "refreshes are 16 apart";
        QTest::addRow("a rule slower than the timing") << "[1, [6], [6], 16]"
                                                       << "[1, [6], [6], 300]"
                                                       << "refreshes are 300 apart";
        QTest::addRow("longer than all banks' turn") << "[4, [6], [0], 300]"
                                                     << "[4, [6], [0], 7040]"
                                                     << "its next is due after 7040";
    }
    void bankRefreshesThatComeTooFastAreRefused() {
        QFETCH(QString, what);
        QFETCH(QString, with);
        QFETCH(QString, says);
        const auto text = replaced(halfClockYaml(), what.toStdString(), with.toStdString());
        const auto rules = readDramRules(std::string_view(text), std::string("bad.yaml"));
        QVERIFY(!rules);
        QCOMPARE(rules.error().code, std::string("dram.timing"));
        const auto message = toText(rules.error());
        QVERIFY2(message.find(says.toStdString()) != std::string::npos, message.c_str());
    }
    // What is just accepted is served.
    void bankRefreshesThatJustFitLetRequestsThrough() {
        const auto rules = rulesOf(replaced(halfClockYaml(), "7040, 220,", "7040, 17,"));
        const auto r = runOf(rules, someTraffic(200, 3, 0.3, 1u << 22), true);
        QVERIFY(std::ranges::all_of(r.done, [](std::int64_t cycle) { return cycle >= 0; }));
    }
    void tracesThatMakeNoSenseAreRefused() {
        const auto lineOf = [](std::string_view text) {
            const auto trace = readDramTrace(text, std::string("t.trace"));
            return trace ? 0 : trace.error().place.line;
        };
        QCOMPARE(lineOf("R 0x40\nX 0x80\n"), 2);
        QCOMPARE(lineOf("R 0x40\nW zero\n"), 2);
        QCOMPARE(lineOf("R 0x40\nR 0x80\nR 0x"), 3);
        QVERIFY(!readDramTrace(std::string_view("\n\n"), std::string("t.trace")));
        QVERIFY(!RuledInjection::parse("every0") && !RuledInjection::parse("sometimes"));
        QVERIFY(!RuledAddressMap::make(rulesOf(ddr4Yaml()), "RaBaCo"));
    }
    void rulesThatNeverLetGoEndWithADiagnostic() {
        // 1,000 million cycles between two activates of a bank: the run says so instead of going on for ever.
        const auto rules = rulesOf(replaced(ddr4Yaml(), "[3, [0], [0], 74]", "[3, [0], [0], 1000000000]"));
        const auto map = RuledAddressMap::make(rules, "RoBaRaCoCh");
        const std::vector<DramTraceRequest> conflict{{0, false}, {0x20000, false}};
        const auto result = runRuledDram(rules, *map, true, {}, conflict);
        QVERIFY(!result);
        QCOMPARE(result.error().code, std::string("dram.stuck"));
    }

    // Requests far apart are no sign of rules that never let go, and times are exact to the last cycle of a run. A
    // conflict: PRE at 1, ACT after RP 22, RD after RCD 22, data after CL 22 + BL 4.
    void requestsFarApartAreServedToTheLastCycle() {
        const auto rules = rulesOf(ddr4Yaml());
        const std::int64_t apart = 1'000'000'000;
        std::vector<DramTraceRequest> conflicts;
        for (std::int64_t i = 0; (i + 1) * apart < DramRuleTables::lastCycle; ++i)
            conflicts.push_back({static_cast<std::uint64_t>(i % 2) * 0x20000, false});
        QVERIFY(conflicts.size() > 1000);
        const auto result = runOf(rules, conflicts, false, "RoBaRaCoCh", "every1000000000");
        for (std::size_t i = 1; i < conflicts.size(); ++i) {
            QCOMPARE(result.accepted[i], static_cast<std::int64_t>(i) * apart);
            QCOMPARE(result.done[i] - result.accepted[i], std::int64_t{71});
        }
        // Beyond, the run says that it is too long, not that the rules are wrong.
        conflicts.resize(conflicts.size() + 10);
        const auto map = RuledAddressMap::make(rules, "RoBaRaCoCh");
        const auto tooLong = runRuledDram(rules, *map, false, {apart, false}, conflicts);
        QVERIFY(!tooLong);
        QCOMPARE(tooLong.error().code, std::string("dram.long"));
        QVERIFY(!tooLong.error().expected.empty() && !tooLong.error().hint.empty());
    }

    // Every request of the small cases, and every number of every recorded run.
    void ramulatorSmallCases() {
        if (!std::filesystem::exists(recorded + "micro.csv")) QSKIP("the recorded cases are not here");
        auto table = CsvStream::open(recorded + "micro.csv");
        QVERIFY(table.has_value());
        struct Case {
            std::vector<DramTraceRequest> trace;
            std::vector<std::int64_t> done;
        };
        std::map<std::string, Case> cases;
        for (bool header = true; *table->next(); header = false) {
            if (header) continue;
            const auto c = table->cells();
            auto& one = cases[std::string(c[0]) + "," + std::string(c[1])];
            one.trace.push_back({std::stoull(std::string(c[4]), nullptr, 16), c[3] == "W"});
            one.done.push_back(std::stoll(std::string(c[11])));
        }
        for (const auto& [name, one] : cases) {
            const auto rules = readDramRules(recorded + "configs/" + name.substr(0, name.find(',')) + ".yaml");
            QVERIFY2(rules.has_value(), name.c_str());
            QVERIFY2(runOf(*rules, one.trace, false).done == one.done, name.c_str());
        }
    }
    void ramulatorRuns() {
        if (!std::filesystem::exists(recorded + "runs.csv")) QSKIP("the recorded runs are not here");
        auto table = CsvStream::open(recorded + "runs.csv");
        QVERIFY(table.has_value());
        std::vector<std::string> head;
        int line = 0;
        while (*table->next()) {
            const auto cells = table->cells();
            if (head.empty()) {
                for (const auto cell : cells) head.emplace_back(cell);
                continue;
            }
            ++line;
            std::map<std::string, std::string> row;
            for (std::size_t i = 0; i < head.size(); ++i) row[head[i]] = std::string(cells[i]);
            const auto rules = readDramRules(recorded + "configs/" + row["standard"] + ".yaml");
            const auto trace = readDramTrace(recorded + "traces/" + row["trace"]);
            QVERIFY(rules && trace);
            const auto r =
                runOf(*rules, *trace, row["refresh"] == "1", row["mapping"].c_str(), row["injection"].c_str());
            const auto number = [&](const char* name) { return std::stoll(row[name]); };
            const auto bounds =
                dramCountedBounds(*rules, *RuledAddressMap::make(*rules, row["mapping"]), row["refresh"] == "1",
                                  *RuledInjection::parse(row["injection"]), *trace);
            QVERIFY(!bounds.empty() && bounds.front().cycles <= number("cycles"));
            const auto commands = [&](RuledCommand command) { return r.counts.commands[static_cast<int>(command)]; };
            const std::pair<const char*, std::int64_t> whole[] = {
                {"reads", r.reads},
                {"writes", r.writes},
                {"cycles", r.cycles},
                {"last_accept_cycle", r.lastAccept},
                {"lat_min", r.leastLatency},
                {"lat_p50", r.medianLatency},
                {"lat_p95", r.latency95},
                {"lat_max", r.mostLatency},
                {"row_hits", r.counts.rowHits},
                {"row_misses", r.counts.rowMisses},
                {"row_conflicts", r.counts.rowConflicts},
                {"forwarded", r.counts.forwarded},
                {"coalesced", r.counts.merged},
                {"ACT", commands(RuledCommand::Activate)},
                {"PRE", commands(RuledCommand::Precharge)},
                {"PREA", commands(RuledCommand::PrechargeAll)},
                {"RD", commands(RuledCommand::Read)},
                {"WR", commands(RuledCommand::Write)},
                {"REF", commands(RuledCommand::RefreshAll) + commands(RuledCommand::RefreshBank)},
                {"CAS", commands(RuledCommand::SyncRead) + commands(RuledCommand::SyncWrite)}};
            for (const auto& [name, ours] : whole) {
                const auto said = QString("line %1, %2: %3, recorded %4").arg(line + 1).arg(name).arg(ours);
                if (row[name].empty()) continue;  // no latency where nothing is read
                QVERIFY2(ours == number(name), qPrintable(said.arg(row[name].c_str())));
            }
            if (r.reads > 0) QVERIFY(std::abs(r.meanLatency - std::stod(row["lat_avg"])) < 1e-3);
            const double gigabytes = std::stod(row["bandwidth_gbs"]);
            QVERIFY(std::abs(r.bytesPerSecond / 1e9 - gigabytes) < 1e-3 * gigabytes);
        }
        QVERIFY(line > 100);
    }
};

QTEST_GUILESS_MAIN(TestRuledDram)
#include "tst_ruled_dram.moc"
