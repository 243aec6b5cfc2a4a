#include "methods/roofline/llm_inference.h"

#include "base/unit.h"
#include "methods/answer/answer.h"
#include "methods/method.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace orrery {

namespace {

constexpr std::int64_t leastCachedTokens = 64;  // of the rows behind stated_errors_table.cpp

// Tokens of context: as asked for, or as the graph was built if the model's usual length was asked for.
std::int64_t contextOf(const Workload& workload) {
    const auto& options = workload.recipe.options;
    if (options.sequence > 0) return options.sequence;
    for (const auto& op : workload.graph.operators) {
        if (op.attention) return options.phase == Phase::Decode ? op.attention->keys - 1 : op.attention->queries;
    }
    return 0;
}

struct Traffic {
    double weights = 0, kv = 0, total = 0, flops = 0;
};

Traffic passTraffic(const CostTable& costs) {
    Traffic sum;
    for (std::size_t i = 0; i < costs.size(); ++i) {
        sum.weights += costs.repeat[i] * costs.weightBytes[i];
        sum.kv += costs.repeat[i] * (costs.kvReadBytes[i] + costs.kvWriteBytes[i]);
        sum.total += costs.repeat[i] * costs.bytes(i);
        sum.flops += costs.repeat[i] * costs.flops[i];
    }
    return sum;
}

// What is left beside the weights, shared out by what one sequence of the batch takes.
double largestBatch(const Estimate& answer, double batch) {
    const auto& use = *answer.memory;
    const double perSequence = (use.kvCache.value + use.activations.value) / batch;
    const double left = use.capacity.value - use.weights.value;
    return perSequence > 0 && left > 0 ? std::floor(left / perSequence) : 0;
}

void addFigures(Estimate& answer, const Workload& workload, const Ground& ground) {
    const auto& options = workload.recipe.options;
    const double batch = static_cast<double>(std::max<std::int64_t>(1, options.batch));
    const auto context = static_cast<double>(contextOf(workload));
    const double seconds = answer.latency.value;
    const bool decode = options.phase == Phase::Decode;
    const auto traffic = passTraffic(ground.costs(workload));
    auto& figures = answer.figures;
    figures.push_back({decode                            ? "Time per output token"
                       : options.phase == Phase::Prefill ? "Time to first token"
                                                         : "Time of one pass",
                       seconds,
                       Dimension::Time,
                       {}});
    const double tokens = decode ? batch : batch * context;
    if (seconds > 0 && tokens > 0) {
        figures.push_back({"Throughput", tokens / seconds, Dimension::Number, "token/s"});
    }
    if (decode) {
        figures.push_back({"Bytes per output token", traffic.total / batch, Dimension::Data, {}});
    }
    figures.push_back({"Weights read", traffic.weights, Dimension::Data, {}});
    if (traffic.kv > 0) figures.push_back({"KV cache read and written", traffic.kv, Dimension::Data, {}});
    if (seconds > 0) {
        const double peak = ground.device.peak(true, options.activations).value;
        if (peak > 0) {
            figures.push_back({"Model FLOP utilisation", traffic.flops / seconds / peak, Dimension::Fraction, {}});
        }
        figures.push_back({"Memory bandwidth utilisation",
                           traffic.total / seconds / ground.device.main().bandwidth.value,
                           Dimension::Fraction,
                           {}});
    }
    if (answer.memory && answer.memory->capacity.value > 0) {
        figures.push_back({"Largest batch that fits", largestBatch(answer, batch), Dimension::Count, {}});
    }
}

Expected<Estimate> estimateLlm(const Scenario& scenario, EstimateContext& context) {
    const auto& workload = *scenario.workload;
    if (!workload.transformer) {
        return fail(
            "method.not-applicable",
            "'" + workload.name + "' is not known to be a transformer, and this method answers for transformers only",
            "a built-in language model or a Hugging Face config.json",
            "Use the roofline or the hierarchical roofline for this workload");
    }
    auto ground = prepare(scenario, context);
    if (!ground) return tl::unexpected(std::move(ground.error()));
    const auto& device = ground->device;
    const auto efficiencies = efficienciesFor(ground->platform);
    const auto& options = workload.recipe.options;

    Estimate answer;
    answer.levels = {device.main().name};
    priceWithEfficiency(ground->costs(workload), ground->rates, device.main().bandwidth.value,
                        device.launchOverhead.value, efficiencies, answer.operators);
    answer.assumptions = {fmt::format("Matrix products reach {:.1f} % of the peak rate, attention {:.1f} %; memory "
                                      "reaches {:.1f} % of its bandwidth: {}",
                                      100 * efficiencies.compute, 100 * efficiencies.attention,
                                      100 * efficiencies.memory, efficiencies.basis),
                          fmt::format("Weights are {}, activations {}, KV cache {}", toText(options.weights),
                                      toText(options.activations), toText(options.kv)),
                          options.flashAttention ? "Attention is fused: scores never leave the chip"
                                                 : "Attention is not fused: scores are written to and read from memory",
                          "One request batch at a time; scheduling, sampling and tokenising take no time"};
    if (bits(options.weights) < bits(options.activations)) {
        answer.assumptions.push_back("Quantised weights are widened on the fly and computed in " +
                                     std::string(toText(options.activations)) + " at no cost");
    }
    if (options.phase == Phase::Decode) {
        answer.assumptions.push_back(fmt::format("One token for each of {} sequences that have {} tokens in the cache",
                                                 options.batch, contextOf(workload)));
    }
    if (workload.transformer->experts > 0) {
        answer.assumptions.push_back("Experts are chosen evenly: weights read are the expected share");
    }
    if (device.launchOverhead.value > 0) {
        answer.assumptions.push_back("Every kernel is launched on its own, " + format(device.launchOverhead) + " each");
    }
    if (options.phase == Phase::Decode && contextOf(workload) < leastCachedTokens) {
        answer.warnings.push_back(
            warning("method.outside-domain",
                    fmt::format("the cache holds {} tokens, and the error has been measured from {} tokens on",
                                contextOf(workload), leastCachedTokens),
                    "Attention over very short caches of large batches takes up to 30 times longer than predicted"));
    }
    finishAnswer(answer, workload, *ground, "llm-inference", IntervalKind::StatedError, context.wantTimeline);
    addFigures(answer, workload, *ground);
    return answer;
}

}  // namespace

