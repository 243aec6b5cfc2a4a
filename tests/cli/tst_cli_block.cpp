#include "support/cli_process.h"
#include "support/schema_check.h"

#include <QFile>
#include <QTemporaryDir>
#include <QtTest/QtTest>

using namespace orrery::test;

class TestCliBlock : public QObject {
    Q_OBJECT
    static void write(const QString& path, const char* text) {
        QFile file(path);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(text);
    }

private slots:
    void jsonKeepsItsSchema() {
        for (const char* core : {"ivb", "hsw", "skl", "icl", "zen", "zen2"}) {
            const Outcome one = cli({"block", "--core", core, "--hex", "480fafc3 488903", "--json"});
            QVERIFY2(one.exit == 0 && one.error.isEmpty(), one.text());
            for (const std::string& error : schemaErrors(one.out.toStdString(), "block")) QFAIL(error.c_str());
        }
    }
    void mistakesSayWhere() {
        const Outcome digit = cli({"block", "--core", "skl", "--hex", "48zz"});
        QVERIFY2(digit.exit == 1 && digit.error.contains("character 3"), digit.text());
        const Outcome code = cli({"block", "--core", "skl", "--hex", "4801d806"});
        QVERIFY2(code.exit == 1 && code.error.contains("byte 3"), code.text());
        const Outcome core = cli({"block", "--core", "i486", "--hex", "90"});
        QVERIFY2(core.exit == 1 && core.error.contains("skl"), core.text());
        const Outcome none = cli({"block", "--core", "skl"});
        QVERIFY2(none.exit != 0 && none.error.contains("--hex"), none.text());
    }
    void rowsComeBackInOrderAndBadOnesAreLeftEmpty() {
        const QTemporaryDir folder;
        write(folder.filePath("b.csv"), "name,hex,cycles\nfirst,4801d8,3\nsecond,06,4\n\"third, last\",480fafc3,5\n");
        const Outcome all = cli({"block", "--core", "skl", "--csv", "b.csv"}, folder.path());
        QVERIFY2(all.exit == 0, all.text());
        const auto lines = all.out.split('\n');
        QCOMPARE(lines[0], QString("name,hex,given_cycles,cycles,low,high,bound"));
        QVERIFY(lines[1].startsWith("first,4801d8,3,1.0000,") && lines[1].endsWith("dependence"));
        QCOMPARE(lines[2], QString("second,06,4,,,,"));
        QVERIFY(lines[3].startsWith("\"third, last\",480fafc3,5,3.0000,"));
        QVERIFY2(all.error.contains("b.csv:3"), all.text());
    }
    void aTableIsNoJson() {
        const QTemporaryDir folder;
        write(folder.filePath("b.csv"), "hex\n4801d8\n");
        const Outcome both = cli({"block", "--core", "skl", "--csv", "b.csv", "--json"}, folder.path());
        QVERIFY2(both.exit != 0 && both.out.isEmpty() && both.error.contains("--hex"), both.text());
    }
    // Every command of the handbook's page, in its order, in one folder.
    void theHandbooksCommandsRun() {
        QFile page(ORRERY_SOURCE "/resources/handbook/blocks.md");
        QVERIFY(page.open(QIODevice::ReadOnly));
        const QTemporaryDir folder;
        write(folder.filePath("blocks.csv"), "hex\n4801d8\n488b03\n");
        write(folder.filePath("mixes.csv"), "instruction_ids\n0 1 2\n7 7 7\n");
        int ran = 0;
        for (const QString& line : QString::fromUtf8(page.readAll()).split('\n')) {
            if (!line.startsWith("orrery-cli ")) continue;
            QStringList words = QProcess::splitCommand(line);
            words.removeFirst();
            const Outcome outcome = cli(words, folder.path());
            QVERIFY2(outcome.sound() && outcome.exit == 0, (line.toUtf8() + '\n' + outcome.text()).constData());
            ++ran;
        }
        QCOMPARE(ran, 4);
    }
};

QTEST_GUILESS_MAIN(TestCliBlock)
#include "tst_cli_block.moc"
