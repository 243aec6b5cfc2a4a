#include "support/dram_fixture.h"
#include "support/dram_trace_check.h"

using namespace orrery;
using namespace orrery::dramtest;

class TestDramTiming : public QObject {
    Q_OBJECT

    static std::vector<DramIssued> traceOf(DramMemory& memory, const std::vector<DramRequest>& requests,
                                           std::vector<DramCompletion>& done) {
        std::vector<DramIssued> trace;
        memory.observe([&](const DramIssued& issued) { trace.push_back(issued); });
        for (const auto& request : requests) memory.submit(request);
        memory.drain(done);
        return trace;
    }

private slots:
    void everyCommandObeysEveryRule_data() {
        QTest::addColumn<QString>("id");
        QTest::addColumn<int>("variant");
        for (const auto& standard : dramStandards())
            for (int variant = 0; variant < 5; ++variant)
                QTest::addRow("%s-%d", standard.id.c_str(), variant) << QString::fromStdString(standard.id) << variant;
    }
    void everyCommandObeysEveryRule() {
        QFETCH(QString, id);
        QFETCH(int, variant);
        auto config = configOf(qPrintable(id));
        const char* mappings[] = {"RoBaRaCoCh", "RoCoBaRaBgCh", "ChRaBaRoCo", "RoRaBaCoBgCo4Ch", "RoBaRaCoCh"};
        config.mapping = mappings[variant];
        config.page = variant == 1 || variant == 3 ? DramPage::Closed : DramPage::Open;
        config.refresh = variant < 2 ? DramRefresh::AllBank : DramRefresh::PerBank;
        if (variant == 2) config.standard.organisation.ranks = 2, config.rowHitCap = 4;
        if (variant == 4) config.scheduler = DramScheduler::Fcfs;
        if (variant == 3) config.openedSlots = 8, config.permuteBanks = true;
        auto memory = memoryOf(config);
        const auto requests = traffic(memory, 1200, std::uint64_t(variant) + 11);
        std::vector<DramCompletion> done;
        const auto trace = traceOf(memory, requests, done);
        const QString fault = dramcheck::firstFault(config.standard, trace);
        QVERIFY2(fault.isEmpty(), qPrintable(fault));

        // Every request completes once, not before its data can be there, and commands and bursts agree.
        std::map<std::uint64_t, DramCycle> completed;
        for (const auto& completion : done) QVERIFY(completed.emplace(completion.tag, completion.cycle).second);
        QCOMPARE(completed.size(), requests.size());
        const auto& t = config.standard.timing;
        for (const auto& request : requests)
            QVERIFY(completed[request.tag] >= request.arrival + (request.write ? t.cwl : t.cl) + t.burst);
        const auto statistics = memory.statistics();
        QCOMPARE(statistics.reads + statistics.writes, std::int64_t(requests.size()));
        QCOMPARE(statistics.rowHits + statistics.rowMisses + statistics.rowConflicts + statistics.forwarded,
                 std::int64_t(requests.size()));
        const auto columns =
            std::count_if(trace.begin(), trace.end(), [](const auto& c) { return dramcheck::isColumn(c.command); });
        QCOMPARE(std::int64_t(columns) + statistics.forwarded, std::int64_t(requests.size()));
        QVERIFY(
            std::is_sorted(done.begin(), done.end(), [](const auto& a, const auto& b) { return a.cycle < b.cycle; }));
    }

