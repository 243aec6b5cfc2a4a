// Is a long name in a list read whole, and does an item take no more room than its lines?

#include "widgets/common/theme.h"
#include "widgets/common/wrapped_delegate.h"

#include <QListWidget>

using namespace orrery::ui;

class TestWrappedDelegate : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { initialiseApplicationLook(); }

    void itemsAreAsHighAsTheirLines_data() {
        QTest::addColumn<int>("width");
        for (const int width : {160, 230, 420}) QTest::addRow("%d", width) << width;
    }
    void itemsAreAsHighAsTheirLines() {
        QFETCH(int, width);
        QListWidget list;
        list.setWordWrap(true);
        list.setItemDelegate(new WrappedDelegate(&list));
        list.addItem("Operators of Llama-2 7B that were measured\n1,204 rows, measured: h100-sxm, l40s, mi300x");
        list.addItem("Short");
        list.resize(300, 400);
        list.show();
        QVERIFY(QTest::qWaitForWindowExposed(&list));
        list.resize(width, 400);  // the lines follow
        const QFontMetrics metrics(list.font());
        const auto lines = [&](int item) {
            return (list.visualItemRect(list.item(item)).height() - 8) / double(metrics.lineSpacing());
        };
        // So many as the widest words allow, counted apart from the view.
        const int room = list.viewport()->width() - 16;
        int expected = 0;
        for (const QString& paragraph : list.item(0)->text().split('\n')) {
            QString line;
            ++expected;
            for (const QString& word : paragraph.split(' ')) {
                const QString longer = line.isEmpty() ? word : line + ' ' + word;
                if (metrics.horizontalAdvance(longer) <= room) {
                    line = longer;
                } else {
                    line = word;
                    ++expected;
                }
            }
        }
        QTRY_VERIFY2(std::abs(lines(0) - expected) < 1.2,  // hyphens and slashes are breaks too
                     qPrintable(QStringLiteral("%1 lines of %2").arg(lines(0)).arg(expected)));
        QVERIFY(lines(1) < 1.3);
        // Ink stands in the last line too: nothing was cut.
        const QRect item = list.visualItemRect(list.item(0));
        const QImage seen = list.viewport()->grab(item).toImage();
        const QColor ground = seen.pixelColor(2, 2);
        bool ink = false;
        for (int y = item.height() - 4 - metrics.height(); y < item.height() - 4; ++y)
            for (int x = 8; x < item.width() / 2; ++x) ink = ink || contrastRatio(seen.pixelColor(x, y), ground) > 4;
        QVERIFY(ink);
    }
};

QTEST_MAIN(TestWrappedDelegate)
#include "tst_wrapped_delegate.moc"
