// Numbers of calibrations against the C library's, and columns of them.

#include "base/random.h"
#include "base/text/json_cursor.h"

#include <QtTest/QtTest>

#include <cmath>
#include <cstdlib>
#include <string>

using namespace orrery;

class TestJsonCursor : public QObject {
    Q_OBJECT
private slots:
    void numbersAreRightToTheLastBit() {
        RandomStream random(3);
        for (int i = 0; i < 60000; ++i) {
            std::string text = random.below(2) ? "-" : "";
            const auto digits = [&](std::uint64_t most) {
                for (std::uint64_t d = 1 + random.below(most); d > 0; --d) text += char('0' + random.below(10));
            };
            text += char('1' + random.below(9));
            if (random.below(3) > 0) digits(i % 2 ? 5 : 18);
            if (random.below(3) > 0) text += '.', digits(i % 2 ? 6 : 18);
            if (random.below(3) > 0) {
                text += random.below(2) ? 'e' : 'E';
                if (random.below(2)) text += random.below(2) ? '-' : '+';
                text += std::to_string(random.below(i % 2 ? 25 : 290));
            }
            const double expected = std::strtod(text.c_str(), nullptr);
            if (!std::isfinite(expected) || std::abs(expected) < 1e-300) continue;
            JsonCursor json(text, {}, "test");
            const double found = json.number();
            json.end();
            QVERIFY2(json.ok(), text.c_str());
            QVERIFY2(found == expected, text.c_str());
        }
    }

    void columnsAreReadWhateverTheirForm_data() {
        QTest::addColumn<QString>("text");
        QTest::addColumn<int>("size");
        QTest::newRow("plain") << "[1,2.5,-3e2]" << 3;
        QTest::newRow("spaces") << " [ 1 ,\n2.5\t, -3e2 ] " << 3;
        QTest::newRow("long numbers between") << "[1,2.50000000000000000001,-3e2]" << 3;
        QTest::newRow("long number first") << "[1.00000000000000000001,2.5, -3e2]" << 3;
        QTest::newRow("empty") << "[]" << 0;
        QTest::newRow("empty, spaces") << "[ ]" << 0;
    }
    void columnsAreReadWhateverTheirForm() {
        QFETCH(QString, text);
        QFETCH(int, size);
        const std::string kept = text.toStdString();
        JsonCursor json(kept, {}, "test");
        const auto values = json.numbers(3);
        json.end();
        QVERIFY2(json.ok(), json.problem().message.c_str());
        QCOMPARE(int(values.size()), size);
        if (size == 3) QCOMPARE(values, (std::vector<double>{1, 2.5, -300}));
    }

    void columnsThatAreNone_data() {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("code");
        QTest::addColumn<QString>("path");
        QTest::newRow("too many") << "[1,2,3,4]"
                                  << "test.too-large"
                                  << "";
        QTest::newRow("no comma") << "[1 2]"
                                  << "test.not-json"
                                  << "";
        QTest::newRow("trailing comma") << "[1,2,]"
                                        << "test.not-json"
                                        << "[2]";
        QTest::newRow("text inside") << "[1,\"2\"]"
                                     << "test.type"
                                     << "[1]";
        QTest::newRow("lone sign") << "[1,-]"
                                   << "test.not-json"
                                   << "[1]";
        QTest::newRow("no fraction") << "[1,2.e]"
                                     << "test.not-json"
                                     << "";
        QTest::newRow("not a number") << "[1,NaN]"
                                      << "test.not-finite"
                                      << "[1]";
        QTest::newRow("too large") << "[1,1e999]"
                                   << "test.not-finite"
                                   << "[1]";
        QTest::newRow("cut off") << "[1,2"
                                 << "test.not-json"
                                 << "";
        QTest::newRow("no array") << "7"
                                  << "test.type"
                                  << "";
    }
    void columnsThatAreNone() {
        QFETCH(QString, text);
        QFETCH(QString, code);
        QFETCH(QString, path);
        const std::string kept = text.toStdString();
        JsonCursor json(kept, "file", "test");
        json.numbers(3);
        json.end();
        QVERIFY(!json.ok());
        QCOMPARE(QString::fromStdString(json.problem().code), code);
        if (!path.isEmpty()) QCOMPARE(QString::fromStdString(json.problem().place.path), path);
    }
};

QTEST_APPLESS_MAIN(TestJsonCursor)
#include "tst_json_cursor.moc"
