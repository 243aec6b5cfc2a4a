#include "base/dtype.h"
#include "base/executor.h"
#include "base/hash.h"
#include "base/quantity.h"
#include "base/random.h"
#include "base/unit.h"

#include <QtTest/QtTest>

#include <atomic>
#include <stdexcept>
#include <vector>

using namespace orrery;

namespace {
double si(const char* text, Dimension dimension) {
    const auto measure = parseMeasure(text, dimension);
    return measure ? measure->si : -1;
}
}  // namespace

class TestBase : public QObject {
    Q_OBJECT
private slots:
    void quantitiesMultiplyToTheRightKind() {
        const Seconds time = Bytes(10) / BytesPerSecond(5);
        QCOMPARE(time.value, 2.0);
        static_assert(std::is_same_v<decltype(Flops(1) / Bytes(1)), FlopsPerByte>);
        static_assert(std::is_same_v<decltype(Seconds(1) / Seconds(1)), double>);
        static_assert(std::is_same_v<decltype(Watts(1) * Seconds(1)), Joules>);
    }
    void decimalAndBinaryPrefixesAreKeptApart() {
        QCOMPARE(si("80 GB", Dimension::Data), 80e9);
        QCOMPARE(si("80GiB", Dimension::Data), 80.0 * 1024 * 1024 * 1024);
        QCOMPARE(si("3.35 TB/s", Dimension::DataRate), 3.35e12);
        QCOMPARE(si("1 GiB/s", Dimension::DataRate), 1073741824.0);
        QCOMPARE(si("8 Gbit/s", Dimension::DataRate), 1e9);
        QCOMPARE(si("989 TFLOP/s", Dimension::OperationRate), 989e12);
        QCOMPARE(si("1.98 GHz", Dimension::Frequency), 1.98e9);
        QCOMPARE(si("3.9 pJ/bit", Dimension::EnergyPerData), 3.9e-12 * 8);
        QCOMPARE(si("2 us", Dimension::Time), 2e-6);
        QCOMPARE(si("50 %", Dimension::Fraction), 0.5);
    }
    void ratesPerCycleWaitForAClock() {
        const auto measure = parseMeasure("128 B/cycle", Dimension::DataRate);
        QVERIFY(measure && measure->perCycle);
        QCOMPARE(measure->perSecond(Hertz(2e9)), 256e9);
        const auto macs = parseMeasure("512/cycle", Dimension::OperationRate);
        QVERIFY(macs && macs->perCycle);
        QCOMPARE(macs->si, 512.0);
    }
    void slipsGetAHint_data() {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("hint");
        QTest::newRow("GBps") << "900 GBps"
                              << "GB/s";
        QTest::newRow("lower case") << "900 gb/s"
                                    << "GB/s";
        QTest::newRow("per sec") << "900 GB/sec"
                                 << "GB/s";
        QTest::newRow("TFLOPS/s") << "900 TFLOPS/s"
                                  << "TFLOP/s";
    }
    void slipsGetAHint() {
        QFETCH(QString, text);
        QFETCH(QString, hint);
        const auto measure =
            parseMeasure(text.toStdString(), text.contains("FLOP") ? Dimension::OperationRate : Dimension::DataRate);
        QVERIFY(!measure);
        QVERIFY2(QString::fromStdString(measure.error().hint).contains(hint), measure.error().hint.c_str());
    }
    void nonsenseIsRefused() {
        for (const char* text : {"", "GB", "nan", "inf", "1e999 B", "1.2.3 B", "80 GB/s extra", "--3 B", "0x10 B"}) {
            QVERIFY2(!parseMeasure(text, Dimension::Data), text);
        }
        QVERIFY(!parseMeasure("2.5", Dimension::Count));
    }
    void printedValuesReadBack_data() {
        QTest::addColumn<int>("dimension");
        for (const Dimension d : {Dimension::Data, Dimension::DataRate, Dimension::OperationRate, Dimension::Frequency,
                                  Dimension::Energy, Dimension::Power}) {
            QTest::newRow(std::string(toText(d)).c_str()) << static_cast<int>(d);
        }
    }
    void printedValuesReadBack() {
        QFETCH(int, dimension);
        RandomStream random(7);
        for (int i = 0; i < 2000; ++i) {
            const auto d = static_cast<Dimension>(dimension);
            const double lowest = d == Dimension::Data ? 0 : -12;  // a fraction of a byte is printed in bits
            const double value = std::pow(10.0, lowest + random.uniform() * (18 - lowest));
            const auto back = parseMeasure(formatMeasure(value, d, 4), d);
            QVERIFY2(back, formatMeasure(value, d, 4).c_str());
            QVERIFY2(std::fabs(back->si / value - 1) < 6e-4, formatMeasure(value, d, 4).c_str());
        }
    }
    void threeSignificantDigits() {
        QCOMPARE(QString::fromStdString(format(BytesPerSecond(3.35e12))), "3.35 TB/s");
        QCOMPARE(QString::fromStdString(format(Bytes(999.7e9))), "1 TB");
        QCOMPARE(QString::fromStdString(formatBinary(80.0 * (1ull << 30), Dimension::Data)), "80 GiB");
        QCOMPARE(QString::fromStdString(format(Seconds(1.5e-4))), "150 µs");
    }
    void philoxMatchesThePublishedVectors() {
        // Known answers of the Random123 distribution (kat_vectors, philox4x32 10 rounds).
        const std::array<std::uint32_t, 4> zero{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8};
        QVERIFY(philox({0, 0, 0, 0}, {0, 0}) == zero);
        const std::array<std::uint32_t, 4> ones{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd};
        QVERIFY(philox({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}) == ones);
    }
    void streamsAreIndependentOfOrder() {
        RandomStream a(1, 2), b(1, 2);
        for (int i = 0; i < 100; ++i) QCOMPARE(a(), b());
        QVERIFY(RandomStream(1).split(0)() != RandomStream(1).split(1)());
    }
    void executorsRunEachIndexOnceAndRethrow() {
        for (auto make : {makeTbbExecutor, makeThreadExecutor, makeDefaultExecutor}) {
            const auto executor = make(2);
            std::vector<std::atomic<int>> hits(1000);
            executor->forEach(hits.size(), [&](std::size_t i) { ++hits[i]; });
            for (const auto& hit : hits) QCOMPARE(hit.load(), 1);
            QVERIFY_EXCEPTION_THROWN(executor->forEach(10,
                                                       [](std::size_t i) {
                                                           if (i == 3) throw std::runtime_error("x");
                                                       }),
                                     std::runtime_error);
        }
    }
    void hashesSeparateNeighbours() {
        QVERIFY(Hash().add("ab").add("c").value() != Hash().add("a").add("bc").value());
        QCOMPARE(Hash().add(0.0).value(), Hash().add(-0.0).value());
    }
    void dtypesAcceptUsualSpellings() {
        QVERIFY(dtype("torch.bfloat16") == DType::BF16);
        QVERIFY(dtype("FP16") == DType::F16);
        QVERIFY(dtype("uint8") == DType::I8);
        QVERIFY(!dtype("float7"));
        QCOMPARE(bytesOf(DType::I4, 10).value, 5.0);
    }
};

QTEST_GUILESS_MAIN(TestBase)
#include "tst_base.moc"
