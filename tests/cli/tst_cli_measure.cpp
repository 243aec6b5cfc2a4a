// `measure`: what is wrong with a command line is said, and a machine is drawn and measured where it may be busy.

#include "support/cli_process.h"

#include <QFile>
#include <QHash>
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
    // Formats, attention and convolutions are oneDNN's: what each takes is of the same order.
    void everyKindOfOneDnnRuns() {
        const QString shapes = path("shapes.yaml"), table = path("types.yaml");
        QFile file(shapes);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(
            "orrery: references/1\nname: Shapes\nsource: none\nkind: measured\ndevice: epyc-9654\n"
            "time: {value: t, unit: us}\nrows: |\n"
            "  "
            "kind,dtype,batch,m,n,k,queries,keys,heads,kv_heads,head_dim,causal,in_channels,out_channels,height,width,"
            "kernel_height,kernel_width,stride,t\n"
            "  gemm,fp32,1,64,64,64,,,,,,,,,,,,,,50\n"
            "  gemm,bf16,1,64,64,64,,,,,,,,,,,,,,50\n"
            "  gemm,int8,1,64,64,64,,,,,,,,,,,,,,50\n"
            "  prefill-attention,bf16,1,,,,32,32,2,2,64,yes,,,,,,,,50\n"
            "  decode-attention,bf16,1,,,,1,64,2,2,64,,,,,,,,,50\n"
            "  convolution,bf16,1,,,,,,,,,,8,16,14,14,3,3,1,50\n"
            "  convolution,int8,1,,,,,,,,,,8,16,14,14,3,3,1,50\n"
            "  softmax,bf16,1,64,256,,,,,,,,,,,,,,,50\n"
            "  normalization,bf16,1,64,256,,,,,,,,,,,,,,,50\n");
        file.close();
        const Outcome measured = cli({"measure", "--shapes", shapes, "--cores", "1", "--seconds", "0.001", "--take",
                                      "minimum", "--busy-ok", "--as", "epyc-9654", "--out", table},
                                     {}, 60000);
        if (measured.error.contains("libdnnl")) QSKIP("oneDNN 2 is not installed");
        QVERIFY2(measured.exit == 0 && !measured.error.contains("measure.unsupported"), measured.text());
        QFile written(table);
        QVERIFY(written.open(QIODevice::ReadOnly));
        QHash<QString, double> minimum;  // us, by kind and type
        const QStringList lines = QString::fromUtf8(written.readAll()).split('\n');
        for (const QString& line : lines) {
            const QStringList cells = line.trimmed().split(',');
            if (cells.size() > 20 && cells[0] != "kind")
                minimum[cells[0] + ' ' + cells[1]] = cells[cells.size() - 4].toDouble();
        }
        QCOMPARE(minimum.size(), 9);
        for (auto each = minimum.cbegin(); each != minimum.cend(); ++each)
            QVERIFY2(each.value() > 0 && each.value() < 1000, qPrintable(each.key()));
        // Whole numbers run by kernels of their own, not by the library's reference code.
        QVERIFY2(minimum["convolution int8"] < 40 * minimum["convolution bf16"], measured.text());
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
