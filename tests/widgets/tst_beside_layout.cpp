// A form beside its answer where there is room for both, and above it where there is not: nothing is cut.

#include "widgets/common/beside_layout.h"

#include <QWidget>

using namespace orrery::ui;

class TestBesideLayout : public QObject {
    Q_OBJECT
private slots:
    void itStandsAboveWhereThereIsNoRoom_data() {
        QTest::addColumn<int>("width");
        QTest::addColumn<bool>("above");
        QTest::newRow("wide") << 1200 << false;
        QTest::newRow("just enough") << 900 << false;
        QTest::newRow("a pixel less") << 899 << true;
        QTest::newRow("narrow") << 600 << true;
    }
    void itStandsAboveWhereThereIsNoRoom() {
        QFETCH(int, width);
        QFETCH(bool, above);
        QWidget page;
        auto* row = new BesideLayout(&page, 200);
        auto *form = new QWidget(&page), *answer = new QWidget(&page);
        form->setMinimumWidth(300);
        answer->setMinimumSize(600, 400);
        row->addWidget(form);
        row->addWidget(answer);
        page.resize(width, 800);
        page.show();
        QVERIFY(QTest::qWaitForWindowExposed(&page));
        QTRY_COMPARE(row->isAbove(), above);
        QVERIFY(answer->width() >= 600 && answer->height() >= 400);
        QVERIFY(!form->geometry().intersects(answer->geometry()));
        QCOMPARE(form->geometry().united(answer->geometry()), page.rect());
        QCOMPARE(form->width(), above ? width : 300);
        QCOMPARE(row->minimumSize(), QSize(600, above ? 600 : 400));
        // And back.
        page.resize(1200, 800);
        QTRY_VERIFY(!row->isAbove());
        QCOMPARE(row->minimumSize().height(), 400);
    }
};

QTEST_MAIN(TestBesideLayout)
#include "tst_beside_layout.moc"
