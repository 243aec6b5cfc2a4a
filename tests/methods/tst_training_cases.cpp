// The file that ships with ASTRA-sim's numbers: Orrery's runs must give them to the cycle, and bad files must say
// where.

#include "methods/system/cases/training_cases.h"

#include <QTemporaryDir>
#include <QtTest/QtTest>

using namespace orrery;

namespace {

const std::string shipped = ORRERY_SOURCE "/presets/training/astra-sim-hgx-h100.yaml";

Diagnostic problemOf(const QByteArray& text) {
    QTemporaryDir dir;
    QFile file(dir.filePath("cases.yaml"));
    if (!file.open(QIODevice::WriteOnly)) qFatal("no room");
    file.write(text);
    file.close();
    const auto read = readTrainingCases(file.fileName().toStdString());
    return read ? Diagnostic{} : read.error();
}

}  // namespace

class TestTrainingCases : public QObject {
    Q_OBJECT
private slots:
    void sevenNumbersToTheCycle() {
        const auto cases = readTrainingCases(shipped);
        QVERIFY2(cases, cases ? "" : toText(cases.error()).c_str());
        QCOMPARE(cases->runs.size(), std::size_t(7));
        QCOMPARE(cases->layers.layers.size(), std::size_t(54));
        for (std::size_t i = 0; i < cases->runs.size(); ++i) {
            const auto answer = runTrainingCase(*cases, i, false);
            QVERIFY2(answer, answer ? "" : toText(answer.error()).c_str());
            QVERIFY(cases->runs[i].recorded);
            QCOMPARE(answer->asked(cases->runs[i]), *cases->runs[i].recorded);
        }
    }

    void ownRulesDifferAndBehave() {
        const auto cases = readTrainingCases(shipped).value();
        for (std::size_t i = 0; i < cases.runs.size(); ++i) {
            const auto own = runTrainingCase(cases, i, true).value();
            const auto theirs = runTrainingCase(cases, i, false).value();
            QVERIFY(own.cycles > 0 && own.waiting <= own.cycles);
            // GB of 10^9 B are slower, whole nanoseconds and reductions left out are small: a tenth at most.
            QVERIFY2(std::abs(own.asked(cases.runs[i]) / theirs.asked(cases.runs[i]) - 1) < 0.25,
                     qPrintable(QString("%1: %2").arg(i).arg(own.asked(cases.runs[i]) / theirs.asked(cases.runs[i]))));
        }
    }

    void badFilesSayWhere() {
        QCOMPARE(problemOf("orrery: project/1\nname: x\n").code, std::string("cases.kind"));
        QCOMPARE(problemOf("orrery: training-cases/1\nname: x\n").code, std::string("cases.missing"));
        const Diagnostic bad = problemOf(
            "orrery: training-cases/1\nname: x\nruns:\n  - {name: a, collective: all-reduce, bytes: 8, ranks: 1, "
            "bandwidth: 1, latency: 0}\n");
        QCOMPARE(bad.code, std::string("cases.value"));
        QCOMPARE(bad.place.line, 4);
        QCOMPARE(problemOf("orrery: training-cases/1\nname: x\nruns:\n  - {name: a, collective: broadcast, bytes: 8, "
                           "ranks: 2, bandwidth: 1, latency: 0}\n")
                     .place.path,
                 std::string("collective"));
        QCOMPARE(problemOf("orrery: training-cases/1\nname: x\nlayers: {rows: [[a, 1, 2]]}\nruns:\n  - {name: a, "
                           "layers: blocking, ranks: 2, bandwidth: 1, latency: 0}\n")
                     .place.path,
                 std::string("layers"));
    }
};

QTEST_GUILESS_MAIN(TestTrainingCases)
#include "tst_training_cases.moc"
