#include "simulation/systolic/scalesim_files.h"

#include <QtTest/QtTest>

#include <fmt/format.h>

using namespace orrery;
using namespace orrery::systolic;

namespace {

const std::string bad = ORRERY_TEST_DATA "/bad/scalesim/";

struct Case {
    const char* file;
    const char* code;
    int line;  ///< 0: of the whole file
};
constexpr Case cases[] = {
    {"height_not_a_number.cfg", "scalesim.value", 5},
    {"width_zero.cfg", "scalesim.value", 6},
    {"height_too_large.cfg", "scalesim.value", 5},
    {"filter_sram_missing.cfg", "scalesim.missing", 0},
    {"dataflow_unknown.cfg", "scalesim.value", 14},
    {"mode_unknown.cfg", "scalesim.value", 31},
    {"bandwidth_not_a_number.cfg", "scalesim.value", 13},
    {"bandwidth_missing.cfg", "scalesim.missing", 0},
    {"custom_layout.cfg", "scalesim.value", 20},
    {"ramulator.cfg", "scalesim.unsupported", 32},
    {"sparse_form_unknown.cfg", "scalesim.value", 29},
    {"optimized_mapping.cfg", "scalesim.unsupported", 30},
    {"truth_unknown.cfg", "scalesim.value", 28},
    {"section_not_closed.cfg", "scalesim.syntax", 30},
    {"no_separator.cfg", "scalesim.syntax", 14},
    {"key_twice.cfg", "scalesim.repeated", 15},
    {"value_before_section.cfg", "scalesim.syntax", 1},
    {"empty.cfg", "scalesim.missing", 0},
    {"binary.cfg", "", -1},
    {"too_few_columns.csv", "scalesim.missing", 2},
    {"filter_not_a_number.csv", "scalesim.value", 2},
    {"filter_larger_than_input.csv", "scalesim.value", 2},
    {"stride_zero.csv", "scalesim.value", 2},
    {"sparsity_inverted.csv", "scalesim.value", 2},
    {"height_too_large.csv", "scalesim.value", 2},
    {"work_too_large.csv", "scalesim.value", 2},
    {"depthwise_too_many.csv", "scalesim.value", 2},
    {"layout_too_few.csv", "scalesim.missing", 2},
    {"layout_factor_zero.csv", "scalesim.value", 2},
    {"layout_order.csv", "scalesim.value", 3},
    {"layout_heading_only.csv", "scalesim.missing", -1},
    {"heading_only.csv", "scalesim.missing", -1},
    {"gemm_negative.csv", "scalesim.value", 2},
    {"gemm_too_few.csv", "scalesim.missing", 2},
    {"gemm_sparsity_form.csv", "scalesim.value", 2},
};

Diagnostic problemOf(const std::string& name) {
    if (name.ends_with(".cfg")) {
        const auto read = readScaleSimConfig(bad + name);
        return read ? Diagnostic{.code = "read"} : read.error();
    }
    if (name.starts_with("layout")) {
        const auto read = readScaleSimLayout(bad + name);
        return read ? Diagnostic{.code = "read"} : read.error();
    }
    const auto read = readScaleSimTopology(bad + name, name.starts_with("gemm"));
    return read ? Diagnostic{.code = "read"} : read.error();
}

ScaleSimConfig config(const std::string& text) {
    auto read = parseScaleSimConfig(text, "test.cfg");
    if (!read) qFatal("%s", toText(read.error()).c_str());
    return std::move(*read);
}

const std::string minimal =
    "[general]\nrun_name = small\n[architecture_presets]\nArrayHeight : 8\nArrayWidth = 16\nIfmapSramSzkB : 1\n"
    "FilterSramSzkB : 2\nOfmapSramSzkB : 3\nDataflow : is\nBandwidth : 7,9\n";

}  // namespace

