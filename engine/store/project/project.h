#pragma once

// A project: one YAML text file, diffable, versioned, unknown keys kept. Hardware designs stand in it whole; workloads
// as recipes; scenarios by name.
//
//     orrery: project/1
//     name: First light
//     description: ResNet-50 on one H100
//     hardware:
//       - orrery: hardware/1               # the text of a hardware file
//         name: NVIDIA H100 SXM
//         system: …
//       - preset: a100-80-sxm              # or a device of the catalogue; written whole when the project is saved
//     workloads:
//       - {name: ResNet, source: resnet-50, batch: 8}
//     scenarios:
//       - {hardware: NVIDIA H100 SXM, workload: ResNet}
//       - {hardware: NVIDIA H100 SXM, workload: ResNet, plan: dp=8, task: training-step}
//       - {hardware: NVIDIA H100 SXM, workload: ResNet, software: TensorRT 10.3(graphs=off)}
//     methods: [roofline]
//     serving: {traffic: …}                # a question about serving: serving_file.h
//     search: {knobs: …, objectives: …}    # designs to be tried, around the first scenario: search_file.h

#include "base/diagnostic.h"
#include "base/text/read_file.h"
#include "hardware/component.h"
#include "mapping/plan.h"
#include "methods/software.h"
#include "serving/serving_study.h"
#include "study/exploration/search_settings.h"
#include "workload/workload.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

struct ProjectWorkload {
    std::string name;
    WorkloadRecipe recipe;
    std::vector<UnknownKey> unknown;
    bool operator==(const ProjectWorkload&) const = default;
};

struct ScenarioRef {
    std::string hardware;  ///< name of a design in the project
    std::string workload;  ///< name of a workload in the project
    std::vector<UnknownKey> unknown;
    Plan plan = {};          ///< `plan: tp=8, pp=2`; absent: one device
    std::string task = {};   ///< `training-step`, `operator(NAME)`, `serving-run` (the project's own); empty: a pass
    Software software = {};  ///< `software: vLLM 0.24.0(graphs=off)`; absent: not said
    bool operator==(const ScenarioRef&) const = default;
};

struct Project {
    std::string name;         ///< also its title
    std::string description;  ///< what it shows, for the gallery of examples
    std::vector<Hardware> hardware;
    std::vector<ProjectWorkload> workloads;
    std::vector<ScenarioRef> scenarios;  ///< the first is the one that the live views show
    /// Dollars that an hour of a device costs, by the name of its kind (`h100`); the empty name: of all others.
    std::map<std::string, double> prices;
    std::vector<std::string> methods;     ///< ids or choices (`loop-nest(fusion=on)`), in the order shown
    std::optional<ServingStudy> serving;  ///< its `hardware` names a design of the project
    std::optional<SearchSettings> search;
    std::vector<UnknownKey> unknown;
    bool operator==(const Project&) const = default;
};

struct LoadedProject {
    Project project;
    Diagnostics warnings;         ///< what migrations changed, unknown keys
    std::string migratedFrom;     ///< version, empty if current
    ServingPlaces servingPlaces;  ///< where the values of `serving` stand
};

/// The newest version that this program reads, and the one that it writes.
inline constexpr int projectVersion = 1;

/// Reads `orrery: project/1`, and older versions through the chain of migrations (migrations.h). `file` is used in
/// places only. Never throws. Refuses a newer version, names that stand for two designs or workloads, and scenarios of
/// designs that are not there; a method that this program does not know is kept, with a warning.
Expected<LoadedProject> readProject(std::string_view yaml, std::string_view file = {});
/// The same for a file; relative sources of workloads are resolved against the project's folder.
Expected<LoadedProject> readProjectFile(const std::string& path);
/// Options that stand at their default (WorkloadOptions{}) are not written. write(read(write(p))) == write(p).
std::string writeProject(const Project& project);
/// Writes the project atomically; sources of workloads that are files near the project (in its folder, or reached by at
/// most two `..`) are stored relative to it, so that the folder can be moved or cloned.
Expected<void> saveProjectFile(const std::string& path, const Project& project);

/// Whether a recipe's source names a file and not a built-in model: it has a slash or the extension of a model file.
bool isFileSource(std::string_view source);
Project withSourcesRelativeTo(Project project, const std::string& folder);
Project withSourcesResolved(Project project, const std::string& folder);

/// Writes beside the file, syncs, renames over it, syncs the folder: a crash leaves the old file or the new one.
/// Follows a symbolic link to its target, keeps the permissions of a file that is there. Fails with the system's reason
/// (no space, no permission, read-only, folder missing) and leaves nothing behind.
Expected<void> saveFileAtomically(const std::string& path, std::string_view content);

}  // namespace orrery
