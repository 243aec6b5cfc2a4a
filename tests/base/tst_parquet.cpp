#include "base/random.h"
#include "base/text/csv_stream.h"
#include "base/text/parquet.h"
#include "base/text/read_file.h"
#include "base/text/words.h"

#include <QtTest/QtTest>

#include <cmath>

using namespace orrery;

namespace {

using Rows = std::vector<std::vector<std::string>>;

// Files that DuckDB 1.4 and Apache Arrow (Rust) wrote of one table, beside DuckDB's own CSV of it.
std::string path(const QString& name) {
    return std::string(ORRERY_TEST_DATA) + "/parquet/" + name.toStdString();
}

Expected<Rows> rowsOf(const std::string& file) {
    auto stream = CsvStream::open(file);
    if (!stream) return tl::unexpected(stream.error());
    Rows rows;
    while (true) {
        auto more = stream->next();
        if (!more) return tl::unexpected(more.error());
        if (!*more) return rows;
        rows.emplace_back(stream->cells().begin(), stream->cells().end());
    }
}

bool same(const std::string& a, const std::string& b) {
    if (a == b) return true;
    const auto x = numberIn(a), y = numberIn(b);
    return x && y && std::abs(*x - *y) <= 1e-15 * std::abs(*x);
}

}  // namespace

class TestParquet : public QObject {
    Q_OBJECT
private slots:
    void asTheCsvOfTheSameTable_data() {
        QTest::addColumn<QString>("file");
        for (const char* name : {"snappy", "zstd", "gzip", "plain", "groups"}) {
            QTest::newRow(name) << QString(name) + ".parquet";
        }
    }
    void asTheCsvOfTheSameTable() {
        QFETCH(QString, file);
        const auto expected = rowsOf(path("table.csv"));
        const auto got = rowsOf(path(file));
        QVERIFY(expected);
        QVERIFY2(got, got ? "" : got.error().message.c_str());
        QCOMPARE(got->size(), expected->size());
        for (std::size_t r = 0; r < got->size(); ++r) {
            QCOMPARE((*got)[r].size(), (*expected)[r].size());
            for (std::size_t c = 0; c < (*got)[r].size(); ++c) {
                QVERIFY2(same((*got)[r][c], (*expected)[r][c]),
                         qPrintable(QString("row %1, column %2: %3 for %4")
                                        .arg(r)
                                        .arg(c)
                                        .arg((*got)[r][c].c_str(), (*expected)[r][c].c_str())));
            }
        }
    }
    void asArrowWritesIt_data() {
        QTest::addColumn<QString>("file");
        QTest::newRow("first version") << "arrow.parquet";
        QTest::newRow("second version, dictionary pages") << "arrow-second.parquet";
    }
    void asArrowWritesIt() {
        QFETCH(QString, file);
        const auto got = rowsOf(path(file));
        QVERIFY2(got, got ? "" : got.error().message.c_str());
        QCOMPARE(got->size(), std::size_t{301});
        QCOMPARE((*got)[0], (std::vector<std::string>{"m", "latency", "dtype"}));
        for (int i = 0; i < 300; ++i) {
            const auto& row = (*got)[static_cast<std::size_t>(i) + 1];
            QCOMPARE(row[0], std::to_string(i + 1));
            QCOMPARE(QByteArray(row[1].c_str()).toDouble(), (i + 1) / 7.0);
            QCOMPARE(QByteArray(row[2].c_str()), QByteArray(i % 3 == 0 ? "bf16" : i % 3 == 1 ? "fp8" : "int4"));
        }
    }
    void columnsOfListsAreLeftOut() {
        const auto got = rowsOf(path("nested.parquet"));
        QVERIFY2(got, got ? "" : got.error().message.c_str());
        QCOMPARE((*got)[0], (std::vector<std::string>{"m", "latency"}));
        QCOMPARE(got->size(), std::size_t{11});
        QCOMPARE((*got)[10][0], std::string("10"));
    }
    void whatIsNotReadIsNamed() {
        const auto codec = rowsOf(path("brotli.parquet"));
        QVERIFY(!codec && codec.error().message.find("Brotli") != std::string::npos);
        QCOMPARE(codec.error().code, std::string("reference.unreadable"));
        const auto encoding = rowsOf(path("second.parquet"));
        QVERIFY(!encoding);
        QVERIFY2(encoding.error().message.find("delta") != std::string::npos, encoding.error().message.c_str());
    }
    // Every file ends in rows or in a diagnostic, whatever is done to it.
    void damagedFilesAreRefusedOrRead() {
        int refused = 0, read = 0;
        for (const char* name : {"snappy", "zstd", "gzip", "plain", "groups", "nested", "arrow", "arrow-second"}) {
            const auto whole = readFile(path(QString(name) + ".parquet"));
            QVERIFY(whole);
            RandomStream random(7, 0);
            for (int trial = 0; trial < 400; ++trial) {
                std::string bytes = *whole;
                if (trial % 4 == 0) bytes.resize(static_cast<std::size_t>(random.below(bytes.size())));
                for (int i = 0; i < 1 + trial % 8 && !bytes.empty(); ++i) {
                    // Most of the damage to the description at the end, where it does most.
                    const std::size_t at = trial % 2 ? random.below(bytes.size())
                                                     : bytes.size() - 1 - random.below(std::min<std::size_t>(bytes.size(), 900));
                    bytes[at] = static_cast<char>(random.below(256));
                }
                auto rows = ParquetRows::open(bytes, "damaged");
                bool good = rows.has_value();
                for (std::string line; good; line.clear()) {
                    const auto more = rows->append(line);
                    good = more.has_value();
                    if (good && !*more) break;
                }
                ++(good ? read : refused);
            }
        }
        QVERIFY2(refused > 1000, qPrintable(QString::number(refused)));
        QVERIFY2(read > 50, qPrintable(QString::number(read)));
    }
};

QTEST_APPLESS_MAIN(TestParquet)
#include "tst_parquet.moc"