class TestScaleSimFiles : public QObject {
    Q_OBJECT
private slots:
    void badFilesAreRefusedAtTheirPlace_data() {
        QTest::addColumn<int>("index");
        for (int i = 0; i < static_cast<int>(std::size(cases)); ++i) QTest::newRow(cases[i].file) << i;
    }
    void badFilesAreRefusedAtTheirPlace() {
        QFETCH(int, index);
        const Case& one = cases[index];
        const Diagnostic problem = problemOf(one.file);
        const std::string text = toText(problem);
        QVERIFY2(problem.code != "read", "it was accepted");
        QVERIFY2(*one.code == '\0' || problem.code == one.code, text.c_str());
        QVERIFY2(one.line < 0 || problem.place.line == one.line, text.c_str());
        QVERIFY2(problem.place.file == bad + one.file, text.c_str());
        QVERIFY2(!problem.expected.empty() || !problem.hint.empty(), text.c_str());
    }
    void everyBadFileHasItsCase() {
        for (const QString& name : QDir(QString::fromStdString(bad)).entryList({"*.cfg", "*.csv"})) {
            QVERIFY2(std::any_of(std::begin(cases), std::end(cases), [&](const Case& one) { return name == one.file; }),
                     qPrintable(name));
        }
    }
    void missingFileIsSaid() {
        QCOMPARE(readScaleSimConfig("/nowhere/x.cfg").error().code, std::string("scalesim.unreadable"));
        QCOMPARE(readScaleSimTopology("/nowhere/x.csv", false).error().code, std::string("scalesim.unreadable"));
    }

    void everyKeyIsRead() {
        const auto read = config(minimal + "[run_presets]\ninterfacebandwidth = USER\n");
        QCOMPARE(read.runName, std::string("small"));
        QCOMPARE(read.array.rows, std::int64_t{8});
        QCOMPARE(read.array.cols, std::int64_t{16});
        QVERIFY(read.array.dataflow == Dataflow::InputStationary);
        QCOMPARE(read.array.ifmapWords, std::int64_t{1024});
        QCOMPARE(read.array.filterWords, std::int64_t{2048});
        QCOMPARE(read.array.ofmapWords, std::int64_t{3072});
        QVERIFY(!read.array.idealBandwidth);
        QVERIFY(read.array.waitsCountTwice);
        // No [layout]: all three at the first bandwidth, and said so.
        QCOMPARE(read.array.ifmapBandwidth, std::int64_t{7});
        QCOMPARE(read.array.ofmapBandwidth, std::int64_t{7});
        QCOMPARE(read.warnings.size(), std::size_t{1});
    }
    void readsGoThroughTheBanks() {
        const auto read = config(minimal +
                                 "[run_presets]\nInterfaceBandwidth : USER\n[layout]\nIfmapCustomLayout : no\n"
                                 "IfmapSRAMBankBandwidth : 100\nFilterSRAMBankBandwidth : 50\n");
        QCOMPARE(read.array.ifmapBandwidth, std::int64_t{100});
        QCOMPARE(read.array.filterBandwidth, std::int64_t{50});
        QCOMPARE(read.array.ofmapBandwidth, std::int64_t{7});
        QVERIFY(read.warnings.empty());
    }
    void layoutsAreReadAndGiven() {
        const auto read = config(minimal +
                                 "[run_presets]\nInterfaceBandwidth : USER\n[layout]\nIfmapCustomLayout : yes\n"
                                 "FilterCustomLayout : no\nIfmapSRAMBankBandwidth : 100\nFilterSRAMBankBandwidth : 50\n"
                                 "IfmapSRAMBankNum : 20\nIfmapSRAMBankPort : 3\n");
        QVERIFY(read.array.ifmapBanks && !read.array.filterBanks);
        QCOMPARE(read.array.ifmapBanks->count, std::int64_t{20});
        QCOMPARE(read.array.ifmapBanks->ports, std::int64_t{3});
        const auto ideal =
            config(minimal + "[run_presets]\nInterfaceBandwidth : CALC\n[layout]\nIfmapCustomLayout : yes\n");
        QVERIFY(!ideal.array.ifmapBanks && ideal.warnings.size() == 1);
        // In the order of the columns: what is called intraline stands inside what is called interline.
        const auto layouts = parseScaleSimLayout("Layer,\nconv,1,2,3,4,5,6,0,1,2,4,5,3,3,2,1,0,4,5,6,7,\n", "test.csv");
        QVERIFY2(layouts, layouts ? "" : toText(layouts.error()).c_str());
        const ScaleSimLayout& conv = layouts->front();
        QVERIFY(conv.ifmap.factors == (std::vector<std::int64_t>{1, 2, 5}));
        QVERIFY(conv.ifmap.order == (std::vector<int>{4, 5, 3, 0, 1, 2}));
        QVERIFY(conv.filter.factors == (std::vector<std::int64_t>{6, 5, 3, 4}));
        QVERIFY(conv.filter.order == (std::vector<int>{4, 5, 6, 7, 3, 2, 1, 0}));
        std::vector<Layer> layers(1);
        layers[0].name = "conw";
        const auto unknown = giveLayouts(layers, *layouts);
        QVERIFY(!unknown && unknown.error().hint.find("conv") != std::string::npos);
        layers[0].name = "convChannel_3";
        QVERIFY(giveLayouts(layers, *layouts));
        QCOMPARE(layers[0].ifmapLayout.factors.size(), std::size_t{3});
    }
    void unknownKeysAreSaidWithTheNearest() {
        const auto read = config(minimal + "ArayWidth : 3\n[run_presets]\nInterfaceBandwidth : CALC\n");
        QCOMPARE(read.warnings.size(), std::size_t{1});
        QCOMPARE(read.warnings[0].code, std::string("scalesim.unknown-key"));
        QVERIFY(read.warnings[0].hint.find("arraywidth") != std::string::npos);
        QCOMPARE(read.warnings[0].place.line, 11);
        QVERIFY(read.array.idealBandwidth);
    }
    void sparsityIsRead() {
        const auto read = config(minimal +
                                 "[run_presets]\nInterfaceBandwidth : CALC\n[sparsity]\nSparsitySupport : true\n"
                                 "SparseRep : csc\nOptimizedMapping : false\n");
        QVERIFY(read.array.sparse);
        QVERIFY(read.array.sparseFormat == SparseFormat::Csc);
    }

