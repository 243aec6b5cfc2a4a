// Is a kernel read off an operator the same work as the cost table counts, does counting from its shape alone agree,
// and does a kernel survive being made an operator?

#include "base/random.h"
#include "workload/costs.h"
#include "workload/kernel.h"
#include "workload/workload.h"

#include <QtTest/QtTest>

#include <cmath>

using namespace orrery;

namespace {

bool near(double a, double b) {
    return std::fabs(a - b) <= 1e-9 * std::fmax(1, std::fmax(std::fabs(a), std::fabs(b)));
}

WorkloadPtr load(const std::string& id, const WorkloadOptions& options) {
    auto workload = loadWorkload({id, options});
    return workload ? *workload : nullptr;
}

Kernel product(std::int64_t m, std::int64_t n, std::int64_t k, DType type = DType::BF16) {
    Kernel kernel;
    kernel.kind = KernelKind::Gemm;
    kernel.type = kernel.weightType = kernel.kvType = type;
    kernel.m = m, kernel.n = n, kernel.k = k;
    countWork(kernel);
    return kernel;
}

Kernel again(const Kernel& kernel) {
    Graph graph;
    addOperator(graph, kernel, toText(kernel));
    return kernelOf(graph, costTable(graph), 0);
}

bool sameShape(const AttentionShape& a, const AttentionShape& b) {
    return a.batch == b.batch && a.heads == b.heads && a.kvHeads == b.kvHeads && a.queries == b.queries &&
           a.keys == b.keys && a.headDim == b.headDim && a.valueDim == b.valueDim && a.causal == b.causal &&
           a.flash == b.flash;
}

void compare(const Kernel& before, const Kernel& after) {
    const auto what = toText(before) + " became " + toText(after);
    QVERIFY2(before.kind == after.kind && before.type == after.type, what.c_str());
    QVERIFY2(near(before.flops, after.flops), what.c_str());
    QVERIFY2(near(before.readBytes, after.readBytes) && near(before.writeBytes, after.writeBytes), what.c_str());
    QVERIFY2(toText(after) == toText(before), what.c_str());
}

}  // namespace

