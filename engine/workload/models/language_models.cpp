// Language models: one configuration each, with its source. All numbers are the published configurations'.

#include "workload/models/catalogue.h"
#include "workload/models/other_models.h"

#include <algorithm>

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

TransformerConfig gpt(std::string name, std::int64_t layers, std::int64_t hidden, std::int64_t heads,
                      std::int64_t positions) {
    TransformerConfig c = llama(std::move(name), layers, hidden, heads, heads, 4 * hidden, 50257, positions);
    c.learnedPositions = positions;
    c.norm = TransformerConfig::Norm::Layer;
    c.activation = "GeluTanh";
    c.gated = false;
    c.tiedHead = true;
    c.qkvBias = c.outputBias = c.mlpBias = true;
    c.residualDropout = c.attentionDropout = true;
    return c;
}

TransformerConfig bert(std::string name, std::int64_t layers, std::int64_t hidden, std::int64_t heads) {
    TransformerConfig c = gpt(std::move(name), layers, hidden, heads, 512);
    c.vocabulary = 30522;
    c.tokenTypes = 2;
    c.activation = "Gelu";
    c.order = TransformerConfig::Order::Post;
    c.encoder = c.embeddingNorm = c.pooler = true;
    c.finalNorm = c.head = false;
    return c;
}

TransformerConfig bloom() {
    TransformerConfig c = llama("BLOOM 176B", 70, 14336, 112, 112, 4 * 14336, 250880, 2048);
    c.linearBias = true;
    c.embeddingNorm = true;
    c.norm = TransformerConfig::Norm::Layer;
    c.activation = "GeluTanh";
    c.gated = false;
    c.tiedHead = true;
    c.qkvBias = c.outputBias = c.mlpBias = true;
    return c;
}

TransformerConfig mixtral() {
    TransformerConfig c = llama("Mixtral 8x7B", 32, 4096, 32, 8, 14336, 32000, 32768);
    c.experts = 8;
    c.expertsPerToken = 2;
    c.expertIntermediate = 14336;
    return c;
}

TransformerConfig qwen3Experts() {
    TransformerConfig c = llama("Qwen3 30B-A3B", 48, 2048, 32, 4, 6144, 151936, 40960);
    c.headDim = 128;
    c.queryKeyNorm = true;
    c.experts = 128;
    c.expertsPerToken = 8;
    c.expertIntermediate = 768;
    return c;
}

TransformerConfig deepSeekV3() {
    TransformerConfig c = llama("DeepSeek-V3", 61, 7168, 128, 128, 18432, 129280, 163840);
    c.headDim = 192;
    c.experts = 256;
    c.expertsPerToken = 8;
    c.expertIntermediate = 2048;
    c.sharedExperts = 1;
    c.sharedIntermediate = 2048;
    c.routerBias = true;
    c.expertLayer.assign(61, true);
    for (int i = 0; i < 3; ++i) c.expertLayer[static_cast<std::size_t>(i)] = false;
    c.latentKv = 512;
    c.latentQuery = 1536;
    c.ropeDim = 64;
    c.nopeDim = 128;
    c.valueDim = 128;
    return c;
}

TransformerConfig gemma2() {
    TransformerConfig c = llama("Gemma 2 9B", 42, 3584, 16, 8, 14336, 256000, 8192);
    c.headDim = 256;
    c.activation = "GeluTanh";
    c.order = TransformerConfig::Order::Sandwich;
    c.tiedHead = c.embeddingScale = c.logitSoftCap = true;
    c.window = 4096;
    for (int i = 0; i < 42; ++i) c.windowed.push_back(i % 2 == 0);
    return c;
}

BuiltinModel transformer(std::string id, TransformerConfig config, std::string description, std::string source) {
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
    model.build = [config](const WorkloadOptions& options) { return buildTransformer(config, options); };
    model.transformer = std::make_shared<const TransformerConfig>(std::move(config));
    return model;
}

