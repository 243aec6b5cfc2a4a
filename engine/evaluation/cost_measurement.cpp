#include "evaluation/cost_measurement.h"

#include "hardware/files/catalogue.h"
#include "serving/serving_study.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <map>

namespace orrery {

namespace {

constexpr double enoughSeconds = 0.02;  // std::clock counts microseconds; the scheduler thinks in milliseconds
constexpr int costTries = 3;

// Slower answers are timed once, at the first time: searches and simulations keep what they found.
constexpr double asksAgain = 1e-3;

double cpuSeconds() {
    return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

Expected<HardwarePtr> catalogued(const char* id) {
    auto loaded = loadHardware(id);
    if (!loaded) return Unexpected(std::move(loaded.error()));
    return std::make_shared<const Hardware>(std::move(loaded->hardware));
}

Expected<WorkloadPtr> builtIn(const char* id, Phase phase, std::int64_t batch, std::int64_t sequence, DType type,
                              bool unfolded) {
    auto loaded = loadWorkload(
        {.source = id,
         .options =
             {.batch = batch, .sequence = sequence, .phase = phase, .weights = type, .activations = type, .kv = type},
         .whatIfs = {}});
    if (!loaded || !unfolded) return loaded;
    const Workload& folded = **loaded;
    Graph graph = folded.graph;
    unfoldRepeats(graph);
    return finishWorkload(folded.id, folded.name + " unfolded", folded.recipe, std::move(graph), folded.warnings,
                          folded.transformer);
}

// Views, calibrations and DRAM timings are made once for all answers.
void warmUp(const Method& method, const Scenario& question, Executor& executor) {
    if (kindOf(question.task) == TaskKind::ServingRun || question.workload->graph.operators.empty()) return;
    Scenario one = question;
    one.task = OneOperator{question.workload->graph.operators.back().name};
    EstimateContext context{executor};
    (void)estimate(method, one, context);
}

// Of the operator with the most work.
std::string longestName(const Workload& workload) {
    const auto& flops = workload.costs.flops;
    const auto at = std::max_element(flops.begin(), flops.end()) - flops.begin();
    return workload.graph.operators[static_cast<std::size_t>(at)].name;
}

constexpr std::size_t rateCount = 5;
using RateColumns = std::array<double, rateCount>;

RateColumns columnsOf(const CostCounts& counts) {
    return {1, counts.operators, counts.kernels, counts.cycles, counts.requests};
}

double logError(std::span<const CostSample> samples, const RateColumns& rates) {
    double error = 0;
    for (const CostSample& each : samples) {
        const auto x = columnsOf(each.counts);
        double seconds = 0;
        for (std::size_t i = 0; i < rateCount; ++i) seconds += rates[i] * x[i];
        error += seconds > 0 ? std::pow(std::log(seconds / each.seconds), 2) : HUGE_VAL;
    }
    return error;
}

}  // namespace

Expected<std::vector<Scenario>> costQuestions() {
    struct Asked {
        const char *hardware, *workload;
        Phase phase;
        std::int64_t batch, sequence;
        bool unfolded = false, training = false, one = false;
        DType type = DType::BF16;
    };
    constexpr std::array asked{
        Asked{"h100-sxm", "resnet-50", Phase::Forward, 8, 0, false, false, true},
        Asked{"tpu-v3", "resnet-50", Phase::Forward, 1, 0, false, false, true},
        Asked{"eyeriss-like", "resnet-50", Phase::Forward, 1, 0, false, false, true, DType::I16},
        Asked{"h100-sxm", "resnet-50", Phase::Forward, 8, 0},
        Asked{"h100-sxm", "efficientnet-b0", Phase::Forward, 8, 0},
        Asked{"h100-sxm", "bert-base", Phase::Forward, 4, 384},
        Asked{"h100-sxm", "bert-base", Phase::Forward, 4, 384, true},
        Asked{"h100-sxm", "bert-base", Phase::Forward, 4, 384, false, true},
        Asked{"h100-sxm", "llama-3-8b", Phase::Prefill, 1, 1024},
        Asked{"h100-sxm", "llama-3-8b", Phase::Decode, 8, 2048},
        Asked{"h100-sxm", "llama-3-8b", Phase::Decode, 8, 2048, true},
        Asked{"tpu-v3", "resnet-50", Phase::Forward, 1, 0},
        Asked{"tpu-v3", "bert-base", Phase::Forward, 1, 384, true},
        Asked{"gemmini-like", "alexnet", Phase::Forward, 1, 0, false, false, false, DType::I8},
        Asked{"eyeriss-like", "resnet-50", Phase::Forward, 1, 0, false, false, false, DType::I16},
        Asked{"tpu-v3", "efficientnet-b0", Phase::Forward, 1, 0},
    };
    std::map<std::string_view, HardwarePtr> devices;
    std::vector<Scenario> questions;
    for (const Asked& each : asked) {
        HardwarePtr& device = devices[each.hardware];
        if (!device) {
            auto made = catalogued(each.hardware);
            if (!made) return Unexpected(std::move(made.error()));
            device = std::move(*made);
        }
        auto workload = builtIn(each.workload, each.phase, each.batch, each.sequence, each.type, each.unfolded);
        if (!workload) return Unexpected(std::move(workload.error()));
        Scenario scenario{device, std::move(*workload)};
        if (each.training) scenario.task = TrainingStep{};
        if (each.one) scenario.task = OneOperator{longestName(*scenario.workload)};
        questions.push_back(std::move(scenario));
    }
    for (const std::int64_t requests : {200, 2000}) {
        auto study = std::make_shared<ServingStudy>();
        study->traffic.requests = requests;
        study->traffic.arrivals.rate = 4;
        auto model = builtIn(study->scenario.model.source.c_str(), Phase::Decode, 1, 1024, DType::BF16, false);
        if (!model) return Unexpected(std::move(model.error()));
        questions.push_back({devices["h100-sxm"], std::move(*model), {}, ServingRun{std::move(study)}});
    }
    return questions;
}

Expected<MeasuredCost> measureCost(const Method& method, std::span<const Scenario> questions, std::stop_token stop) {
    MeasuredCost measured{std::string(method.card.id), {}, {}, 0, 0};
    const auto serial = makeSerialExecutor();
    for (const Scenario& question : questions) {
        const bool serving = kindOf(question.task) == TaskKind::ServingRun;
        if (!method.card.answers(kindOf(question.task)) || (serving && method.card.level != MethodLevel::System))
            continue;
        const auto ask = [&] {
            EstimateContext context{*serial, stop};
            return estimate(method, question, context);
        };
        const CostCounts counts = costCounts(method, question);
        warmUp(method, question, *serial);
        const double begin = cpuSeconds();
        auto answer = ask();
        double least = cpuSeconds() - begin;
        if (!answer && answer.error().code == "study.cancelled") return Unexpected(std::move(answer.error()));
        if (!answer) continue;
        const bool again = least < asksAgain;
        for (int i = 0; again && i < costTries; ++i) {
            const int times = std::clamp(static_cast<int>(enoughSeconds / std::max(least, 1e-6)), 1, 10000);
            const double start = cpuSeconds();
            for (int k = 0; k < times; ++k) {
                if (!ask()) return fail("study.cancelled", "cancelled while it was measured");
            }
            least = std::min(least, (cpuSeconds() - start) / times);
        }
        CostSample sample{question.name(), counts, std::max(least, 1e-9), 0};
        sample.stated = costOf(method.card.cost, sample.counts).value;
        measured.samples.push_back(std::move(sample));
    }
    if (measured.samples.empty()) return measured;
    measured.fitted = fitCost(measured.samples, method.card.cost);
    std::vector<double> factors;
    for (const CostSample& each : measured.samples)
        factors.push_back(std::exp(std::abs(std::log(each.seconds / std::max(each.stated, 1e-12)))));
    std::sort(factors.begin(), factors.end());
    measured.medianFactor = factors[factors.size() / 2];
    measured.worstFactor = factors.back();
    return measured;
}

CostModel fitCost(std::span<const CostSample> samples, const CostModel& shape) {
    // Each rate begins with an equal part of the geometric mean, then steps by ever smaller factors.
    const RateColumns has{shape.fixed, shape.perOperator, shape.perKernel, shape.perCycle, shape.perRequest};
    RateColumns rates{};
    for (std::size_t i = 0; i < rateCount; ++i) {
        double logs = 0, n = 0;
        for (const CostSample& each : samples) {
            const double x = columnsOf(each.counts)[i];
            if (x > 0) logs += std::log(each.seconds / x / rateCount), ++n;
        }
        rates[i] = n > 0 && has[i] > 0 ? std::exp(logs / n) : 0;
    }
    double error = logError(samples, rates);
    for (const double step : {8.0, 2.0, 1.3, 1.1, 1.03, 1.01}) {
        for (bool better = true; better;) {
            better = false;
            for (double& rate : rates) {
                for (const double factor : {step, 1 / step}) {
                    const double before = rate;
                    rate *= factor;
                    const double now = logError(samples, rates);
                    const bool gain = now < error * (1 - 1e-6);
                    if (gain) error = now, better = true;
                    if (!gain) rate = before;
                }
            }
        }
    }
    return {rates[0], rates[1], rates[2], rates[3], rates[4]};
}

}  // namespace orrery
