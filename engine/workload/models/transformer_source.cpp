#include "workload/models/transformer_source.h"

#include "workload/models/catalogue.h"

#include <fmt/format.h>

namespace orrery {

namespace {

Unexpected notADecoder(const std::string& name) {
    return fail("workload.not-a-decoder", fmt::format("{} is no language model that decodes token by token", name),
                "a decoder transformer: a built-in language model or a Hugging Face config.json",
                "choose another model, such as llama-3-8b", Place{.path = "model"});
}

}  // namespace

Expected<TransformerConfig> transformerConfig(const std::string& source) {
    if (const WorkloadInfo* info = builtinWorkload(source)) {
        for (const BuiltinModel& model : builtinModels()) {
            if (model.info.id != info->id) continue;
            if (!model.transformer || model.transformer->encoder) return notADecoder(info->name);
            return *model.transformer;
        }
    }
    if (!source.ends_with(".json")) {
        // Says what is wrong with the name, as every loader of workloads does.
        auto loaded = loadWorkload({.source = source, .options = {}, .whatIfs = {}});
        if (!loaded) return Unexpected(std::move(loaded.error()));
        return notADecoder((*loaded)->name);
    }
    auto config = transformerOfHuggingFace(source);
    if (config && config->encoder) return notADecoder(config->name);
    return config;
}

}  // namespace orrery
