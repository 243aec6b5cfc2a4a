// Operator sets 18 to 23, which libonnx 1.12 does not know, contributed operators, symbols, folding and control flow,
// on small models built in code. Expected shapes are worked out from the operators' definitions.

#include "support/onnx_models.h"
#include "workload/costs.h"

#include <QtTest/QtTest>

using namespace orrery;
using namespace orrery::test;

namespace {

const Operator* find(const Graph& graph, std::string_view type) {
    for (const Operator& op : graph.operators) {
        if (op.type == type) return &op;
    }
    return nullptr;
}

double macsOf(const Expected<ImportedGraph>& imported) {
    return costTotals(imported->graph, costTable(imported->graph)).macs;
}

DType typeOf(const Expected<ImportedGraph>& imported) {
    return imported ? imported->graph.tensor(imported->graph.outputs[0])->type : DType::String;
}

}  // namespace

class TestOnnxOpsets : public QObject {
    Q_OBJECT
private slots:
    void normalisationsOfNewOpsets() {
        ModelBuilder m(21);
        m.input("x", {"2", "32", "7", "7"}).stored("s", {32}).stored("b", {32});
        set(m.node("GroupNormalization", {"x", "s", "b"}, {"y"}), "num_groups", 8);
        const auto group = m.output("y").import();
        QCOMPARE(shapeOf(group), std::string("2×32×7×7"));
        QCOMPARE(find(group->graph, "GroupNormalization")->kind, OperatorKind::Normalization);
        QVERIFY(warns(group, "onnx.new-opset"));

        ModelBuilder r(23);
        r.input("x", {"2", "5", "64"}, 10).stored("s", {64}, 10);
        set(r.node("RMSNormalization", {"x", "s"}, {"y"}), "axis", -1);
        QCOMPARE(shapeOf(r.output("y").import()), std::string("2×5×64"));

        ModelBuilder l(17, 8);
        l.input("x", {"2", "5", "64"}).stored("s", {5, 64}).stored("b", {5, 64});
        set(l.node("LayerNormalization", {"x", "s", "b"}, {"y", "mean", "deviation"}), "axis", 1);
        const auto layer = l.output("y").output("mean").import();
        QCOMPARE(shapeOf(layer, 1), std::string("2×1×1"));
        QVERIFY(!warns(layer, "onnx.new-opset"));
        QVERIFY(!warns(layer, "onnx.checker"));
    }

    void splitsReductionsPadsAndResizes() {
        ModelBuilder s(18);
        s.input("x", {"10", "4"});
        set(s.node("Split", {"x"}, {"a", "b", "c"}), "num_outputs", 3);
        const auto split = s.output("a").output("c").import();
        QCOMPARE(shapeOf(split, 0), std::string("4×4"));  // ceil(10 / 3)
        QCOMPARE(shapeOf(split, 1), std::string("2×4"));  // what is left

        ModelBuilder r(18);
        r.input("x", {"2", "3", "4"}).longs("axes", {-1, 0});
        set(r.node("ReduceMean", {"x", "axes"}, {"y"}), "keepdims", 0);
        QCOMPARE(shapeOf(r.output("y").import()), std::string("3"));

        ModelBuilder p(19);
        p.input("x", {"1", "3", "8", "8"}).longs("pads", {1, 2, 3, 4}).longs("axes", {2, -1});
        p.node("Pad", {"x", "pads", "", "axes"}, {"y"});
        QCOMPARE(shapeOf(p.output("y").import()), std::string("1×3×12×14"));

        ModelBuilder z(19);
        z.input("x", {"1", "3", "8", "10"}).longs("sizes", {16, 16});
        auto& resize = z.node("Resize", {"x", "", "", "sizes"}, {"y"});
        set(resize, "axes", Ints{2, 3});
        set(resize, "keep_aspect_ratio_policy", "not_larger");
        // scales 2 and 1.6; the smaller for both: 8·1.6 = 12.8 rounds to 13
        QCOMPARE(shapeOf(z.output("y").import()), std::string("1×3×13×16"));

        ModelBuilder k(18);
        k.input("x", {"1", "3", "8", "8"}).reals("scales", {1.5f, 2.0f});
        set(k.node("Resize", {"x", "", "scales"}, {"y"}), "axes", Ints{2, 3});
        QCOMPARE(shapeOf(k.output("y").import()), std::string("1×3×12×16"));
    }

