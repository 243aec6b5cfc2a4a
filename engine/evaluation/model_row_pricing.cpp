#include "evaluation/model_row_pricing.h"

#include "evaluation/answer_clock.h"
#include "evaluation/left_out.h"
#include "evaluation/reference_checks.h"
#include "serving/serving_study.h"

#include <algorithm>
#include <mutex>
#include <tuple>

namespace orrery {

namespace {

// Each model once: building it takes longer than most answers about it.
Expected<WorkloadPtr> loadedOnce(const WorkloadRecipe& recipe) {
    static std::mutex mutex;
    static std::vector<std::pair<WorkloadRecipe, WorkloadPtr>> kept;
    constexpr std::size_t most = 256;
    const std::scoped_lock lock(mutex);
    const auto found = std::find_if(kept.begin(), kept.end(), [&](const auto& each) { return each.first == recipe; });
    if (found != kept.end()) return found->second;
    auto loaded = loadWorkload(recipe);
    if (loaded && kept.size() < most) kept.emplace_back(recipe, *loaded);
    return loaded;
}

// A serving run by the engine that a row was measured with, where the row names its version.
Task servedBy(Task task, std::string_view software) {
    auto* run = std::get_if<ServingRun>(&task);
    const auto engine = parseSoftware(software);
    if (!run || !engine || engine->engine.find_first_of("0123456789") == std::string::npos) return task;
    auto study = std::make_shared<ServingStudy>(*run->study);
    for (PoolSpec& pool : study->scenario.pools)
        if (pool.time.software.empty()) pool.time.software = software;
    run->study = std::move(study);
    return task;
}

// A whole model as `run` answers it. Where the row says how its software launched and fused, and `asMeasured` is set,
// the method is asked so, as far as its options allow and the person chose no other.
void priceModel(const Method& method, const HardwarePtr& device, const ModelRow& row, std::string_view software,
                const CalibrationSet& calibrations, const EvaluateOptions& options, RowAnswer& answer) {
    const auto workload = loadedOnce(row.recipe);
    if (!workload) return;
    const auto serial = makeSerialExecutor();
    EstimateContext context{*serial, options.stop};
    context.wantTimeline = false;
    context.options = options.options;
    if (options.asMeasured) {
        for (const auto& [key, value] : settingsOf(method.card, row)) context.options.try_emplace(key, value);
    }
    context.calibrations = &calibrations;
    Scenario scenario{device, *workload, row.plan, row.task};
    // What a stack of training is fitted to are steps themselves: those are asked as of no software in particular.
    if (options.asMeasured && kindOf(row.task) == TaskKind::Pass) scenario.software.engine = software;
    if (options.asMeasured) scenario.task = servedBy(std::move(scenario.task), software);
    // A simulator of kernels would be asked for thousands of iterations: by what its card states, not by a clock.
    if (kindOf(row.task) == TaskKind::ServingRun && !expectedCost(method, scenario)) return;
    Expected<Estimate> estimated = fail("study.cancelled", "not asked");
    const double spent = clockedAnew([&] { estimated = estimate(method, scenario, context); });
    if (!estimated) return;
    answer.seconds = estimated->latency.value;
    answer.low = estimated->interval.low.value;
    answer.high = estimated->interval.high.value;
    // What offline benchmarks measure is the whole run; its latency is that of the mean request.
    if (kindOf(row.task) == TaskKind::ServingRun) {
        const auto named = std::find_if(estimated->figures.begin(), estimated->figures.end(),
                                        [](const Figure& each) { return each.label == "Makespan"; });
        answer = {};
        if (named == estimated->figures.end()) return;
        answer.seconds = answer.low = answer.high = named->value;
        if (named->interval) std::tie(answer.low, answer.high) = *named->interval;
    }
    answer.guess();
    answer.cost = spent;
    answer.flops = (*workload)->totals.flops;
    answer.bytes = (*workload)->totals.activationBytes + (*workload)->totals.weightBytesRead;
    if (estimated->support && estimated->support->outside > 0.5) answer.domain = DomainVerdict::Outside;
}

}  // namespace

OptionValues settingsOf(const MethodCard& card, const ModelRow& row) {
    OptionValues settings;
    for (const MethodOption& option : card.options) {
        const std::string& said = option.key == "launch"   ? row.launch
                                  : option.key == "fusion" ? row.fusion
                                                           : std::string();
        if (!said.empty() && std::find(option.choices.begin(), option.choices.end(), said) != option.choices.end())
            settings.emplace(option.key, said);
    }
    return settings;
}

CalibrationSet askedAbout(const std::string& device, const EvaluateOptions& options) {
    const CalibrationSet& all = options.calibrations ? *options.calibrations : shippedCalibrations().set;
    return options.leaveDeviceOut ? withoutDevice(all, device) : all;
}

ModelPricing modelPricing(const Method* method, const RowPricer& pricer, const EvaluateOptions& options) {
    return [method, &pricer, &options](const std::string& id) -> Asking {
        const auto hardware = catalogueHardware(id);
        const auto calibrations = std::make_shared<const CalibrationSet>(askedAbout(id, options));
        return {[method, hardware, calibrations, &pricer, &options](std::span<const std::size_t> numbers,
                                                                    std::vector<RowAnswer>& answers) {
            if (!method || !hardware) return;
            for (const std::size_t number : numbers) {
                if (options.stop.stop_requested()) return;
                priceModel(*method, hardware, *pricer.model(number), pricer.software(number), *calibrations, options,
                           answers[number]);
            }
        }};
    };
}

}  // namespace orrery
