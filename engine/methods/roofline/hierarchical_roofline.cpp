#include "methods/roofline/hierarchical_roofline.h"

#include "base/unit.h"
#include "methods/answer/answer.h"
#include "methods/answer/traffic.h"
#include "methods/method.h"

namespace orrery {

namespace {

std::string textOf(const std::vector<std::string>& words) {
    std::string text;
    for (const auto& word : words) text.append(text.empty() ? "" : ", ").append(word);
    return text;
}

Expected<Estimate> estimateHierarchical(const Scenario& scenario, EstimateContext& context) {
    const auto& workload = *scenario.workload;
    auto ground = prepare(scenario, context);
    if (!ground) return tl::unexpected(std::move(ground.error()));
    const auto& device = ground->device;

    Estimate answer;
    std::vector<double> perByte;
    std::vector<std::string> silent;
    for (const auto& level : device.levels) {
        answer.levels.push_back(level.name);
        perByte.push_back(level.bandwidth.value > 0 ? 1 / level.bandwidth.value : 0);
        if (level.bandwidth.value <= 0) silent.push_back(level.name);
    }
    const CostTable& costs = ground->costs(workload);
    const auto leader =
        ground->lowering ? std::span<const std::int32_t>(ground->lowering->leader) : std::span<const std::int32_t>();
    auto traffic = levelTraffic(workload.graph, costs, leader, device);
    priceHierarchical(costs, ground->rates, traffic, perByte, device.launchOverhead.value, answer.operators);
    const auto& repeat = costs.repeat;
    for (auto& level : traffic) {
        for (std::size_t i = 0; i < repeat.size(); ++i) level[i] *= repeat[i];
    }
    answer.operators.levelBytes = std::move(traffic);

    answer.assumptions = {
        "Matrix products are tiled to fit the level inside with the least traffic; other kernels stream through "
        "every level",
        "Units and all levels run at their peak rates and overlap fully within a kernel; kernels run one after "
        "another"};
    if (device.levels.size() > 1 && device.levels[1].instances == 1) {
        answer.assumptions.push_back("An activation that still fits in " + device.levels[1].name + " (" +
                                     formatBinary(device.levels[1].capacity.value, Dimension::Data) +
                                     ") when its reader runs does not cross " + device.main().name);
    }
    if (device.launchOverhead.value > 0) {
        answer.assumptions.push_back("Every kernel is launched on its own, " + format(device.launchOverhead) + " each");
    }
    if (!silent.empty()) answer.assumptions.push_back("Levels without a bandwidth do not limit: " + textOf(silent));
    finishAnswer(answer, workload, *ground, "hierarchical-roofline", IntervalKind::StatedError, context.wantTimeline);
    return answer;
}

}  // namespace

Method hierarchicalRooflineMethod() {
    return {
        {
            .id = "hierarchical-roofline",
            .title = "Hierarchical roofline",
            .methodology = Methodology::Analytical,
            .level = MethodLevel::Model,
            .summary = "One ceiling for every memory level; the traffic of each level follows from the capacities. "
                       "Shows which level limits, and how much a last-level cache saves.",
            .platforms = {"GPU", "TPU", "CPU", "Accelerator"},
            .evidence =
                {{"matrix products", "GPU",
                  "MAPE 23 %, bias -23 %, held out: 18,741 bf16 products on H100 SXM (aiconfigurator 2026-08-21)"},
                 {"prefill attention", "GPU",
                  "MAPE 65 %, bias -65 %, held out: 2,380 causal bf16 attentions on H100 SXM (aiconfigurator "
                  "2026-08-21)"},
                 {"decode attention", "GPU",
                  "MAPE 26 %, bias -26 %, held out: 1,651 bf16 cache attentions on H100 SXM (aiconfigurator "
                  "2026-08-21)"},
                 {"element-wise", "GPU",
                  "MAPE 22 %, bias -22 %, held out: 831 fp32 vector operators on L4 (NeuSight 6945927d)"},
                 {"convolutions", "GPU",
                  "MAPE 46 %, bias -38 %, held out: 4,786 fp32 convolutions on A100 80 GB PCIe (NeuSight 6945927d)"},
                 {"whole transformers", "GPU",
                  "MAPE 40 % over 18 fp32 inferences of BERT large, GPT-2 large and OPT 1.3B on A100, V100 and MI210 "
                  "(NeuSight 6945927d)"}},
            .needs = {"Peak rate per precision", "Capacity and bandwidth of every memory level",
                      "Shapes of all tensors"},
            .failureMode = "Assumes the best tiling and full overlap, so it is optimistic for small or skewed "
                           "products. Levels without a bandwidth are ignored. Weights are never in a cache.",
            .lineage = {"Ilic, Pratas, Sousa: Cache-aware Roofline Model, IEEE CAL 2014",
                        "Yang, Kurth, Williams: Hierarchical Roofline Analysis for GPUs, CCPE 2020",
                        "Hong, Kung: I/O complexity: the red-blue pebble game, STOC 1981",
                        "Smith, Lowery, Langou, van de Geijn: A Tight I/O Lower Bound for Matrix Multiplication, 2019"},
            .cost = {.fixed = 1.4e-5, .perOperator = 5.0e-8},
            .version = "2",
            .live = true,
            .options = {fusionOption()},
        },
        &estimateHierarchical};
}

void priceHierarchical(const CostTable& costs, const ComputeRates& rates,
                       const std::vector<std::vector<double>>& traffic, const std::vector<double>& perByte,
                       double launch, OperatorEstimates& out) {
    const auto rows = costs.size();
    resizeColumns(out, rows);
    for (std::size_t i = 0; i < rows; ++i) {
        double slowest = rates.seconds(costs, i);
        Bound bound{slowest > 0 ? BoundKind::Compute : BoundKind::None, -1};
        double moved = 0;
        for (std::size_t l = 0; l < traffic.size(); ++l) {
            moved += traffic[l][i];
            const double seconds = traffic[l][i] * perByte[l];
            if (seconds > slowest) {
                slowest = seconds;
                bound = {BoundKind::Memory, static_cast<std::int16_t>(l)};
            }
        }
        const double overhead = slowest > 0 || moved > 0 ? launch : 0;
        if (overhead > slowest) bound = {BoundKind::Overhead, -1};
        out.seconds[i] = costs.repeat[i] * (slowest + overhead);
        out.bound[i] = bound;
        out.flops[i] = costs.repeat[i] * costs.flops[i];
        out.bytes[i] = costs.repeat[i] * traffic[0][i];
    }
}

}  // namespace orrery