    void otherNewOperators() {
        ModelBuilder m(20);
        m.input("x", {"4", "6"});
        set(m.node("Gelu", {"x"}, {"y"}), "approximate", "tanh");
        const auto gelu = m.output("y").import();
        QCOMPARE(shapeOf(gelu), std::string("4×6"));
        QCOMPARE(find(gelu->graph, "Gelu")->kind, OperatorKind::Elementwise);

        ModelBuilder i(20);
        i.input("x", {"1000"}, 2);
        i.node("ImageDecoder", {"x"}, {"y"});
        const auto image = i.output("y").import();
        QVERIFY(image.has_value());
        QCOMPARE(image->graph.unresolved().size(), std::size_t(1));  // its size is in the data
        QVERIFY(warns(image, "onnx.unresolved"));

        ModelBuilder c(18);
        c.input("x", {"1", "27", "16"}).longs("image", {6, 6}).longs("block", {3, 3});
        c.node("Col2Im", {"x", "image", "block"}, {"y"});
        QCOMPARE(shapeOf(c.output("y").import()), std::string("1×3×6×6"));

        ModelBuilder d(20);
        d.input("x", {"2", "100", "1"}).longs("length", {64});
        set(d.node("DFT", {"x", "length"}, {"y"}), "onesided", 1);
        QCOMPARE(shapeOf(d.output("y").import()), std::string("2×33×2"));

        ModelBuilder s(18);
        s.input("x", {"3", "5"}, 9);
        s.node("BitwiseAnd", {"x", "x"}, {"y"});
        QCOMPARE(shapeOf(s.output("y").import()), std::string("3×5"));
    }

    void attentionOfOpset23() {
        ModelBuilder m(23);
        m.input("q", {"2", "10", "512"}).input("k", {"2", "30", "128"}).input("v", {"2", "30", "128"});
        auto& node = m.node("Attention", {"q", "k", "v"}, {"y"});
        set(node, "q_num_heads", 8);
        set(node, "kv_num_heads", 2);
        const auto grouped = m.output("y").import();
        QCOMPARE(shapeOf(grouped), std::string("2×10×512"));
        // scores and values: 2 batch · 8 heads · 10 queries · 30 keys · (64 + 64)
        QCOMPARE(macsOf(grouped), 2.0 * 8 * 10 * 30 * 128);

        ModelBuilder c(23);
        c.input("q", {"1", "8", "1", "64"}).input("k", {"1", "8", "1", "64"}).input("v", {"1", "8", "1", "64"});
        c.input("pk", {"1", "8", "99", "64"}).input("pv", {"1", "8", "99", "64"});
        c.node("Attention", {"q", "k", "v", "", "pk", "pv"}, {"y", "nk", "nv"});
        const auto cached = c.output("y").output("nk").import();
        QCOMPARE(shapeOf(cached, 1), std::string("1×8×100×64"));
        QCOMPARE(macsOf(cached), 8.0 * 100 * 128);
        const Operator* op = find(cached->graph, "Attention");
        QCOMPARE(cached->graph.tensor(op->inputs[4])->role, TensorRole::KvCache);

        ModelBuilder r(23);
        r.input("x", {"1", "8", "10", "64"}).stored("cos", {100, 32}).stored("sin", {100, 32});
        r.node("RotaryEmbedding", {"x", "cos", "sin"}, {"y"});
        QCOMPARE(shapeOf(r.output("y").import()), std::string("1×8×10×64"));
    }

