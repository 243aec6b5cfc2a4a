#include "support/cli_process.h"

#include <QDir>
#include <QDirIterator>
#include <QtTest/QtTest>

using namespace orrery::test;

// Every file of tests/data/bad, through the command that reads its kind: a diagnostic with a place and a way out, exit
// 1, and neither a crash nor a wait.
class TestCliBadInput : public QObject {
    Q_OBJECT
    QTemporaryDir out_;

    static QStringList commandFor(const QString& kind, const QString& file, const QString& out) {
        if (kind == "hardware") return {"hardware", file};
        if (kind == "project") return {"project", file};
        if (kind == "study") return {"study", file, "--out", out};
        if (kind == "serving") return {"serve", file};
        if (kind == "scalesim") return arrayCommandFor(file);
        if (kind == "gpu") return gpuCommandFor(file, out);
        if (kind == "references") return {"evaluate", "--method", "roofline", "--references", file};
        if (kind == "timeloop") return {"map", "--timeloop", file};
        if (kind == "maestro") {
            return {"map", "--maestro", file, "--maestro-hardware", ORRERY_TEST_DATA "/maestro/hardware.m"};
        }
        if (kind == "maestro-hardware") {
            return {"map", "--maestro", ORRERY_TEST_DATA "/maestro/network.m", "--maestro-hardware", file};
        }
        if (kind == "calibration") {
            return {"evaluate", "--method", "booster", "--calibration", file, "--references", "none.csv"};
        }
        return {"import", file};
    }
    static QStringList arrayCommandFor(const QString& file) {
        const QString good = ORRERY_TEST_DATA "/scalesim/";
        if (file.endsWith(".cfg")) return {"array", "--config", file, "--topology", good + "gemm.csv", "--gemm"};
        if (QFileInfo(file).fileName().startsWith("layout")) {
            return {"array",           "--config", good + "banked.cfg", "--topology",
                    good + "gemm.csv", "--gemm",   "--layout",          file};
        }
        QStringList command{"array", "--config", good + "os.cfg", "--topology", file};
        if (QFileInfo(file).fileName().startsWith("gemm")) command << "--gemm";
        return command;
    }
    // A list of kernels, a trace that a list beside it names, or a configuration of the simulated GPU.
    static QStringList gpuCommandFor(const QString& file, const QString& out) {
        const QString good = ORRERY_TEST_DATA "/gpu/";
        if (file.endsWith(".config")) {
            return {"gpu", "--traces", good + "add/kernelslist.g", "--config", QFileInfo(file).path()};
        }
        QString list = file;
        if (file.endsWith(".traceg") || file.endsWith(".traceg.xz")) {
            const QString copy = out + '/' + QFileInfo(file).fileName();
            list = out + "/kernelslist.g";
            QFile::remove(copy);
            QFile named(list);
            if (!QFile::copy(file, copy) || !named.open(QIODevice::WriteOnly)) return {};
            named.write(QFileInfo(file).fileName().toUtf8() + '\n');
        }
        return {"gpu", "--traces", list, "--config", good + "small"};
    }
    static void verifyRefused(const Outcome& outcome, const QString& file) {
        QVERIFY2(outcome.ended, "it did not end within ten seconds");
        QVERIFY2(!outcome.crashed, outcome.text());
        QVERIFY2(outcome.exit == 1, outcome.text());
        QVERIFY2(outcome.out.isEmpty(), outcome.text());
        QVERIFY2(outcome.error.contains("error: "), outcome.text());
        QVERIFY2(outcome.error.contains(QFileInfo(file).fileName()), outcome.text());
        // Whatever refuses a value of a question about serving, and however late, the line is said.
        if (file.contains("/bad/serving/")) {
            const QRegularExpression line(QRegularExpression::escape(QFileInfo(file).fileName()) + ":[0-9]+:");
            QVERIFY2(line.match(outcome.error).hasMatch(), outcome.text());
        }
        QVERIFY2(outcome.error.contains("hint: ") || outcome.error.contains("expected: "), outcome.text());
        QVERIFY2(!outcome.error.contains("terminate") && !outcome.error.contains("bug in Orrery"), outcome.text());
    }

private slots:
    void everyBadFileIsRefused_data() {
        QTest::addColumn<QString>("kind");
        QTest::addColumn<QString>("file");
        const QDir bad(ORRERY_TEST_DATA "/bad");
        int files = 0;
        for (const QString& kind : bad.entryList(QDir::Dirs | QDir::NoDotAndDotDot)) {
            QDirIterator each(bad.filePath(kind), QDir::Files, QDirIterator::Subdirectories);
            while (each.hasNext()) {
                const QString file = each.next();
                // Beside lists of kernels: what they name.
                if (QFileInfo(file).fileName() == "README.md" ||
                    bad.relativeFilePath(file).startsWith("gpu/lists/kernel"))
                    continue;
                QTest::newRow(qPrintable(bad.relativeFilePath(file))) << kind << file;
                ++files;
            }
        }
        QVERIFY2(files >= 40, "the corpus is gone");
    }
    void everyBadFileIsRefused() {
        QFETCH(QString, kind);
        QFETCH(QString, file);
        verifyRefused(cli(commandFor(kind, file, out_.path())), file);
        if (kind == "hardware") verifyRefused(cli({"run", "--hardware", file, "--workload", "resnet-50"}), file);
    }
};

QTEST_GUILESS_MAIN(TestCliBadInput)
#include "tst_cli_bad_input.moc"
