#include "support/dram_fixture.h"

#include <set>

using namespace orrery;
using namespace orrery::dramtest;

namespace {

DramOrganisation small() {
    return {.pseudoChannels = 2,
            .ranks = 2,
            .bankGroups = 2,
            .banksPerGroup = 4,
            .rows = 6,
            .columns = 24,
            .busBits = 32,
            .burstLength = 8};
}

}  // namespace

class TestDramAddress : public QObject {
    Q_OBJECT
private slots:
    void everyMappingIsOneToOne_data() {
        QTest::addColumn<QString>("text");
        QTest::addColumn<bool>("permute");
        for (const char* text :
             {"RoBaRaCoCh", "ChRaBaRoCo", "RoCoBaRaBgCh", "CoRoChBgBaPcRa", "RoCoBaBgCo3ChPcRa", "Ro3RaBa2CoRoBaPcCh"})
            for (const bool permute : {false, true})
                QTest::addRow("%s%s", text, permute ? "-xor" : "") << text << permute;
    }
    void everyMappingIsOneToOne() {
        QFETCH(QString, text);
        QFETCH(bool, permute);
        const auto map = DramAddressMap::parse(text.toStdString(), small(), 5, permute);
        if (text.startsWith(
                "Ro3")) {  // Ro3 takes three of the six rows that the mention on its right has left nothing of
            QVERIFY(!map);
            return;
        }
        QVERIFY2(map.has_value(), map ? "" : map.error().message.c_str());
        QCOMPARE(map->bursts() * small().burstBytes(), small().bytes() * 5);
        std::set<std::tuple<int, int, std::int64_t, int>> seen;
        std::vector<std::int64_t> perChannel(5, 0);
        for (std::int64_t b = 0; b < map->bursts(); ++b) {
            const auto a = map->decode(b);
            QVERIFY(a.channel >= 0 && a.channel < 5 && a.bank >= 0 && a.bank < small().banks());
            QVERIFY(a.row >= 0 && a.row < 6 && a.column >= 0 && a.column < 3);
            QVERIFY(seen.emplace(a.channel, a.bank, a.row, a.column).second);
            QCOMPARE(map->encode(a), b);
            QCOMPARE(map->channelOf(b), a.channel);
            // Channel by channel, the n-th burst is found without a list.
            QCOMPARE(map->ordinalsBefore(a.channel, b), perChannel[std::size_t(a.channel)]);
            QCOMPARE(map->burstOfChannel(a.channel, perChannel[std::size_t(a.channel)]++), b);
        }
        for (std::int64_t first = 0; first < 400; first += 37)
            for (int channel = 0; channel < 5; ++channel) {
                std::int64_t counted = 0;
                for (std::int64_t b = first; b < first + 101; ++b) counted += map->channelOf(b) == channel;
                QCOMPARE(map->countOfChannel(channel, first, 101), counted);
            }
        QCOMPARE(map->decode(map->bursts() + 3), map->decode(3));
    }

    void namesMeanWhatControllersMean() {
        const auto o = configOf("ddr4-3200aa").standard.organisation;
        const auto map = DramAddressMap::parse("RoBaRaCoCh", o, 2);
        QVERIFY(map.has_value());
        QCOMPARE(map->decode(1).channel, 1);
        QCOMPARE(map->decode(2).column, 1);
        const auto nextRow =
            map->decode(2 * o.burstsPerRow());  // after a row comes the next bank group, then the next bank
        QCOMPARE(nextRow.bank, o.banksPerGroup);
        QCOMPARE(nextRow.row, std::int64_t(0));
        const auto linear = DramAddressMap::parse("ChRaBaRoCo", o, 2);
        QCOMPARE(linear->decode(o.burstsPerRow()).row, std::int64_t(1));
        QCOMPARE(linear->decode(linear->bursts() / 2).channel, 1);
    }

    void badMappingsAreRefusedWithAHint_data() {
        QTest::addColumn<QString>("text");
        for (const char* text : {"", "Ro", "RoBaRaCo", "RoBaRaCoChCh", "RoBaRaCoCx", "robaraco", "RoBaRaCo0Ch",
                                 "RoBaRaCo7Ch", "RoBaRaCo99999999999999999999Ch", "RoBaRaCoChR", "RoRoBaRaCoChRo4",
                                 "RoBaRaCo2Ch", "RoRoRoRoRoRoRoRoRoRoRoRoRoRoRoRoRoRoBaRaCoCh"})
            QTest::addRow("'%s'", text) << text;
    }
    void badMappingsAreRefusedWithAHint() {
        QFETCH(QString, text);
        const auto map = DramAddressMap::parse(text.toStdString(), small(), 5);
        QVERIFY(!map);
        QCOMPARE(map.error().code, std::string("dram.bad-mapping"));
        QVERIFY(!map.error().message.empty() && !map.error().expected.empty() && !map.error().hint.empty());
    }

