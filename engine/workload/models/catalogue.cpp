#include "workload/models/catalogue.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery {

const std::vector<BuiltinModel>& builtinModels() {
    static const std::vector<BuiltinModel> models = [] {
        std::vector<BuiltinModel> all;
        for (auto part : {visionModels(), languageModels(), otherModels()}) {
            for (BuiltinModel& model : part) all.push_back(std::move(model));
        }
        return all;
    }();
    return models;
}

const std::vector<WorkloadInfo>& builtinWorkloads() {
    static const std::vector<WorkloadInfo> infos = [] {
        std::vector<WorkloadInfo> all;
        for (const BuiltinModel& model : builtinModels()) all.push_back(model.info);
        return all;
    }();
    return infos;
}

Expected<ImportedGraph> buildModel(std::string_view id, const WorkloadOptions& options) {
    const auto& models = builtinModels();
    const auto found = std::find_if(models.begin(), models.end(), [id](const auto& m) { return m.info.id == id; });
    if (found == models.end()) {
        return fail("workload.unknown", fmt::format("there is no built-in model “{}”", id), "an id of the catalogue",
                    "list them with: orrery-cli workloads", Place{.path = "source"});
    }
    const bool phased = options.phase == Phase::Prefill || options.phase == Phase::Decode;
    if (phased && !found->info.hasPhases) {
        return fail("workload.phase", fmt::format("{} has no {} phase", found->info.name, toText(options.phase)),
                    "forward or training-forward", "set the phase to forward", Place{.path = "options/phase"});
    }
    return found->build(options);
}

}  // namespace orrery
