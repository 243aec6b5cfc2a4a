// The rules made of a built-in standard: the same cycles as the configuration that was written by hand from JEDEC, and
// the same bandwidth as the other DRAM model, which knows them a second time.

#include "simulation/dram/memory.h"
#include "simulation/dram/ruled/binding.h"
#include "simulation/dram/ruled/standard_rules.h"
#include "support/ruled_dram_fixture.h"

using namespace orrery;
using dramtest::ddr4Yaml;
using dramtest::runOf;

class TestStandardRules : public QObject {
    Q_OBJECT
private slots:
    void everyStandardRuns_data() {
        QTest::addColumn<QString>("id");
        for (const DramStandard& each : dramStandards())
            QTest::newRow(each.id.c_str()) << QString::fromStdString(each.id);
    }
    void everyStandardRuns() {
        QFETCH(QString, id);
        const DramStandard standard = dramStandard(id.toStdString()).value();
        const auto rules = orrery::rulesOf(standard);
        if (standard.family.starts_with("LPDDR")) {
            QVERIFY(!rules);
            QCOMPARE(rules.error().code, std::string("dram.no-rules"));
            return;
        }
        QVERIFY(rules);
        QCOMPARE(rules->banks(), static_cast<std::int64_t>(standard.organisation.banks()));
        QVERIFY(qAbs(rules->peakBandwidth() / standard.peakBandwidth() - 1) < 0.01);
        for (const char* mapping : {"RoBaRaCoCh", "MOP4CLXOR"}) {
            std::vector<DramTraceRequest> trace;
            for (int i = 0; i < 4000; ++i)
                trace.push_back(
                    {static_cast<std::uint64_t>(i) * static_cast<std::uint64_t>(rules->burstBytes()), false});
            const RuledResult result = runOf(*rules, trace, false, mapping);
            QVERIFY(result.bytesPerSecond <= rules->peakBandwidth() * (1 + 1e-9));
            QVERIFY(result.leastLatency >= rules->readLatency);
        }
    }
    void ddr4IsTheConfigurationWrittenByHand() {
        DramStandard standard = dramStandard("ddr4-3200aa").value();
        const DramRules hand = dramtest::rulesOf(ddr4Yaml());
        // The bin of the hand-written file; where the standard's row rounds otherwise the file's number is taken.
        DramTiming& t = standard.timing;
        t.rcdRead = t.rcdWrite = t.rp = t.cl = 22;
        t.cwl = 16, t.ras = 52, t.rc = 74, t.wr = 24, t.rtp = 12, t.ccdS = 4, t.ccdL = 8, t.rrdS = 4, t.rrdL = 8;
        t.wtrS = 4, t.wtrL = 12, t.faw = 34, t.readToWrite = 0, t.burst = 4;
        const DramRules made = orrery::rulesOf(standard).value();
        std::vector<DramTraceRequest> trace;
        std::uint64_t state = 1;
        for (int i = 0; i < 5000; ++i) {
            state = state * 6364136223846793005ULL + 1442695040888963407ULL;
            trace.push_back({(state >> 20) % (std::uint64_t{1} << 33) / 64 * 64, i % 3 == 2});
        }
        const RuledResult a = runOf(made, trace, false), b = runOf(hand, trace, false);
        QCOMPARE(a.cycles, b.cycles);
        QCOMPARE(a.done, b.done);
    }
    void streamsAgreeWithTheOtherModel_data() {
        QTest::addColumn<QString>("id");
        for (const char* id : {"ddr4-3200aa", "ddr5-4800b", "hbm2-2000"}) QTest::newRow(id) << QString(id);
    }
    void streamsAgreeWithTheOtherModel() {
        QFETCH(QString, id);
        const DramStandard standard = dramStandard(id.toStdString()).value();
        const DramRules rules = orrery::rulesOf(standard).value();
        const int bursts = 4000;
        std::vector<DramTraceRequest> trace;
        for (int i = 0; i < bursts; ++i)
            trace.push_back({static_cast<std::uint64_t>(i) * static_cast<std::uint64_t>(rules.burstBytes()), false});
        const RuledResult ruled = runOf(rules, trace, false);
        DramConfig config;
        config.standard = standard;
        config.refresh = DramRefresh::None;
        auto memory = DramMemory::make(config);
        QVERIFY(memory);
        memory->submit({0, static_cast<std::int64_t>(bursts) * rules.burstBytes(), 0, 0, 0, false});
        std::vector<DramCompletion> done;
        const auto cycles = static_cast<double>(memory->drain(done));
        QVERIFY2(qAbs(static_cast<double>(ruled.cycles) / cycles - 1) < 0.05,
                 qPrintable(QStringLiteral("%1 against %2").arg(ruled.cycles).arg(cycles)));
    }
    void aRecordHoldsEveryCommandAndWhatHeldTheBus() {
        const DramRules rules = orrery::rulesOf(dramStandard("ddr4-3200aa").value()).value();
        std::vector<DramTraceRequest> trace;
        for (int i = 0; i < 300; ++i) trace.push_back({static_cast<std::uint64_t>(i) * 64, false});
        const auto map = RuledAddressMap::make(rules, "RoBaRaCoCh").value();
        RuledRecord record;
        const auto result = runRuledDram(rules, map, true, *RuledInjection::parse("asap"), trace, {}, &record);
        QVERIFY(result);
        const RuledResult plain = runOf(rules, trace, true);
        QCOMPARE(result->done, plain.done);  // looking on changes nothing
        QCOMPARE(static_cast<std::int64_t>(record.issued.size()), result->counts.total());
        // Two reads of one bank group are tCCD_L apart, and half of that is the burst itself; reads of two groups
        // follow each other.
        std::int64_t last = -1;
        int same = 0;
        for (const RuledIssued& one : record.issued) {
            if (one.command != RuledCommand::Read) continue;
            const std::int64_t gap = last < 0 ? 0 : one.cycle - last;
            last = one.cycle;
            if (gap == rules.timingOf("nBL")) QCOMPARE(one.held, std::int64_t{0});
            if (gap != rules.timingOf("nCCDL")) continue;
            ++same;
            QCOMPARE(one.held, rules.timingOf("nCCDL") - rules.timingOf("nBL"));
            QCOMPARE(dramRuleName(rules, rules.rules[static_cast<std::size_t>(one.heldBy)]), std::string("nCCDL"));
        }
        QVERIFY(same > 100);
        RuledRecord little;
        little.most = 10;
        QVERIFY(runRuledDram(rules, map, true, *RuledInjection::parse("asap"), trace, {}, &little));
        QVERIFY(little.cut && little.issued.size() >= 10 && little.issued.size() < 20);
    }
};

QTEST_GUILESS_MAIN(TestStandardRules)
#include "tst_standard_rules.moc"
