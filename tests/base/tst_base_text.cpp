#include "base/maths.h"
#include "base/text/csv_stream.h"
#include "base/text/words.h"

#include <QtTest/QtTest>

#include <algorithm>
#include <array>

using namespace orrery;

class TestBaseText : public QObject {
    Q_OBJECT
private slots:
    // A frame of zstd by its specification (RFC 8878): magic, a single segment of 8 bytes, one last raw block. A stream
    // of xz as xz 5.4 writes it.
    // A whole stream whose dictionary is 2 GiB is no damaged file. The filter's byte is 38 (xz file format, 5.3.1); the
    // header's check is CRC32.
    void aDictionaryThatIsTooLargeIsNamed() {
        QByteArray stream = QByteArray::fromHex(
            "fd377a585a000004e6d6b446020021010c0000008f98419c010007612c620a312c320a00be9cbd49b5122afe00012008bb19d9bb1f"
            "b6f37d010000000004595a");
        const auto crc = [](const QByteArray& bytes) {
            quint32 out = 0xffffffffu;
            for (const char c : bytes) {
                out ^= quint8(c);
                for (int i = 0; i < 8; ++i) out = out >> 1 ^ (out & 1 ? 0xedb88320u : 0);
            }
            return ~out;
        };
        const auto checkOf = [&] { return qFromLittleEndian<quint32>(stream.constData() + 20); };
        QCOMPARE(checkOf(), crc(stream.mid(12, 8)));
        stream[16] = 38;
        qToLittleEndian(crc(stream.mid(12, 8)), stream.data() + 20);
        QTemporaryDir folder;
        QFile file(folder.filePath("large.csv.xz"));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(stream);
        file.close();
        auto read = CsvStream::open(file.fileName().toStdString());
        QVERIFY(read);
        const auto got = read->next();
        QVERIFY(!got);
        QVERIFY2(got.error().message.find("dictionary") != std::string::npos, got.error().message.c_str());
        QVERIFY(got.error().message.find("damaged") == std::string::npos);
    }
    void packedFilesAreReadAsTheirText_data() {
        QTest::addColumn<QString>("ending");
        QTest::addColumn<QByteArray>("frame");
        QTest::addColumn<int>("middle");
        QTest::newRow("zstd") << ".zst" << QByteArray::fromHex("28b52ffd2008410000") + "a,b\n1,2\n" << 6;
        QTest::newRow("xz") << ".xz"
                            << QByteArray::fromHex(
                                   "fd377a585a000004e6d6b446020021010c0000008f98419c010007612c620a312c320a00be9cbd49"
                                   "b5122afe00012008bb19d9bb1fb6f37d010000000004595a")
                            << 30;
    }
    void packedFilesAreReadAsTheirText() {
        QFETCH(QString, ending);
        QFETCH(QByteArray, frame);
        QFETCH(int, middle);
        QTemporaryDir folder;
        const auto rowsOf = [&](const QByteArray& bytes) {
            const QString path = folder.filePath("t.csv" + ending);
            QFile file(path);
            if (file.open(QIODevice::WriteOnly)) file.write(bytes);
            file.close();
            QStringList cells;
            auto stream = CsvStream::open(path.toStdString());
            Expected<bool> more = false;
            while (stream && (more = stream->next()) && *more) {
                for (const auto cell : stream->cells()) cells << QString::fromUtf8(cell.data(), qsizetype(cell.size()));
            }
            if (!stream || !more) cells << "broken";
            return cells;
        };
        QCOMPARE(rowsOf(frame), (QStringList{"a", "b", "1", "2"}));
        QCOMPARE(rowsOf(frame + frame).size(), 8);  // frames follow each other
        QCOMPARE(rowsOf(frame.left(frame.size() - 3)).back(), QString("broken"));
        QByteArray damaged = frame;
        damaged[middle] = char(0xff);
        QCOMPARE(rowsOf(damaged).back(), QString("broken"));
    }

    void ceilDivRoundsUpOnlyWhatIsLeftOver() {
        for (std::int64_t b = 1; b < 9; ++b) {
            for (std::int64_t a = 0; a < 50; ++a) {
                const std::int64_t steps = ceilDiv(a, b);
                QVERIFY(steps * b >= a && (steps - 1) * b < a);
                QCOMPARE(roundUp(a, b), steps * b);
            }
        }
    }

