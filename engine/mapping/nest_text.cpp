#include "mapping/nest_text.h"

#include <fmt/format.h>

namespace orrery {
namespace {

std::string loopText(const NestProblem& problem, const NestLoop& loop, int depth) {
    std::string text =
        fmt::format("| {:{}}for {} in [0:{}", "", depth * 2, problem.dimensions[loop.dimension], loop.bound);
    if (loop.residual != loop.bound) text += fmt::format(", last {}", loop.residual);
    text += ")";
    if (loop.kind == LoopKind::SpatialX) text += " (spatial X)";
    if (loop.kind == LoopKind::SpatialY) text += " (spatial Y)";
    return text + "\n";
}

}  // namespace

std::string nestText(const NestProblem& problem, const NestHardware& hardware, const NestMapping& mapping,
                     const NestCounts* counts) {
    std::string text;
    int depth = 0;
    for (std::size_t l = hardware.levels.size(); l-- > 0;) {
        std::string held;
        for (std::size_t t = 0; t < problem.tensors.size(); ++t) {
            if ((mapping.levels[l].keeps >> t & 1u) == 0) continue;
            held += (held.empty() ? "" : ", ") + problem.tensors[t].name;
            if (counts != nullptr) held += fmt::format(" {}", counts->levels[l].tensors[t].tile);
        }
        text += fmt::format("{} [{}]\n", hardware.levels[l].name, held);
        const auto& loops = mapping.levels[l].loops;
        for (const bool temporal : {true, false}) {
            for (std::size_t i = loops.size(); i-- > 0;) {
                if (loops[i].bound <= 1 || (loops[i].kind == LoopKind::Temporal) != temporal) continue;
                text += loopText(problem, loops[i], depth++);
            }
        }
    }
    return text;
}

}  // namespace orrery