BuiltinModel mamba(std::string id, MambaConfig config) {
    BuiltinModel model;
    model.info.id = std::move(id);
    model.info.name = config.name;
    model.info.group = "Language";
    model.info.description = "Selective state-space model: no attention, a state of constant size";
    model.info.hasSequence = true;
    model.info.hasPhases = true;
    model.info.usual.sequence = 2048;
    model.info.usual.phase = Phase::Prefill;
    model.info.source = "Gu and Dao, arXiv:2312.00752; config.json of state-spaces/mamba";
    model.build = [config = std::move(config)](const WorkloadOptions& options) { return buildMamba(config, options); };
    return model;
}

}  // namespace

std::vector<BuiltinModel> languageModels() {
    const std::string llama2 = "Touvron et al., arXiv:2307.09288; config.json of meta-llama";
    const std::string llama3 = "Grattafiori et al., arXiv:2407.21783; config.json of meta-llama";
    const std::string devlin = "Devlin et al., NAACL 2019; config.json of google-bert, uncased";
    std::vector<BuiltinModel> m;
    m.push_back(transformer("bert-base", bert("BERT base", 12, 768, 12), "Encoder of 12 layers", devlin));
    m.push_back(transformer("bert-large", bert("BERT large", 24, 1024, 16), "Encoder of 24 layers", devlin));
    m.push_back(transformer("gpt-2", gpt("GPT-2", 12, 768, 12, 1024), "Decoder of 12 layers",
                            "Radford et al., 2019; config.json of openai-community/gpt2"));
    m.push_back(transformer("gpt-3-175b", gpt("GPT-3 175B", 96, 12288, 96, 2048), "Decoder of 96 layers",
                            "Brown et al., arXiv:2005.14165, table 2.1"));
    m.push_back(transformer("bloom-176b", bloom(), "Decoder of 70 layers, positions by linear biases",
                            "BigScience, arXiv:2211.05100, table 3; config.json of bigscience/bloom"));
    m.push_back(transformer("llama-2-7b", llama("Llama-2 7B", 32, 4096, 32, 32, 11008, 32000, 4096),
                            "Decoder of 32 layers, multi-head attention", llama2));
    m.push_back(transformer("llama-2-13b", llama("Llama-2 13B", 40, 5120, 40, 40, 13824, 32000, 4096),
                            "Decoder of 40 layers, multi-head attention", llama2));
    m.push_back(transformer("llama-2-70b", llama("Llama-2 70B", 80, 8192, 64, 8, 28672, 32000, 4096),
                            "Decoder of 80 layers, 8 key-value heads", llama2));
    m.push_back(transformer("llama-3-8b", llama("Llama-3 8B", 32, 4096, 32, 8, 14336, 128256, 8192),
                            "Decoder of 32 layers, 8 key-value heads", llama3));
    m.push_back(transformer("llama-3-70b", llama("Llama-3 70B", 80, 8192, 64, 8, 28672, 128256, 8192),
                            "Decoder of 80 layers, 8 key-value heads", llama3));
    m.push_back(transformer("llama-3-405b", llama("Llama-3.1 405B", 126, 16384, 128, 8, 53248, 128256, 131072),
                            "Decoder of 126 layers, 8 key-value heads", llama3));
    m.push_back(transformer("mixtral-8x7b", mixtral(), "Mixture of 8 experts, 2 per token",
                            "Jiang et al., arXiv:2401.04088; config.json of mistralai"));
    m.push_back(transformer("qwen3-30b-a3b", qwen3Experts(), "Mixture of 128 experts, 8 per token",
                            "Yang et al., arXiv:2505.09388; config.json of Qwen"));
    m.push_back(transformer("deepseek-v3", deepSeekV3(),
                            "Mixture of 256 experts, 8 per token and one shared; latent attention. Without the layer "
                            "for predicting a second token",
                            "DeepSeek-AI, arXiv:2412.19437; config.json of deepseek-ai"));
    m.push_back(transformer("gemma-2-9b", gemma2(), "Decoder of 42 layers, every other one with a window of 4096",
                            "Gemma Team, arXiv:2408.00118; config.json of google"));
    m.push_back(mamba("mamba-130m", {.name = "Mamba 130M"}));
    m.push_back(mamba("mamba-2.8b", {.name = "Mamba 2.8B", .layers = 64, .hidden = 2560}));
    return m;
}

}  // namespace orrery
