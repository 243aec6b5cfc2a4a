#include "methods/system/training/training_program.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery {

std::string_view toText(ProgramGroup group) {
    switch (group) {
        case ProgramGroup::Tensor:
            return "tensor";
        case ProgramGroup::Context:
            return "context";
        case ProgramGroup::Gradients:
            return "gradients";
    }
    return "group";
}

Expected<std::vector<ScheduleStep>> oneForwardOneBackward(std::int64_t stage, std::int64_t stages,
                                                          std::int64_t interleave, std::int64_t microbatches) {
    if (interleave > 1 && microbatches % stages != 0)
        return fail(
            "plan.interleave",
            fmt::format("{} micro-batches do not go in rounds of {} through interleaved stages", microbatches, stages),
            fmt::format("a multiple of {}", stages), "change mb, or take vp=1", Place{.path = "plan/microbatches"});
    const std::int64_t turns = microbatches * interleave;
    std::int64_t warmup = stages - stage - 1;
    if (interleave > 1) warmup = microbatches == stages ? turns : 2 * warmup + (interleave - 1) * stages;
    warmup = std::min(warmup, turns);
    const auto step = [&](std::int64_t k, bool forward) {
        const std::int64_t round = stages * interleave;
        const std::int64_t chunk = interleave > 1 ? k % round / stages : 0;
        const std::int64_t microbatch = interleave > 1 ? k / round * stages + k % stages : k;
        return ScheduleStep{static_cast<std::int32_t>(forward ? chunk : interleave - 1 - chunk),
                            static_cast<std::int32_t>(microbatch), forward};
    };
    std::vector<ScheduleStep> steps;
    steps.reserve(static_cast<std::size_t>(2 * turns));
    for (std::int64_t k = 0; k < warmup; ++k) steps.push_back(step(k, true));
    for (std::int64_t k = warmup; k < turns; ++k) {
        steps.push_back(step(k, true));
        steps.push_back(step(k - warmup, false));
    }
    for (std::int64_t k = turns - warmup; k < turns; ++k) steps.push_back(step(k, false));
    return steps;
}

}  // namespace orrery
