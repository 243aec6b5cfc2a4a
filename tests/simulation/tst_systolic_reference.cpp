#include "simulation/systolic/closed_form.h"
#include "simulation/systolic/scalesim_files.h"
#include "simulation/systolic/simulate.h"

#include <QtTest/QtTest>

#include <fmt/format.h>

#include <cmath>

using namespace orrery;
using namespace orrery::systolic;

namespace {

const QString folder = QString(ORRERY_REFERENCE) + "/accelerators/scalesim";

QList<QStringList> csv(const QString& file) {
    QList<QStringList> rows;
    QFile in(file);
    if (!in.open(QIODevice::ReadOnly)) return rows;
    for (const QByteArray& line : in.readAll().split('\n')) {
        if (line.trimmed().isEmpty()) continue;
        QStringList row;
        for (const QByteArray& field : line.split(',')) row << QString::fromUtf8(field.trimmed());
        rows << row;
    }
    return rows;
}

// All digits that were recorded: the reports are sums of doubles in a fixed order.
void verifyNumber(double got, const QString& want, const std::string& what) {
    const double expected = want.toDouble();
    QVERIFY2(std::abs(got - expected) <= 1e-13 * std::abs(expected),
             fmt::format("{}: {:.17g} instead of {}", what, got, want.toStdString()).c_str());
}

Expected<LayerReport> answer(const Array& array, const Layer& layer, bool closed) {
    return closed ? closedForm(array, layer) : simulate(array, layer);
}

}  // namespace

class TestSystolicReference : public QObject {
    Q_OBJECT
private slots:
    // Measured runs of the tool with ideal bandwidth and SRAMs of 64 kB: 13 quantities of every row.
    void recordedTable_data() {
        QTest::addColumn<bool>("closed");
        QTest::newRow("cycle by cycle") << false;
        QTest::newRow("closed form") << true;
    }
    void recordedTable() {
        QFETCH(bool, closed);
        const auto rows = csv(folder + "/table.csv");
        if (rows.isEmpty()) QSKIP("needs the reference data (ORRERY_REFERENCE)");
        QVERIFY(rows.size() > 50);
        const QStringList head = rows.front();
        for (int i = 1; i < rows.size(); ++i) {
            const auto cell = [&](const char* name) { return rows[i][head.indexOf(name)]; };
            Array array;
            array.rows = cell("R").toLongLong();
            array.cols = cell("C").toLongLong();
            for (int d = 0; d < 3; ++d) {
                if (cell("dataflow").toStdString() == abbreviation(static_cast<Dataflow>(d)))
                    array.dataflow = static_cast<Dataflow>(d);
            }
            const auto got = answer(array,
                                    gemmLayer(cell("layer").toStdString(), cell("M").toLongLong(),
                                              cell("N").toLongLong(), cell("K").toLongLong()),
                                    closed);
            QVERIFY(got);
            const std::string what = rows[i].mid(0, 7).join(' ').toStdString();
            const std::pair<const char*, double> columns[] = {
                {"total_cycles", static_cast<double>(got->totalCycles)},
                {"closed_form", static_cast<double>(got->totalCycles)},
                {"total_incl_prefetch", static_cast<double>(got->overallCycles)},
                {"stall", static_cast<double>(got->stallCycles)},
                {"overall_util_pct", got->overallUtilization},
                {"mapping_eff_pct", got->mappingEfficiency},
                {"compute_util_pct", got->computeUtilization},
                {"sram_ifmap_rd", got->sramIfmap.words},
                {"sram_filter_rd", got->sramFilter.words},
                {"sram_ofmap_wr", got->sramOfmap.words},
                {"dram_ifmap_rd", got->dramIfmap.words},
                {"dram_filter_rd", got->dramFilter.words},
                {"dram_ofmap_wr", got->dramOfmap.words}};
            for (const auto& [name, value] : columns) verifyNumber(value, cell(name), what + " " + name);
        }
    }

