// Does a kernel keep its identity when it is spelled as a workload's source, and is a wrong spelling explained?

#include "base/random.h"
#include "workload/costs.h"
#include "workload/kernel_source.h"
#include "workload/workload.h"

#include <QtTest/QtTest>

using namespace orrery;

class TestKernelSource : public QObject {
    Q_OBJECT
    RandomStream random_{11};
    std::int64_t draw(std::int64_t low, std::int64_t high) {
        return low + static_cast<std::int64_t>(random_.uniform() * static_cast<double>(high - low + 1));
    }
    bool coin() { return draw(0, 1) == 1; }

    Kernel drawn(KernelKind kind) {
        Kernel k;
        k.kind = kind;
        k.type = k.weightType = k.kvType = std::array{DType::F32, DType::BF16, DType::F16, DType::I8}[draw(0, 3)];
        switch (kind) {
            case KernelKind::Gemm:
                k.batch = coin() ? draw(2, 64) : 1;
                k.m = draw(1, 5000), k.n = draw(1, 5000), k.k = draw(1, 5000);
                k.bias = coin(), k.transposedWeight = coin();
                if (coin()) k.weightType = DType::I4, k.scaleBlock = 128;
                k.quantisesInput = bits(k.type) == 8 && coin();
                break;
            case KernelKind::PrefillAttention:
            case KernelKind::DecodeAttention: {
                AttentionShape& a = k.attention;
                a.batch = draw(1, 32), a.kvHeads = draw(1, 8), a.heads = a.kvHeads * draw(1, 8), a.keys = draw(1, 4096);
                a.queries = kind == KernelKind::DecodeAttention ? 1 : a.keys;
                a.headDim = 16 * draw(1, 12), a.valueDim = coin() ? a.headDim : 128;
                a.causal = coin(), a.flash = coin();
                if (coin()) k.kvType = DType::FP8;
                k.window = coin() ? draw(1, 4096) : 0;
                break;
            }
            case KernelKind::Convolution: {
                ConvolutionShape& c = k.convolution;
                c.groups = draw(1, 4), c.inChannels = c.groups * draw(1, 64), c.outChannels = c.groups * draw(1, 64);
                c.batch = draw(1, 32), c.kernelHeight = draw(1, 7), c.kernelWidth = draw(1, 7);
                c.height = draw(16, 224), c.width = draw(16, 224), c.stride = draw(1, 3), c.dilation = draw(1, 2);
                const std::int64_t pad = draw(0, 3);
                const auto out = [&](std::int64_t side, std::int64_t filter) {
                    return (side + 2 * pad - c.dilation * (filter - 1) - 1) / c.stride + 1;
                };
                c.outHeight = out(c.height, c.kernelHeight), c.outWidth = out(c.width, c.kernelWidth);
                k.bias = coin();
                break;
            }
            case KernelKind::Movement:
            case KernelKind::Other:
                k.flops = kind == KernelKind::Other ? 1e6 * random_.uniform() : 0;
                k.readBytes = 1e6 * random_.uniform(), k.writeBytes = 1e3;
                return k;
            default:
                k.m = draw(1, 5000), k.n = draw(1, 5000), k.operands = static_cast<std::int32_t>(draw(1, 3));
                k.function = kind == KernelKind::Softmax         ? "Softmax"
                             : kind == KernelKind::Normalization ? "LayerNormalization"
                                                                 : "Gelu";
        }
        countWork(k);
        return k;
    }

private slots:
    void spellingKeepsTheKernel() {
        for (const KernelKind kind : {KernelKind::Gemm, KernelKind::PrefillAttention, KernelKind::DecodeAttention,
                                      KernelKind::Elementwise, KernelKind::Softmax, KernelKind::Normalization,
                                      KernelKind::Convolution, KernelKind::Movement, KernelKind::Other}) {
            for (int round = 0; round < 200; ++round) {
                const Kernel kernel = drawn(kind);
                const std::string source = kernelSource(kernel);
                const auto back = kernelFromSource(source);
                QVERIFY2(back, source.c_str());
                QVERIFY2(kernelIdentity(*back) == kernelIdentity(kernel), source.c_str());
                QVERIFY2(back->flops == kernel.flops && back->bytes() == kernel.bytes(), source.c_str());
                QCOMPARE(kernelSource(*back), source);
            }
        }
    }
    void aKernelIsAWorkload() {
        const auto loaded = loadWorkload({"kernel:gemm m=1024 n=4096 k=2048 dtype=bf16", {}});
        QVERIFY(loaded);
        const Workload& workload = **loaded;
        QCOMPARE(workload.name, std::string("gemm 1024×4096×2048 bf16"));
        QCOMPARE(workload.graph.operators.size(), std::size_t{1});
        QCOMPARE(workload.costs.flops[0], 2.0 * 1024 * 4096 * 2048);
        QCOMPARE(workload.costs.bytes(0), 2.0 * (1024 * 2048 + 2048 * 4096 + 1024 * 4096));
        QCOMPARE(workload.recipe.source, std::string("kernel:gemm m=1024 n=4096 k=2048 dtype=bf16"));
    }
    void whatOneDeviceCannotDoHasNoSpelling() {
        Kernel kernel;
        kernel.kind = KernelKind::Collective;
        QVERIFY(kernelSource(kernel).empty());
        kernel.kind = KernelKind::Experts;
        QVERIFY(kernelSource(kernel).empty());
    }
    void wrongSpellingsAreExplained_data() {
        QTest::addColumn<QString>("source");
        QTest::addColumn<QString>("says");
        QTest::newRow("nothing") << "kernel:"
                                 << "kind";
        QTest::newRow("no fields") << "kernel:gemm"
                                   << "m, n and k";
        QTest::newRow("unknown kind") << "kernel:gem m=1"
                                      << "gem";
        QTest::newRow("unknown field") << "kernel:gemm mm=1 n=2 k=3"
                                       << "mm";
        QTest::newRow("no value") << "kernel:gemm m= n=2 k=3"
                                  << "m=";
        QTest::newRow("word for number") << "kernel:gemm m=big n=2 k=3"
                                         << "m=big";
        QTest::newRow("fraction") << "kernel:gemm m=1.5 n=2 k=3"
                                  << "m=1.5";
        QTest::newRow("negative") << "kernel:gemm m=-4 n=2 k=3"
                                  << "m=-4";
        QTest::newRow("huge") << "kernel:gemm m=1e300 n=2 k=3"
                              << "m=1e300";
        QTest::newRow("absurd") << "kernel:gemm m=1e11 n=1e11 k=1e11"
                                << "absurd";
        QTest::newRow("type") << "kernel:gemm m=4 n=2 k=3 dtype=strange"
                              << "dtype=strange";
        QTest::newRow("heads") << "kernel:decode-attention heads=3 kv_heads=2 keys=9"
                               << "multiple";
        QTest::newRow("filter") << "kernel:convolution height=2 width=2 kernel_height=5 kernel_width=5"
                                << "filter";
        QTest::newRow("collective") << "kernel:collective ranks=8 message_bytes=1e6"
                                    << "one device";
    }
    void wrongSpellingsAreExplained() {
        QFETCH(QString, source);
        QFETCH(QString, says);
        const auto loaded = loadWorkload({source.toStdString(), {}});
        QVERIFY(!loaded);
        QCOMPARE(loaded.error().code, std::string("kernel.source"));
        QVERIFY2(QString::fromStdString(loaded.error().message).contains(says), loaded.error().message.c_str());
    }
};

QTEST_GUILESS_MAIN(TestKernelSource)
#include "tst_kernel_source.moc"