    void contributedOperators() {
        const std::string ms = "com.microsoft";
        ModelBuilder a(17, 8);
        a.import(ms, 1).input("x", {"2", "10", "64"}).stored("w", {64, 192}).stored("b", {192});
        set(a.node("Attention", {"x", "w", "b"}, {"y"}, ms), "num_heads", 4);
        const auto fused = a.output("y").import();
        QCOMPARE(shapeOf(fused), std::string("2×10×64"));
        // the projection 20 · 64 · 192, then 2 · 4 heads · 10 · 10 · (16 + 16)
        QCOMPARE(macsOf(fused), 20.0 * 64 * 192 + 2.0 * 4 * 100 * 32);

        ModelBuilder g(17, 8);
        g.import(ms, 1)
            .input("q", {"1", "1", "768"})
            .input("pk", {"1", "2", "50", "64"})
            .input("pv", {"1", "2", "50", "64"});
        g.input("lengths", {"1"}, 6).longs("total", {51});
        auto& group =
            g.node("GroupQueryAttention", {"q", "", "", "pk", "pv", "lengths", "total"}, {"y", "nk", "nv"}, ms);
        set(group, "num_heads", 8);
        set(group, "kv_num_heads", 2);
        const auto packed = g.output("y").output("nv").import();
        QCOMPARE(shapeOf(packed), std::string("1×1×512"));  // 768 = (8 + 2 + 2) · 64
        QCOMPARE(shapeOf(packed, 1), std::string("1×2×51×64"));

        ModelBuilder f(17, 8);
        f.import(ms, 1).input("a", {"5", "7"}).input("b", {"9", "7"});
        set(f.node("FusedMatMul", {"a", "b"}, {"y"}, ms), "transB", 1);
        const auto product = f.output("y").import();
        QCOMPARE(shapeOf(product), std::string("5×9"));
        QCOMPARE(macsOf(product), 5.0 * 9 * 7);

        ModelBuilder n(17, 8);
        n.import(ms, 1)
            .input("x", {"1", "3", "4096"}, 10)
            .stored("w", {11008, 128, 16}, 2)
            .stored("s", {11008 * 128}, 10);
        auto& packedWeights = n.node("MatMulNBits", {"x", "w", "s"}, {"y"}, ms);
        set(packedWeights, "K", 4096);
        set(packedWeights, "N", 11008);
        set(packedWeights, "bits", 4);
        set(packedWeights, "block_size", 32);
        const auto narrow = n.output("y").import();
        QCOMPARE(shapeOf(narrow), std::string("1×3×11008"));
        QCOMPARE(macsOf(narrow), 3.0 * 4096 * 11008);
        const Tensor& weight = *narrow->graph.tensor(find(narrow->graph, "MatMulNBits")->inputs[1]);
        QCOMPARE(weight.bytes().value, 4096.0 * 11008 / 2);  // four bits each

        ModelBuilder l(17, 8);
        l.import(ms, 1).input("x", {"1", "5", "16"}).input("skip", {"1", "5", "16"}).stored("g", {16});
        l.node("SkipSimplifiedLayerNormalization", {"x", "skip", "g"}, {"y", "", "", "sum"}, ms);
        QCOMPARE(shapeOf(l.output("y").output("sum").import(), 1), std::string("1×5×16"));

        ModelBuilder o(17, 8);
        o.import("somebody.else", 1).input("x", {"4"});
        o.node("Mystery", {"x"}, {"y"}, "somebody.else");
        const auto mystery = o.output("y").import();
        QVERIFY(mystery.has_value());
        QVERIFY(warns(mystery, "onnx.no-rule"));
        QCOMPARE(mystery->graph.operators.at(0).kind, OperatorKind::Other);  // stays, priced by its bytes
    }

    void elementTypesThatTheLibraryDoesNotKnow() {
        const std::vector<std::pair<int, DType>> types{{17, DType::FP8}, {18, DType::FP8}, {19, DType::FP8},
                                                       {20, DType::FP8}, {21, DType::I4},  {22, DType::I4},
                                                       {23, DType::FP4}, {24, DType::FP8}};
        for (const auto& [number, type] : types) {
            ModelBuilder m(23);
            m.input("x", {"2", "64"}).stored("w", {64, 32}, number).stored("s", {1, 32});
            set(m.node("DequantizeLinear", {"w", "s"}, {"f"}), "axis", 1);
            m.node("MatMul", {"x", "f"}, {"y"});
            const auto imported = m.output("y").import();
            QCOMPARE(shapeOf(imported), std::string("2×32"));
            const Operator* widen = find(imported->graph, "DequantizeLinear");
            QVERIFY(widen);  // the weights stay narrow in memory
            const Tensor& weight = *imported->graph.tensor(widen->inputs[0]);
            QCOMPARE(weight.type, type);
            QCOMPARE(weight.role, TensorRole::Weight);
            QCOMPARE(weight.bytes().value, 64.0 * 32 * bits(type) / 8);
        }
        ModelBuilder c(19);
        c.input("x", {"3"});
        set(c.node("Cast", {"x"}, {"y"}), "to", 17);
        QCOMPARE(typeOf(c.output("y").import()), DType::FP8);
        // a number that no version of ONNX uses
        ModelBuilder u(23);
        u.input("x", {"3"}, 99);
        u.node("Relu", {"x"}, {"y"});
        QCOMPARE(shapeOf(u.output("y").import()), std::string("3"));
    }

