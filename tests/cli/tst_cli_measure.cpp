// `measure`: what is wrong with a command line is said, and a machine is drawn and measured where it may be busy.

#include "support/cli_process.h"

#include <QFile>
#include <QTemporaryDir>
#include <QtTest/QtTest>

using namespace orrery::test;

class TestCliMeasure : public QObject {
    Q_OBJECT
    QTemporaryDir folder_;
    QString path(const char* name) const { return folder_.filePath(name); }

private slots:
    void badWordsAreNamed_data() {
        QTest::addColumn<QStringList>("words");
        QTest::addColumn<QString>("code");
        QTest::newRow("kernels") << QStringList{"--kernels", "gemm,fft", "--as", "epyc-9654", "--out", "-"}
                                 << "usage.kernels";
        QTest::newRow("types") << QStringList{"--types", "fp4", "--as", "epyc-9654", "--out", "-"} << "usage.types";
        QTest::newRow("seconds") << QStringList{"--seconds", "0", "--as", "epyc-9654", "--out", "-"} << "usage.number";
        QTest::newRow("cores") << QStringList{"--cores", "100000", "--as", "epyc-9654", "--out", "-"} << "usage.number";
        QTest::newRow("take") << QStringList{"--take", "mean", "--as", "epyc-9654", "--out", "-"} << "usage.take";
        QTest::newRow("no device") << QStringList{"--out", "-"} << "usage.missing";
        QTest::newRow("nothing") << QStringList{} << "usage.missing";
        QTest::newRow("whole") << QStringList{"--whole"} << "usage.missing";
        QTest::newRow("two") << QStringList{"--describe", "a.yaml", "--as", "b", "--out", "-"} << "usage.twice";
        QTest::newRow("device") << QStringList{"--device", "fpga", "--out", "-"} << "usage.device";
    }
    void badWordsAreNamed() {
        QFETCH(QStringList, words);
        QFETCH(QString, code);
        const Outcome outcome = cli(QStringList{"measure"} + words);
        QCOMPARE(outcome.exit, 2);
        QVERIFY2(outcome.error.contains(code), outcome.text());
    }
    void anotherDeviceIsRefusedPlainly() {
        const Outcome outcome = cli({"measure", "--device", "cuda:0", "--out", "-", "--as", "h100-sxm"});
        QCOMPARE(outcome.exit, 1);
        QVERIFY2(outcome.error.contains("measure.device"), outcome.text());
    }
    // Additions run everywhere, with whatever libraries there are.
    void drawnMeasuredAndFitted() {
        const QString table = path("kernels.yaml"), design = path("here.yaml"), fitted = path("here.json");
        const Outcome measured = cli({"measure", "--cores", "1", "--kernels", "elementwise", "--seconds", "0.001",
                                      "--take", "minimum", "--busy-ok", "--describe", design, "--out", table},
                                     {}, 60000);
        QVERIFY2(measured.exit == 0, measured.text());
        const Outcome drawn = cli({"hardware", design});
        QVERIFY2(drawn.exit == 0 && drawn.out.contains("1 cores"), drawn.text());
        const Outcome looked = cli({"references", table});
        QVERIFY2(looked.exit == 0 && looked.out.contains("repeatability"), looked.text());
        const Outcome calibrated = cli({"calibrate", "--method", "cpu-roofline", "--references", table, "--holdout",
                                        "fraction=0.5", "--out", fitted});
        QVERIFY2(calibrated.exit == 0 && calibrated.out.contains("fitted 1 sections"), calibrated.text());
        const Outcome judged =
            cli({"evaluate", "--method", "cpu-roofline", "--calibration", fitted, "--references", table, "--held-out"});
        QVERIFY2(judged.exit == 0 && judged.out.contains("elementwise"), judged.text());
    }
    // Methods of GPUs are not fitted to rows of processors.
    void otherMethodsSayThatTheyAreNotForThis() {
        QFile table(path("cpu.csv.yaml"));
        QVERIFY(table.open(QIODevice::WriteOnly));
        table.write(
            "orrery: references/1\nname: A\nsource: s\nkind: measured\ndevice: epyc-9654\n"
            "time: {value: t, unit: us}\nrows: |\n  kind,dtype,m,n,k,t\n  gemm,fp32,512,512,512,900\n"
            "  gemm,fp32,256,512,512,460\n");
        table.close();
        const Outcome outcome =
            cli({"calibrate", "--method", "tile-wave", "--references", path("cpu.csv.yaml"), "--out", path("x.json")});
        QCOMPARE(outcome.exit, 1);
        QVERIFY2(outcome.error.contains("reference.no-rows"), outcome.text());
    }
};

QTEST_GUILESS_MAIN(TestCliMeasure)
#include "tst_cli_measure.moc"
