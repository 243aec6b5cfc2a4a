// Options of a method that are texts: a file is typed or looked for, and becomes part of the choice.

#include "widgets/comparison/method_options.h"

#include <QLineEdit>
#include <QSignalSpy>
#include <QToolButton>
#include <QtTest/QtTest>

using namespace orrery::ui;

class TstMethodOptions : public QObject {
    Q_OBJECT
private slots:
    void aFileIsTyped();
    void everyControlIsNamed();
};

void TstMethodOptions::aFileIsTyped() {
    MethodOptions options;
    QSignalSpy changed(&options, &MethodOptions::changed);
    options.setChoice(QStringLiteral("recorded"));
    options.resize(900, 200);
    options.show();
    auto* file = options.findChild<QLineEdit*>(QStringLiteral("methodOptions.trace"));
    QVERIFY(file);
    QCOMPARE(file->placeholderText(), QStringLiteral("needed"));
    QTest::keyClicks(file, QStringLiteral("/data/run.csv"));
    QTest::keyClick(file, Qt::Key_Return);
    QCOMPARE(changed.count(), 1);
    QCOMPARE(changed.at(0).at(0).toString(), QStringLiteral("recorded"));
    QCOMPARE(changed.at(0).at(1).toString(), QStringLiteral("recorded(trace=/data/run.csv)"));
    // What is there already is shown, and leaving the field changes nothing.
    options.setChoice(QStringLiteral("recorded(trace=/data/run.csv, on=h100-sxm)"));
    const auto fields = options.findChildren<QLineEdit*>(QStringLiteral("methodOptions.on"));
    QVERIFY(!fields.isEmpty());
    QCOMPARE(fields.back()->text(), QStringLiteral("h100-sxm"));
    QTest::keyClick(fields.back(), Qt::Key_Return);
    QCOMPARE(changed.count(), 1);
}

void TstMethodOptions::everyControlIsNamed() {
    MethodOptions options;
    options.setChoice(QStringLiteral("recorded"));
    for (const auto* each : options.findChildren<QLineEdit*>())
        QVERIFY2(!each->accessibleName().isEmpty() && !each->toolTip().isEmpty(), qPrintable(each->objectName()));
    const auto buttons = options.findChildren<QToolButton*>();
    QVERIFY(buttons.size() >= 4);  // three files to look for, and `Ask beside`
    for (const auto* each : buttons)
        QVERIFY2(!each->accessibleName().isEmpty() && !each->toolTip().isEmpty(), qPrintable(each->objectName()));
}

QTEST_MAIN(TstMethodOptions)
#include "tst_method_options.moc"
