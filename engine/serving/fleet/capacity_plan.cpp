#include "serving/fleet/capacity_plan.h"

#include "base/quantity.h"
#include "base/unit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace orrery {

namespace {

constexpr double mostBlocks = 1e12;

Expected<void> sane(const CapacityNeeds& needs) {
    const auto bad = [](std::string_view what, double value, std::string_view expected) -> Unexpected {
        return fail("serving.bad-capacity", fmt::format("{} is {}", what, value), std::string(expected),
                    fmt::format("change the {}", what), Place{.path = std::string(what)});
    };
    if (needs.tokensPerBlock < 1) return bad("block size", needs.tokensPerBlock, "1 token at least");
    if (needs.pipelineStages < 1) return bad("pipeline parallelism", needs.pipelineStages, "1 at least");
    if (!(needs.memoryShare > 0 && needs.memoryShare <= 1)) {
        return bad("memory share", needs.memoryShare, "more than 0, at most 1");
    }
    if (!(needs.deviceBytes > 0) || !std::isfinite(needs.deviceBytes)) {
        return bad("memory capacity", needs.deviceBytes, "a device whose memory has a capacity");
    }
    if (!(needs.kvBytesPerToken > 0)) return bad("KV cache per token", needs.kvBytesPerToken, "a decoder");
    for (const double part : {needs.weightBytes, needs.activationBytes, needs.graphBytes, needs.runtimeBytes}) {
        if (!(part >= 0) || !std::isfinite(part)) return bad("memory need", part, "0 or more bytes");
    }
    return {};
}

Unexpected doesNotFit(const CapacityNeeds& needs, double left, double wanted) {
    const double usable = needs.memoryShare * needs.deviceBytes;
    return fail("serving.does-not-fit",
                fmt::format("{} does not fit: of {} on {}, weights take {} and work space {}; {} are left for keys and "
                            "values",
                            needs.model.empty() ? "the model" : needs.model, format(Bytes(usable)),
                            needs.device.empty() ? "a device" : needs.device, format(Bytes(needs.weightBytes)),
                            format(Bytes(needs.activationBytes + needs.graphBytes + needs.runtimeBytes)),
                            format(Bytes(std::max(0.0, left)))),
                fmt::format("at least {}", format(Bytes(wanted))),
                needs.weightBytes > 0.5 * usable
                    ? "spread the model over more devices, or store its weights in fewer bits"
                    : "lower the token budget or the longest text, or let the engine use more of the memory",
                Place{.path = "plan"});
}

}  // namespace

Expected<CapacityPlan> planCapacity(const CapacityNeeds& needs) {
    if (auto good = sane(needs); !good) return Unexpected(std::move(good.error()));
    CapacityPlan plan;
    const double usable = needs.memoryShare * needs.deviceBytes;
    if (needs.compatibility == "vidur") {
        // vidur/scheduler/utils/memory_planner.py: whole requests of the longest text, times blocks of one, times
        // stages; activations, graphs and the runtime are not counted.
        const double request = needs.kvBytesPerToken * std::max(needs.longestText, 1);
        const double requests = std::floor((usable - needs.weightBytes) / request);
        if (!(requests >= 1)) return doesNotFit(needs, usable - needs.weightBytes, request);
        const auto each = std::max<std::int64_t>(1, needs.longestText / needs.tokensPerBlock);
        plan.blocks = each * static_cast<std::int64_t>(std::min(requests, mostBlocks)) * needs.pipelineStages;
    } else if (!needs.compatibility.empty()) {
        return fail("serving.bad-capacity", fmt::format("no memory plan is called '{}'", needs.compatibility),
                    "vidur, or nothing", "leave it empty", Place{.path = "compatibility"});
    } else {
        const double left = usable - needs.weightBytes - needs.activationBytes - needs.graphBytes - needs.runtimeBytes;
        const double block = needs.kvBytesPerToken * needs.tokensPerBlock;
        const double longest =
            block * std::max<std::int32_t>(1, (needs.longestText + needs.tokensPerBlock - 1) / needs.tokensPerBlock);
        if (!(left >= longest)) return doesNotFit(needs, left, longest);
        plan.blocks = static_cast<std::int64_t>(std::min(std::floor(left / block), mostBlocks));
    }
    plan.tokens = plan.blocks * needs.tokensPerBlock;
    const double kv = static_cast<double>(plan.tokens) * needs.kvBytesPerToken;
    plan.parts = {{CapacityUse::Weights, needs.weightBytes},
                  {CapacityUse::Activations, needs.activationBytes},
                  {CapacityUse::CudaGraphs, needs.graphBytes},
                  {CapacityUse::Runtime, needs.runtimeBytes},
                  {CapacityUse::KvCache, kv},
                  {CapacityUse::LeftFree, 0}};
    double sum = 0;
    for (const CapacityPart& part : plan.parts) sum += part.bytes;
    plan.parts.back().bytes = needs.deviceBytes - sum;
    return plan;
}

double activationBytes(const ActivationNeeds& needs) {
    const auto tokens = static_cast<double>(needs.tokens), rows = static_cast<double>(needs.sequences);
    const double width = needs.bytesPerElement;
    // Alive at the widest place of a layer: the gate and up projections, their product, input and residual, and what
    // attention hands over.
    const double layer = tokens * width * (3 * needs.intermediate + 2 * needs.hidden + needs.projected);
    // Logits in fp32, sorted, with their 64-bit indices, probabilities and their running sum (top-p sampling).
    const double sampling = rows * needs.vocabulary * (4 + 4 + 8 + 4 + 4);
    return layer + sampling;
}

}  // namespace orrery