class TestKernel : public QObject {
    Q_OBJECT
private slots:
    void namesGoBothWays() {
        for (int i = 0; i < kernelKindCount; ++i) {
            const auto kind = static_cast<KernelKind>(i);
            QVERIFY(kernelKind(toText(kind)) == kind);
        }
        for (int i = 0; i < 6; ++i) {
            const auto op = static_cast<CollectiveOp>(i);
            QVERIFY(collectiveOp(toText(op)) == op);
        }
        QVERIFY(!kernelKind("nonesuch") && !collectiveOp(""));
    }
    void workOfAProductByHand() {
        Kernel k = product(1024, 4096, 2048);
        QCOMPARE(k.flops, 2.0 * 1024 * 4096 * 2048);
        QCOMPARE(k.readBytes, 2.0 * (1024 * 2048 + 2048 * 4096));
        QCOMPARE(k.writeBytes, 2.0 * 1024 * 4096);
        QCOMPARE(toText(k), std::string("gemm 1024×4096×2048 bf16"));
        k.weightType = DType::I4;
        k.scaleBlock = 128;
        countWork(k);
        QCOMPARE(k.readBytes, 2.0 * 1024 * 2048 + 2048 * 4096 * (4 + 20.0 / 128) / 8);
        k = product(16, 32, 64, DType::FP8);
        QCOMPARE(k.readBytes, 1.0 * (16 * 64 + 64 * 32));
        QCOMPARE(k.writeBytes, 2.0 * 16 * 32);
    }
    void everyOperatorOfEveryModelKeepsItsCosts() {
        int operators = 0, counted = 0;
        for (const auto& info : builtinWorkloads()) {
            for (const Phase phase : {Phase::Forward, Phase::Prefill, Phase::Decode}) {
                for (const DType weights : {DType::F16, DType::I4}) {
                    WorkloadOptions options = info.usual;
                    options.phase = phase;
                    options.batch = 2;
                    options.weights = weights;
                    options.sequence = info.hasSequence ? 640 : 0;
                    options.flashAttention = weights == DType::F16;
                    const auto workload = load(info.id, options);
                    if (!workload) continue;
                    for (std::size_t i = 0; i < workload->costs.size(); ++i) {
                        check(*workload, i, counted);
                        if (QTest::currentTestFailed()) return;
                        ++operators;
                    }
                }
            }
        }
        QVERIFY2(operators > 2500, qPrintable(QString::number(operators)));
        QVERIFY2(counted > operators / 3, qPrintable(QString("%1 of %2").arg(counted).arg(operators)));
    }
    void kernelsSurviveBeingOperators() {
        RandomStream random(7);
        const auto draw = [&](std::int64_t low, std::int64_t high) {
            return low + static_cast<std::int64_t>(random.uniform() * static_cast<double>(high - low + 1));
        };
        for (int round = 0; round < 300; ++round) {
            Kernel k = product(draw(1, 5000), draw(1, 5000), draw(1, 5000),
                               std::array{DType::F32, DType::BF16, DType::FP8, DType::I8}[std::size_t(draw(0, 3))]);
            k.bias = draw(0, 1) == 1;
            k.transposedWeight = draw(0, 1) == 1;
            k.batch = draw(0, 2) == 0 ? draw(2, 64) : 1;
            if (k.batch > 1) k.bias = false;
            k.quantisesInput = bits(k.type) == 8 && draw(0, 1) == 1;
            if (k.type == DType::BF16 && k.batch == 1 && draw(0, 1) == 1) k.weightType = DType::I4, k.scaleBlock = 128;
            if (bits(k.type) == 8 && draw(0, 1) == 1) k.scaleBlock = 128;
            countWork(k);
            const Kernel back = again(k);
            compare(k, back);
            QVERIFY(back.bias == k.bias && back.transposedWeight == k.transposedWeight);
            QVERIFY(back.quantisesInput == k.quantisesInput && back.scaleBlock == k.scaleBlock);
            if (QTest::currentTestFailed()) return;
        }
        for (int round = 0; round < 300; ++round) {
            Kernel k;
            const bool decode = draw(0, 1) == 1;
            const std::int64_t kvHeads = draw(1, 8);
            k.kind = decode ? KernelKind::DecodeAttention : KernelKind::PrefillAttention;
            k.type = k.weightType = k.kvType = DType::BF16;
            if (decode && draw(0, 1) == 1) k.kvType = DType::FP8;
            k.attention = {.batch = draw(1, 64),
                           .heads = kvHeads * draw(1, 8),
                           .kvHeads = kvHeads,
                           .queries = decode ? 1 : draw(2, 4096),
                           .keys = draw(2, 8192),
                           .headDim = 128,
                           .valueDim = 128,
                           .causal = draw(0, 1) == 1,
                           .flash = draw(0, 3) != 0};
            if (!decode && k.attention.causal) {
                k.attention.keys = k.attention.queries;
                if (draw(0, 1) == 1) k.window = draw(1, k.attention.queries - 1);
            }
            countWork(k);
            const Kernel back = again(k);
            compare(k, back);
            QVERIFY(sameShape(k.attention, back.attention) && k.window == back.window && k.kvType == back.kvType);
            if (QTest::currentTestFailed()) return;
        }
        for (const auto& [kind, function] : {std::pair{KernelKind::Elementwise, "Gelu"},
                                             {KernelKind::Elementwise, "Add"},
                                             {KernelKind::Elementwise, "SwiGLU"},
                                             {KernelKind::Softmax, "Softmax"},
                                             {KernelKind::Normalization, "LayerNormalization"},
                                             {KernelKind::Normalization, "RMSNormalization"}}) {
            Kernel k;
            k.kind = kind;
            k.type = k.weightType = k.kvType = DType::F32;
            k.function = function;
            k.operands = k.function == "Add" || k.function == "SwiGLU" ? 2 : 1;
            k.m = 123, k.n = 456;
            countWork(k);
            const Kernel back = again(k);
            compare(k, back);
            QVERIFY(back.m == k.m && back.n == k.n && back.operands == k.operands && back.function == k.function);
        }
        Kernel c;
        c.kind = KernelKind::Convolution;
        c.type = c.weightType = c.kvType = DType::F16;
        c.bias = true;
        c.convolution = {.batch = 8,
                         .inChannels = 64,
                         .outChannels = 128,
                         .groups = 2,
                         .height = 56,
                         .width = 56,
                         .kernelHeight = 3,
                         .kernelWidth = 3,
                         .outHeight = 28,
                         .outWidth = 28,
                         .stride = 2};
        countWork(c);
        QCOMPARE(c.flops, 2.0 * 8 * 128 * 28 * 28 * 32 * 9 + 8.0 * 128 * 28 * 28);
        compare(c, again(c));
        QVERIFY(again(c).convolution == c.convolution);
        for (const KernelKind kind : {KernelKind::Movement, KernelKind::Other}) {
            Kernel o;
            o.kind = kind;
            o.type = o.weightType = o.kvType = DType::F32;
            o.function = kind == KernelKind::Movement ? "Cast" : "TopK";
            o.readBytes = 1000, o.writeBytes = 500;
            o.flops = kind == KernelKind::Other ? 750 : 0;
            compare(o, again(o));
        }
    }
    void collectivesCountTheLargerBuffer() {
        Kernel k;
        k.kind = KernelKind::Collective;
        k.collective = CollectiveOp::AllGather;
        k.ranks = 8;
        k.messageBytes = 8e6;
        countWork(k);
        QCOMPARE(k.readBytes, 1e6);
        QCOMPARE(k.writeBytes, 8e6);
    }

private:
    void check(const Workload& workload, std::size_t i, int& counted) {
        const auto& op = workload.graph.operators[i];
        const Kernel k = kernelOf(workload.graph, workload.costs, i);
        const auto what = workload.name + ": " + op.name + ", " + toText(k);
        QVERIFY2(k.flops == workload.costs.flops[i], what.c_str());
        QVERIFY2(near(k.bytes(), workload.costs.bytes(i)), what.c_str());
        Kernel shape = k;
        countWork(shape);
        const bool plain =
            (k.kind == KernelKind::Gemm && op.type != "GroupedMatMul" && op.kind == OperatorKind::MatMul) ||
            k.kind == KernelKind::Convolution || k.kind == KernelKind::Softmax ||
            k.kind == KernelKind::DecodeAttention || k.kind == KernelKind::PrefillAttention;
        if (!plain) return;
        ++counted;
        QVERIFY2(near(shape.flops, k.flops), what.c_str());
        // Latent prefill shares a part of its keys between heads; tied and expert weights are read in part.
        if (k.kind == KernelKind::PrefillAttention && k.attention.headDim != k.attention.valueDim) return;
        if (k.kind == KernelKind::Gemm && k.weightType != k.type && k.scaleBlock == 0) return;
        if (op.inputs.size() > 1 && op.inputs[0] == op.inputs[1]) return;  // a tensor times itself is read once
        const auto bytes = what + QString(": read %1 for %2, written %3 for %4")
                                      .arg(shape.readBytes)
                                      .arg(k.readBytes)
                                      .arg(shape.writeBytes)
                                      .arg(k.writeBytes)
                                      .toStdString();
        // What attention appends to its cache and recurrent states are not of the shape.
        const bool decode = k.kind == KernelKind::DecodeAttention;
        const double appended = decode ? 0 : workload.costs.kvWriteBytes[i];
        const double state = k.kind == KernelKind::Convolution ? workload.costs.kvReadBytes[i] : 0;
        QVERIFY2(near(shape.readBytes, k.readBytes - state), bytes.c_str());
        QVERIFY2(near(shape.writeBytes, k.writeBytes - appended), bytes.c_str());
    }
};

QTEST_GUILESS_MAIN(TestKernel)
#include "tst_kernel.moc"
