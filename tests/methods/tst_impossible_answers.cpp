// What no answer may be, over every device of the catalogue, models of every kind and every quick method: below the
// bound of its own kernels, above the peak of its device, without width, surer than anything measured allows, or wider
// than 20 times without a word. And that every question is answered by somebody: devices of integers alone answer in
// their own type.

#include "hardware/files/catalogue.h"
#include "hardware/views/device_view.h"
#include "methods/answer/answer.h"
#include "methods/method.h"

#include <QtTest/QtTest>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

using namespace orrery;

namespace {

struct Model {
    const char* id;
    Phase phase;
    std::int64_t batch, sequence;
};
constexpr std::array models{Model{"llama-2-7b", Phase::Prefill, 1, 512},
                            Model{"llama-2-7b", Phase::Decode, 4, 1024},
                            Model{"resnet-50", Phase::Forward, 8, 0},
                            Model{"bert-base", Phase::Forward, 1, 128},
                            Model{"stable-diffusion-1.5", Phase::Forward, 1, 0},
                            Model{"mixtral-8x7b", Phase::Decode, 1, 256}};
constexpr double exact = 1e-9;

WorkloadPtr load(const Model& model) {
    WorkloadOptions options;
    options.phase = model.phase;
    options.batch = model.batch;
    options.sequence = model.sequence;
    auto workload = loadWorkload({model.id, options});
    if (!workload) qFatal("%s", toText(workload.error()).c_str());
    return *workload;
}

// Operations per second that all units of a device do at most, whatever the type.
double greatestPeak(const DeviceView& device) {
    double sum = 0;
    for (const auto& unit : device.peaks) {
        double best = 0;
        for (const FlopsPerSecond peak : unit) best = std::max(best, peak.value);
        sum += best;
    }
    return sum;
}

// Convolutions may do a quarter of the multiplications that they are counted with.
double leastWork(const Estimate& e, const CostTable& costs) {
    double work = 0;
    for (std::size_t i = 0; i < e.operators.size(); ++i) {
        work += e.operators.flops[i] / (costs.kind[i] == OperatorKind::Conv ? 4 : 1);
    }
    return work;
}

bool warns(const Estimate& e, std::string_view code) {
    return std::any_of(e.warnings.begin(), e.warnings.end(), [&](const Diagnostic& w) { return w.code == code; });
}

// What is wrong with an answer; empty if nothing is.
std::string wrong(const Estimate& e, const Workload& workload, double peak) {
    const double latency = e.latency.value, low = e.interval.low.value, high = e.interval.high.value;
    if (e.bound && latency < e.bound->value * (1 - exact)) return "below its bound";
    if (peak > 0 && leastWork(e, workload.costs) > peak * latency * (1 + exact)) return "above the peak of its device";
    if (!(low <= latency && latency <= high)) return "outside its interval";
    if (latency > 0 && !(low < high)) return "without width";
    if (low > 0 ? high > widestUnsaid * low * (1 + exact) && !warns(e, "interval.wide") : !warns(e, "interval.wide"))
        return "wider than 20 times without a word";
    if (!e.support || e.support->outside + e.support->unmeasured <= 0.5) return {};
    const double least = e.bound ? std::min(e.bound->value, latency) : 0;
    if (e.interval.kind == IntervalKind::Bound) return high < 1.1 * latency * (1 - exact) ? "a bound too sure" : "";
    if (high < 1.1 * latency * (1 - exact) || low > std::max(latency / 1.1, least) * (1 + exact))
        return "surer than ten per cent of what nobody measured";
    return {};
}

}  // namespace