    // The trace check itself must see a command that comes a cycle too soon.
    void aCommandACycleTooSoonIsSeen() {
        auto config = configOf("ddr4-3200aa");
        auto memory = memoryOf(config);
        std::vector<DramCompletion> done;
        const auto trace = traceOf(memory, traffic(memory, 3000, 3, 0.3, 0), done);
        QVERIFY(dramcheck::firstFault(config.standard, trace).isEmpty());
        const auto weaker = [&](auto change) {
            auto standard = config.standard;
            change(standard.timing);
            return dramcheck::firstFault(standard, trace);
        };
        // The model kept to the smaller value, so a check by one cycle more must complain about each.
        QVERIFY(!weaker([](auto& t) { ++t.rcdRead; }).isEmpty());
        QVERIFY(!weaker([](auto& t) { ++t.rp; }).isEmpty());
        QVERIFY(!weaker([](auto& t) { ++t.ccdL; }).isEmpty());
        QVERIFY(!weaker([](auto& t) { ++t.ccdS; }).isEmpty());
        QVERIFY(!weaker([](auto& t) { ++t.rrdS; }).isEmpty());
        QVERIFY(!weaker([](auto& t) { ++t.faw; }).isEmpty());
        QVERIFY(!weaker([](auto& t) { ++t.wtrS; }).isEmpty());
        QVERIFY(!weaker([](auto& t) { ++t.rtp; }).isEmpty());
        QVERIFY(!weaker([](auto& t) { ++t.wr; }).isEmpty());
        QVERIFY(!weaker([](auto& t) { ++t.burst; }).isEmpty());
        QVERIFY(!weaker([](auto& t) { t.rfc += 200; }).isEmpty());
        QVERIFY(!weaker([](auto& t) { t.activateSlots = 2; }).isEmpty());
    }

