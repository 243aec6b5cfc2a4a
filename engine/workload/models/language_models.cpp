// Language models: one configuration each, with its source. All numbers are the published configurations'.

#include "workload/models/catalogue.h"

namespace orrery {
namespace {

TransformerConfig llama(std::string name, std::int64_t layers, std::int64_t hidden, std::int64_t heads,
                        std::int64_t kvHeads, std::int64_t intermediate, std::int64_t vocabulary,
                        std::int64_t positions) {
    TransformerConfig c;
    c.name = std::move(name);
    c.layers = layers;
    c.hidden = hidden;
    c.heads = heads;
    c.kvHeads = kvHeads;
    c.headDim = hidden / heads;
    c.intermediate = intermediate;
    c.vocabulary = vocabulary;
    c.maxPositions = positions;
    return c;
}

BuiltinModel decoder(std::string id, TransformerConfig config, std::string description, std::string source) {
    BuiltinModel model;
    model.info.id = std::move(id);
    model.info.name = config.name;
    model.info.group = "Language";
    model.info.description = std::move(description);
    model.info.hasSequence = true;
    model.info.hasPhases = !config.encoder;
    model.info.usual.sequence = std::min<std::int64_t>(config.maxPositions, 2048);
    model.info.usual.phase = config.encoder ? Phase::Forward : Phase::Prefill;
    model.info.source = std::move(source);
    model.build = [config = std::move(config)](const WorkloadOptions& options) {
        return buildTransformer(config, options);
    };
    return model;
}

}  // namespace

std::vector<BuiltinModel> languageModels() {
    const std::string llama2 = "Touvron et al., arXiv:2307.09288; meta-llama model card and config.json";
    std::vector<BuiltinModel> models;
    models.push_back(decoder("llama-2-7b", llama("Llama-2 7B", 32, 4096, 32, 32, 11008, 32000, 4096),
                             "Decoder of 32 layers, multi-head attention", llama2));
    return models;
}

}  // namespace orrery