    void symbolsAreBoundOrTakenAsOne() {
        ModelBuilder m(17, 8);
        m.input("x", {"batch", "seq", "8"}).stored("w", {8, 4});
        m.node("MatMul", {"x", "w"}, {"y"});
        m.output("y");
        QCOMPARE(shapeOf(m.import({{"batch", 3}, {"seq", 5}})), std::string("3×5×4"));
        const auto half = m.import({{"seq", 5}});
        QCOMPARE(shapeOf(half), std::string("1×5×4"));
        bool told = false;
        for (const Diagnostic& warning : half->warnings) {
            if (warning.code != "onnx.unbound") continue;
            told = warning.message.find("batch") != std::string::npos &&
                   warning.message.find("seq") == std::string::npos &&
                   warning.hint.find("--bind batch=") != std::string::npos;
        }
        QVERIFY(told);
        QVERIFY(warns(m.import({{"sequence", 5}}), "onnx.unknown-symbol"));
        // an extent without a name gets one from its input
        ModelBuilder u(17, 8);
        u.input("x", {"", "8"});
        u.model.mutable_graph()
            ->mutable_input(0)
            ->mutable_type()
            ->mutable_tensor_type()
            ->mutable_shape()
            ->mutable_dim(0)
            ->Clear();
        u.node("Relu", {"x"}, {"y"});
        QCOMPARE(shapeOf(u.output("y").import({{"x_dim0", 6}})), std::string("6×8"));
    }

    void shapeArithmeticVanishes() {
        ModelBuilder m(17, 8);
        m.input("x", {"n", "12", "16"}).longs("two", {2}).longs("zero", {0}).longs("eight", {8});
        m.node("Shape", {"x"}, {"s"});
        m.node("Slice", {"s", "zero", "two"}, {"front"});
        m.node("Gather", {"s", "two"}, {"last"});
        m.node("Div", {"last", "eight"}, {"heads"});
        set(m.node("Concat", {"front", "heads", "eight"}, {"target"}), "axis", 0);
        m.node("Reshape", {"x", "target"}, {"y"});
        const auto imported = m.output("y").import({{"n", 3}});
        QCOMPARE(shapeOf(imported), std::string("3×12×2×8"));
        QCOMPARE(imported->graph.operators.size(), std::size_t(1));  // the Reshape alone
    }

    void weightsKeepTheirCountThroughFolding() {
        ModelBuilder m(17, 8);
        m.input("x", {"1", "8"})
            .stored("w", {24, 8})
            .stored("table", {5, 8})
            .longs("ids", {0, 1, 1, 1, 1, 2, 3, 4, 0, 0});
        set(m.node("Transpose", {"w"}, {"wt"}), "perm", Ints{1, 0});
        set(m.node("Split", {"wt"}, {"q", "k", "v"}), "axis", 1);
        for (const char* part : {"q", "k", "v"}) m.node("MatMul", {"x", part}, {std::string(part) + "x"});
        m.node("Gather", {"table", "ids"}, {"rows"});
        m.node("Sum", {"qx", "kx", "vx", "rows"}, {"y"});
        const auto imported = m.output("y").import();
        QVERIFY(!find(imported->graph, "Transpose") && !find(imported->graph, "Split"));
        QVERIFY(find(imported->graph, "Gather"));  // looked up, it would be twice as many
        QCOMPARE(costTotals(imported->graph, costTable(imported->graph)).parameters, 24.0 * 8 + 5 * 8);
    }

