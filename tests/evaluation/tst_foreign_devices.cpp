// Devices, tables and kernels that no calibration was made for: said to be outside, or refused with a place and a hint.

#include "base/random.h"
#include "evaluation/evaluation.h"
#include "evaluation/holdout.h"
#include "evaluation/reference_checks.h"
#include "learning/calibration.h"
#include "methods/kernel_method.h"
#include "methods/method.h"
#include "support/kernel_fixture.h"

#include <QTemporaryDir>
#include <QtTest/QtTest>

#include <cmath>
#include <fstream>

using namespace orrery;

namespace {

Kernel anyKernel(RandomStream& random, int which) {
    const auto power = [&](int least, int most) {
        return std::int64_t(1) << (least + int(random.below(std::uint64_t(most - least) + 1)));
    };
    if (which == 0) return fixture::product(power(6, 13), power(10, 13), power(10, 13), DType::BF16);
    Kernel kernel;
    kernel.type = kernel.weightType = kernel.kvType = DType::BF16;
    if (which == 3) {
        kernel.kind = KernelKind::Collective;
        kernel.collective = CollectiveOp::AllReduce;
        kernel.type = DType::F16;
        kernel.library = CollectiveLibrary::Nccl;
        kernel.ranks = power(1, 3);
        kernel.messageBytes = double(power(12, 28));
        return kernel;
    }
    const bool prompt = which == 1;
    const std::int64_t length = power(8, 12);
    kernel.kind = prompt ? KernelKind::PrefillAttention : KernelKind::DecodeAttention;
    kernel.attention = {power(0, 3), 32, 8, prompt ? length : 1, length, 128, 128, prompt, true};
    countWork(kernel);
    return kernel;
}

struct Count {
    int asked = 0, outside = 0, edge = 0;
};
// Collectives of B200 were fitted; GB200 and GB300 are like it.
bool measured(std::string_view method, std::string_view device, const Kernel& kernel) {
    const bool blackwell = device == "b200-sxm" || device == "gb200-nvl72" || device == "gb300-nvl72";
    return kernel.kind == KernelKind::Collective && method == "tile-hybrid" && blackwell;
}
// Of the kernels that the method predicts from what it learned at all.
Count countVerdicts(const char* method, const char* device) {
    Count count;
    const auto pricer = findKernelMethod(method)->bind(fixture::gpu(device), shippedCalibrations().set);
    if (!pricer) return count;
    RandomStream random(29);
    for (int i = 0; i < 200; ++i) {
        const Kernel kernel = anyKernel(random, i % 4);
        if (measured(method, device, kernel)) continue;
        const KernelPrice price = (*pricer)->price(kernel);
        if (!price.priced) continue;
        ++count.asked;
        count.outside += price.domain == DomainVerdict::Outside;
        count.edge += price.domain == DomainVerdict::Edge;
    }
    return count;
}

struct Answer {
    std::string code;  ///< of the refusal, with its line; else empty
    std::size_t rows = 0, flagged = 0;
    int warnings = 0;
    double coverage = 0;
};
// What evaluating a table of that name and text says.
Answer ask(const std::string& name, const std::string& text, const char* method = "tile-hybrid",
           const char* where = "") {
    QTemporaryDir folder;
    const std::string path = folder.path().toStdString() + "/" + name;
    std::ofstream(path) << text;
    ReadOptions read;
    read.filter = parseFilter(where).value();
    const auto refusal = [](const Diagnostic& why) {
        Answer answer;
        answer.code = why.code + (why.place.line > 0 ? ":" + std::to_string(why.place.line) : "");
        if (why.hint.empty() && why.expected.empty()) answer.code += " (says nothing to do)";
        return answer;
    };
    const auto tables = readReferences(std::vector<std::string>{path}, read);
    if (!tables) return refusal(tables.error());
    const auto executor = makeSerialExecutor();
    EvaluateOptions options;
    options.executor = executor.get();
    options.calibrations = &shippedCalibrations().set;
    const auto result = evaluate(*findMethod(method), *tables, selectRows(*tables), options);
    if (!result) return refusal(result.error());
    Answer answer;
    answer.rows = result->rows.size();
    answer.flagged = result->figures.flagged;
    answer.coverage = result->figures.coverage90;
    answer.warnings = int(tables->front().warnings.size() + result->warnings.size());
    return answer;
}
// Products at half of a peak, as if measured.
std::string products(const char* dtype, double peak, int count, std::uint64_t seed = 3) {
    RandomStream random(seed);
    std::string text;
    for (int i = 0; i < count; ++i) {
        const auto extent = [&] { return 256 * double(1 + random.below(32)); };
        const double m = extent(), n = extent(), k = extent();
        text += QString("%1,%2,%3,%4,%5\n")
                    .arg(dtype)
                    .arg(m)
                    .arg(n)
                    .arg(k)
                    .arg(1e3 * (5e-6 + 2 * m * n * k / (0.5 * peak)), 0, 'g', 8)
                    .toStdString();
    }
    return text;
}
const std::string header = "gemm_dtype,m,n,k,latency\n";

}  // namespace

