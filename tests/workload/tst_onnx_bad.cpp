// Broken and hostile files: each gives an error that says where and what to do; none crashes, hangs or allocates by
// what the file claims.

#include "base/random.h"
#include "support/onnx_models.h"
#include "workload/costs.h"

#include <QtTest/QtTest>

#include <filesystem>
#include <iterator>
#include <map>

using namespace orrery;
using namespace orrery::test;

namespace {

/// What each file of tests/data/bad/onnx must be refused with.
const std::map<std::string, std::string> codes{{"empty", "onnx.empty"},
                                               {"truncated_header", "onnx.parse"},
                                               {"truncated_graph", "onnx.parse"},
                                               {"truncated_end", "onnx.parse"},
                                               {"random_bytes", "onnx.parse"},
                                               {"text", "onnx.parse"},
                                               {"json", "onnx.parse"},
                                               {"web_page", "onnx.parse"},
                                               {"lfs_pointer", "onnx.parse"},
                                               {"other_protobuf", "onnx.no-graph"},
                                               {"no_graph", "onnx.no-graph"},
                                               {"trailing_garbage", "onnx.parse"},
                                               {"cycle", "onnx.cycle"},
                                               {"own_output", "onnx.cycle"},
                                               {"duplicate_names", "onnx.duplicate-name"},
                                               {"duplicate_inputs", "onnx.duplicate-name"},
                                               {"missing_input", "onnx.missing-input"},
                                               {"missing_output", "onnx.missing-output"},
                                               {"if_reads_itself", "onnx.missing-input"},
                                               {"if_nested_60", "onnx.parse"},
                                               {"if_without_branches", "onnx.branches"},
                                               {"function_recursion", "onnx.too-deep"},
                                               {"function_doubling", "onnx.too-many-nodes"},
                                               {"loop_2_62_trips", "onnx.too-many-iterations"},
                                               {"loop_tower", "onnx.too-many-iterations"},
                                               {"loop_without_body", "onnx.loop"},
                                               {"external_escape", "onnx.external-path"},
                                               {"external_absolute", "onnx.external-path"},
                                               {"raw_data_too_short", "onnx.data-size"},
                                               {"typed_data_too_long", "onnx.data-size"},
                                               {"string_data_wrong", "onnx.data-size"},
                                               {"negative_extent", "onnx.extents"},
                                               {"huge_extent", "onnx.extents"},
                                               {"product_overflow", "onnx.extents"},
                                               {"rank_5000", "onnx.extents"},
                                               {"stored_huge", "onnx.extents"},
                                               {"stored_negative", "onnx.extents"},
                                               {"stored_size_times_type", "onnx.extents"},
                                               {"constant_of_shape_2_60", "onnx.extents"},
                                               {"tile_tower", "onnx.extents"},
                                               {"tile_bomb", "onnx.extents"},
                                               {"expand_bomb", "onnx.extents"}};

::onnx::GraphProto branch(const std::string& type) {
    ::onnx::GraphProto graph;
    ModelBuilder::fill(*graph.add_node(), type, {"r"}, {"out"});
    graph.add_output()->set_name("out");
    return graph;
}

/// A bit of everything that the importer opens: shape arithmetic, a branch, a loop, a function.
ModelBuilder victim() {
    ModelBuilder m(13, 8);
    m.import("local", 1).input("x", {"n", "3", "8", "8"}).input("go", {}, 9).stored("w", {4, 3, 3, 3});
    m.longs("zero", {0}).longs("rest", {-1}).longs("trips", {5}).stored("v", {144, 10});
    m.node("Conv", {"x", "w"}, {"c"}).set_name("conv");
    m.node("Shape", {"c"}, {"s"});
    m.node("Gather", {"s", "zero"}, {"b"});
    set(m.node("Concat", {"b", "rest"}, {"t"}), "axis", 0);
    m.node("Reshape", {"c", "t"}, {"r"});
    auto& choice = m.node("If", {"go"}, {"i"});
    set(choice, "then_branch", branch("Relu"));
    set(choice, "else_branch", branch("Sigmoid"));
    ::onnx::GraphProto body;
    ModelBuilder::describe(*body.add_input(), "k", {}, 7);
    ModelBuilder::describe(*body.add_input(), "on", {}, 9);
    body.add_input()->set_name("a");
    ModelBuilder::fill(*body.add_node(), "Tanh", {"a"}, {"next"});
    ModelBuilder::fill(*body.add_node(), "Identity", {"on"}, {"still"});
    body.add_output()->set_name("still");
    body.add_output()->set_name("next");
    set(m.node("Loop", {"trips", "", "i"}, {"l"}), "body", body);
    auto* function = m.model.add_functions();
    function->set_name("F");
    function->set_domain("local");
    function->add_input("p");
    function->add_output("q");
    function->add_opset_import()->set_version(13);
    ModelBuilder::fill(*function->add_node(), "Gelu", {"p"}, {"g"});
    ModelBuilder::fill(*function->add_node(), "MatMul", {"g", "g2"}, {"q"});
    function->add_input("g2");
    m.node("F", {"l", "v"}, {"y"}, "local");
    m.output("y");
    return m;
}

}  // namespace

