// What a compiler computes in one kernel of graphs that exporters wrote out: norms, parts of tensors, biases, gates.
// Kernels and bytes by hand.

#include "methods/model/launches.h"
#include "support/method_fixture.h"
#include "support/near.h"
#include "workload/models/builder.h"

#include <QtTest/QtTest>

#include <cmath>

using namespace orrery;
using orrery::test::near;

namespace {

constexpr double two = 2;  // bytes of fp16

TensorId made(GraphBuilder& g, const char* type, OperatorKind kind, std::vector<TensorId> inputs, Shape shape) {
    Operator op;
    op.type = op.name = type;
    op.kind = kind;
    op.inputs = std::move(inputs);
    const TensorId out = g.activation(std::move(shape));
    op.outputs = {out};
    g.add(std::move(op));
    return out;
}

struct Norm {
    TensorId out, deviation;
};
// As exporters of PyTorch write a layer norm before opset 17.
Norm writtenNorm(GraphBuilder& g, TensorId x, std::int64_t rows, std::int64_t columns) {
    const Shape all{rows, columns}, one{rows, 1};
    const TensorId mean = made(g, "ReduceMean", OperatorKind::Reduce, {x}, one);
    const TensorId centred = g.elementwise("Sub", "centred", {x, mean});
    const TensorId square = g.elementwise("Pow", "square", {centred, g.constant("exponent", {1})});
    const TensorId variance = made(g, "ReduceMean", OperatorKind::Reduce, {square}, one);
    const TensorId shifted = g.elementwise("Add", "shifted", {variance, g.constant("epsilon", {1})});
    const TensorId deviation = g.elementwise("Sqrt", "deviation", {shifted});
    const TensorId quotient = g.elementwise("Div", "quotient", {centred, deviation});
    const TensorId scaled = g.elementwise("Mul", "scaled", {quotient, g.auxiliary("gamma", {columns})});
    return {g.elementwise("Add", "out", {scaled, g.auxiliary("beta", {columns})}), deviation};
}

LaunchList compiled(const Graph& graph, Step step = Step::Inference) {
    ModelOptions options;
    options.fusion = Fusion::Compile;
    options.step = step;
    return launchesOf(*fixture::workloadOf(graph), options);
}

}  // namespace

