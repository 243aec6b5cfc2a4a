// When rows are closed: requests worked out by hand under both policies, who gains and who loses, rules that have no
// reads and writes that close their row.

#include "base/random.h"
#include "simulation/dram/ruled/counted_bounds.h"
#include "simulation/dram/ruled/ruled_energy.h"
#include "simulation/dram/ruled/standard_rules.h"
#include "support/ruled_dram_fixture.h"

using namespace orrery;
using namespace orrery::dramtest;

namespace {

// DDR4-3200: tRCD, tRP, CL 22, burst 4, tRAS 52, tRC 74, tRTP 12, CWL 16, tWR 24.
DramRules ddr4Page(const char* page) {
    DramRules rules = orrery::rulesOf(dramStandard("ddr4-3200aa").value()).value();
    if (auto set = setPage(rules, page); !set) qFatal("%s", toText(set.error()).c_str());
    return rules;
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
        std::vector<DramTraceRequest> trace;
        for (int i = 0; i < 300; ++i) trace.push_back({random.below(std::uint64_t{1} << 27) * 64, false});
        for (const char* page : {"open", "closed"}) {
            const DramRules rules = ddr4Page(page);
            for (const char* injection : {"asap", "every7", "chain"}) {
                const auto bounds = dramCountedBounds(rules, *RuledAddressMap::make(rules, "RoBaRaCoCh"), false,
                                                      *RuledInjection::parse(injection), trace);
                const auto run = runOf(rules, trace, false, "RoBaRaCoCh", injection);
                QVERIFY2(bounds.front().cycles <= run.cycles, injection);
                if (injection == std::string("chain")) QVERIFY(bounds.front().cycles > 0.9 * double(run.cycles));
            }
        }
    }
    void rulesWithoutAutoPrechargeAreRefused() {
        DramRules rules = rulesOf(ddr4Yaml());
        const auto none = setPage(rules, "closed");
        QVERIFY(!none);
        QCOMPARE(none.error().code, std::string("dram.page"));
        // It has them by name, but they wait for nothing that reads wait for.
        QVERIFY2(none.error().message.find("RDA") != std::string::npos, toText(none.error()).c_str());
        QVERIFY(none.error().place.line > 0);
        QVERIFY(rules.page == RuledPage::Open);
        QVERIFY(!setPage(rules, "ajar"));
        QVERIFY(setPage(rules, "open"));
    }
};

QTEST_GUILESS_MAIN(TestDramPage)
#include "tst_dram_page.moc"