class TestOnnxBad : public QObject {
    Q_OBJECT
private slots:
    void everyBadFileIsRefusedWithPlaceAndAdvice_data() {
        QTest::addColumn<QString>("path");
        for (const auto& entry : std::filesystem::directory_iterator(std::string(ORRERY_TEST_DATA) + "/bad/onnx")) {
            if (entry.path().extension() != ".onnx") continue;
            QTest::newRow(entry.path().stem().c_str()) << QString::fromStdString(entry.path().string());
        }
    }
    void everyBadFileIsRefusedWithPlaceAndAdvice() {
        QFETCH(QString, path);
        const auto imported = importOnnx(path.toStdString());
        QVERIFY2(!imported, "it was imported");
        const Diagnostic& error = imported.error();
        QCOMPARE(error.severity, Severity::Error);
        QCOMPARE(error.place.file, path.toStdString());
        QVERIFY2(!error.message.empty() && !(error.hint.empty() && error.expected.empty()), toText(error).c_str());
        const auto code = codes.find(QFileInfo(path).completeBaseName().toStdString());
        QCOMPARE(error.code, code == codes.end() ? std::string("onnx.contradiction") : code->second);
        // beyond the file itself, the node or value is named
        const bool whole = error.code == "onnx.parse" || error.code == "onnx.empty" || error.code == "onnx.no-graph";
        QVERIFY2(whole || !error.place.path.empty(), toText(error).c_str());
    }

    void whatIsNoModelFileIsRefused() {
        QTemporaryDir folder;
        QCOMPARE(importOnnx(folder.path().toStdString()).error().code, std::string("onnx.not-a-file"));
        QCOMPARE(importOnnx(folder.filePath("none.onnx").toStdString()).error().code, std::string("onnx.missing-file"));
    }

    void aMillionDimensionsAreRefused() {
        ModelBuilder m(13);
        m.input("x", {});
        auto* shape = m.model.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape();
        for (int i = 0; i < 1000000; ++i) shape->add_dim()->set_dim_value(1);
        m.node("Relu", {"x"}, {"y"});
        QCOMPARE(m.output("y").import().error().code, std::string("onnx.extents"));
    }

    void aLongChainIsNoRecursion() {
        ModelBuilder m(13);
        m.input("x0", {"4"});
        for (int i = 0; i < 20000; ++i) m.node("Relu", {"x" + std::to_string(i)}, {"x" + std::to_string(i + 1)});
        const auto imported = m.output("x20000").import();
        QVERIFY(imported.has_value());
        QCOMPARE(imported->graph.operators.size(), std::size_t(20000));
    }

    void constantsAreNotKeptForever() {
        // 1,500 constants of 65,536 elements are beyond what is kept of all together (2^26)
        ModelBuilder m(13);
        m.longs("shape", {65536}).input("x", {"1"});
        m.node("ConstantOfShape", {"shape"}, {"c0"});
        for (int i = 0; i < 1500; ++i) m.node("Neg", {"c" + std::to_string(i)}, {"c" + std::to_string(i + 1)});
        m.node("Add", {"x", "c1500"}, {"y"});
        QCOMPARE(shapeOf(m.output("y").import()), std::string("65536"));
    }

    void theVictimItselfIsGood() {
        const auto imported = victim().import({{"n", 2}});
        QCOMPARE(shapeOf(imported), std::string("2×10"));
        QVERIFY(imported->graph.unresolved().empty());
    }

    /// Bytes of a good model are changed at random: the importer must return, whatever it says.
    void mutationsNeverCrash() {
        QTemporaryDir folder;
        const std::string good = victim().model.SerializeAsString();
        const std::string path = folder.filePath("mutant.onnx").toStdString();
        RandomStream random(20240611);
        int accepted = 0;
        for (int round = 0; round < 600; ++round) {
            std::string bytes = good;
            for (std::uint64_t change = 0, changes = 1 + random.below(4) / 3 * random.below(5); change < changes;
                 ++change) {
                const std::size_t at = random.below(bytes.size());
                switch (random.below(5)) {
                    case 0:
                        bytes[at] = static_cast<char>(random.below(256));
                        break;
                    case 1:
                        bytes[at] = static_cast<char>(bytes[at] ^ (1 << random.below(8)));
                        break;
                    case 2:
                        bytes.insert(at, 1 + random.below(3), static_cast<char>(random.below(256)));
                        break;
                    case 3:
                        bytes.erase(at, 1 + random.below(3));
                        break;
                    default:
                        if (random.below(8) == 0)
                            bytes.resize(std::max<std::size_t>(at, 1));
                        else
                            bytes[at] = static_cast<char>(0xff);
                }
            }
            std::ofstream(path, std::ios::binary) << bytes;
            const auto imported = importOnnx(path);
            if (!imported) {
                QVERIFY(!imported.error().message.empty());
                continue;
            }
            ++accepted;
            const CostTable table = costTable(imported->graph);
            QCOMPARE(table.size(), imported->graph.operators.size());
            for (const double macs : table.macs) QVERIFY2(macs >= 0, qPrintable(QString("round %1").arg(round)));
        }
        // most changes hit structure, but a fair part only hits names and numbers
        QVERIFY2(accepted > 20 && accepted < 580, qPrintable(QString::number(accepted)));
    }
};

QTEST_GUILESS_MAIN(TestOnnxBad)
#include "tst_onnx_bad.moc"
