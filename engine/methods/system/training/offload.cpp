#include "methods/system/training/offload.h"

#include "base/unit.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery {

HostPrices hostPrices(const HostView& host, const CostTotals& shard, const MemoryUse& whole, double gradientBytes) {
    constexpr double fp32 = 4;
    HostPrices made;
    made.link = host.link.value;
    made.latency = host.latency.value;
    made.memory = host.memory.value;
    const double weight = shard.parameters > 0 ? shard.weightBytes / shard.parameters : 0;
    if (weight <= 0) return made;
    const double state = std::max(0.0, whole.weights.value - 2 * shard.weightBytes) / shard.parameters;
    made.updateSeconds = (fp32 + 2 * state + weight) / weight / host.memoryBandwidth.value;
    made.downBytes = fp32 / (gradientBytes > 0 ? gradientBytes : weight);
    made.gradientBytes = fp32 / weight;
    return made;
}

void takeHost(const HostPrices& host, bool full, double perLayer, TrainingProgram& program) {
    const Plan& plan = program.plan;
    program.host = host;
    const bool blocks =
        std::any_of(program.layers.begin(), program.layers.end(), [](const LayerProgram& one) { return one.repeated; });
    for (LayerProgram& layer : program.layers)
        if (!blocks || layer.repeated) layer.keptBytes = full ? layer.inputBytes : perLayer;
    if ((plan.offload & OffloadOptimizer) == 0) return;
    for (std::int64_t s = 0; s < plan.pipeline; ++s) {
        double trained = 0;
        for (std::int64_t c = 0; c < chunksPerStage(plan); ++c)
            for (const std::int32_t l :
                 program.chunks[static_cast<std::size_t>(chunkOf(plan, s, static_cast<std::int32_t>(c)))].layers) {
                const LayerProgram& its = program.layers[static_cast<std::size_t>(l)];
                trained += its.parameterBytes * its.trainedShare;
            }
        program.optimizerSeconds[static_cast<std::size_t>(s)] = trained * host.updateSeconds;
    }
}

Sides stepAndSend(const Sides& step, double sent) {
    constexpr double parts = offload_parts;
    Sides send;
    send.at.fill(sent);
    return larger(step, send) * ((parts - 1) / parts) + (step + send) * (1 / parts);
}

Diagnostic hostTooSmall(double needs, double memory) {
    return warning(
        "memory.host-does-not-fit",
        fmt::format("the host holds {} for each device, and its share is {}: the time is that of a host with "
                    "enough memory",
                    format(Bytes(needs)), format(Bytes(memory))),
        "offload less, raise zero, or draw more DRAM in the host");
}

std::string offloadSaid(std::uint8_t offload, const std::optional<HostView>& host) {
    if (!host || offload == 0) return {};
    return fmt::format("Offloaded to `{}`: {}; a device has {}/s to it, one thing at a time{}", host->name,
                       offloadText(offload), format(Bytes(host->link.value)),
                       (offload & OffloadOptimizer) != 0
                           ? "; gradients go down in fp32, and the step is bound by the host's memory"
                           : "");
}

}  // namespace orrery