    void impossibleMemoriesAreRefused() {
        const auto refused = [](auto change) {
            auto config = configOf("hbm2-2000");
            change(config);
            auto memory = DramMemory::make(config);
            return !memory && !memory.error().code.empty() && !memory.error().message.empty() &&
                   !memory.error().expected.empty();
        };
        QVERIFY(!refused([](DramConfig&) {}));
        QVERIFY(refused([](DramConfig& c) { c.channels = 0; }));
        QVERIFY(refused([](DramConfig& c) { c.channels = 1 << 20; }));
        QVERIFY(refused([](DramConfig& c) { c.readQueue = 0; }));
        QVERIFY(refused([](DramConfig& c) { c.writeQueue = -4; }));
        QVERIFY(refused([](DramConfig& c) { c.openedSlots = -1; }));
        QVERIFY(refused([](DramConfig& c) { c.rowHitCap = -1; }));
        QVERIFY(refused([](DramConfig& c) { c.drainBelow = 0.9; }));
        QVERIFY(refused([](DramConfig& c) { c.drainAbove = std::numeric_limits<double>::quiet_NaN(); }));
        QVERIFY(refused([](DramConfig& c) { c.mapping = "RoBa"; }));
        QVERIFY(refused([](DramConfig& c) { c.standard = {}; }));
        QVERIFY(refused([](DramConfig& c) { c.standard.organisation.rows = 0; }));
        QVERIFY(refused([](DramConfig& c) { c.standard.organisation.rows = std::int64_t(1) << 60; }));
        QVERIFY(refused([](DramConfig& c) { c.standard.organisation.busBits = 48; }));
        QVERIFY(refused([](DramConfig& c) { c.standard.organisation.columns = 126; }));
        QVERIFY(refused([](DramConfig& c) {
            c.standard.organisation.bankGroups = 64, c.standard.organisation.banksPerGroup = 64;
        }));
        QVERIFY(refused([](DramConfig& c) { c.standard.timing.ccdS = 1; }));
        QVERIFY(refused([](DramConfig& c) { c.standard.timing.rfc = 5000; }));
        QVERIFY(refused([](DramConfig& c) { c.standard.timing.rp = -3; }));
        QVERIFY(refused([](DramConfig& c) { c.permuteBanks = true, c.standard.organisation.banksPerGroup = 3; }));
        const auto unknown = dramStandard("ddr9");
        QVERIFY(!unknown && QString::fromStdString(unknown.error().expected).contains("hbm2-2000"));
    }

    // Width × rate is the number on the box; the rest of a row must be able to exist.
    void standardsArePlausible() {
        std::set<std::string> ids;
        for (const auto& s : dramStandards()) {
            const char* id = s.id.c_str();
            QVERIFY2(ids.insert(s.id).second, id);
            QVERIFY2(check(s).empty(), id);
            QVERIFY2(!s.source.empty() && !s.family.empty(), id);
            const auto rate =
                QString::fromStdString(s.id).section('-', 1).remove(QRegularExpression("[a-z]")).toDouble() * 1e6;
            const double peak = rate * s.organisation.pseudoChannels * s.organisation.busBits / 8;
            QVERIFY2(std::abs(s.peakBandwidth() / peak - 1) < 0.005, id);
            const auto& t = s.timing;
            QVERIFY2(std::abs(t.ras + t.rp - t.rc) <= 2, id);
            const double ns = t.clockPicoseconds * 1e-3;
            QVERIFY2(t.cl * ns > 9 && t.cl * ns < 25 && t.rcdRead * ns > 9 && t.rcdRead * ns < 25, id);
            QVERIFY2(t.rc * ns > 40 && t.rc * ns < 65, id);
            const double interval = t.refi * ns;
            QVERIFY2(interval > 1850 && interval < 7850, id);
            if (const auto energy = publishedEnergy(s)) {
                QVERIFY2(energy->activate > 0 && energy->read > 0 && energy->activeStandby > energy->prechargedStandby,
                         id);
                const double perBit = energy->read / (8.0 * s.organisation.burstBytes());
                QVERIFY2(perBit > 0.5e-12 && perBit < 30e-12, id);
            }
        }
    }
};

QTEST_GUILESS_MAIN(TestDramAddress)
#include "tst_dram_address.moc"
