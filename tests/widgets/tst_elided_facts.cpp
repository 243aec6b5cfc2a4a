#include "base/random.h"
#include "widgets/common/elided_facts.h"

#include <QRegularExpression>
#include <QTest>

using namespace orrery;
using namespace orrery::ui;

class TestElidedFacts : public QObject {
    Q_OBJECT

private slots:
    void whatFitsIsWhole() {
        const QFontMetricsF metrics{QFont()};
        const QString line = QStringLiteral("256 GB · 307 GB/s");
        QCOMPARE(elidedFacts(line, metrics, metrics.horizontalAdvance(line) + 1), line);
    }

    // The cut seen on a card and in the tree: `256 GB · 307…`, `184 TFLOP/s bf16 · 34.4 GB · 8…`.
    void noNumberAndNoUnitIsCut() {
        const QFontMetricsF metrics{QFont()};
        const auto at = [&](const QString& line, const QString& room) {
            return elidedFacts(line, metrics, metrics.horizontalAdvance(room) + 0.5);
        };
        QCOMPARE(at("256 GB · 307 GB/s", "256 GB · 307 G…"), QStringLiteral("256 GB · …"));
        QCOMPARE(at("184 TFLOP/s bf16 · 34.4 GB · 820 GB/s", "184 TFLOP/s bf16 · 34.4 GB · 8…"),
                 QStringLiteral("184 TFLOP/s bf16 · 34.4 GB · …"));
        QCOMPARE(at("115 TFLOP/s bf16", "115 TFLOP/s b…"), QStringLiteral("115 TFLOP/s …"));
        QCOMPARE(at("350 W", "35…"), QStringLiteral("…"));
        QVERIFY(at("a name without numbers", "a name wi…").startsWith("a name"));
    }

    // Every number that is left has its unit, and all that is left stood there before, in its order.
    void ofAnyLineAndAnyWidth() {
        const QFontMetricsF metrics{QFont()};
        const QStringList units{"GB", "TB/s", "TFLOP/s bf16", "W", "KiB a bank", "MHz"};
        RandomStream random(11);
        int cut = 0;
        for (int round = 0; round < 2000; ++round) {
            QStringList facts;
            const int count = 1 + static_cast<int>(random.uniform() * 4);
            for (int i = 0; i < count; ++i)
                facts << QString::number(std::floor(random.uniform() * 5000) / 10) + ' ' +
                             units[static_cast<int>(random.uniform() * 6)];
            const QString line = facts.join(QStringLiteral(" · "));
            const double width = metrics.horizontalAdvance(line) * random.uniform();
            QString shown = elidedFacts(line, metrics, width);
            cut += shown != QStringLiteral("…");
            QVERIFY(shown == QStringLiteral("…") || metrics.horizontalAdvance(shown) <= width);
            QVERIFY(shown.endsWith(QStringLiteral("…")));
            shown.chop(1);
            QVERIFY2(line.startsWith(shown), qPrintable(line + " | " + shown));
            static const QRegularExpression bare(QStringLiteral("[0-9.]+ ?$"));
            QVERIFY2(!bare.match(shown).hasMatch(), qPrintable(line + " | " + shown));
        }
        QVERIFY(cut > 500);
    }
};

QTEST_MAIN(TestElidedFacts)
#include "tst_elided_facts.moc"
