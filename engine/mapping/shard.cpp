#include "mapping/shard.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace orrery {

namespace {

Expected<void> divides(std::string_view what, std::int64_t value, std::int64_t by, std::string_view plan) {
    if (by >= 1 && value % by == 0) return {};
    return fail("plan.does-not-divide", fmt::format("{} {} cannot be spread over {} devices", value, what, by),
                fmt::format("a divisor of {}", value), fmt::format("change the {} parallelism", plan),
                Place{.path = fmt::format("plan/{}", plan)});
}

}  // namespace

Expected<TransformerConfig> shardOf(const TransformerConfig& config, const Plan& plan) {
    if (config.experts == 0 && plan.expert > 1) {
        return fail("plan.does-not-divide", fmt::format("{} has no experts", config.name), "an expert parallelism of 1",
                    "set it to 1", Place{.path = "plan/expert"});
    }
    if (auto good = checkPlan(plan); !good) return Unexpected(std::move(good.error()));
    TransformerConfig part = config;
    const std::int64_t n = plan.tensor;
    if (plan.pipeline > config.layers) {
        return fail("plan.does-not-divide", fmt::format("{} stages for {} layers", plan.pipeline, config.layers),
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
        // More experts' devices than tensor-parallel ones: whole experts, over the data-parallel copies too.
        const bool beyond = plan.expert > n && plan.expert % n == 0;
        if (auto good = divides("tensor-parallel devices", n, plan.expert, "expert"); !good && !beyond)
            return Unexpected(good.error());
        const std::int64_t width = beyond ? 1 : n / plan.expert;
        if (auto good = divides("columns of an expert", config.expertIntermediate, width, "tensor"); !good)
            return Unexpected(good.error());
        part.experts = config.experts / plan.expert;
        part.expertDevices = plan.expert;
        part.expertCopies = beyond ? plan.expert / n : 1;
        part.expertIntermediate = config.expertIntermediate / width;
    }
    return part;
}

}  // namespace orrery
