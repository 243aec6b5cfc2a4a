// Do networks of search spaces have the work that their benchmarks publish, and is what is no network refused?

#include "workload/spaces/spaces.h"
#include "workload/workload.h"

#include <QtTest/QtTest>

using namespace orrery;

namespace {

WorkloadPtr made(const std::string& source, WorkloadOptions options = {}) {
    auto loaded = loadWorkload({source, options, {}});
    if (!loaded) qWarning("%s", toText(loaded.error()).c_str());
    return loaded ? *loaded : nullptr;
}

std::string cell(const char* all) {
    const std::string op = all;
    return "|" + op + "~0|+|" + op + "~0|" + op + "~1|+|" + op + "~0|" + op + "~1|" + op + "~2|";
}

}  // namespace

class TestSpaces : public QObject {
    Q_OBJECT
private slots:
    // The benchmark's own range, 7.78 to 220.12 million.
    void nasBench201HasItsPublishedWork() {
        const auto least = made("nasbench201:" + cell("none")), most = made("nasbench201:" + cell("nor_conv_3x3"));
        QVERIFY(least && most);
        QCOMPARE(least->totals.macs, 7783040.0);
        QCOMPARE(most->totals.macs, 220119680.0);
        // 10 classes: 64·10 + 10 in the classifier; 1.531546 M parameters is the benchmark's largest.
        QCOMPARE(most->totals.parameters, 1531546.0);
    }

    void anotherInputChangesTheWorkByItsPixels() {
        const auto usual = made("nasbench201:" + cell("nor_conv_3x3"));
        const auto wide = made("nasbench201@3x64x64:" + cell("nor_conv_3x3"));
        QVERIFY(usual && wide);
        const double classifier = 640;
        QCOMPARE(wide->totals.macs - classifier, 4 * (usual->totals.macs - classifier));
        QVERIFY(made("nasbench201@1x52x16:" + cell("avg_pool_3x3")));
        QVERIFY(made("nasbench201@1x33x17:" + cell("skip_connect")));  // odd sides meet after the reduction
    }

    void deadEdgesAreFound() {
        // Node 1 leads nowhere; node 2 has no input but feeds the output.
        const auto read = readNasBench201("|nor_conv_3x3~0|+|none~0|none~1|+|skip_connect~0|none~1|nor_conv_1x1~2|");
        QVERIFY(read);
        const std::array<bool, 6> expected{false, false, false, true, false, false};
        QCOMPARE(liveEdges(*read), expected);
        const auto all = readNasBench201(cell("nor_conv_1x1"));
        const std::array<bool, 6> everything{true, true, true, true, true, true};
        QCOMPARE(liveEdges(*all), everything);
    }

    void fbnetKeepsOnlyWhatASkipLeaves() {
        std::string blocks;
        for (int i = 0; i < 22; ++i) blocks += i ? " 8" : "8";
        const auto skips = made("fbnet:" + blocks);
        QVERIFY(skips);
        // Stem 32²·16·27, the five 1×1 convolutions that change the shape, head 4²·352·1504, classifier.
        const double changes = 32 * 32 * 16.0 * 24 + 16 * 16 * 24.0 * 32 + 8 * 8 * 32.0 * 64 + 8 * 8 * 64.0 * 112 +
                               4 * 4 * 112.0 * 184 + 4 * 4 * 184.0 * 352;
        QCOMPARE(skips->totals.macs, 32 * 32 * 16 * 27.0 + changes + 4 * 4 * 352 * 1504.0 + 1504 * 100);
        blocks[0] = '2';
        const auto one = made("fbnet:" + blocks);
        QCOMPARE(one->totals.macs - skips->totals.macs, 32 * 32 * (16 * 48 + 48 * 9 + 48 * 16.0));
    }