    void branchesAndLoopsAreOpened() {
        ::onnx::GraphProto body;
        ModelBuilder::describe(*body.add_input(), "k", {}, 7);
        ModelBuilder::describe(*body.add_input(), "on", {}, 9);
        body.add_input()->set_name("h");
        ModelBuilder::fill(*body.add_node(), "MatMul", {"h", "w"}, {"next"});
        ModelBuilder::fill(*body.add_node(), "ReduceSum", {"next"}, {"trace"});
        ModelBuilder::fill(*body.add_node(), "Identity", {"on"}, {"still"});
        for (const char* name : {"still", "next", "trace"}) body.add_output()->set_name(name);
        ModelBuilder m(13, 8);
        m.input("x", {"2", "6"}).stored("w", {6, 6}).longs("trips", {7});
        set(m.node("Loop", {"trips", "", "x"}, {"y", "traces"}), "body", body);
        const auto loop = m.output("y").output("traces").import();
        QCOMPARE(shapeOf(loop), std::string("2×6"));
        QCOMPARE(shapeOf(loop, 1), std::string("7×1×1"));
        QCOMPARE(find(loop->graph, "MatMul")->repeat, std::int64_t(7));
        QCOMPARE(macsOf(loop), 7.0 * 2 * 6 * 6);
        // one weight, read seven times
        QCOMPARE(costTotals(loop->graph, costTable(loop->graph)).parameters, 36.0);

        for (const std::int64_t condition : {0, 1}) {
            ::onnx::GraphProto yes, no;
            ModelBuilder::fill(*yes.add_node(), "Relu", {"x"}, {"t"});
            yes.add_output()->set_name("t");
            ModelBuilder::fill(*no.add_node(), "Transpose", {"x"}, {"e"});
            no.add_output()->set_name("e");
            ModelBuilder c(13, 8);
            c.input("x", {"2", "6"}).longs("c", {condition});
            auto& choice = c.node("If", {"c"}, {"y"});
            set(choice, "then_branch", yes);
            set(choice, "else_branch", no);
            const auto chosen = c.output("y").import();
            QCOMPARE(shapeOf(chosen), std::string(condition ? "2×6" : "6×2"));
            QCOMPARE(chosen->graph.operators.size(), std::size_t(1));
            QVERIFY(!warns(chosen, "onnx.branch"));
        }
    }

    void functionsAreOpenedWithTheirAttributes() {
        ModelBuilder m(18);
        m.import("local", 1).input("x", {"2", "6", "4"});
        auto* function = m.model.add_functions();
        function->set_name("Mean");
        function->set_domain("local");
        function->add_input("p");
        function->add_input("unused");
        function->add_output("q");
        function->add_attribute("keep");
        function->add_opset_import()->set_version(18);
        auto& reduce = ModelBuilder::fill(*function->add_node(), "ReduceMean", {"p", "unused"}, {"q"});
        auto* keep = reduce.add_attribute();
        keep->set_name("keepdims");
        keep->set_ref_attr_name("keep");
        keep->set_type(::onnx::AttributeProto::INT);
        set(m.node("Mean", {"x"}, {"y"}, "local"), "keep", 0);
        m.node("Mean", {"x"}, {"z"}, "local");
        const auto imported = m.output("y").output("z").import();
        QCOMPARE(shapeOf(imported, 0), std::string("scalar"));
        QCOMPARE(shapeOf(imported, 1), std::string("1×1×1"));  // without the argument, ReduceMean's own default
        QVERIFY(imported->graph.operators[0].name != imported->graph.operators[1].name);
    }

    void nodesNeedNotStandInOrder() {
        ModelBuilder m(13, 8);
        m.input("x", {"4"});
        m.node("Relu", {"a"}, {"y"});
        m.node("Abs", {"x"}, {"a"});
        const auto imported = m.output("y").import();
        QCOMPARE(shapeOf(imported), std::string("4"));
        QCOMPARE(imported->graph.operators[0].type, std::string("Abs"));
    }
};

QTEST_GUILESS_MAIN(TestOnnxOpsets)
#include "tst_onnx_opsets.moc"
