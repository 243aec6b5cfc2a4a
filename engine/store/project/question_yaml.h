#pragma once

// The parts of a question as studies and searches name them. For sources of this folder only.

#include "methods/task.h"
#include "store/project/yaml_reader.h"
#include "workload/workload.h"

#include <filesystem>
#include <string>

namespace orrery::store {

/// The folder of a document, from which its relative paths are taken; empty where it has no file.
std::filesystem::path folderOf(std::string_view file);
std::string resolvedPath(const std::string& path, const std::filesystem::path& folder);
/// An error of a part that knows no file gets the place where the document asks for that part.
Unexpected placedAt(const Place& place, Diagnostic error);

/// `h100-sxm`, or `{id or file, name, set: {path: value}}`. Refuses a design that validation finds broken.
Expected<Hardware> readDesign(const YamlNode& item, const Place& place, const std::filesystem::path& folder,
                              YamlContext& context);

struct NamedRecipe {
    WorkloadRecipe recipe;
    std::string name;  ///< empty: the model's own
};
/// `llama-3-8b`, or `{source, name, batch, …, what_if}`. Loads nothing yet.
Expected<NamedRecipe> readModel(const YamlNode& item, const Place& place, const std::filesystem::path& folder,
                                YamlContext& context);
/// `pass`, `training-step(…)`, or a file of serving.
Expected<Task> readTaskText(const std::string& text, const Place& place, const std::filesystem::path& folder);

}  // namespace orrery::store
