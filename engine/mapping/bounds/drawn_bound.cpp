#include "mapping/bounds/drawn_bound.h"

#include <fmt/format.h>

#include <cmath>

namespace orrery {

std::vector<BoundMark> boundMarks(const NestHardware& hardware) {
    std::vector<BoundMark> marks;
    for (std::size_t l = 0; l + 1 < hardware.levels.size(); ++l) {
        const NestLevel& level = hardware.levels[l];
        const double words = std::floor(level.capacityWords / level.multipleBuffering);
        if (std::isfinite(words)) marks.push_back({level.name, words * static_cast<double>(level.instances)});
    }
    return marks;
}

std::string boundTiles(const NestProblem& problem, const BoundPoint& point) {
    std::string text;
    for (std::size_t d = 0; d < problem.dimensions.size(); ++d) {
        if (problem.extents[d] > 1)
            text += fmt::format("{}{}{}", text.empty() ? "" : " ", problem.dimensions[d], point.tile[d]);
    }
    return text;
}

std::vector<std::string> boundLoops(const NestProblem& problem, const BoundPoint& point) {
    std::vector<std::string> loops;
    for (std::size_t i = problem.dimensions.size(); i-- > 0;) {
        const std::uint8_t d = point.order[i];
        if (point.tile[d] < problem.extents[d]) loops.push_back(problem.dimensions[d]);
    }
    return loops;
}

std::vector<std::string> boundKeeps(const NestProblem& problem, const BoundPoint& point) {
    std::vector<std::string> kept;
    for (std::size_t t = 0; t < problem.tensors.size(); ++t) {
        if (point.keeps >> t & 1u) kept.push_back(problem.tensors[t].name);
    }
    return kept;
}

std::string boundCsv(const std::vector<DrawnBound>& all) {
    std::string out = "problem,kind,name,words,moved,tiles,loops,keeps\n";
    for (const DrawnBound& drawn : all) {
        const auto marked = [&](const char* kind, const std::string& name, double words, double moved) {
            out += fmt::format("\"{}\",{},\"{}\",{:.17g},{:.17g},,,\n", drawn.name, kind, name, words, moved);
        };
        for (const BoundMark& mark : boundMarks(drawn.hardware)) {
            if (const BoundPoint* at = drawn.curve.at(mark.words)) marked("level", mark.level, mark.words, at->moved);
        }
        if (drawn.mapping) marked("mapping", "mapping", drawn.mapping->words, drawn.mapping->moved);
        for (const BoundPoint& point : drawn.curve.points) {
            out += fmt::format("\"{}\",bound,,{:.17g},{:.17g},{},{},{}\n", drawn.name, point.words, point.moved,
                               boundTiles(drawn.problem, point), fmt::join(boundLoops(drawn.problem, point), " "),
                               fmt::join(boundKeeps(drawn.problem, point), " "));
        }
    }
    return out;
}

}  // namespace orrery
