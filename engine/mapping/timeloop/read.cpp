#include "base/text/nearest.h"
#include "mapping/timeloop/timeloop.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery {

Diagnostic TimeloopInput::placed(Diagnostic diagnostic) const {
    if (!diagnostic.place.file.empty()) return diagnostic;
    const std::string path = diagnostic.place.path;
    Place place = places.mapping;
    const auto& levels = diagnostic.code == "mapping.fan-out" ? places.spatial : places.temporal;
    for (std::size_t l = 0; l < levels.size(); ++l) {
        if (hardware.levels[l].name == path) place = levels[l];
    }
    place.path = path;
    diagnostic.place = place;
    return diagnostic;
}

Expected<TimeloopInput> readTimeloop(DocNode root) {
    static const std::vector<std::string> known{"problem",
                                                "architecture",
                                                "arch",
                                                "mapping",
                                                "mapper",
                                                "mapspace",
                                                "ERT",
                                                "ART",
                                                "constraints",
                                                "architecture_constraints",
                                                "arch_constraints",
                                                "mapspace_constraints",
                                                "sparse_optimizations",
                                                "compound_components",
                                                "components",
                                                "variables",
                                                "globals",
                                                "version",
                                                "model",
                                                "dumped_by_timeloop_front_end",
                                                "evaluator",
                                                "auto_loop_bypass",
                                                "architecture-constraints",
                                                "layout",
                                                "energy_reference_table",
                                                "area_reference_table",
                                                "ERT_summary",
                                                "ART_summary",
                                                "cycles",
                                                "specification"};
    for (std::size_t i = 0; i < root.keys.size(); ++i) {
        if (std::any_of(known.begin(), known.end(), [&](const std::string& k) { return sameKey(k, root.keys[i]); })) {
            continue;
        }
        return fail("timeloop.key", fmt::format("`{}` is no part of an input", root.keys[i]),
                    "`problem`, `architecture`, `mapping`, `mapper`, `sparse_optimizations`, `ERT` or `ART`",
                    didYouMean(root.keys[i], known), root.items[i].place());
    }
    TimeloopInput input;
    auto problem = readTimeloopProblem(root, input.warnings);
    if (!problem) return Unexpected(problem.error());
    input.problem = std::move(*problem);
    auto hardware = readTimeloopArchitecture(root, input.warnings);
    if (!hardware) return Unexpected(hardware.error());
    input.hardware = std::move(*hardware);
    if (const auto tables = readTimeloopTables(root, input.hardware, input.warnings); !tables) {
        return Unexpected(tables.error());
    }
    if (root.find("mapping") != nullptr) {
        auto mapping = readTimeloopMapping(root, input.problem, input.hardware, input.places, input.warnings);
        if (!mapping) return Unexpected(mapping.error());
        input.mapping = std::move(*mapping);
    }
    input.root = std::move(root);
    return input;
}

Expected<TimeloopInput> readTimeloopFiles(const std::vector<std::string>& paths) {
    auto root = parseTimeloopFiles(paths);
    if (!root) return Unexpected(root.error());
    return readTimeloop(std::move(*root));
}

}  // namespace orrery