    void convolutionsAreRead() {
        const auto read = parseScaleSimTopology(
            "Layer name, H, W, R, S, C, K, stride,\nconv, 58, 60, 3, 5, 64, 96, 2,\n\n"
            "wide, 10, 20, 3, 3, 1, 1, 1, 3,\nhalf, 10, 20, 3, 3, 1, 1, 1, 2:4,\n",
            "t.csv", false);
        QVERIFY2(read, read ? "" : toText(read.error()).c_str());
        QVERIFY(read->warnings.empty());
        QCOMPARE(read->layers.size(), std::size_t{3});
        const Layer& conv = read->layers[0];
        QCOMPARE(conv.name, std::string("conv"));
        QCOMPARE(conv.ifmapHeight, std::int64_t{58});
        QCOMPARE(conv.ifmapWidth, std::int64_t{60});
        QCOMPARE(conv.filterHeight, std::int64_t{3});
        QCOMPARE(conv.filterWidth, std::int64_t{5});
        QCOMPARE(conv.channels, std::int64_t{64});
        QCOMPARE(conv.filters, std::int64_t{96});
        QCOMPARE(conv.strideWidth, std::int64_t{2});
        // (58 - 3 + 2) / 2 = 28.5, (60 - 5 + 2) / 2 = 28.5, both rounded up.
        QCOMPARE(conv.outHeight(), std::int64_t{29});
        QCOMPARE(conv.outWidth(), std::int64_t{29});
        QCOMPARE(read->layers[1].strideWidth, std::int64_t{3});
        QCOMPARE(read->layers[2].sparseKept, std::int64_t{2});
        QCOMPARE(read->layers[2].sparseOf, std::int64_t{4});
    }
    void depthwiseBecomesALayerPerChannel() {
        const auto read = parseScaleSimTopology("h,\nDP1, 10, 10, 3, 3, 4, 1, 1,\n", "t.csv", false);
        QVERIFY(read);
        QCOMPARE(read->layers.size(), std::size_t{4});
        QCOMPARE(read->layers[3].name, std::string("DP1Channel_3"));
        QCOMPARE(read->layers[3].channels, std::int64_t{1});
    }
    void whatTheToolDropsIsReadAndSaid() {
        const auto read = parseScaleSimTopology("a,3,4,5\r\nb,6,7,8\r\n", "t.csv", true);
        QVERIFY(read);
        QCOMPARE(read->layers.size(), std::size_t{2});
        QCOMPARE(productOf(read->layers[0], Array{}).k, std::int64_t{5});
        QCOMPARE(read->warnings.size(), std::size_t{2});
    }
    // Cutting and flipping bytes of good files neither crashes nor reads forever.
    void damagedFilesAreAnswered() {
        QFile file(ORRERY_TEST_DATA "/scalesim/os.cfg");
        QVERIFY(file.open(QIODevice::ReadOnly));
        const std::string good = file.readAll().toStdString();
        for (std::size_t i = 0; i < good.size(); ++i) {
            (void)parseScaleSimConfig(std::string_view(good).substr(0, i), "t.cfg");
            std::string flipped = good;
            flipped[i] = static_cast<char>(flipped[i] ^ (1 << (i % 7)));
            (void)parseScaleSimConfig(flipped, "t.cfg");
            (void)parseScaleSimTopology(flipped, "t.csv", i % 2 == 0);
        }
    }
};

QTEST_GUILESS_MAIN(TestScaleSimFiles)
#include "tst_scalesim_files.moc"
