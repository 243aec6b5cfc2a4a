#pragma once

// Iterations asked about in tests, and iteration times from shipped calibrations.

#include "hardware/files/catalogue.h"
#include "methods/model/kernel_iteration.h"

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace orrery::testing {

/// Owns what an IterationWork looks at.
struct Work {
    std::vector<PromptChunk> prompts;
    std::vector<std::int32_t> decodes;
    IterationWork work() const {
        IterationWork w;
        w.prompts = prompts;
        w.decodes = decodes;
        for (const PromptChunk& chunk : prompts) w.tokens += chunk.tokens;
        for (const std::int32_t context : decodes) w.decodeContext += context;
        w.tokens += static_cast<std::int32_t>(decodes.size());
        w.sampled = static_cast<std::int32_t>(prompts.size() + decodes.size());
        return w;
    }
};
inline Work prompts(int count, int tokens, int context = 0) {
    return {std::vector<PromptChunk>(static_cast<std::size_t>(count), PromptChunk{tokens, context}), {}};
}
inline Work decodes(int count, int context) {
    return {{}, std::vector<std::int32_t>(static_cast<std::size_t>(count), context)};
}

struct Asked {
    const char* model = "llama-3-8b";
    const char* hardware = "h100-sxm";
    int tensor = 1, pipeline = 1;
    const char* method = "tile-wave";
    const char* software = "graphs";
    bool sampler = true;
    DType type = DType::BF16;
    double powerCap = 0;
};
inline std::shared_ptr<const KernelIterationTime> iterationTime(const Asked& asked) {
    const auto stop = [](const Diagnostic& problem) { throw std::runtime_error(problem.message); };
    auto hardware = loadHardware(asked.hardware);
    if (!hardware) stop(hardware.error());
    auto gpu = gpuView(hardware->hardware);
    if (!gpu) stop(gpu.error());
    auto pricer = findKernelMethod(asked.method)->bind(*gpu, shippedCalibrations().set);
    if (!pricer) stop(pricer.error());
    auto config = transformerConfig(asked.model);
    if (!config) stop(config.error());
    KernelIterationSpec spec;
    spec.model.config = *config;
    spec.model.plan = {.tensor = asked.tensor, .pipeline = asked.pipeline};
    spec.model.weights = spec.model.activations = spec.model.kv = asked.type;
    spec.software = *findSoftwareStack(asked.software);
    spec.model.collectives = spec.software.collectives;
    spec.model.sampler = asked.sampler;
    spec.gpu = *gpu;
    spec.pricer = *pricer;
    spec.powerCap = asked.powerCap;
    auto made = KernelIterationTime::make(std::move(spec));
    if (!made) stop(made.error());
    return *made;
}

}  // namespace orrery::testing
