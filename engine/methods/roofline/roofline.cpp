#include "methods/roofline/roofline.h"

#include "methods/answer/answer.h"
#include "methods/method.h"

namespace orrery {

namespace {

Expected<Estimate> estimateRoofline(const Scenario& scenario, EstimateContext& context) {
    const auto& workload = *scenario.workload;
    auto ground = prepare(scenario, context);
    if (!ground) return tl::unexpected(std::move(ground.error()));
    const auto& device = ground->device;

    Estimate answer;
    answer.levels = {device.main().name};
    priceRoofline(ground->costs(workload), ground->rates, device.main().bandwidth.value, answer.operators);
    answer.assumptions = {
        "Every kernel moves each of its operands past " + device.main().name +
            " once and reuses nothing of the others: a cold start. The bound lets operands that fit into a cache be "
            "there already",
        "Units and memory run at their peak rates and overlap fully; launching a kernel takes no time"};
    finishAnswer(answer, workload, *ground, "roofline", IntervalKind::Bound, context.wantTimeline);
    return answer;
}

}  // namespace

Method rooflineMethod() {
    return {
        {
            .id = "roofline",
            .title = "Roofline",
            .methodology = Methodology::Analytical,
            .level = MethodLevel::Model,
            .summary = "The least time that peak rates and main-memory bandwidth allow, kernel by kernel. "
                       "Use it first: better kernels cannot be faster than this.",
            .platforms = {"GPU", "TPU", "CPU", "Accelerator"},
            .evidence =
                {{"matrix products", "GPU",
                  "MAPE 28 %, bias -28 %, held out: 18,741 bf16 products on H100 SXM (aiconfigurator 2026-08-21)"},
                 {"prefill attention", "GPU",
                  "MAPE 66 %, bias -66 %, held out: 2,380 causal bf16 attentions on H100 SXM (aiconfigurator "
                  "2026-08-21)"},
                 {"decode attention", "GPU",
                  "MAPE 29 %, bias -29 %, held out: 1,651 bf16 cache attentions on H100 SXM (aiconfigurator "
                  "2026-08-21)"},
                 {"element-wise", "GPU",
                  "MAPE 22 %, bias -22 %, held out: 831 fp32 vector operators on L4 (NeuSight 6945927d)"},
                 {"convolutions", "GPU",
                  "MAPE 47 %, bias -38 %, held out: 4,786 fp32 convolutions on A100 80 GB PCIe (NeuSight 6945927d)"},
                 {"whole transformers", "GPU",
                  "MAPE 40 %, never above the measured time, over 18 fp32 inferences of BERT large, GPT-2 large and "
                  "OPT 1.3B on A100, V100 and MI210 (NeuSight 6945927d)"}},
            .needs = {"Peak rate per precision", "Bandwidth of the main memory", "Shapes of all tensors"},
            .failureMode = "Optimistic for kernels under about 10 us, because it does not count the launch, and for "
                           "power-limited devices. Pessimistic if a large cache keeps operands between kernels, and "
                           "for Winograd convolutions, which do less work than direct ones.",
            .lineage = {"Williams, Waterman, Patterson: Roofline, CACM 52(4), 2009"},
            .cost = {.fixed = 1.3e-5, .perOperator = 2.1e-8},
            .version = "2",
            .live = true,
            .options = {fusionOption()},
        },
        &estimateRoofline};
}

void priceRoofline(const CostTable& costs, const ComputeRates& rates, double bandwidth, OperatorEstimates& out) {
    resizeColumns(out, costs.size());
    const double perByte = 1 / bandwidth;
    for (std::size_t i = 0; i < costs.size(); ++i) {
        const double repeat = costs.repeat[i];
        const double bytes = costs.bytes(i);
        const double compute = rates.seconds(costs, i);
        const double memory = bytes * perByte;
        out.flops[i] = repeat * costs.flops[i];
        out.bytes[i] = repeat * bytes;
        out.seconds[i] = repeat * (compute < memory ? memory : compute);
        out.bound[i] = compute >= memory ? Bound{compute > 0 ? BoundKind::Compute : BoundKind::None, -1}
                                         : Bound{BoundKind::Memory, 0};
    }
}

}  // namespace orrery
