// npu-tile with a few output tiles of each shape against npu-tile with all of them: on models and arrays that neither
// the sizes of samples nor the stated error were chosen on.

#include "hardware/files/catalogue.h"
#include "methods/method.h"
#include "methods/npu/npu_tile.h"
#include "workload/workload.h"

#include <QtTest/QtTest>

#include <cmath>

using namespace orrery;

namespace {

HardwarePtr arrayLike(double bandwidth, std::int64_t side, double scratchpad) {
    Hardware design = loadHardware("gemmini-like")->hardware;
    const auto change = [&](auto&& self, Component& component) -> void {
        if (component.kind == ComponentKind::Array && side > 0) component.mesh = {side, side};
        for (Attribute& attribute : component.attributes) {
            auto* value = std::get_if<Measure>(&attribute.value);
            if (!value) continue;
            if (component.kind == ComponentKind::Dram && attribute.name == "bandwidth") value->si *= bandwidth;
            if (component.kind == ComponentKind::Buffer && attribute.name == "capacity") value->si *= scratchpad;
        }
        for (Component& child : component.children) self(self, child);
    };
    change(change, design.root);
    return std::make_shared<const Hardware>(std::move(design));
}

WorkloadPtr modelOf(const char* id, std::int64_t sequence) {
    WorkloadRecipe recipe{.source = id, .options = builtinWorkload(id)->usual};
    if (sequence > 0) recipe.options.sequence = sequence;
    auto loaded = loadWorkload(recipe);
    if (!loaded) qFatal("%s", toText(loaded.error()).c_str());
    return *loaded;
}

Estimate asked(const HardwarePtr& hardware, const WorkloadPtr& model, bool sampled, bool timeline = false) {
    const auto executor = makeSerialExecutor();
    EstimateContext context{*executor};
    context.wantTimeline = timeline;
    if (sampled) context.options = {{std::string(npuSampleKey), std::string(npuSampleTiles)}};
    auto answer = estimate(*findMethod("npu-tile"), {hardware, model}, context);
    if (!answer) qFatal("%s", toText(answer.error()).c_str());
    return std::move(*answer);
}

}  // namespace

class TestNpuSampling : public QObject {
    Q_OBJECT
private slots:
    void fewTilesSpeakForTheOthers() {
        struct Case {
            const char* model;
            std::int64_t sequence;
        };
        std::vector<double> off;
        double worstTotal = 0;
        for (const auto& [bandwidth, side, scratchpad] :
             {std::tuple{1.0, 0, 1.0}, {0.25, 0, 1.0}, {4.0, 0, 1.0}, {1.0, 16, 4.0}, {1.0, 4, 1.0}, {1.0, 0, 4.0}}) {
            const HardwarePtr hardware = arrayLike(bandwidth, side, scratchpad);
            for (const Case& each : {Case{"alexnet", 0}, Case{"vgg-16", 0}, Case{"wide-resnet-50-2", 0},
                                     Case{"resnext-50-32x4d", 0}, Case{"efficientnet-b0", 0}, Case{"vit-b-16", 0},
                                     Case{"bert-large", 384}, Case{"llama-3-8b", 64}, Case{"mamba-130m", 256}}) {
                const WorkloadPtr model = modelOf(each.model, each.sequence);
                const Estimate whole = asked(hardware, model, false), few = asked(hardware, model, true);
                worstTotal = std::max(worstTotal, std::fabs(few.latency.value / whole.latency.value - 1));
                for (std::size_t i = 0; i < whole.operators.size(); ++i) {
                    const double a = whole.operators.seconds[i], b = few.operators.seconds[i];
                    if (a > 0 && a != b) off.push_back(std::fabs(std::log(b / a)));
                }
            }
        }
        std::sort(off.begin(), off.end());
        QVERIFY(off.size() > 100);
        const double p90 = off[off.size() * 9 / 10];
        qInfo("%zu operators of sampled kernels: 90 %% within %.3f %%, worst %.3f %%; worst model %.3f %%", off.size(),
              100 * p90, 100 * off.back(), 100 * worstTotal);
        QVERIFY(p90 <= npuSampledError);
        QVERIFY(worstTotal <= npuSampledError);
    }

    // The sampler's own error stands in the interval.
    void itIsStatedLessSure() {
        const HardwarePtr hardware = arrayLike(1, 0, 1);
        const WorkloadPtr model = modelOf("llama-3-8b", 64);
        const auto ratio = [](const Estimate& of) { return of.interval.high / of.interval.low; };
        QVERIFY(ratio(asked(hardware, model, true)) > ratio(asked(hardware, model, false)));
    }

    void theSameBytesTwiceAndWithATimeline() {
        const HardwarePtr hardware = arrayLike(1, 0, 1);
        const WorkloadPtr model = modelOf("vit-b-16", 0);
        const Estimate once = asked(hardware, model, true), again = asked(hardware, model, true),
                       drawn = asked(hardware, model, true, true);
        QCOMPARE(once.operators.seconds, again.operators.seconds);
        QCOMPARE(once.latency.value, drawn.latency.value);
        QVERIFY(std::any_of(once.assumptions.begin(), once.assumptions.end(),
                            [](const std::string& each) { return each.find("sampled") != std::string::npos; }));
    }

    void devicesWithoutAccumulatorsRefuse() {
        const auto hardware = std::make_shared<const Hardware>(loadHardware("tpu-v3-core")->hardware);
        const auto executor = makeSerialExecutor();
        EstimateContext context{*executor};
        context.options = {{std::string(npuSampleKey), std::string(npuSampleTiles)}};
        const auto answer = estimate(*findMethod("npu-tile"), {hardware, modelOf("vit-b-16", 0)}, context);
        QVERIFY(!answer);
        QCOMPARE(answer.error().code, std::string("npu.no-sampling"));
        QVERIFY(!answer.error().hint.empty());
    }
};

QTEST_GUILESS_MAIN(TestNpuSampling)
#include "tst_npu_sampling.moc"