    // The tool's own regression outputs, every column of its three reports, through the readers of its files.
    void goldenReports_data() {
        QTest::addColumn<QString>("golden");
        QTest::addColumn<QString>("config");
        QTest::addColumn<QString>("topology");
        QTest::newRow("ideal, weight stationary") << "golden_trace_calc"
                                                  << "ws_calc"
                                                  << "alexnet_conv1";
        QTest::newRow("bound, output stationary") << "golden_trace_user_os"
                                                  << "os"
                                                  << "gemm";
        QTest::newRow("bound, weight stationary") << "golden_trace_user_ws"
                                                  << "ws"
                                                  << "gemm";
        QTest::newRow("bound, input stationary") << "golden_trace_user_is"
                                                 << "is"
                                                 << "gemm";
    }
    void goldenReports() {
        QFETCH(QString, golden);
        QFETCH(QString, config);
        QFETCH(QString, topology);
        const QString base = folder + "/golden/" + golden + "_";
        const auto compute = csv(base + "COMPUTE_REPORT.csv");
        const auto bandwidth = csv(base + "BANDWIDTH_REPORT.csv");
        const auto access = csv(base + "DETAILED_ACCESS_REPORT.csv");
        if (compute.isEmpty()) QSKIP("needs the reference data (ORRERY_REFERENCE)");
        const std::string data = ORRERY_TEST_DATA "/scalesim/";
        const auto setup = readScaleSimConfig(data + config.toStdString() + ".cfg");
        QVERIFY2(setup, setup ? "" : toText(setup.error()).c_str());
        QVERIFY(setup->warnings.empty());
        const auto layers = readScaleSimTopology(data + topology.toStdString() + ".csv", topology == "gemm");
        QVERIFY2(layers, layers ? "" : toText(layers.error()).c_str());
        QCOMPARE(layers->layers.size(), std::size_t{1});
        const auto got = simulate(setup->array, layers->layers.front());
        QVERIFY(got);
        const double computed[] = {static_cast<double>(got->overallCycles),
                                   static_cast<double>(got->totalCycles),
                                   static_cast<double>(got->stallCycles),
                                   got->overallUtilization,
                                   got->mappingEfficiency,
                                   got->computeUtilization};
        for (int i = 0; i < 6; ++i) verifyNumber(computed[i], compute[1][i + 1], compute[0][i + 1].toStdString());
        const auto cycles = static_cast<double>(got->totalCycles);
        const double perCycle[] = {got->sramIfmap.words / cycles, got->sramFilter.words / cycles,
                                   got->sramOfmap.words / cycles, got->dramIfmap.perCycle(),
                                   got->dramFilter.perCycle(),    got->dramOfmap.perCycle()};
        for (int i = 0; i < 6; ++i) verifyNumber(perCycle[i], bandwidth[1][i + 1], bandwidth[0][i + 1].toStdString());
        const Access* const all[] = {&got->sramIfmap, &got->sramFilter, &got->sramOfmap,
                                     &got->dramIfmap, &got->dramFilter, &got->dramOfmap};
        for (int i = 0; i < 6; ++i) {
            const double three[] = {all[i]->start, all[i]->stop, all[i]->words};
            for (int j = 0; j < 3; ++j)
                verifyNumber(three[j], access[1][1 + 3 * i + j], access[0][1 + 3 * i + j].toStdString());
        }
    }

    // Without the double counting, the same machine waits half as long where it waits for reads alone.
    void correctedWaitsAreShorter() {
        auto setup = readScaleSimConfig(ORRERY_TEST_DATA "/scalesim/os.cfg");
        QVERIFY(setup);
        const Layer layer = gemmLayer("g", 256, 128, 256);
        const auto twice = simulate(setup->array, layer);
        setup->array.waitsCountTwice = false;
        const auto once = simulate(setup->array, layer);
        QVERIFY(twice && once);
        QVERIFY(once->stallCycles < twice->stallCycles);
        QCOMPARE(once->totalCycles - once->stallCycles, twice->totalCycles - twice->stallCycles);
        QCOMPARE(once->dramIfmap.words, twice->dramIfmap.words);
    }

    // SCALE-Sim's sparse regression (1:4 over AlexNet's first convolution): the counts that its report holds.
    void sparseCountsOfTheTool() {
        Array array;
        array.rows = array.cols = 128;
        array.dataflow = Dataflow::WeightStationary;
        array.sparse = true;
        Layer layer;
        layer.ifmapHeight = layer.ifmapWidth = 224;
        layer.filterHeight = layer.filterWidth = 11;
        layer.channels = 3;
        layer.filters = 96;
        layer.strideHeight = layer.strideWidth = 4;
        layer.sparseOf = 4;
        const auto got = simulate(array, layer);
        QVERIFY(got);
        QCOMPARE(got->product.k, std::int64_t{91});
        QCOMPARE(got->sramIfmap.words, 1101100.0);
        QCOMPARE(got->sramFilter.words, 8736.0);
        QCOMPARE(got->sramOfmap.words, 290400.0);
        QCOMPARE(got->sramFilter.start, 38.0);
        QCOMPARE(got->storage.original, 34848.0);
        QCOMPARE(got->storage.metadata, 8736.0 * 2 / 32);
    }
};

QTEST_GUILESS_MAIN(TestSystolicReference)
#include "tst_systolic_reference.moc"
