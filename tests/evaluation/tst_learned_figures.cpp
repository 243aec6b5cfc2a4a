// Figures of booster and forest in the handbook and on their cards: what their shipped files, and the recipe that made
// them, give on the rows that were held out.

#include "base/executor.h"
#include "evaluation/calibrate.h"
#include "evaluation/side_by_side.h"

#include <QFile>
#include <QRegularExpression>
#include <QtTest/QtTest>

#include <cmath>

using namespace orrery;

namespace {

/// The `gemm` table of a device; empty where it is absent.
std::vector<std::string> tableOf(const QString& device) {
    static const std::map<QString, const char*> names{{"h100-sxm", "h100_sxm__trtllm-1.3.0rc20"},
                                                      {"a100-80-sxm", "a100_sxm__trtllm-1.0.0"},
                                                      {"l40s", "l40s__trtllm-1.3.0rc20"}};
    const auto found = names.find(device);
    if (found == names.end()) return {};
    const std::string file = std::string(ORRERY_REFERENCE) + "/gpu/aiconfigurator/" + found->second + "__gemm.csv.gz";
    return QFile::exists(QString::fromStdString(file)) ? std::vector{file} : std::vector<std::string>();
}

Expected<std::vector<ReferenceTable>> productsOf(const std::vector<std::string>& files) {
    ReadOptions reading;
    reading.filter = *parseFilter("dtype=bf16,kind=gemm");
    return readReferences(files, reading);
}

}  // namespace

class TestLearnedFigures : public QObject {
    Q_OBJECT
private slots:
    void theHandbooksTable() {
        QFile page(QStringLiteral(ORRERY_SOURCE "/resources/handbook/calibrations.md"));
        QVERIFY(page.open(QIODevice::ReadOnly));
        static const QRegularExpression line(
            QStringLiteral(R"(^\| (booster|forest) \| (\S+) \| ([0-9,]+) \| ([0-9.]+) % \| ([0-9]+) % \|$)"));
        const auto executor = makeThreadExecutor(2);
        EvaluateOptions options;
        options.executor = executor.get();
        int lines = 0;
        for (const QString& each : QString::fromUtf8(page.readAll()).split('\n')) {
            const auto match = line.match(each);
            if (!match.hasMatch()) continue;
            ++lines;
            const auto files = tableOf(match.captured(2));
            if (files.empty()) QSKIP("no tables of products under " ORRERY_REFERENCE);
            const auto tables = productsOf(files);
            QVERIFY2(tables, tables ? "" : toText(tables.error()).c_str());
            const std::string id = match.captured(1).toStdString();
            Diagnostics warnings;
            const auto rows = heldOutRows(shippedCalibrations().set, id, *tables, selectRows(*tables), warnings);
            QVERIFY2(rows, rows ? "" : toText(rows.error()).c_str());
            const auto judged = evaluate(*findMethod(id), *tables, *rows, options);
            QVERIFY2(judged, judged ? "" : toText(judged.error()).c_str());
            QCOMPARE(QLocale(QLocale::English).toString(qulonglong(judged->rows.size())), match.captured(3));
            QCOMPARE(QString::number(100 * judged->figures.errors.mape, 'f', 1), match.captured(4));
            QCOMPARE(QString::number(100 * judged->figures.coverage90, 'f', 0), match.captured(5));
            // The card says the same.
            QVERIFY2(std::string(findMethod(id)->card.evidence.front().finding).find(match.captured(4).toStdString()) !=
                         std::string::npos,
                     qPrintable(each));
        }
        QCOMPARE(lines, 4);
    }
    // The forest's card speaks of A100, for which no file ships: its recipe, fitted again.
    void theRecipeOfTheForest() {
        const auto files = tableOf("a100-80-sxm");
        if (files.empty()) QSKIP("no tables of products under " ORRERY_REFERENCE);
        const auto tables = productsOf(files);
        QVERIFY(tables);
        const auto executor = makeThreadExecutor(2);
        CalibrateOptions options;
        options.executor = executor.get();
        options.holdout = *parseHoldout("fraction=0.8", 1);
        const auto fit = calibrate(*findKernelMethod("forest"), *tables, selectRows(*tables), options);
        QVERIFY2(fit && fit->heldOut, fit ? "" : toText(fit.error()).c_str());
        const QString found = QString::number(100 * fit->heldOut->figures.errors.mape, 'f', 1);
        QVERIFY2(std::string(findMethod("forest")->card.evidence.front().finding)
                         .find(" / " + found.toStdString() + " / ") != std::string::npos,
                 qPrintable(found));
    }
};

QTEST_GUILESS_MAIN(TestLearnedFigures)
#include "tst_learned_figures.moc"
