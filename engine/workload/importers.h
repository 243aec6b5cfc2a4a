#pragma once

#include "workload/workload.h"

#include <string>
#include <string_view>

namespace orrery {

struct ImportedGraph {
    std::string name;
    Graph graph;
    Diagnostics warnings;
    std::optional<TransformerFacts> transformer;
};

/// Reads an ONNX file: parses and checks with libonnx where it knows the opset, binds symbols (unbound ones become 1,
/// with a warning naming them), infers every shape by our own rules with data propagation through shape arithmetic,
/// folds constants and drops dead code. External or absent weights are fine: only shapes count. Operators without a
/// rule stay, priced by their bytes, listed in a warning.
Expected<ImportedGraph> importOnnx(const std::string& path, const Bindings& bindings = {});
/// A Hugging Face config.json, by `model_type`.
Expected<ImportedGraph> importHuggingFace(const std::string& path, const WorkloadOptions& options);
/// A `orrery: workload/1` document.
Expected<ImportedGraph> importWorkloadYaml(const std::string& path, const WorkloadOptions& options);
/// A built-in model by id.
Expected<ImportedGraph> buildModel(std::string_view id, const WorkloadOptions& options);

/// One importer of files: adding a format means one more row in importers.cpp.
struct Importer {
    std::string_view name;        ///< `ONNX`
    std::string_view extensions;  ///< `onnx`
    bool (*accepts)(const std::string& path);
    Expected<ImportedGraph> (*read)(const std::string& path, const WorkloadOptions& options);
};
const std::vector<Importer>& importers();

}  // namespace orrery
