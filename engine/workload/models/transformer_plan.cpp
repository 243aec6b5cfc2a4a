#include "workload/models/transformer_plan.h"

#include "workload/models/catalogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace orrery {

namespace {

Unexpected notADecoder(const std::string& name) {
    return fail("workload.not-a-decoder", fmt::format("{} is no language model that decodes token by token", name),
                "a decoder transformer: a built-in language model or a Hugging Face config.json",
                "choose another model, such as llama-3-8b", Place{.path = "model"});
}

Expected<void> divides(std::string_view what, std::int64_t value, std::int64_t by, std::string_view plan) {
    if (by >= 1 && value % by == 0) return {};
    return fail("serving.bad-plan", fmt::format("{} {} cannot be spread over {} devices", value, what, by),
                fmt::format("a divisor of {}", value), fmt::format("change the {} parallelism", plan),
                Place{.path = fmt::format("plan/{}", plan)});
}

}  // namespace

Expected<TransformerConfig> transformerConfig(const std::string& source) {
    if (const WorkloadInfo* info = builtinWorkload(source)) {
        for (const BuiltinModel& model : builtinModels()) {
            if (model.info.id != info->id) continue;
            if (!model.transformer || model.transformer->encoder) return notADecoder(info->name);
            return *model.transformer;
        }
    }
    if (!source.ends_with(".json")) {
        // Says what is wrong with the name, as every loader of workloads does.
        auto loaded = loadWorkload({.source = source, .options = {}, .whatIfs = {}});
        if (!loaded) return Unexpected(std::move(loaded.error()));
        return notADecoder((*loaded)->name);
    }
    auto config = transformerOfHuggingFace(source);
    if (config && config->encoder) return notADecoder(config->name);
    return config;
}

Expected<TransformerConfig> shardOf(const TransformerConfig& config, const TransformerPlan& plan) {
    TransformerConfig part = config;
    const std::int64_t n = plan.tensor;
    if (n < 1 || plan.pipeline < 1 || plan.expert < 1) {
        return fail("serving.bad-plan", "a parallelism is below 1", "whole numbers from 1 on", "set it to 1",
                    Place{.path = "plan"});
    }
    if (plan.pipeline > config.layers) {
        return fail("serving.bad-plan", fmt::format("{} stages for {} layers", plan.pipeline, config.layers),
                    "at most one stage per layer", "lower the pipeline parallelism", Place{.path = "plan/pipeline"});
    }
    if (auto good = divides("heads", config.heads, n, "tensor"); !good) return Unexpected(good.error());
    part.heads = config.heads / n;
    if (!config.latent()) {
        const bool spread = config.kvHeads % n == 0;
        if (!spread && n % config.kvHeads != 0)
            return Unexpected(divides("heads", config.kvHeads, n, "tensor").error());
        part.kvHeads = spread ? config.kvHeads / n : 1;
    } else {
        part.kvHeads = part.heads;
    }
    if (auto good = divides("columns", config.intermediate, n, "tensor"); !good) return Unexpected(good.error());
    part.intermediate = config.intermediate / n;
    part.sharedIntermediate = config.sharedIntermediate / n;
    // Vocabularies are padded to what divides.
    part.vocabulary = (config.vocabulary + n - 1) / n;
    if (config.experts > 0) {
        if (auto good = divides("experts", config.experts, plan.expert, "expert"); !good)
            return Unexpected(good.error());
        if (auto good = divides("tensor-parallel devices", n, plan.expert, "expert"); !good)
            return Unexpected(good.error());
        const std::int64_t width = n / plan.expert;
        if (auto good = divides("columns of an expert", config.expertIntermediate, width, "tensor"); !good)
            return Unexpected(good.error());
        part.experts = config.experts / plan.expert;
        part.expertsPerToken = std::min(config.expertsPerToken, part.experts);
        part.expertIntermediate = config.expertIntermediate / width;
    } else if (plan.expert > 1) {
        return fail("serving.bad-plan", fmt::format("{} has no experts", config.name), "an expert parallelism of 1",
                    "set it to 1", Place{.path = "plan/expert"});
    }
    return part;
}

}  // namespace orrery
