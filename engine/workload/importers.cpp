#include "workload/importers.h"

#include "base/text/words.h"
#include "workload/ncnn/import.h"
#include "workload/onnx/import.h"

#include <fmt/format.h>

#include <filesystem>
#include <string>

namespace orrery {
namespace {

bool endsWith(const std::string& path, std::initializer_list<std::string_view> endings) {
    const std::string ending = lower(std::filesystem::path(path).extension().string());
    for (const std::string_view candidate : endings) {
        if (ending == candidate) return true;
    }
    return false;
}

bool isYaml(const std::string& path) {
    return endsWith(path, {".yaml", ".yml"});
}

bool isJson(const std::string& path) {
    return endsWith(path, {".json"});
}

bool isOnnx(const std::string& path) {
    return endsWith(path, {".onnx"});
}

bool isParam(const std::string& path) {
    return endsWith(path, {".param"});
}

Expected<ImportedGraph> readOnnx(const std::string& path, const WorkloadOptions& options) {
    auto imported = importOnnx(path, options.bindings, options.batch);
    if (!imported) return imported;
    imported->graph.keepsActivations = options.phase == Phase::TrainingForward;
    if (options.activationFormat() != WorkloadOptions{}.activationFormat()) {
        imported->warnings.push_back(
            warning("onnx.types",
                    fmt::format("the types of an ONNX file stand in it: activations of {} were not taken",
                                toText(options.activationFormat())),
                    "choose one type for the whole graph among the model's options, or by changes such as "
                    "`{retype: MatMul, type: int8}`",
                    Place{path}));
    }
    return imported;
}

}  // namespace

const std::vector<Importer>& importers() {
    static const std::vector<Importer> all{
        {"ONNX", "onnx", isOnnx, readOnnx},
        {"Hugging Face config", "json", isJson, importHuggingFace},
        {"Orrery workload", "yaml", isYaml, importWorkloadYaml},
        {"ncnn", "param", isParam, importNcnn},
    };
    return all;
}

}  // namespace orrery