    // Reference: R 4.3, quantile(x, p, type = 7); numpy 1.26, quantile(x, p) and quantile(x, p, method="lower").
    void quantilesAreThoseOfRAndNumpy() {
        const std::array<double, 4> sorted{1, 2, 3, 4};
        QCOMPARE(quantileType7OfSorted(sorted, 0), 1.0);
        QCOMPARE(quantileType7OfSorted(sorted, 1), 4.0);
        QCOMPARE(quantileType7OfSorted(sorted, 0.5), 2.5);
        QCOMPARE(quantileType7OfSorted(sorted, 0.25), 1.75);  // R: quantile(1:4, 0.25) is 1.75
        QCOMPARE(quantileLowerOfSorted(sorted, 0.5), 2.0);
        QCOMPARE(quantileLowerOfSorted(sorted, 0.99), 3.0);
        QCOMPARE(medianOfSorted(sorted), 2.5);
        const std::array<double, 1> one{7};
        QCOMPARE(quantileType7OfSorted(one, 0.3), 7.0);
        QCOMPARE(medianOfSorted(one), 7.0);
    }

    void unsortedValuesGiveTheSame() {
        std::vector<double> sorted;
        for (int i = 0; i < 101; ++i) sorted.push_back(i * i);
        auto mixed = sorted;
        for (std::size_t i = 0; i < mixed.size(); ++i) std::swap(mixed[i], mixed[(i * 37) % mixed.size()]);
        for (const double p : {0.0, 0.003, 0.05, 0.5, 0.955, 0.999, 1.0}) {
            auto a = mixed, b = mixed;
            QCOMPARE(quantileType7(a, p), quantileType7OfSorted(sorted, p));
            QCOMPARE(quantileLower(b, p), quantileLowerOfSorted(sorted, p));
        }
        // One after the other, each looking only at what is left.
        auto rest = mixed;
        QCOMPARE(quantileType7(rest, 0.5), quantileType7OfSorted(sorted, 0.5));
        QCOMPARE(quantileType7(rest, 0.955, 50), quantileType7OfSorted(sorted, 0.955));
    }

    void aBorderAboveLeavesOutNoMoreThanTheRest() {
        std::vector<double> values;
        for (int n = 1; n < 60; ++n) {
            values.push_back(n);
            for (const double p : {0.5, 0.9, 0.98}) {
                auto copy = values;
                const double border = quantileAbove(copy, p);
                const auto above = std::count_if(values.begin(), values.end(), [&](double v) { return v > border; });
                QVERIFY(double(above) <= (1 - p) * n);
            }
        }
    }

    void blanksAreTrimmedOnBothSidesOnly() {
        QCOMPARE(trimmed(" \t a b\r\n"), std::string_view("a b"));
        QCOMPARE(trimmed(" \v\f "), std::string_view());
        QCOMPARE(trimmed("\xC2\xA0x"), std::string_view("\xC2\xA0x"));  // UTF-8 is left alone
    }

    void lowerLeavesWhatIsNotAscii() { QCOMPARE(lower("H100-SXM É"), std::string("h100-sxm É")); }

    void splitKeepsEmptyParts() {
        using Parts = std::vector<std::string_view>;
        QCOMPARE(split("", ','), (Parts{""}));
        QCOMPARE(split("a,, b ,", ','), (Parts{"a", "", " b ", ""}));
        QCOMPARE(splitTrimmed("a,, b ,", ','), (Parts{"a", "", "b", ""}));
    }

    void numbersAreTheWholeText() {
        QCOMPARE(numberIn("1.5e3").value_or(0), 1500.0);
        QCOMPARE(numberIn("-0.25").value_or(0), -0.25);
        for (const char* wrong : {"", " 1", "1 ", "+1", "1x", "0x10", "inf", "nan", "1e999", "1,5"}) {
            QVERIFY2(!numberIn(wrong), wrong);
        }
        QCOMPARE(wholeIn("-12").value_or(0), std::int64_t(-12));
        for (const char* wrong : {"", "1.0", "1e3", "9223372036854775808", "+1", "1 "})
            QVERIFY2(!wholeIn(wrong), wrong);
    }
};

QTEST_GUILESS_MAIN(TestBaseText)
#include "tst_base_text.moc"
