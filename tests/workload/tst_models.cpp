// Do the built-in models have the sizes and work that their authors publish?

#include "workload/models/transformer.h"
#include "workload/workload.h"

#include <QtTest/QtTest>

#include <cmath>

using namespace orrery;

namespace {

WorkloadPtr load(const std::string& id, WorkloadOptions options = {}) {
    auto loaded = loadWorkload({id, options});
    if (!loaded) qWarning("%s", toText(loaded.error()).c_str());
    return loaded ? *loaded : nullptr;
}

bool near(double value, double expected, double share) {
    const bool good = std::abs(value - expected) <= share * expected;
    if (!good) qWarning("%.10g instead of %.10g", value, expected);
    return good;
}

}  // namespace

class TestModels : public QObject {
    Q_OBJECT
private slots:
    // Parameter counts as published with the checkpoints (torchvision's tables, model cards, papers).
    void parameters_data() {
        QTest::addColumn<QString>("id");
        QTest::addColumn<double>("published");
        QTest::addColumn<double>("share");
        const auto row = [](const char* id, double published, double share = 0.005) {
            QTest::newRow(id) << QString(id) << published << share;
        };
        row("alexnet", 61100840, 0);
        row("vgg-11", 132863336, 0);
        row("vgg-13", 133047848, 0);
        row("vgg-16", 138357544, 0);
        row("vgg-19", 143667240, 0);
        row("resnet-18", 11689512, 0);
        row("resnet-34", 21797672, 0);
        row("resnet-50", 25557032, 0);
        row("resnet-101", 44549160, 0);
        row("resnet-152", 60192808, 0);
        row("wide-resnet-50-2", 68883240, 0);
        row("resnext-50-32x4d", 25028904, 0);
        row("mobilenet-v2", 3504872, 0);
        row("efficientnet-b0", 5288548, 0);
        row("vit-ti-16", 5717416, 0);
        row("vit-s-16", 22050664, 0);
        row("vit-b-16", 86567656, 0);
        row("vit-l-16", 304326632, 0);
        row("bert-base", 109482240, 0);
        row("bert-large", 335141888, 0);
        row("gpt-2", 124439808, 0);
        row("gpt-3-175b", 174.6e9);
        row("llama-2-7b", 6738415616, 0);
        row("llama-2-13b", 13015864320, 0);
        row("llama-2-70b", 68976648192, 0);
        row("llama-3-8b", 8030261248, 0);
        row("llama-3-70b", 70553706496, 0);
        row("llama-3-405b", 405853388800, 0);
        row("mixtral-8x7b", 46702792704, 0);
        row("qwen3-30b-a3b", 30532122624, 0);
        row("deepseek-v3", 671e9);
        row("gemma-2-9b", 9241705984, 0);
        row("mamba-130m", 129135360, 0);
        row("mamba-2.8b", 2768345600, 0);
        row("stable-diffusion-1.5", 859520964, 0);
        row("dit-xl-2", 675e6);
        row("gcn", 110120, 0);    // Open Graph Benchmark's leader board
        row("dlrm", 24e9, 0.01);  // "about 24 billion", 96 GB in fp32
    }
    void parameters() {
        QFETCH(QString, id);
        QFETCH(double, published);
        QFETCH(double, share);
        const auto workload = load(id.toStdString());
        QVERIFY(workload);
        QVERIFY(near(workload->totals.parameters, published, share));
        if (workload->transformer) QVERIFY(near(workload->transformer->parameters, published, share));
    }
    void activeParameters() {
        // Model cards: Mixtral 12.9 B, Qwen3 3.3 B, DeepSeek-V3 37 B; rounded, so within their last digit.
        QVERIFY(near(load("mixtral-8x7b")->transformer->activeParameters, 12.9e9, 0.01));
        QVERIFY(near(load("qwen3-30b-a3b")->transformer->activeParameters, 3.3e9, 0.02));
        QVERIFY(near(load("deepseek-v3")->transformer->activeParameters, 37e9, 0.02));
        const auto dense = load("llama-2-7b");
        QCOMPARE(dense->transformer->activeParameters, dense->transformer->parameters);
    }
    // torchvision's tables and the papers; MACs of one picture.
    void multiplyAccumulates_data() {
        QTest::addColumn<QString>("id");
        QTest::addColumn<double>("published");
        QTest::addColumn<double>("share");
        QTest::newRow("alexnet") << "alexnet" << 0.714e9 << 0.001;
        QTest::newRow("vgg-13") << "vgg-13" << 11.31e9 << 0.001;
        QTest::newRow("vgg-16") << "vgg-16" << 15.47e9 << 0.001;
        QTest::newRow("vgg-19") << "vgg-19" << 19.63e9 << 0.001;
        QTest::newRow("resnet-18") << "resnet-18" << 1.814e9 << 0.001;
        QTest::newRow("resnet-34") << "resnet-34" << 3.664e9 << 0.001;
        QTest::newRow("resnet-50") << "resnet-50" << 4089184256.0 << 0.0;
        QTest::newRow("resnet-101") << "resnet-101" << 7.801e9 << 0.001;
        QTest::newRow("resnet-152") << "resnet-152" << 11.514e9 << 0.001;
        QTest::newRow("wide-resnet-50-2") << "wide-resnet-50-2" << 11.398e9 << 0.001;
        QTest::newRow("resnext-50-32x4d") << "resnext-50-32x4d" << 4.23e9 << 0.002;
        QTest::newRow("mobilenet-v2") << "mobilenet-v2" << 0.301e9 << 0.002;
        QTest::newRow("efficientnet-b0") << "efficientnet-b0" << 385814752.0 << 0.0;
        QTest::newRow("vit-b-16") << "vit-b-16" << 17563828224.0 << 0.0;
        QTest::newRow("vit-l-16") << "vit-l-16" << 61.55e9 << 0.001;
        QTest::newRow("dit-xl-2") << "dit-xl-2" << 118.64e9 << 0.005;  // DiT, table 4
    }
    void multiplyAccumulates() {
        QFETCH(QString, id);
        QFETCH(double, published);
        QFETCH(double, share);
        const auto workload = load(id.toStdString());
        QVERIFY(workload);
        QVERIFY(near(workload->totals.macs, published, share));
    }
    void unetDoesItsPublishedWork() {
        // BK-SDM, arXiv:2305.15798, table 1: 338.7 G at 512×512, by a counter that leaves attention's products out.
        const auto unet = load("stable-diffusion-1.5");
        double layers = 0;
        for (std::size_t i = 0; i < unet->costs.size(); ++i) {
            if (unet->costs.kind[i] != OperatorKind::Attention) layers += unet->costs.macs[i];
        }
        QVERIFY(near(layers, 338.7e9, 0.001));
    }
    void prefillDoesTwoOperationsPerParameterAndToken() {
        // Kaplan et al. 2020: 2·(parameters without embeddings) FLOPs per token, plus attention.
        const auto llama = load("llama-2-7b", {.sequence = 128, .phase = Phase::Forward});
        const double linear = 6738415616.0 - 32000.0 * 4096 - (2 * 32 + 1) * 4096.0;
        const double pairs = 128.0 * 129 / 2;
        QCOMPARE(llama->totals.macs, 128 * linear + 32 * 32 * pairs * 256);
    }
    void prefillMakesTheLogitsOfTheLastTokenAlone() {
        const auto forward = load("llama-2-7b", {.sequence = 128, .phase = Phase::Forward});
        const auto prefill = load("llama-2-7b", {.sequence = 128, .phase = Phase::Prefill});
        QCOMPARE(forward->totals.macs - prefill->totals.macs, 127.0 * 4096 * 32000);
        QCOMPARE(forward->totals.kvBytes, 0.0);
    }
    void trainingKeepsTheActivationsOfEveryLayer() {
        // Of each of 32 layers at least the inputs of its four products stay: 4096 + 4096 + 4096 + 11008 numbers a
        // token.
        const auto training = load("llama-2-7b", {.sequence = 128, .phase = Phase::TrainingForward});
        const auto forward = load("llama-2-7b", {.sequence = 128, .phase = Phase::Forward});
        QVERIFY(training->totals.peakActivationBytes > 32.0 * 128 * (3 * 4096 + 11008) * 2);
        QVERIFY(forward->totals.peakActivationBytes < training->totals.peakActivationBytes / 8);
        QCOMPARE(training->totals.macs, forward->totals.macs);
    }
    void quantisedWeightsShrinkTheMatricesAlone() {
        const auto full = load("llama-2-7b", {.sequence = 128, .phase = Phase::Decode});
        const auto eight = load("llama-2-7b", {.sequence = 128, .phase = Phase::Decode, .weights = DType::I8});
        // One byte less for each weight of the layers' matrices; embedding, head and norms keep two.
        const double matrices = 6738415616.0 - 2 * 32000.0 * 4096 - 65 * 4096.0;
        QCOMPARE(full->totals.weightBytes - eight->totals.weightBytes, matrices);
        const auto wide = load("llama-2-7b", {.sequence = 128, .weights = DType::F32, .activations = DType::F32});
        QCOMPARE(wide->totals.weightBytes, 4 * 6738415616.0);
    }
    void cacheOfOneTokenHasItsPublishedSize() {
        QCOMPARE(load("llama-2-7b")->transformer->kvBytesPerToken, 512 * 1024.0);
        QCOMPARE(load("llama-3-8b")->transformer->kvBytesPerToken, 128 * 1024.0);
        // DeepSeek-V3: 61 layers of 512 + 64 numbers, 70 KB in bf16 (arXiv:2505.09343, table 1: 70.272 KB).
        QCOMPARE(load("deepseek-v3")->transformer->kvBytesPerToken, 70272.0);
    }
    void absorbedDecodeReadsTheLatentCacheOnce() {
        const auto decode = load("deepseek-v3", {.sequence = 4096, .phase = Phase::Decode});
        double read = 0, written = 0;
        for (std::size_t i = 0; i < decode->costs.size(); ++i) {
            read += decode->costs.repeat[i] * decode->costs.kvReadBytes[i];
            written += decode->costs.repeat[i] * decode->costs.kvWriteBytes[i];
        }
        QCOMPARE(read, 4096 * 70272.0);
        QCOMPARE(written, 70272.0);
        // Both forms of latent attention store the same weights.
        const auto prefill = load("deepseek-v3", {.sequence = 128, .phase = Phase::Prefill});
        QCOMPARE(decode->totals.parameters, prefill->totals.parameters);
    }
    void expertsReadTheShareThatIsHit() {
        QCOMPARE(expectedExpertShare(8, 2, 1), 0.25);
        QCOMPARE(expectedExpertShare(8, 2, 2), 1 - 0.75 * 0.75);
        QVERIFY(expectedExpertShare(8, 2, 1000) > 0.999999);
        const auto decode = load("mixtral-8x7b", {.sequence = 16, .phase = Phase::Decode});
        // One token reads what it uses: active parameters, less all rows but one of the embedding.
        const double expected = 2 * (decode->transformer->activeParameters - 31999.0 * 4096);
        QVERIFY(near(decode->totals.weightBytesRead, expected, 1e-9));
        QVERIFY(near(decode->totals.weightBytes, 2 * 46702792704.0, 1e-9));
    }
    void windowedLayersKeepTheirWindow() {
        // Half of Gemma's 42 layers see 4096 tokens, the others all.
        const auto gemma = load("gemma-2-9b", {.sequence = 8000, .phase = Phase::Decode});
        double read = 0;
        for (std::size_t i = 0; i < gemma->costs.size(); ++i) {
            read += gemma->costs.repeat[i] * gemma->costs.kvReadBytes[i];
        }
        QCOMPARE(read, 21.0 * (4095 + 8000) * 2 * 8 * 256 * 2);
    }
    void mambaStateDoesNotGrowWithTheSequence() {
        const auto brief = load("mamba-130m", {.sequence = 16, .phase = Phase::Decode});
        const auto lengthy = load("mamba-130m", {.sequence = 16000, .phase = Phase::Decode});
        QCOMPARE(brief->totals.kvBytes, lengthy->totals.kvBytes);
        QCOMPARE(brief->totals.kvBytes, 24.0 * 1536 * (16 + 3) * 2);
    }
    void everyModelIsSoundInEveryPhaseAndType() {
        const std::vector<WorkloadOptions> variants{
            {},
            {.phase = Phase::Prefill},
            {.phase = Phase::Decode},
            {.phase = Phase::TrainingForward},
            {.weights = DType::I4, .activations = DType::I8, .kv = DType::FP8, .flashAttention = false}};
        for (const WorkloadInfo& info : builtinWorkloads()) {
            for (WorkloadOptions options : variants) {
                const bool phased = options.phase == Phase::Prefill || options.phase == Phase::Decode;
                if (phased && !info.hasPhases) continue;
                const auto one = load(info.id, options);
                QVERIFY2(one, info.id.c_str());
                const CostTable& costs = one->costs;
                QCOMPARE(one->totals.unresolved, 0.0);
                for (std::size_t i = 0; i < costs.size(); ++i) {
                    const auto& op = one->graph.operators[i];
                    const QString where = QString::fromStdString(info.id + "/" + op.name);
                    QVERIFY2(op.kind != OperatorKind::Other, qPrintable(where));
                    QVERIFY2(costs.flops[i] >= 2 * costs.macs[i], qPrintable(where));
                    QVERIFY2(costs.bytes(i) > 0 || op.kind == OperatorKind::View, qPrintable(where));
                    QVERIFY2(costs.macs[i] >= 0 && std::isfinite(costs.bytes(i)), qPrintable(where));
                }
                options.batch = 3;
                const auto three = load(info.id, options);
                QVERIFY2(near(three->totals.macs, 3 * one->totals.macs, 1e-9), info.id.c_str());
                QVERIFY2(three->totals.parameters == one->totals.parameters, info.id.c_str());
            }
        }
    }
    void wrongPhaseAndImageAreDiagnostics() {
        const auto phase = loadWorkload({"resnet-50", {.phase = Phase::Decode}});
        QVERIFY(!phase && phase.error().place.path == "options/phase");
        const auto encoder = loadWorkload({"bert-base", {.phase = Phase::Prefill}});
        QVERIFY(!encoder && encoder.error().place.path == "options/phase");
        const auto image = loadWorkload({"vit-b-16", {.image = 100}});
        QVERIFY(!image && image.error().place.path == "options/image");
        const auto batch = loadWorkload({"vit-b-16", {.batch = 0}});
        QVERIFY(!batch && batch.error().place.path == "options/batch");
    }
};

QTEST_GUILESS_MAIN(TestModels)
#include "tst_models.moc"
