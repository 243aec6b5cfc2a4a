// When rows are closed: requests worked out by hand under both policies, who gains and who loses, rules that have no
// reads and writes that close their row.

#include "base/random.h"
#include "simulation/dram/ruled/binding.h"
#include "simulation/dram/ruled/counted_bounds.h"
#include "simulation/dram/ruled/ruled_energy.h"
#include "simulation/dram/ruled/standard_rules.h"
#include "support/plain_dram.h"
#include "support/ruled_dram_fixture.h"

#include <map>

using namespace orrery;
using namespace orrery::dramtest;

namespace {

// DDR4-3200: tRCD, tRP, CL 22, burst 4, tRAS 52, tRC 74, tRTP 12, CWL 16, tWR 24.
DramRules ddr4Page(const char* page) {
    DramRules rules = orrery::rulesOf(dramStandard("ddr4-3200aa").value()).value();
    if (auto set = setPage(rules, page, true); !set) qFatal("%s", toText(set.error()).c_str());
    return rules;
}

// The channel of halfClockYaml() with reads and writes that close their row, 7 and 8. No rule says when a bank may be
// refreshed after them, as in HBM3 of Ramulator 2.1.
QString halfClockWithClosingYaml() {
    QString yaml = QString::fromStdString(halfClockYaml());
    yaml.replace("REFab, REFpb]", "REFab, REFpb, RDA, WRA]");
    yaml.replace("[3, 4], [3, 4]", "[3, 4, 7, 8], [3, 4, 7, 8]");
    for (const auto& [plain, both] : {std::pair{"[3]", "[3, 7]"}, {"[4]", "[4, 8]"}}) yaml.replace(plain, both);
    // A precharge is of rows that have not closed themselves.
    yaml.replace("[4, [3, 7], [1], 14]", "[4, [3], [1], 14]").replace("[4, [4, 8], [1], 70]", "[4, [4], [1], 70]");
    yaml += "          - [4, [7], [0], 54]\n          - [4, [8], [0], 110]\n";
    return yaml;
}

DramRules halfClockWithClosing() {
    return rulesOf(halfClockWithClosingYaml().toStdString());
}

std::int64_t sentOf(const RuledResult& result, RuledCommand command) {
    return result.counts.commands[static_cast<int>(command)];
}

}  // namespace