class TestImpossibleAnswers : public QObject {
    Q_OBJECT
private slots:
    void noneOfThemIsGiven_data() {
        QTest::addColumn<QString>("device");
        for (const auto& entry : hardwareCatalogue()) {
            QTest::newRow(entry.id.c_str()) << QString::fromStdString(entry.id);
        }
    }
    void noneOfThemIsGiven() {
        QFETCH(QString, device);
        const auto hardware = std::make_shared<const Hardware>(loadHardware(device.toStdString())->hardware);
        double peak = 0;
        const auto views = deviceViews(*hardware);
        QVERIFY(views);
        for (const DeviceView& view : *views) peak = std::max(peak, greatestPeak(view));
        const auto executor = makeSerialExecutor();
        static const std::vector<WorkloadPtr> workloads = [] {
            std::vector<WorkloadPtr> all;
            for (const Model& model : models) all.push_back(load(model));
            return all;
        }();
        for (const WorkloadPtr& workload : workloads) {
            const Scenario scenario{hardware, workload};
            int answered = 0;
            std::string refusals;
            for (const Method& method : builtinMethods()) {
                if (!method.card.live) continue;
                EstimateContext context{*executor, {}};
                context.wantTimeline = false;
                const auto answer = estimate(method, scenario, context);
                const std::string what = std::string(method.card.id) + " of " + scenario.name();
                if (!answer) {
                    refusals += "\n  " + what + ": " + answer.error().message;
                    continue;
                }
                ++answered;
                const std::string why = wrong(*answer, *workload, peak);
                QVERIFY2(why.empty(), (what + " is " + why).c_str());
            }
            QVERIFY2(answered > 0, ("nobody answers " + scenario.name() + refusals).c_str());
        }
    }
    // Layers fit into large caches one by one, all of them do not: a token reads nearly all weights from main memory.
    void decodingReadsTheWeightsOfAllLayers() {
        const auto executor = makeSerialExecutor();
        for (const Model& model :
             {Model{"llama-2-7b", Phase::Decode, 1, 512}, Model{"deepseek-v3", Phase::Decode, 64, 4096}}) {
            const auto workload = load(model);
            for (const char* device :
                 {"h100-sxm", "b200-sxm", "l40s", "rtx-5090", "mi300x", "mi355x", "apple-m2-ultra", "apple-m4-pro"}) {
                const auto hardware = std::make_shared<const Hardware>(loadHardware(device)->hardware);
                const DeviceView view = deviceViews(*hardware)->front();
                double kept = 0;
                for (std::size_t l = 1; l < view.levels.size(); ++l) {
                    kept = std::max(kept, view.levels[l].capacity.value);
                }
                const double least = (workload->totals.weightBytesRead - kept) / view.main().bandwidth.value;
                for (const Method& method : builtinMethods()) {
                    if (!method.card.live) continue;
                    EstimateContext context{*executor, {}};
                    context.wantTimeline = false;
                    const auto answer = estimate(method, {hardware, workload}, context);
                    if (!answer) continue;
                    const std::string what = std::string(method.card.id) + " of " + model.id + " on " + device;
                    // Rows of the embedding are no product.
                    QVERIFY2(answer->latency.value > 0.98 * least, what.c_str());
                    QVERIFY2(answer->interval.low.value > 0.97 * least, what.c_str());
                }
            }
        }
    }
    // A search and simulators, on a few of each.
    void slowMethodsGiveNoneEither() {
        const auto executor = makeSerialExecutor();
        for (const char* device : {"h100-sxm", "v100", "tpu-v3", "eyeriss-like"}) {
            const auto hardware = std::make_shared<const Hardware>(loadHardware(device)->hardware);
            double peak = 0;
            for (const DeviceView& view : *deviceViews(*hardware)) peak = std::max(peak, greatestPeak(view));
            const auto workload = load(models[3]);
            for (const Method& method : builtinMethods()) {
                if (method.card.live || !method.card.answers(TaskKind::Pass)) continue;
                EstimateContext context{*executor, {}};
                context.wantTimeline = false;
                const auto answer = estimate(method, {hardware, workload}, context);
                if (!answer) continue;
                const std::string why = wrong(*answer, *workload, peak);
                QVERIFY2(why.empty(), (std::string(method.card.id) + " on " + device + " is " + why).c_str());
            }
        }
    }
};

QTEST_GUILESS_MAIN(TestImpossibleAnswers)
#include "tst_impossible_answers.moc"