    void oneReadTakesWhatTheTableSays() {
        auto config = configOf("ddr4-3200aa");
        config.refresh = DramRefresh::None;
        auto memory = memoryOf(config);
        const auto& t = config.standard.timing;
        std::vector<DramCompletion> done;
        const auto read = [&](const DramAddress& address) {
            const DramCycle start = memory.now() + 500;
            memory.submit(burst(memory, memory.map().encode(address), start, 1));
            done.clear();
            memory.runToCompletion(start + 10'000, done);
            return done.empty() ? DramCycle(-1) : done.front().cycle - start;
        };
        QCOMPARE(read({0, 3, 0, 10}), DramCycle(t.rcdRead + t.cl + t.burst));         // closed bank
        QCOMPARE(read({0, 3, 5, 10}), DramCycle(t.cl + t.burst));                     // open row
        QCOMPARE(read({0, 3, 0, 11}), DramCycle(t.rp + t.rcdRead + t.cl + t.burst));  // another row
        const auto s = memory.statistics();
        QCOMPARE(s.rowHits, 1);
        QCOMPARE(s.rowMisses, 1);
        QCOMPARE(s.rowConflicts, 1);
        QCOMPARE(s.activates, 2);
        QCOMPARE(s.precharges, 1);
    }

    void ranksAreRefreshedAsOftenAsTheyMust() {
        for (const auto policy : {DramRefresh::AllBank, DramRefresh::PerBank}) {
            auto config = configOf("hbm3-6400");
            config.refresh = policy;
            auto memory = memoryOf(config);
            for (const auto& request : traffic(memory, 20'000, 5)) memory.submit(request);
            std::vector<DramCompletion> done;
            memory.drain(done);
            const auto s = memory.statistics();
            const auto intervals = memory.now() / config.standard.timing.refi;
            QVERIFY(intervals > 5);
            const auto& o = config.standard.organisation;
            const auto due =
                intervals * o.pseudoChannels * o.ranks * (policy == DramRefresh::PerBank ? o.banksPerRank() : 1);
            const auto issued = policy == DramRefresh::PerBank ? s.bankRefreshes : s.refreshes;
            QVERIFY2(issued >= due - 4 * o.banksPerRank() && issued <= due + due / 5 + 4 * o.banksPerRank(),
                     qPrintable(QString("%1 of %2").arg(issued).arg(due)));
        }
    }

    // A caller may look in whatever steps it likes.
    void stepsOfTheCallerChangeNothing() {
        for (const char* id : {"ddr5-4800b", "hbm2-2400"}) {
            auto config = configOf(id);
            config.channels = 3;
            const auto run = [&](int step) {
                auto memory = memoryOf(config);
                const auto requests = traffic(memory, 2000, 9);
                std::vector<DramCompletion> done;
                std::size_t next = 0;
                if (step == 0)
                    for (const auto& request : requests) memory.submit(request);
                while (step > 0 && (next < requests.size() || !memory.idle())) {
                    const DramCycle until = memory.now() + step;
                    while (next < requests.size() && requests[next].arrival <= until) memory.submit(requests[next++]);
                    if (step == 1000)
                        memory.runTo(until, done);
                    else
                        memory.runToCompletion(until, done);
                }
                memory.drain(done);
                std::vector<std::pair<std::uint64_t, DramCycle>> result;
                for (const auto& completion : done) result.emplace_back(completion.tag, completion.cycle);
                std::sort(result.begin(), result.end());
                return result;
            };
            const auto whole = run(0);
            QCOMPARE(whole.size(), std::size_t(2000));
            QVERIFY(run(0) == whole);
            QVERIFY(run(1000) == whole);
            QVERIFY(run(17) == whole);
        }
    }

    // A tile is the same as its bursts.
    void aTransferIsItsBursts() {
        for (const char* id : {"ddr4-2400r", "hbm2-2000", "gddr6-14000"}) {
            auto config = configOf(id);
            config.channels = 4;
            config.mapping = "RoBaRaCoBgChCo2";
            const int bytes = config.standard.organisation.burstBytes();
            auto whole = memoryOf(config), parts = memoryOf(config);
            std::vector<DramCompletion> done, doneParts;
            const std::uint64_t address = 12345;
            const std::int64_t size = 300'000;
            whole.submit({address, size, 10, 1});
            const auto first = address / std::uint64_t(bytes), last = (address + size - 1) / std::uint64_t(bytes);
            for (auto b = first; b <= last; ++b) parts.submit(burst(parts, std::int64_t(b), 10, b));
            QCOMPARE(whole.drain(done), parts.drain(doneParts));
            QCOMPARE(done.size(), std::size_t(1));
            QCOMPARE(doneParts.size(), std::size_t(last - first + 1));
            QCOMPARE(whole.statistics().reads, parts.statistics().reads);
            QCOMPARE(whole.statistics().activates, parts.statistics().activates);
            QCOMPARE(whole.statistics().latencyCycles, parts.statistics().latencyCycles);
        }
    }

    void aReadOfAQueuedWriteIsForwarded() {
        auto config = configOf("ddr4-3200aa");
        auto memory = memoryOf(config);
        std::vector<DramCompletion> done;
        for (int i = 0; i < 8; ++i) memory.submit(burst(memory, 1000 + i, 0, 0));
        memory.submit(burst(memory, 5, 0, 1, true));
        memory.submit(burst(memory, 5, 1, 2));
        memory.drain(done);
        QCOMPARE(done.size(), std::size_t(10));
        QCOMPARE(memory.statistics().forwarded, 1);
        QCOMPARE(memory.statistics().writes, 1);
    }

    void portsTakeTurns() {
        auto memory = memoryOf(configOf("lpddr5-6400"));
        const std::int64_t size = 1 << 20;
        std::vector<DramCompletion> done;
        memory.submit({0, size, 0, 0, 0});
        memory.submit({1 << 24, 1 << 12, 0, 1, 1});
        memory.drain(done);
        QCOMPARE(done.front().tag, 1u);  // a small one of another port does not wait for the large one
        QVERIFY(done.front().cycle < done.back().cycle / 50);
    }

    void emptyRequestsCompleteAtOnce() {
        auto memory = memoryOf(configOf("ddr4-3200aa"));
        std::vector<DramCompletion> done;
        memory.submit({64, 0, 40, 9});
        QVERIFY(memory.runToCompletion(1000, done));
        QCOMPARE(done.front().cycle, DramCycle(40));
        QVERIFY(memory.idle());
        QVERIFY(!memory.runToCompletion(5000, done));
        QCOMPARE(memory.now(), DramCycle(5000));
    }

    // A chain of dependent reads can only get slower when a part of the device does.
    void slowerTimingIsNeverFaster() {
        const auto base = configOf("ddr4-3200aa");
        const auto latency = [](DramConfig config) {
            config.refresh = DramRefresh::None;
            auto memory = memoryOf(config);
            return meanLatency(memory, 300, 4);
        };
        const double before = latency(base);
        for (auto field :
             {&DramTiming::cl, &DramTiming::rcdRead, &DramTiming::rp, &DramTiming::ras, &DramTiming::rc,
              &DramTiming::rtp, &DramTiming::burst, &DramTiming::faw, &DramTiming::rrdL, &DramTiming::activateSlots}) {
            auto config = base;
            config.standard.timing.*field += 3;
            config.standard.timing.ccdS += 3, config.standard.timing.ccdL += 3;
            QVERIFY(latency(config) >= before);
        }
        for (auto field : {&DramTiming::cl, &DramTiming::rcdRead, &DramTiming::rp}) {
            auto config = base;
            config.standard.timing.*field += 3;
            QVERIFY(latency(config) > before);
        }
    }

    void noTrafficExceedsThePeak() {
        for (const auto& standard : dramStandards()) {
            DramConfig config;
            config.standard = standard;
            for (const char* mapping : {"RoBaRaCoCh", "RoBaCoBgRaPcCh", "ChRaBaRoCo"}) {
                config.mapping = mapping;
                QVERIFY(bandwidth(config, 4000, false) <= standard.peakBandwidth() * 1.0001);
                QVERIFY(bandwidth(config, 2000, true) <= standard.peakBandwidth());
            }
            // Four activates per tFAW and rank bound random reads of single bursts.
            const auto& o = standard.organisation;
            const double bound = 4.0 * o.pseudoChannels * o.ranks * o.burstBytes() /
                                 (standard.timing.faw * standard.timing.clockPicoseconds * 1e-12);
            QVERIFY(bandwidth(config, 3000, true) <= bound * 1.02);
        }
    }

    // Bank groups side by side reach nearly all of the peak, one group alone only tCCD_S / tCCD_L of it.
    void theMappingDecidesTheBandwidth() {
        for (const auto& standard : dramStandards()) {
            DramConfig config;
            config.standard = standard;
            config.refresh = DramRefresh::None;
            config.readQueue = 128;  // deep enough to see the next row of every bank group
            config.mapping = "RoRaBaCoBgPcCh";
            const double peak = standard.peakBandwidth();
            const double good = bandwidth(config, 20'000, false);
            QVERIFY2(good > 0.9 * peak, qPrintable(QString("%1: %2").arg(standard.id.c_str()).arg(good / peak)));
            if (standard.organisation.bankGroups == 1 || standard.timing.ccdL == standard.timing.ccdS) continue;
            config.mapping = "PcRaBgBaRoCoCh";
            const double alone = bandwidth(config, 20'000, false) * standard.organisation.pseudoChannels;
            QVERIFY(alone <= peak * standard.timing.ccdS / standard.timing.ccdL * 1.001);
        }
    }

    void moreQueuesAndChannelsHelp() {
        auto config = configOf("ddr4-3200aa");
        double before = 0;
        for (const int queue : {1, 4, 16, 64}) {
            config.readQueue = queue;
            const double now = bandwidth(config, 5000, true);
            QVERIFY2(now > before * 0.97, qPrintable(QString("%1 %2 %3").arg(queue).arg(now).arg(before)));
            before = now;
        }
        config.scheduler = DramScheduler::Fcfs;
        QVERIFY(bandwidth(config, 5000, true) < before);
        config.scheduler = DramScheduler::FrFcfs;
        config.mapping = "RoBaRaCoChCo4";
        config.channels = 1;
        const double one = bandwidth(config, 20'000, false);
        config.channels = 6;
        QVERIFY(bandwidth(config, 120'000, false) > 5.8 * one);
    }

    void energyIsWhatItsCommandsCost() {
        auto config = configOf("ddr4-3200aa");
        QVERIFY(!memoryOf(configOf("gddr6-14000")).energy());
        config.refresh = DramRefresh::None;
        config.energy = publishedEnergy(config.standard).value();
        auto memory = memoryOf(config);
        std::vector<DramCompletion> done;
        memory.submit(burst(memory, 0, 100, 1));
        memory.drain(done);
        memory.runTo(1000, done);
        // One activate at cycle 100, one read, row open from then on; eight devices at 1.2 V (currents of the table,
        // mA).
        const double second = 625e-12, device = 1.2e-3 * 8;
        const double activate = device * (57.0 * 74 - (52.0 * 52 + 37.0 * 22)) * second,
                     read = device * (168 - 52) * 4 * second;
        const double standby = device * (52.0 * 900 + 37.0 * 100) * second;
        QVERIFY(memory.energy());
        QVERIFY(std::abs(memory.energy()->total() / (activate + read + standby) - 1) < 1e-9);
    }
};

QTEST_GUILESS_MAIN(TestDramTiming)
#include "tst_dram_timing.moc"