class TestForeignDevices : public QObject {
    Q_OBJECT
private slots:
    void nothingIsInsideOnDevicesUnlikeAny_data() {
        QTest::addColumn<QString>("method");
        QTest::addColumn<QString>("device");
        for (const char* method : {"tile-hybrid", "tile-wave", "interval-analysis", "mapping-search", "booster"}) {
            for (const char* device : {"b200-sxm", "gb200-nvl72", "gb300-nvl72", "mi300x", "l4", "t4", "rtx-5090"}) {
                // Attention of B200 was measured, and its likes are near it.
                const QByteArray name(device);
                if (QByteArray(method).startsWith("tile-") && (name.contains("b200") || name.contains("b300")))
                    continue;
                QTest::addRow("%s %s", method, device) << QString(method) << QString(device);
            }
        }
    }
    void nothingIsInsideOnDevicesUnlikeAny() {
        QFETCH(QString, method);
        QFETCH(QString, device);
        const Count count = countVerdicts(qPrintable(method), qPrintable(device));
        QVERIFY(count.asked >= 50);
        QVERIFY2(count.outside + count.edge >= 0.9 * count.asked,
                 qPrintable(QString("%1 of %2").arg(count.outside + count.edge).arg(count.asked)));
    }
    // A device that was measured is known, and its sibling (H200 to H100) stands at the edge.
    void measuredDevicesAreNot() {
        for (const char* device : {"h100-sxm", "a100-80-sxm", "l40s"}) {
            const Count count = countVerdicts("tile-hybrid", device);
            QVERIFY2(count.outside <= 0.1 * count.asked, device);
        }
        const Count sibling = countVerdicts("tile-hybrid", "h200-sxm");
        QVERIFY(sibling.asked > 150 && sibling.outside <= 0.1 * sibling.asked);
        QVERIFY(sibling.edge >= 0.85 * sibling.asked);
    }
    // On a device that was measured: what no section covers.
    void kernelsThatNothingCoversAreOutside() {
        const auto pricer = findKernelMethod("tile-hybrid")->bind(fixture::gpu("h100-sxm"), shippedCalibrations().set);
        QVERIFY(pricer);
        QVERIFY((*pricer)->price(fixture::product(4096, 4096, 4096, DType::F64)).domain == DomainVerdict::Outside);
        const auto nothing = findKernelMethod("tile-hybrid")->bind(fixture::gpu("h100-sxm"), CalibrationSet());
        QVERIFY(nothing);
        const KernelPrice price = (*nothing)->price(fixture::product(4096, 4096, 4096, DType::BF16));
        QVERIFY(price.domain == DomainVerdict::Outside && !price.errorKnown);
        QVERIFY(price.low < price.seconds && price.seconds < price.high);
    }

