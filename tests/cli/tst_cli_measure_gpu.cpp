// `measure --device cuda:0`, against a GPU that does not exist (support/fake_cuda): its products take launch and work
// at a stated rate, so that what is written can be told beforehand, and it counts what the host leaves behind.

#include "support/cli_process.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QtTest/QtTest>

#include <cmath>

using namespace orrery::test;

class TestCliMeasureGpu : public QObject {
    Q_OBJECT
    QTemporaryDir folder_;
    QString path(const char* name) const { return folder_.filePath(name); }
    QString log() const { return path("gpu.log"); }

    Outcome measure(const QStringList& words, const QHash<QString, QString>& state = {}) {
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        environment.insert("LD_LIBRARY_PATH", QDir::cleanPath(ORRERY_TEST_OUTPUT "/../tests/fake-cuda"));
        environment.insert("FAKE_CUDA_LOG", log());
        for (auto each = state.cbegin(); each != state.cend(); ++each) environment.insert(each.key(), each.value());
        QFile::remove(log());
        return cli(QStringList{"measure", "--device", "cuda:0", "--seconds", "0.001"} + words, {}, 60000, environment);
    }
    QHash<QString, long long> left() const {
        QFile file(log());
        QHash<QString, long long> all;
        if (!file.open(QIODevice::ReadOnly)) return all;
        for (const QString& word : QString::fromUtf8(file.readAll()).simplified().split(' '))
            all[word.section('=', 0, 0)] = word.section('=', 1).toLongLong();
        return all;
    }
    void nothingIsLeft() {
        const auto what = left();
        QCOMPARE(what.value("left", -1), 0);
        QCOMPARE(what.value("objects", -1), 0);
        QCOMPARE(what.value("captures", -1), 0);
        QCOMPARE(what.value("misuse", -1), 0);
    }
    QString shapes(const char* rows) const {
        QFile file(path("shapes.yaml"));
        if (!file.open(QIODevice::WriteOnly)) return {};
        file.write(
            "orrery: references/1\nname: Shapes\nsource: none\nkind: measured\ndevice: h100-sxm\n"
            "time: {value: t, unit: us}\nrows: |\n  kind,dtype,transposed_weight,batch,m,n,k,t\n");
        file.write(rows);
        return file.fileName();
    }

private slots:
    void everyProductTakesWhatTheDeviceSays() {
        const QString table = path("gpu.yaml");
        const Outcome outcome = measure({"--types", "fp32,fp16,bf16,int8", "--out", table});
        QVERIFY2(outcome.exit == 0, outcome.text());
        nothingIsLeft();
        if (QTest::currentTestFailed()) return;
        QFile written(table);
        QVERIFY(written.open(QIODevice::ReadOnly));
        const QString text = QString::fromUtf8(written.readAll());
        QVERIFY2(text.contains("software: cuBLAS 12.3") && text.contains("device: NVIDIA H100 SXM") &&
                     text.contains("The clock was 1.7"),
                 qPrintable(text.left(800)));
        QStringList names;
        int rows = 0;
        for (const QString& line : text.split('\n')) {
            const QStringList cells = line.trimmed().split(',');
            if (cells.size() < 20) continue;
            if (names.isEmpty()) {
                names = cells;
                continue;
            }
            const auto cell = [&](const char* name) { return cells[names.indexOf(QLatin1String(name))]; };
            const double rate = cell("dtype") == "fp32" ? 50e12 : cell("dtype") == "int8" ? 1600e12 : 800e12;
            const double work = 2 * cell("m").toDouble() * cell("n").toDouble() * cell("k").toDouble();
            const double expected = 2 + 1e6 * work / rate;
            QVERIFY2(std::abs(cell("time_us").toDouble() / expected - 1) < 1e-3, qPrintable(line));
            ++rows;
        }
        QCOMPARE(rows, 4 * 12 * 7);
        QVERIFY(left()["launches"] > 7 * rows);
        // The table is read, its device is known, and a method can be fitted to it.
        const Outcome fitted = cli({"calibrate", "--method", "tile-hybrid", "--from", "none", "--references", table,
                                    "--where", "dtype=bf16", "--out", path("gpu.json")},
                                   {}, 60000);
        QVERIFY2(fitted.exit == 0, fitted.text());
    }
    // Weights come from memory: copies take twice the L2, 100 MiB, together.
    void weightsAreWalkedOver() {
        QVERIFY2(
            measure({"--shapes", shapes("  gemm,bf16,yes,1,16,4096,4096,50\n"), "--out", path("a.yaml")}).exit == 0,
            "one product");
        QCOMPARE(left()["weights"], 4);  // 32 MiB each
        QCOMPARE(left()["most"], 4LL * 2 * 4096 * 4096 + 2LL * 16 * 4096 * 2);
        QVERIFY(measure({"--shapes", shapes("  gemm,bf16,yes,1,16,16384,8192,50\n"), "--out", path("a.yaml")}).exit ==
                0);
        QCOMPARE(left()["weights"], 1);
    }
    void batchesAndBothLayoutsRun() {
        const Outcome outcome =
            measure({"--shapes", shapes("  gemm,fp16,no,1,64,96,32,50\n  gemm,bf16,yes,12,64,64,128,50\n"), "--out",
                     path("a.yaml")});
        QVERIFY2(outcome.exit == 0 && !outcome.error.contains("left out"), outcome.text());
        nothingIsLeft();
    }
    void whatCublasRefusesIsLeftOutAndNamed() {
        const Outcome outcome =
            measure({"--shapes", shapes("  gemm,int8,yes,1,64,64,30,50\n  gemm,int8,yes,1,64,64,32,50\n"), "--out",
                     path("a.yaml")});
        QVERIFY2(outcome.exit == 0, outcome.text());
        QVERIFY2(outcome.error.contains("measure.unsupported") && outcome.error.contains("1 of 2 kernels"),
                 outcome.text());
        nothingIsLeft();
    }
    void whatIsWrongIsSaid_data() {
        QTest::addColumn<QString>("variable");
        QTest::addColumn<QString>("value");
        QTest::addColumn<QString>("code");
        QTest::newRow("busy") << "FAKE_CUDA_BUSY"
                              << "60"
                              << "measure.busy";
        QTest::newRow("driver") << "FAKE_CUDA_FAULT"
                                << "init"
                                << "measure.cuda";
        QTest::newRow("memory") << "FAKE_CUDA_FREE"
                                << "1000000"
                                << "takes 0.134 GB";
        QTest::newRow("taken meanwhile") << "FAKE_CUDA_FAULT"
                                         << "memory"
                                         << "out of memory";
        QTest::newRow("timing") << "FAKE_CUDA_FAULT"
                                << "timing"
                                << "timing a kernel failed";
    }
    void whatIsWrongIsSaid() {
        QFETCH(QString, variable);
        QFETCH(QString, value);
        QFETCH(QString, code);
        const Outcome outcome =
            measure({"--shapes", shapes("  gemm,bf16,yes,1,16,4096,4096,50\n"), "--out", "-"}, {{variable, value}});
        QCOMPARE(outcome.exit, 1);
        QVERIFY2(outcome.error.contains(code), outcome.text());
        nothingIsLeft();
    }
    void aBusyDeviceMayBeMeasured() {
        QVERIFY(measure({"--busy-ok", "--shapes", shapes("  gemm,bf16,yes,1,16,64,64,50\n"), "--out", "-"},
                        {{"FAKE_CUDA_BUSY", "60"}})
                    .exit == 0);
    }
    void withoutADriverTheProcessorIsLeft() {
        const Outcome outcome = cli({"measure", "--device", "cuda", "--out", "-"});
        if (outcome.exit == 0) QSKIP("this machine has an NVIDIA GPU");
        QCOMPARE(outcome.exit, 1);
        QVERIFY2(outcome.error.contains("measure."), outcome.text());
    }
    void badWordsAreNamed_data() {
        QTest::addColumn<QStringList>("words");
        QTest::addColumn<QString>("code");
        QTest::newRow("kernels") << QStringList{"--kernels", "softmax", "--out", "-"} << "usage.kernels";
        QTest::newRow("design") << QStringList{"--describe", "a.yaml"} << "usage.device";
        QTest::newRow("whole") << QStringList{"--whole", "--model", "resnet-50"} << "usage.device";
        QTest::newRow("cores") << QStringList{"--cores", "1", "--out", "-"} << "usage.device";
        QTest::newRow("types") << QStringList{"--types", "fp64", "--out", "-"} << "usage.types";
    }
    void badWordsAreNamed() {
        QFETCH(QStringList, words);
        QFETCH(QString, code);
        const Outcome outcome = measure(words);
        QCOMPARE(outcome.exit, 2);
        QVERIFY2(outcome.error.contains(code), outcome.text());
    }
    void anotherDeviceIsNotThere() {
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        environment.insert("LD_LIBRARY_PATH", QDir::cleanPath(ORRERY_TEST_OUTPUT "/../tests/fake-cuda"));
        const Outcome outcome = cli({"measure", "--device", "cuda:3", "--out", "-"}, {}, 10000, environment);
        QCOMPARE(outcome.exit, 1);
        QVERIFY2(outcome.error.contains("measure.device") && outcome.error.contains("cuda:0"), outcome.text());
    }
};

QTEST_GUILESS_MAIN(TestCliMeasureGpu)
#include "tst_cli_measure_gpu.moc"
