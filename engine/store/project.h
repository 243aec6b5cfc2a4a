#pragma once

// A project: one YAML text file, diffable, versioned, unknown keys kept. Hardware designs stand in it whole; workloads
// as recipes; scenarios by name.

#include "base/diagnostic.h"
#include "hardware/component.h"
#include "workload/workload.h"

#include <string>
#include <string_view>
#include <vector>

namespace orrery {

struct ProjectWorkload {
    std::string name;
    WorkloadRecipe recipe;
    bool operator==(const ProjectWorkload&) const = default;
};

struct ScenarioRef {
    std::string hardware;  ///< name of a design in the project
    std::string workload;  ///< name of a workload in the project
    bool operator==(const ScenarioRef&) const = default;
};

struct Project {
    std::string name;
    std::vector<Hardware> hardware;
    std::vector<ProjectWorkload> workloads;
    std::vector<ScenarioRef> scenarios;  ///< the first is the one that the live views show
    std::vector<std::string> methods;    ///< ids, in the order shown
    std::vector<UnknownKey> unknown;
    bool operator==(const Project&) const = default;
};

struct LoadedProject {
    Project project;
    Diagnostics warnings;      ///< what migrations changed, unknown keys
    std::string migratedFrom;  ///< version, empty if current
};

Expected<LoadedProject> readProject(std::string_view yaml, std::string_view file = {});
Expected<LoadedProject> readProjectFile(const std::string& path);
std::string writeProject(const Project& project);
/// Writes beside the file, syncs, renames over it: a crash leaves the old file or the new one.
Expected<void> saveFileAtomically(const std::string& path, std::string_view content);

}  // namespace orrery