    void tablesOfOtherDevicesAndVersionsAreRead() {
        // Another device, another stack, names as their publisher writes them.
        for (const char* name : {"h200_sxm__trtllm-1.2.0rc5__gemm.csv", "h200_sxm__vllm-0.12.0__gemm.csv"}) {
            const Answer answer = ask(name, header + products("bfloat16", 989e12, 60));
            QVERIFY2(answer.code.empty() && answer.rows == 60, answer.code.c_str());
            QVERIFY(answer.flagged <= 6 && answer.coverage > 0);
        }
        for (const char* name : {"b200_sxm__sglang-0.5.6__gemm.csv", "gb200__trtllm-1.3.0__gemm.csv",
                                 "gb300_sxm__trtllm-1.3.0__gemm.csv"}) {
            const Answer answer = ask(name, header + products("bfloat16", 2250e12, 60));
            QVERIFY2(answer.code.empty() && answer.rows == 60, answer.code.c_str());
        }
        // Columns in another order, one more, and none of the words that only some tables have.
        const Answer more =
            ask("h100_sxm__x__gemm.csv", "version,k,m,n,gemm_dtype,latency\n1,4096,512,4096,fp8,0.05\n");
        QVERIFY2(more.code.empty() && more.rows == 1, more.code.c_str());
    }
    // Products that quantise are another matter in every engine: a section of one says little about another's.
    void narrowProductsOfOtherEnginesAreFlagged() {
        const std::string table = header + products("fp8", 1979e12, 40);
        QVERIFY(ask("h100_sxm__trtllm-1.2.0rc5__gemm.csv", table).flagged <= 4);
        QCOMPARE(ask("h100_sxm__vllm-0.12.0__gemm.csv", table).flagged, std::size_t(40));
        QVERIFY(ask("h100_sxm__vllm-0.12.0__gemm.csv", header + products("bfloat16", 989e12, 40)).flagged <= 4);
    }
    void driversNamesAreKnown_data() {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QString>("id");
        for (const auto& [name, id] : {std::pair{"NVIDIA H200", "h200-sxm"},
                                       {"NVIDIA B200", "b200-sxm"},
                                       {"NVIDIA GB200", "gb200-nvl72"},
                                       {"NVIDIA A100-SXM4-80GB", "a100-80-sxm"},
                                       {"NVIDIA H100 80GB HBM3", "h100-sxm"},
                                       {"NVIDIA H100 PCIe", "h100-pcie"},
                                       {"AMD Instinct MI300X", "mi300x"},
                                       {"NVIDIA L40S", "l40s"},
                                       {"Tesla T4", "t4"},
                                       {"NVIDIA GeForce RTX 4090", "rtx-4090"},
                                       {"NVIDIA H300", ""}}) {
            QTest::newRow(name) << QString(name) << QString(id);
        }
    }
    void driversNamesAreKnown() {
        QFETCH(QString, name);
        QFETCH(QString, id);
        QCOMPARE(QString::fromStdString(catalogueId(name.toStdString())), id);
    }
    void mixedTypesKeepWhatIsKnown() {
        const std::string table = header + products("bfloat16", 989e12, 20) + products("fp8", 1979e12, 20, 4) +
                                  products("float16", 989e12, 20, 5) + products("w4afp8", 989e12, 20, 6) +
                                  "bfloat16,1024,1024,1024,nan\nbfloat16,1024,0,1024,0.1\nbfloat16,1024,1024\n";
        const Answer answer = ask("h100_sxm__x__gemm.csv", table);
        QVERIFY2(answer.code.empty(), answer.code.c_str());
        QCOMPARE(answer.rows, std::size_t(60));
        QVERIFY2(answer.warnings >= 3, QByteArray::number(answer.warnings));
    }
    void whatIsMissingIsNamed_data() {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("code");
        const auto row = [](const char* what, const char* name, const std::string& text, const char* code) {
            QTest::newRow(what) << QString(name) << QString::fromStdString(text) << QString(code);
        };
        row("unknown device", "h300_sxm__x__gemm.csv", header + products("bfloat16", 989e12, 3),
            "reference.unknown-device");
        row("no such family", "h200_sxm__x__dsa_attention.csv", "a,b\n1,2\n", "reference.unknown-table");
        row("no time", "h100_sxm__x__gemm.csv", "gemm_dtype,m,n,k\nbfloat16,1,2,3\n", "reference.no-column:1");
        row("no extent", "h100_sxm__x__gemm.csv", "gemm_dtype,m,n,latency\nbfloat16,1,2,3\n", "reference.no-column:1");
        row("nothing", "h100_sxm__x__gemm.csv", "", "reference.empty:1");
        row("header alone", "h100_sxm__x__gemm.csv", header, "reference.empty:1");
    }
    void whatIsMissingIsNamed() {
        QFETCH(QString, name);
        QFETCH(QString, text);
        QFETCH(QString, code);
        QCOMPARE(QString::fromStdString(ask(name.toStdString(), text.toStdString()).code), code);
    }
    void emptySplitsAreRefused() {
        const Answer none =
            ask("h100_sxm__x__gemm.csv", header + products("bfloat16", 989e12, 5), "tile-hybrid", "dtype=int8");
        QVERIFY2(none.code.starts_with("reference.no-rows"), none.code.c_str());
    }
};

QTEST_GUILESS_MAIN(TestForeignDevices)
#include "tst_foreign_devices.moc"