class TestDramPage : public QObject {
    Q_OBJECT

private slots:
    void byHand_data() {
        QTest::addColumn<QString>("trace");
        QTest::addColumn<QString>("injection");
        QTest::addColumn<QList<int>>("open");
        QTest::addColumn<QList<int>>("closed");
        // Another row, later: PRE at 201, ACT 223, RD 245 against ACT 201, RD 223.
        QTest::addRow("another row") << "R 0\nR 0x20000"
                                     << "every200" << QList<int>{49, 271} << QList<int>{49, 249};
        // The same row, later: RD at 201 against ACT first.
        QTest::addRow("the same row") << "R 0\nR 0x40"
                                      << "every200" << QList<int>{49, 227} << QList<int>{49, 249};
        // The same row at once: it stays open for the request that waits.
        QTest::addRow("both wait") << "R 0\nR 0x40"
                                   << "asap" << QList<int>{49, 57} << QList<int>{49, 57};
        // Both policies wait for tRC after the first activate at 1: ACT at 75.
        QTest::addRow("tRC binds") << "R 0\nR 0x20000"
                                   << "asap" << QList<int>{49, 123} << QList<int>{49, 123};
        // Written at 23, the row is closed by itself at 23 + 16 + 4 + 24 = 67 and may be opened at 89; a PRE of the
        // open one goes at 67 too.
        QTest::addRow("after a write") << "W 0\nR 0x20000"
                                       << "asap" << QList<int>{23, 137} << QList<int>{23, 137};
    }
    void byHand() {
        QFETCH(QString, trace);
        QFETCH(QString, injection);
        QFETCH(QList<int>, open);
        QFETCH(QList<int>, closed);
        const std::string text = trace.toStdString();
        const auto requests = readDramTrace(std::string_view(text), std::string("hand"));
        QVERIFY(requests);
        const auto doneOf = [&](const char* page) {
            const auto run = runOf(ddr4Page(page), *requests, false, "RoBaRaCoCh", qPrintable(injection));
            return QList<int>(run.done.begin(), run.done.end());
        };
        QCOMPARE(doneOf("open"), open);
        QCOMPARE(doneOf("closed"), closed);
    }
    // One request at a time, each of its own row: the precharge is over before the next comes. Of one row, it was not
    // wanted. Every request opens and closes a row, and no command does it beside.
    void randomGainsAndStreamsLose() {
        RandomStream random(1);
        std::vector<DramTraceRequest> anywhere, stream;
        for (std::uint64_t i = 0; i < 400; ++i) {
            anywhere.push_back({random.below(std::uint64_t{1} << 27) * 64, false});
            stream.push_back({i * 64, false});
        }
        // Among 16 banks fifteen in sixteen find their bank with another row or never used; 20 cycles are lost or won.
        const auto mean = [](const char* page, const std::vector<DramTraceRequest>& trace) {
            return runOf(ddr4Page(page), trace, false, "RoBaRaCoCh", "every100").meanLatency;
        };
        QVERIFY2(mean("closed", anywhere) < mean("open", anywhere) - 18,
                 qPrintable(QString::number(mean("open", anywhere))));
        QVERIFY(mean("closed", stream) > mean("open", stream) + 20);
        const auto each = runOf(ddr4Page("closed"), anywhere, false, "RoBaRaCoCh", "every100");
        QCOMPARE(sentOf(each, RuledCommand::Activate), std::int64_t{400});
        QCOMPARE(sentOf(each, RuledCommand::ReadPrecharge), std::int64_t{400});
        QCOMPARE(sentOf(each, RuledCommand::Precharge) + sentOf(each, RuledCommand::Read), std::int64_t{0});
        QCOMPARE(each.counts.rowMisses, std::int64_t{400});
        // At most tRC of 100 cycles is a row open: less standby, but more activates where a row would have served.
        QVERIFY(each.activeCycles <= 400 * 74);
        const auto energy = [&](const char* page) {
            const DramRules rules = ddr4Page(page);
            const auto result = runOf(rules, stream, false, "RoBaRaCoCh", "every100");
            return ruledEnergy(rules, result, currentsFor(rules).value()).value().parts.joules;
        };
        QVERIFY(energy("closed")[0] > 50 * energy("open")[0]);
        QVERIFY(energy("closed")[4] < energy("open")[4]);
    }
    // Under load requests for the row wait in the buffer and keep it open: every row is opened once, and
    // closed before its bank is wanted again.
    void aStreamThatWaitsKeepsItsRow() {
        std::vector<DramTraceRequest> stream;
        for (std::uint64_t i = 0; i < 4000; ++i) stream.push_back({i * 64, false});
        const auto open = runOf(ddr4Page("open"), stream, false), closed = runOf(ddr4Page("closed"), stream, false);
        QVERIFY(closed.cycles <= open.cycles);
        for (const auto& run : {open, closed})
            QCOMPARE(sentOf(run, RuledCommand::Activate), std::int64_t{4000 / 128 + 1});
        QVERIFY(sentOf(closed, RuledCommand::Read) > 3900);
    }
    // Dependent reads pay no precharge here: what no order beats must not count it.
    void noRunBeatsTheCounts() {
        RandomStream random(3);
        std::vector<DramTraceRequest> reads, mixed, few;
        for (std::uint64_t i = 0; i < 300; ++i) {
            reads.push_back({random.below(std::uint64_t{1} << 27) * 64, false});
            mixed.push_back({reads.back().address, random.below(3) == 0});
            few.push_back({random.below(std::uint64_t{1} << 9) * 64, i % 5 == 0});
        }
        // A bank comes back to another row: with an open page it is precharged first, with a closed one it has been.
        const std::vector<DramTraceRequest> back{{0, false}, {0x2000, false}, {0x20000, false}};
        const std::vector<DramTraceRequest>* const traces[] = {&reads, &mixed, &few, &back};
        for (const char* page : {"open", "closed"}) {
            const DramRules rules = ddr4Page(page);
            for (const char* mapping : {"RoBaRaCoCh", "MOP4CLXOR"}) {
                const auto map = RuledAddressMap::make(rules, mapping).value();
                for (const char* injection : {"asap", "every7", "chain"}) {
                    for (const bool refresh : {false, true}) {
                        for (const auto* trace : traces) {
                            const auto bounds =
                                dramCountedBounds(rules, map, refresh, *RuledInjection::parse(injection), *trace);
                            const auto cycles = runOf(rules, *trace, refresh, mapping, injection).cycles;
                            QVERIFY2(bounds.front().cycles <= cycles,
                                     qPrintable(QString("%1 page, %2, %3: %4 by %5, run %6")
                                                    .arg(page, mapping, injection)
                                                    .arg(bounds.front().cycles)
                                                    .arg(QString::fromStdString(bounds.front().timing))
                                                    .arg(cycles)));
                            if (!refresh && trace == &reads && injection == std::string("chain"))
                                QVERIFY(double(bounds.front().cycles) > 0.9 * double(cycles));
                        }
                    }
                }
            }
        }
    }
    void rulesWithoutAutoPrechargeAreRefused() {
        DramRules rules = rulesOf(ddr4Yaml());
        const auto none = setPage(rules, "closed", true);
        QVERIFY(!none);
        QCOMPARE(none.error().code, std::string("dram.page"));
        // It has them by name, but they wait for nothing that reads wait for.
        QVERIFY2(none.error().message.find("RDA") != std::string::npos, toText(none.error()).c_str());
        QVERIFY(none.error().place.line > 0);
        QVERIFY(rules.page == RuledPage::Open);
        QVERIFY(!setPage(rules, "ajar", true));
        QVERIFY(setPage(rules, "open", true));
    }
    // A bank that has closed itself is refreshed as late as its next row could be opened: by the rules of the bank
    // itself 54 cycles after RDA, 110 after WRA and after the activate. The slow twin goes by the same rules.
    void banksThatClosedThemselvesAreRefreshed() {
        DramRules rules = halfClockWithClosing();
        const std::size_t stated = rules.rules.size();
        const auto set = setPage(rules, "closed", true);
        QVERIFY2(set, set ? "" : toText(set.error()).c_str());
        QVERIFY(rules.rules.size() > stated);
        RandomStream random(11);
        std::vector<DramTraceRequest> trace;
        for (int i = 0; i < 6000; ++i)
            trace.push_back({random.below(std::uint64_t{1} << 22) * 32, random.below(3) == 0});
        const auto map = RuledAddressMap::make(rules, "MOP4CLXOR").value();
        RuledRecord record;
        const auto run = runRuledDram(rules, map, true, {5, false}, trace, {}, &record).value();
        PlainDram plain(rules, true);
        QVERIFY(run.done == plain.run(trace, map, 5));
        QVERIFY(!record.cut);
        std::map<std::int32_t, std::array<std::int64_t, 3>> last;  // of each bank: RDA, WRA, ACT
        const std::int64_t least[] = {54, 110, 110};
        int refreshed = 0, soon = 0;
        for (const RuledIssued& one : record.issued) {
            auto& its = last.try_emplace(one.bank, std::array<std::int64_t, 3>{-1000, -1000, -1000}).first->second;
            if (one.command == RuledCommand::ReadPrecharge) its[0] = one.cycle;
            if (one.command == RuledCommand::WritePrecharge) its[1] = one.cycle;
            if (one.command == RuledCommand::Activate) its[2] = one.cycle;
            if (one.command != RuledCommand::RefreshBank) continue;
            ++refreshed;
            for (int i = 0; i < 3; ++i) QVERIFY(one.cycle >= its[std::size_t(i)] + least[i]);
            soon += one.cycle < its[0] + 64 || one.cycle < its[1] + 120;
        }
        QVERIFY(refreshed > 100 && soon > 0);  // some came as soon as they might
        // An open page has the rules of the file alone.
        QVERIFY(setPage(rules, "open", true));
        QCOMPARE(rules.rules.size(), stated);
    }
    // Times that the file states are kept: only of WRA, of which it says nothing, is the refresh derived.
    void statedRefreshesAreKept() {
        DramRules rules = halfClockWithClosing();
        const int closing = rules.commandOf("RDA"), renewal = rules.commandOf("REFpb");
        rules.rules.push_back({rules.bankLevel(), {closing}, {renewal}, 20});
        const std::size_t stated = rules.rules.size();
        QVERIFY(setPage(rules, "closed", true));
        int derived = 0;
        for (std::size_t i = stated; i < rules.rules.size(); ++i) {
            const DramRule& rule = rules.rules[i];
            QVERIFY(rule.derived && rule.after == std::vector<int>{renewal});
            QCOMPARE(rule.before, std::vector<int>{rules.commandOf("WRA")});
            QCOMPARE(rule.cycles, std::int64_t{110});
            ++derived;
        }
        QCOMPARE(derived, 1);
    }
    // Where nothing can be derived, the page is refused as where nothing is said; without refreshes it is not.
    void refreshesThatCannotBeDerivedAreRefused_data() {
        QTest::addColumn<QString>("from");
        QTest::addColumn<QString>("to");
        // Between banks alone, or of other banks: a bank would be refreshed before it has closed itself.
        QTest::newRow("of the rank") << "[4, [7], [0], 54]"
                                     << "[1, [7], [0], 54]";
        QTest::newRow("writes of the rank") << "[4, [8], [0], 110]"
                                            << "[1, [8], [0], 110]";
        QTest::newRow("refresh of the rank") << "[4, [7], [0], 54]"
                                             << "[1, [7], [0, 6], 54]";
        QTest::newRow("no such refresh") << ", REFpb, RDA"
                                         << ", NONE, RDA";
    }
    void refreshesThatCannotBeDerivedAreRefused() {
        QFETCH(QString, from);
        QFETCH(QString, to);
        QString yaml = halfClockWithClosingYaml();
        QVERIFY(yaml.contains(from));
        DramRules rules = rulesOf(yaml.replace(from, to).toStdString());
        const std::size_t stated = rules.rules.size();
        const auto set = setPage(rules, "closed", true);
        QVERIFY(!set);
        QCOMPARE(set.error().code, std::string("dram.page"));
        QVERIFY2(set.error().message.find("refreshed") != std::string::npos, toText(set.error()).c_str());
        QCOMPARE(rules.rules.size(), stated);
        QVERIFY(rules.page == RuledPage::Open);
        QVERIFY(setPage(rules, "closed", false));
    }
    // Bursts that follow RDA wait as after RD, or they meet on the bus; a bank that closes itself is not refreshed
    // before it has.
    void rulesThatForgetClosingReadsAreRefused() {
        const DramRules good = orrery::rulesOf(dramStandard("ddr4-3200aa").value()).value();
        const int read = good.commandOf("RD"), write = good.commandOf("WR");
        const auto has = [](const std::vector<int>& list, int command) {
            return std::ranges::count(list, command) > 0;
        };
        int columns = 0;
        for (std::size_t i = 0; i < good.rules.size(); ++i) {
            for (const char* closing : {"RDA", "WRA"}) {
                const int its = good.commandOf(closing);
                const DramRule& rule = good.rules[i];
                if (!has(rule.before, its)) continue;
                DramRules rules = good;
                std::erase(rules.rules[i].before, its);
                const bool column = has(rule.after, read) || has(rule.after, write);
                const bool renews = has(rule.after, good.commandOf("REFab"));
                columns += column;
                const auto set = setPage(rules, "closed", true);
                QVERIFY2(!set, qPrintable(QString("%1 of rule %2").arg(closing).arg(i)));
                QCOMPARE(set.error().code, std::string("dram.page"));
                QVERIFY(rules.page == RuledPage::Open);
                // Only a refresh needs to know when it may come.
                QCOMPARE(setPage(rules, "closed", false).has_value(), renews);
            }
        }
        QVERIFY(columns >= 8);
    }
    // A closed bank that is opened again waited for its own closing, not because two rows were wanted.
    void whatARowThatClosesItselfIsCalled() {
        const DramRules rules = ddr4Page("closed");
        int found = 0;
        for (const DramRule& rule : rules.rules) {
            const auto starts = [&](const std::vector<int>& list, const char* name) {
                return std::ranges::count(list, rules.commandOf(name)) > 0 && list.size() == 1;
            };
            if (!starts(rule.after, "ACT") && !starts(rule.after, "REFab")) continue;
            const std::string name = dramRuleName(rules, rule);
            const bool read = starts(rule.before, "RDA"), write = starts(rule.before, "WRA");
            if (read || write) QCOMPARE(name, std::string(read ? "nRTP + nRP" : "nWR + nRP"));
            if (starts(rule.before, "PREpb")) QCOMPARE(name, std::string("nRP"));
            found += read || write;
        }
        QCOMPARE(found, 4);
        QVERIFY(dramTimingWords("nWR + nRP", 66, 4).find("closes itself") != std::string::npos);
    }
};

QTEST_GUILESS_MAIN(TestDramPage)
#include "tst_dram_page.moc"
