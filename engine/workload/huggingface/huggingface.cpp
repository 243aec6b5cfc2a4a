#include "workload/huggingface/families.h"
#include "workload/importers.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace orrery {
namespace {

constexpr double mostParameters = 1e15;

std::string nameOf(const std::string& path) {
    const std::filesystem::path file(path);
    const std::string folder = file.parent_path().filename().string();
    return file.filename() == "config.json" && !folder.empty() ? folder : file.stem().string();
}

std::string familyNames() {
    std::string names;
    for (const ModelFamily& family : modelFamilies()) names += (names.empty() ? "" : ", ") + std::string(family.type);
    return names;
}

const ModelFamily* findFamily(std::string_view type) {
    for (const ModelFamily& family : modelFamilies()) {
        if (family.type == type) return &family;
    }
    return nullptr;
}

Expected<TransformerConfig> readConfig(const std::string& path, const JsonFile& file, Diagnostics& warnings) {
    const JsonNode* object = &file.root();
    std::string prefix;
    // A model that also sees or hears keeps its language part in text_config.
    if (const JsonNode* nested = object->find("text_config"); nested && nested->isObject()) {
        object = nested;
        prefix = "text_config.";
        warnings.push_back(warning("huggingface.text-only", "only the language part of this model is read",
                                   "its image or audio encoder adds parameters and work", file.place("text_config")));
    }
    JsonReader json(file, *object, prefix, "huggingface", std::string(huggingFaceHint));
    const std::string type = json.text("model_type", "");
    if (json.problem()) return Unexpected(*json.problem());
    const std::string known = familyNames();
    if (type.empty()) {
        return fail("huggingface.no-model-type", fmt::format("the key {}model_type is missing", prefix),
                    "one of " + known, "is this a model's config.json, not a tokenizer's or a processor's?",
                    Place{.file = path, .line = 1, .path = prefix + "model_type"});
    }
    const ModelFamily* family = findFamily(type);
    if (!family) {
        return fail("huggingface.unknown-model-type",
                    fmt::format("models of type “{}” are not known", type.substr(0, 80)), "one of " + known,
                    "export the model to ONNX and open that", file.place(prefix + "model_type"));
    }
    TransformerConfig config;
    config.name = nameOf(path);
    family->read(json, config);
    if (json.problem()) return Unexpected(*json.problem());

    // Sized by hand first: a hostile config is refused before its graph is built.
    const double widest = static_cast<double>(config.hidden) *
                          (static_cast<double>(config.heads) * static_cast<double>(config.headDim) +
                           static_cast<double>(std::max(config.intermediate, config.expertIntermediate)) *
                               static_cast<double>(std::max<std::int64_t>(1, config.experts)));
    const double size = static_cast<double>(config.layers) * widest +
                        static_cast<double>(config.vocabulary) * static_cast<double>(config.hidden);
    if (size > mostParameters) {
        return fail("huggingface.too-large", fmt::format("the model would have at least {:.3g} parameters", size),
                    fmt::format("at most {:.0e}", mostParameters), "look for a mistyped number",
                    file.place(prefix + "hidden_size"));
    }
    return config;
}

Expected<ImportedGraph> read(const std::string& path, const WorkloadOptions& options) {
    auto file = JsonFile::open(path);
    if (!file) return Unexpected(file.error());
    Diagnostics warnings;
    auto config = readConfig(path, *file, warnings);
    if (!config) return Unexpected(std::move(config.error()));
    auto built = buildTransformer(*config, options);
    if (!built) {
        built.error().place.file = path;
        return built;
    }
    if (const JsonNode* quantised = file->root().find("quantization_config"); quantised && quantised->isObject()) {
        const JsonNode* method = quantised->find("quant_method");
        const std::string name = method && method->isText() ? method->text : "";
        Diagnostic note =
            warning("huggingface.quantised",
                    fmt::format("this checkpoint is stored quantised ({}), but weights are counted as {}",
                                name.empty() ? "unnamed method" : name.substr(0, 40), toText(options.weights)),
                    "set the weights' type to match, if wanted", file->place("quantization_config"));
        note.severity = Severity::Note;
        warnings.push_back(std::move(note));
    }
    built->warnings.insert(built->warnings.begin(), warnings.begin(), warnings.end());
    return built;
}

}  // namespace

Expected<ImportedGraph> importHuggingFace(const std::string& path, const WorkloadOptions& options) try {
    return read(path, options);
} catch (const std::exception& error) {
    return fail("huggingface.failed", fmt::format("the config could not be read: {}", error.what()),
                "a model's config.json", "compare with the model's published config.json", Place{.file = path});
}

Expected<TransformerConfig> transformerOfHuggingFace(const std::string& path) try {
    auto file = JsonFile::open(path);
    if (!file) return Unexpected(file.error());
    Diagnostics warnings;
    return readConfig(path, *file, warnings);
} catch (const std::exception& error) {
    return fail("huggingface.failed", fmt::format("the config could not be read: {}", error.what()),
                "a model's config.json", "compare with the model's published config.json", Place{.file = path});
}

}  // namespace orrery