Method llmInferenceMethod() {
    return {
        {
            .id = "llm-inference",
            .title = "LLM inference analysis",
            .methodology = Methodology::Analytical,
            .level = MethodLevel::Model,
            .summary =
                "Prefill and decode of a transformer from its weights, KV cache and activations, at the shares of peak "
                "and bandwidth that measured kernels reach. Gives time to first token, time per token, throughput and "
                "memory.",
            .platforms = {"GPU"},
            .evidence =
                {{"matrix products", "GPU",
                  "MAPE 9 %, bias 5 %, held out: 18,741 bf16 products on H100 SXM (aiconfigurator 2026-08-21)"},
                 {"prefill attention", "GPU",
                  "MAPE 34 %, bias -22 %, held out: 2,380 causal bf16 attentions on H100 SXM (aiconfigurator "
                  "2026-08-21)"},
                 {"decode attention", "GPU",
                  "MAPE 16 %, bias -7 %, held out: 1,651 bf16 cache attentions on H100 SXM (aiconfigurator "
                  "2026-08-21)"},
                 {"element-wise", "GPU",
                  "MAPE 2 %, bias -1 %, held out: 831 fp32 vector operators on L4 (NeuSight 6945927d)"},
                 {"convolutions", "GPU",
                  "MAPE 47 %, bias -8 %, held out: 4,786 fp32 convolutions on A100 80 GB PCIe (NeuSight 6945927d)"},
                 {"whole transformers", "GPU",
                  "MAPE 13 %, all inside the interval, over 18 fp32 inferences of BERT large, GPT-2 large and OPT 1.3B "
                  "on A100, V100 and MI210, where it is 20 to 34 % low (NeuSight 6945927d)"},
                 {"decoder inference", "GPU",
                  "Throughput of static batches of LLaMA-7B: MAPE 8 % over 7 published rows on A100 and H100 "
                  "(TensorRT-LLM 0.6.1), none used to derive it"},
                 {"decoder inference", "GPU",
                  "Time to first token of LLaMA-7B, batch 1: -44 to +7 % over 4 published rows on A100 and H100 "
                  "(TensorRT-LLM 0.6.1)"},
                 {"decoder inference", "GPU",
                  "One GPT-3 175B layer, prefill on A100: +25 % (LLMCompass 2e015fd2, PyTorch)"}},
            .needs = {"A transformer workload with its phase, batch and sequence", "Peak rate per precision",
                      "Bandwidth and capacity of the main memory"},
            .failureMode =
                "Uses one achievable share for each class of platform: optimistic for power-limited devices and for "
                "small batches of small models. Ignores scheduling, paging and the choice of kernels.",
            .lineage = {"Yuan et al.: LLM Inference Unveiled (LLM-Viewer), 2024", "Bambhaniya et al.: GenZ, 2024",
                        "LIFE: operator-modular analytical LLM inference, arXiv 2508.00904, 2025"},
            .cost = {.fixed = 1.3e-5, .perOperator = 3.0e-8},
            .version = "2",
            .live = true,
            .options = {fusionOption()},
        },
        &estimateLlm};
}

void priceWithEfficiency(const CostTable& costs, const ComputeRates& rates, double bandwidth, double launch,
                         const Efficiencies& efficiencies, OperatorEstimates& out) {
    resizeColumns(out, costs.size());
    const double perByte = 1 / (bandwidth * efficiencies.memory);
    for (std::size_t i = 0; i < costs.size(); ++i) {
        const double repeat = costs.repeat[i];
        const double bytes = costs.bytes(i);
        const double share = costs.kind[i] == OperatorKind::Attention ? efficiencies.attention : efficiencies.compute;
        const double compute = rates.seconds(costs, i) / share;
        const double memory = bytes * perByte;
        const double slowest = compute < memory ? memory : compute;
        const double overhead = slowest > 0 ? launch : 0;
        out.flops[i] = repeat * costs.flops[i];
        out.bytes[i] = repeat * bytes;
        out.seconds[i] = repeat * (slowest + overhead);
        out.bound[i] = overhead > slowest ? Bound{BoundKind::Overhead, -1}
                       : compute < memory ? Bound{BoundKind::Memory, 0}
                       : compute > 0      ? Bound{BoundKind::Compute, -1}
                                          : Bound{};
    }
}

}  // namespace orrery
