#include "support/cli_process.h"
#include "support/schema_check.h"

#include <QFile>
#include <QTemporaryDir>
#include <QtTest/QtTest>

#include <cmath>

using namespace orrery::test;

class TestCliBlock : public QObject {
    Q_OBJECT
    static void write(const QString& path, const char* text) {
        QFile file(path);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(text);
    }
    // 900 blocks of one to six simple instructions, no two alike.
    static QStringList someBlocks() {
        static const QStringList parts{"4801d8",   "4829d8",   "488b03", "488903", "480fafc3", "f20f58c1",
                                       "f20f59d1", "4883c001", "31c0",   "4c01c1", "0f58c1",   "48c1e003"};
        QStringList blocks;
        for (std::uint64_t i = 1; blocks.size() < 900; i += 7) {
            QString hex;
            for (std::uint64_t rest = i; rest > 0; rest /= 12) hex += parts[static_cast<qsizetype>(rest % 12)];
            if (!blocks.contains(hex)) blocks << hex;
        }
        return blocks;
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
    // Learned from a table whose times are the bounds' own times and a half: the correction says so, of the blocks that
    // it was given and of their like, names the file, and keeps the bounds beside it.
    void aCorrectionIsLearnedAndApplied() {
        const QTemporaryDir folder;
        const QStringList blocks = someBlocks();
        QByteArray plain = "hex\n";
        for (const QString& hex : blocks) plain += hex.toLatin1() + '\n';
        write(folder.filePath("plain.csv"), plain.constData());
        const Outcome bounds = cli({"block", "--core", "skl", "--csv", "plain.csv"}, folder.path());
        QVERIFY2(bounds.exit == 0, bounds.text());
        const QStringList answered = bounds.out.split('\n', Qt::SkipEmptyParts);
        QCOMPARE(answered.size(), blocks.size() + 1);
        QByteArray measured = "hex,skl\n";
        for (qsizetype i = 0; i < blocks.size(); ++i)
            measured +=
                blocks[i].toLatin1() + ',' + QByteArray::number(150 * answered[i + 1].split(',')[1].toDouble()) + '\n';
        write(folder.filePath("measured.csv"), measured.constData());
        const Outcome fit = cli({"block", "--core", "skl", "--fit", "measured.csv", "--measured", "skl", "--per", "100",
                                 "--out", "skl.json", "--date", "2026-01-01"},
                                folder.path());
        QVERIFY2(fit.exit == 0 && fit.out.contains("33.33 %"), fit.text());
        QFile file(folder.filePath("skl.json"));
        QVERIFY(file.open(QIODevice::ReadOnly));
        for (const std::string& error : schemaErrors(file.readAll().toStdString(), "block-correction"))
            QFAIL(error.c_str());
        const Outcome one =
            cli({"block", "--core", "skl", "--hex", blocks[0], "--json", "--correct", "skl.json"}, folder.path());
        QVERIFY2(one.exit == 0, one.text());
        for (const std::string& error : schemaErrors(one.out.toStdString(), "block")) QFAIL(error.c_str());
        const Outcome all =
            cli({"block", "--core", "skl", "--csv", "plain.csv", "--correct", "skl.json"}, folder.path());
        const QStringList corrected = all.out.split('\n', Qt::SkipEmptyParts);
        QCOMPARE(corrected[0], QString("hex,cycles,low,high,bound,by_bounds"));
        int near = 0;
        for (qsizetype i = 1; i < corrected.size(); ++i) {
            const QStringList cells = corrected[i].split(',');
            QCOMPARE(cells[5], answered[i].split(',')[1]);
            QVERIFY(cells[2].toDouble() <= cells[1].toDouble() && cells[1].toDouble() <= cells[3].toDouble());
            // Whole, half at the edge of what was fitted, or as the bounds stand.
            const double ratio = cells[1].toDouble() / cells[5].toDouble();
            const auto is = [&](double share) { return std::abs(ratio / std::pow(1.5, share) - 1) < 0.02; };
            QVERIFY2(is(1) || is(0.5) || is(0), qPrintable(corrected[i]));
            near += is(1);
        }
        QVERIFY2(near > 0.7 * double(blocks.size()), qPrintable(QString::number(near)));
        // Of another core, and of another port table, it is refused.
        for (const QStringList& other : {QStringList{"--core", "hsw"}, {"--core", "skl", "--uops", "own.csv"}}) {
            write(folder.filePath("own.csv"), "instruction,ports\n\"ADD (R64, R64)\",1*p0156\n");
            const Outcome refused =
                cli(QStringList{"block", "--hex", "4801d8", "--correct", "skl.json"} + other, folder.path());
            QVERIFY2(refused.exit == 1 && refused.error.contains("skl"), refused.text());
        }
    }
    void learningSaysWhatIsMissing() {
        const QTemporaryDir folder;
        write(folder.filePath("b.csv"), "hex,cycles\n4801d8,1\n");
        write(folder.filePath("no.json"), "{\"format\": \"orrery-block-correction\",\n \"version\": 7}");
        const auto refused = [&](const QStringList& words, const char* why) {
            const Outcome outcome = cli(QStringList{"block", "--core", "skl"} + words, folder.path());
            QVERIFY2(outcome.sound() && outcome.exit != 0 && outcome.error.contains(why), outcome.text());
        };
        refused({"--fit", "b.csv", "--out", "c.json"}, "`measured`");
        refused({"--fit", "b.csv", "--measured", "cycles"}, "--out");
        refused({"--fit", "b.csv", "--measured", "cycles", "--out", "c.json"}, "400 blocks");
        refused({"--fit", "b.csv", "--measured", "cycles", "--out", "c.json", "--per", "none"}, "--per");
        refused({"--fit", "b.csv", "--out", "c.json", "--hex", "90"}, "--correct");
        for (const char* of : {"--out", "--measured", "--per", "--date"})
            refused({"--hex", "90", of, "c.json"}, "--fit");
        QVERIFY(!QFile::exists(folder.filePath("c.json")));
        // Rows whose code cannot be decoded, and times of no size, are told.
        QByteArray wrong = "hex,measured\n";
        for (int i = 0; i < 30; ++i) wrong += "06,2\n";
        write(folder.filePath("wrong.csv"), wrong.constData());
        refused({"--fit", "wrong.csv", "--out", "c.json"}, "30 rows are left out");
        refused({"--fit", "b.csv", "--measured", "cycles", "--out", "c.json", "--per", "1e-320"},
                "1 rows are left out");
        refused({"--hex", "90", "--correct", "no.json"}, "no.json:2");
        refused({"--hex", "90", "--correct", "none.json"}, "none.json");
    }
    // Every command of the handbook's page, in its order, in one folder.
    void theHandbooksCommandsRun() {
        QFile page(ORRERY_SOURCE "/resources/handbook/blocks.md");
        QVERIFY(page.open(QIODevice::ReadOnly));
        const QTemporaryDir folder;
        write(folder.filePath("blocks.csv"), "hex\n4801d8\n488b03\n");
        QByteArray measured = "hex,measured\n";
        for (const QString& hex : someBlocks()) measured += hex.toLatin1() + ",2\n";
        write(folder.filePath("measured.csv"), measured.constData());
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
        QCOMPARE(ran, 6);
    }
};

QTEST_GUILESS_MAIN(TestCliBlock)
#include "tst_cli_block.moc"