    void ofaGrowsWithDepthKernelAndResolution() {
        const auto source = [](const char* r, const char* d, const char* k) {
            std::string ks, e;
            for (int i = 0; i < 20; ++i) ks += std::string(i ? " " : "") + k, e += i ? " 4" : "4";
            return std::string("ofa:r=") + r + "|d=" + d + "|ks=" + ks + "|e=" + e;
        };
        const auto small = made(source("160", "2 2 2 2 2", "3")), deep = made(source("160", "2 3 2 2 2", "3")),
                   wide = made(source("160", "2 2 2 2 2", "7")), large = made(source("224", "2 2 2 2 2", "3"));
        QVERIFY(small && deep && wide && large);
        QVERIFY(deep->totals.macs > small->totals.macs);
        QVERIFY(wide->totals.macs > small->totals.macs);
        const double pixels = large->totals.macs / small->totals.macs;
        QVERIFY2(pixels > 1.85 && pixels < 1.97, qPrintable(QString::number(pixels)));  // (224/160)² = 1.96
    }

    void aDecoderTakesItsStepsAndReadsItsWeightsOnce() {
        const auto one = made("hat:decoder|embed=512|layers=1|ffn=1024|heads=4"),
                   two = made("hat:decoder|embed=512|layers=2|ffn=1024|heads=4");
        QVERIFY(one && two);
        QCOMPARE(two->totals.macs, 2 * one->totals.macs);
        // q, k and v, out; cross q, out; up and down: without their biases.
        QVERIFY(one->totals.parameters > 6 * 512 * 512.0 + 2 * 512 * 1024.0);
        QVERIFY(one->totals.parameters < 1.02 * (6 * 512 * 512.0 + 2 * 512 * 1024.0));
        QVERIFY(one->totals.macs > 30 * (6 * 512 * 512.0 + 2 * 512 * 1024.0));
    }

    void listedExamplesLoad() {
        for (const NetworkSpace& space : searchSpaces()) {
            const auto loaded = made(std::string(space.example));
            QVERIFY2(loaded && loaded->totals.macs > 0, space.id.data());
            QVERIFY2(loaded->warnings.empty(), space.id.data());
        }
    }

    void whatIsNoNetworkIsRefused_data() {
        QTest::addColumn<QString>("source");
        QTest::addColumn<QString>("code");
        QTest::newRow("operator") << "nasbench201:|conv9~0|+|none~0|none~1|+|none~0|none~1|none~2|"
                                  << "workload.space-code";
        QTest::newRow("edge") << "nasbench201:|none~1|+|none~0|none~1|+|none~0|none~1|none~2|"
                              << "workload.space-code";
        QTest::newRow("nodes") << "nasbench201:|none~0|"
                               << "workload.space-code";
        QTest::newRow("nothing") << "nasbench201:"
                                 << "workload.space-code";
        QTest::newRow("input") << "nasbench201@3x32:|none~0|+|none~0|none~1|+|none~0|none~1|none~2|"
                               << "workload.space-input";
        QTest::newRow("huge input") << "nasbench201@3x99999x9:|none~0|+|none~0|none~1|+|none~0|none~1|none~2|"
                                    << "workload.space-input";
        QTest::newRow("blocks") << "fbnet:1 2 3"
                                << "workload.space-code";
        QTest::newRow("block id") << "fbnet:9 8 8 8 8 8 8 8 8 8 8 8 8 8 8 8 8 8 8 8 8 8"
                                  << "workload.space-code";
        QTest::newRow("ofa part") << "ofa:r=204|d=2 2 2 2 2"
                                  << "workload.space-code";
        QTest::newRow("ofa resolution") << "ofa:r=9999999|d=2 2 2 2 2"
                                        << "workload.space-code";
        QTest::newRow("hat half") << "hat:embed=512"
                                  << "workload.space-code";
        QTest::newRow("hat layers") << "hat:encoder|layers=65536"
                                    << "workload.space-code";
        QTest::newRow("hat key") << "hat:encoder|depth=3"
                                 << "workload.space-code";
        QTest::newRow("unknown space") << "darts:1 2 3"
                                       << "workload.unknown";
    }
    void whatIsNoNetworkIsRefused() {
        QFETCH(QString, source);
        QFETCH(QString, code);
        const auto loaded = loadWorkload({source.toStdString(), {}, {}});
        QVERIFY(!loaded);
        QCOMPARE(QString::fromStdString(loaded.error().code), code);
        QVERIFY(!loaded.error().expected.empty());
    }
};

QTEST_GUILESS_MAIN(TestSpaces)
#include "tst_spaces.moc"