class TestCompiledGroups : public QObject {
    Q_OBJECT

private slots:
    // A sum with the residual stream and the norm after it: both operands in, sum and norm out.
    void aNormWrittenOutIsOneKernel() {
        GraphBuilder g("norm", {});
        const TensorId x = g.input("x", {64, 256}), y = g.input("y", {64, 256});
        const TensorId sum = g.elementwise("Add", "sum", {x, y});
        const Norm norm = writtenNorm(g, sum, 64, 256);
        g.output(norm.out);
        g.output(sum);
        const LaunchList list = compiled(g.finish());
        QCOMPARE(list.launches.size(), 1u);
        const Kernel& kernel = list.launches[0].kernel;
        QCOMPARE(kernel.kind, KernelKind::Normalization);
        QCOMPARE(kernel.m, 64);
        QCOMPARE(kernel.n, 256);
        const double all = 64 * 256 * two, parameters = 2 * 256 * two, constants = 2 * two;
        QVERIFY2(std::fabs(kernel.readBytes - 2 * all - parameters) <= 4 * constants,
                 qPrintable(QString::number(kernel.readBytes)));
        QVERIFY2(near(kernel.writeBytes, 2 * all), qPrintable(QString::number(kernel.writeBytes)));
        // As the kernel of one operator.
        GraphBuilder h("norm", {});
        h.output(h.layerNorm("norm", h.input("x", {64, 256})));
        const Kernel plain = compiled(h.finish()).launches.at(0).kernel;
        QCOMPARE(plain.kind, kernel.kind);
        QCOMPARE(plain.m, kernel.m);
        QCOMPARE(plain.n, kernel.n);
        QCOMPARE(plain.function, kernel.function);
    }
    // Two norms in a row are two kernels; a mean that something else reads, a mean without a norm are none.
    void whatIsNoNormStaysApart() {
        GraphBuilder g("two", {});
        const Norm first = writtenNorm(g, g.input("x", {64, 256}), 64, 256);
        g.output(writtenNorm(g, first.out, 64, 256).out);
        QCOMPARE(compiled(g.finish()).launches.size(), 2u);

        GraphBuilder h("read", {});
        const Norm norm = writtenNorm(h, h.input("x", {64, 256}), 64, 256);
        h.output(norm.out);
        h.output(norm.deviation);
        const LaunchList read = compiled(h.finish());
        QVERIFY(read.launches.size() > 1);
        for (const Launch& each : read.launches) QVERIFY(each.kernel.kind != KernelKind::Normalization);

        GraphBuilder mean("mean", {});
        mean.output(made(mean, "ReduceMean", OperatorKind::Reduce, {mean.input("x", {64, 256})}, {64, 1}));
        QCOMPARE(compiled(mean.finish()).launches.size(), 1u);
    }
    // Rolled by parts along both axes, then permuted: read once, written once.
    void aRollIsOneKernel() {
        GraphBuilder g("roll", {});
        const TensorId x = g.input("x", {56, 56, 96});
        const TensorId rows = g.move("Concat", "rows", {g.move("Slice", "low", {x}, {53, 56, 96}),
                                                        g.move("Slice", "high", {x}, {3, 56, 96})}, {56, 56, 96});
        const TensorId both = g.move("Concat", "both", {g.move("Slice", "left", {rows}, {56, 53, 96}),
                                                        g.move("Slice", "right", {rows}, {56, 3, 96})}, {56, 56, 96});
        g.output(g.move("Transpose", "windows", {both}, {56, 56, 96}));
        const LaunchList list = compiled(g.finish());
        QCOMPARE(list.launches.size(), 1u);
        const double all = 56 * 56 * 96 * two;
        QVERIFY(near(list.launches[0].kernel.readBytes, all) && near(list.launches[0].kernel.writeBytes, all));
    }
    // Of a part only its bytes are read; an operator that slices nothing reads all.
    void aPartIsReadAsAPart() {
        GraphBuilder g("part", {});
        const TensorId x = g.input("x", {64, 256});
        const TensorId half = g.move("Slice", "half", {x}, {64, 128});
        g.output(g.elementwise("Relu", "relu", {half}));
        const LaunchList list = compiled(g.finish());
        QCOMPARE(list.launches.size(), 1u);
        QVERIFY(near(list.launches[0].kernel.readBytes, 64 * 128 * two));
        QVERIFY(near(list.launches[0].kernel.writeBytes, 64 * 128 * two));

        GraphBuilder h("both", {});
        const TensorId y = h.input("y", {64, 256});
        const TensorId low = h.move("Slice", "low", {y}, {64, 128}), high = h.move("Slice", "high", {y}, {64, 128});
        h.output(h.elementwise("Mul", "gate", {low, h.elementwise("Sigmoid", "sigmoid", {high})}));
        const LaunchList gated = compiled(h.finish());
        double read = 0;
        for (const Launch& each : gated.launches) read += each.kernel.readBytes;
        QVERIFY(gated.launches.size() <= 2 && read <= 64 * 256 * two * 1.51);
    }
    // A product reads operands as they lie in memory: what is cut out for it is copied before.
    void aPartForAProductIsCopied() {
        GraphBuilder g("product", {});
        const TensorId x = g.input("x", {64, 256});
        g.output(g.linear("up", g.move("Slice", "half", {x}, {64, 128}), 512));
        QCOMPARE(compiled(g.finish()).launches.size(), 2u);
    }
    void aBiasIsInItsProduct() {
        GraphBuilder g("bias", {});
        const TensorId x = g.input("x", {64, 256});
        const TensorId product = g.linear("up", x, 512, {.bias = false});
        const TensorId sum = g.elementwise("Add", "bias", {product, g.auxiliary("b", {512})});
        g.output(g.elementwise("Gelu", "act", {sum}));
        const LaunchList list = compiled(g.finish());
        QCOMPARE(list.launches.size(), 2u);
        QCOMPARE(list.launches[0].kernel.kind, KernelKind::Gemm);
        QVERIFY(near(list.launches[0].kernel.epilogue.bytes, 512 * two));
        QVERIFY(near(list.launches[0].kernel.writeBytes, 64 * 512 * two));
        // A sum of two activations is none.
        GraphBuilder h("sum", {});
        const TensorId y = h.input("y", {64, 512});
        h.output(h.elementwise("Add", "sum", {h.linear("up", h.input("x", {64, 256}), 512, {.bias = false}), y}));
        QCOMPARE(compiled(h.finish()).launches.size(), 2u);
    }
    // Squeeze and excitation: the gate of a channel is computed where it scales the picture.
    void aGateIsComputedWhereItIsRead() {
        GraphBuilder g("gate", {});
        const TensorId picture = g.input("picture", {1, 64, 28, 28});
        const TensorId gate = g.elementwise("HardSigmoid", "gate", {g.input("squeezed", {1, 64, 1, 1})});
        g.output(g.elementwise("Mul", "scale", {gate, picture}, picture));
        const LaunchList list = compiled(g.finish());
        QCOMPARE(list.launches.size(), 1u);
        const double all = 64 * 28 * 28 * two;
        QVERIFY(near(list.launches[0].kernel.readBytes, all + 64 * two));
        QVERIFY(near(list.launches[0].kernel.writeBytes, all));
    }
    // A training step keeps what its backward pass reads: nothing of this holds there.
    void trainingIsAsItWas() {
        GraphBuilder g("roll", {});
        const TensorId x = g.input("x", {56, 56, 96});
        g.output(g.move("Concat", "rows", {g.move("Slice", "low", {x}, {53, 56, 96}),
                                           g.move("Slice", "high", {x}, {3, 56, 96})}, {56, 56, 96}));
        std::size_t forward = 0;
        for (const Launch& each : compiled(g.finish(), Step::Training).launches) forward += each.part == Part::Forward;
        QCOMPARE(forward, std::size_t{3});
    }
    // Swin-T as PyTorch exports it: 1 + 12 x 2 + 3 + 1 norms, 12 activations; products with their bias.
    void swinTransformer() {
        const std::string file = ORRERY_REFERENCE "/onnx/torchvision/swin_t.onnx";
        if (!QFile::exists(QString::fromStdString(file))) QSKIP("the exported graph is not here");
        const auto workload = loadWorkload({file, {}});
        QVERIFY(workload);
        ModelOptions options;
        options.fusion = Fusion::Compile;
        std::map<KernelKind, double> kernels;
        double all = 0;
        const LaunchList list = launchesOf(**workload, options);
        for (const Launch& each : list.launches) kernels[each.kernel.kind] += each.count, all += each.count;
        QCOMPARE(kernels[KernelKind::Normalization], 29.0);
        QCOMPARE(kernels[KernelKind::Softmax], 12.0);
        QCOMPARE(kernels[KernelKind::Gemm], 76.0);
        for (const auto& [kind, count] : kernels) qInfo("%d: %g", int(kind), count);
        QVERIFY2(all < 260, qPrintable(QString::number(all)));
        // No operand is read twice for it, none is lost: members follow their leader.
        for (std::size_t i = 0; i < list.leader.size(); ++i) QVERIFY(list.leader[i] <= static_cast<std::int32_t>(i));
    }
};

QTEST_GUILESS_MAIN(TestCompiledGroups)
#include "tst_compiled_groups.moc"
