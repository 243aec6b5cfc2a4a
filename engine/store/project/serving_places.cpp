#include "store/project/serving_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace orrery {

namespace {

// `pools/NAME/plan` → `pools[2]/plan`: the file counts pools, diagnostics name them.
std::string countedPool(const std::string& path, const ServingStudy& study) {
    constexpr std::string_view list = "pools/";
    if (!path.starts_with(list)) return path;
    std::size_t best = 0, index = 0;
    bool found = false;
    for (std::size_t i = 0; i < study.scenario.pools.size(); ++i) {
        const std::string& name = study.scenario.pools[i].name;
        const std::string_view rest = std::string_view(path).substr(list.size());
        if (!rest.starts_with(name) || (rest.size() > name.size() && rest[name.size()] != '/')) continue;
        if (found && name.size() <= best) continue;
        found = true;
        best = name.size();
        index = i;
    }
    if (!found) return path;
    return fmt::format("pools[{}]{}", index + 1, path.substr(list.size() + best));
}

// `replicas[5].kv-blocks`, as a fleet has it → `pools[2]/kv_blocks`.
std::string poolOfReplica(const std::string& path, const ServingStudy& study) {
    constexpr std::string_view list = "replicas[";
    if (!path.starts_with(list)) return path;
    std::int64_t replica = -1;
    const auto [end, error] = std::from_chars(path.data() + list.size(), path.data() + path.size(), replica);
    if (error != std::errc{}) return path;
    std::string field;
    for (const auto& [theirs, ours] : {std::pair{".block", "/tokens_per_block"}, std::pair{".kv-blocks", "/kv_blocks"},
                                       std::pair{".wave", "/experts/waves"}, std::pair{".speculation", "/speculation"},
                                       std::pair{".scheduler", "/scheduler"}}) {
        if (path.ends_with(theirs)) field = ours;
    }
    std::int64_t before = 0;
    for (std::size_t i = 0; i < study.scenario.pools.size(); ++i) {
        before += study.scenario.pools[i].replicas;
        if (replica < before) return fmt::format("pools[{}]{}", i + 1, field);
    }
    return path;
}

}  // namespace

Diagnostic located(Diagnostic problem, const ServingStudy& study, const ServingPlaces& places) {
    Place& place = problem.place;
    if (place.line > 0) return problem;
    std::string path = poolOfReplica(countedPool(place.path, study), study);
    if (!place.file.empty()) {
        // A trace that cannot even be opened is the fault of the line that names it.
        if (place.file != study.traffic.trace.file) return problem;
        path = "traffic/trace/file";
        place.path = fmt::format("{} ({})", path, place.file);
    }
    if (problem.code == "serving.does-not-fit" && !places.contains("pools")) path = "model/source";
    // What stands at its default is written nowhere: the nearest map around it is.
    auto found = places.find(path);
    while (found == places.end() && !path.empty()) {
        const auto cut = path.find_last_of("/[");
        path.resize(cut == std::string::npos ? 0 : cut);
        found = places.find(path);
    }
    if (found == places.end()) return problem;
    place.file = found->second.file;
    place.line = found->second.line;
    place.column = found->second.column;
    return problem;
}

}  // namespace orrery
