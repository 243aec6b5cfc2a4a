#include "workload/huggingface/families.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace orrery {
namespace {

// Far above any model there is, and low enough that products of three of them stay finite and exact.
constexpr std::int64_t mostLayers = 10'000, mostWidth = 1'000'000, mostHeads = 100'000, mostRows = 100'000'000;
constexpr std::int64_t mostExperts = 100'000, mostTokens = 1'000'000'000;

std::string activationOf(JsonReader& json, const char* key, const std::string& fallback) {
    static constexpr std::pair<std::string_view, std::string_view> names[]{
        {"silu", "SiLU"},           {"swish", "SiLU"},         {"gelu", "Gelu"},
        {"gelu_new", "GeluTanh"},   {"gelu_fast", "GeluTanh"}, {"gelu_pytorch_tanh", "GeluTanh"},
        {"gelu_python", "Gelu"},    {"relu", "Relu"},          {"relu2", "ReluSquared"},
        {"quick_gelu", "QuickGelu"}};
    const std::string name = json.text(key, fallback);
    for (const auto& [theirs, ours] : names) {
        if (theirs == name) return std::string(ours);
    }
    json.refuse(key, fmt::format("the activation “{}” is not known", name), "silu, gelu, gelu_new, relu, …",
                "compare with the model's published config.json");
    return "SiLU";
}

/// A probability, and what the library takes where a config says none.
void readDropout(JsonReader& json, TransformerConfig& c, const char* residual, const char* attention,
                 double usual = 0.1, double usualAttention = 0.1) {
    c.residualDropout = json.fraction(residual, usual) > 0;
    c.attentionDropout = json.fraction(attention, usualAttention) > 0;
}

void readSizes(JsonReader& json, TransformerConfig& c) {
    c.layers = json.required("num_hidden_layers", mostLayers);
    c.hidden = json.required("hidden_size", mostWidth);
    c.heads = json.required("num_attention_heads", mostHeads);
    c.vocabulary = json.required("vocab_size", mostRows);
}

/// Head size from the config or from hidden_size, and the groups of heads.
void readHeads(JsonReader& json, TransformerConfig& c, std::int64_t headDimDefault = 0) {
    c.kvHeads = json.whole("num_key_value_heads", 1, mostHeads, c.heads);
    c.headDim = json.whole("head_dim", 1, mostWidth, headDimDefault);
    if (c.headDim == 0) {
        if (c.hidden % c.heads != 0) {
            json.refuse("num_attention_heads",
                        fmt::format("hidden_size {} is not a multiple of num_attention_heads {}", c.hidden, c.heads),
                        "whole numbers per head, or a head_dim", "compare with the model's published config.json");
        }
        c.headDim = std::max<std::int64_t>(1, c.hidden / c.heads);
    }
    if (c.heads % c.kvHeads != 0) {
        json.refuse("num_key_value_heads",
                    fmt::format("{} heads cannot share {} key-value heads evenly", c.heads, c.kvHeads),
                    "a divisor of num_attention_heads", "compare with the model's published config.json");
    }
}

void readLlama(JsonReader& json, TransformerConfig& c) {
    readSizes(json, c);
    readHeads(json, c);
    c.intermediate = json.required("intermediate_size", mostWidth);
    c.maxPositions = json.whole("max_position_embeddings", 1, mostTokens, 2048);
    c.activation = activationOf(json, "hidden_act", "silu");
    c.tiedHead = json.flag("tie_word_embeddings", false);
    c.qkvBias = c.outputBias = json.flag("attention_bias", false);
    c.mlpBias = json.flag("mlp_bias", false);
}

/// Newer configs name every layer's attention; older ones give a rule, already in `c.windowed`.
void readLayerTypes(JsonReader& json, TransformerConfig& c) {
    const auto types = json.texts("layer_types");
    if (types.empty()) return;
    if (static_cast<std::int64_t>(types.size()) != c.layers) {
        json.refuse("layer_types", fmt::format("{} entries for {} layers", types.size(), c.layers),
                    "one entry per layer", "compare with num_hidden_layers");
        return;
    }
    c.windowed.clear();
    for (const std::string& type : types) {
        if (type != "full_attention" && type != "sliding_attention") {
            json.refuse("layer_types", fmt::format("layers of type “{}” are not known", type),
                        "full_attention or sliding_attention", "this model needs a builder of its own");
            return;
        }
        c.windowed.push_back(type == "sliding_attention");
    }
}

void readMistral(JsonReader& json, TransformerConfig& c) {
    readLlama(json, c);
    c.window = json.whole("sliding_window", 1, mostTokens, 0);
}

void readPhi3(JsonReader& json, TransformerConfig& c) {
    readMistral(json, c);
}

void readQwen2(JsonReader& json, TransformerConfig& c) {
    readLlama(json, c);
    c.maxPositions = json.whole("max_position_embeddings", 1, mostTokens, 32768);
    c.qkvBias = true;
    c.outputBias = false;
    if (json.flag("use_sliding_window", false)) {
        c.window = json.whole("sliding_window", 1, mostTokens, 4096);
        const std::int64_t full = json.whole("max_window_layers", 0, mostLayers, 28);
        for (std::int64_t i = 0; i < c.layers; ++i) c.windowed.push_back(i >= full);
        readLayerTypes(json, c);
    }
}

void readQwen3(JsonReader& json, TransformerConfig& c) {
    readQwen2(json, c);
    c.qkvBias = c.outputBias = json.flag("attention_bias", false);
    readHeads(json, c, 128);
    c.queryKeyNorm = true;
}

void checkExperts(JsonReader& json, const TransformerConfig& c) {
    if (c.expertsPerToken > c.experts) {
        json.refuse("num_experts_per_tok",
                    fmt::format("a token cannot choose {} of {} experts", c.expertsPerToken, c.experts),
                    "at most the number of experts", "compare with the model's published config.json");
    }
}

void readMixtral(JsonReader& json, TransformerConfig& c) {
    readMistral(json, c);
    c.experts = json.whole("num_local_experts", 1, mostExperts, 8);
    c.expertsPerToken = json.whole("num_experts_per_tok", 1, mostExperts, 2);
    c.expertIntermediate = c.intermediate;
    checkExperts(json, c);
}

void readQwenExperts(JsonReader& json, TransformerConfig& c, std::int64_t experts, std::int64_t perToken,
                     std::int64_t intermediate) {
    c.experts = json.whole("num_experts", 1, mostExperts, experts);
    c.expertsPerToken = json.whole("num_experts_per_tok", 1, mostExperts, perToken);
    c.expertIntermediate = json.whole("moe_intermediate_size", 1, mostWidth, intermediate);
    checkExperts(json, c);
    const std::int64_t step = json.whole("decoder_sparse_step", 1, mostLayers, 1);
    const auto dense = json.wholes("mlp_only_layers", mostLayers);
    for (std::int64_t i = 0; i < c.layers; ++i) {
        const bool only = std::find(dense.begin(), dense.end(), i) != dense.end();
        c.expertLayer.push_back(!only && (i + 1) % step == 0);
    }
}

void readQwen2Experts(JsonReader& json, TransformerConfig& c) {
    readQwen2(json, c);
    readQwenExperts(json, c, 60, 4, 1408);
    c.sharedIntermediate = json.whole("shared_expert_intermediate_size", 0, mostWidth, 5632);
    c.sharedExperts = c.sharedIntermediate > 0 ? 1 : 0;
    c.sharedGate = c.sharedExperts > 0;
}

void readQwen3Experts(JsonReader& json, TransformerConfig& c) {
    readQwen3(json, c);
    // Unlike Qwen3, its mixture takes the head size from hidden_size where the config has none.
    readHeads(json, c);
    readQwenExperts(json, c, 128, 8, 768);
}

void readGemma(JsonReader& json, TransformerConfig& c) {
    readSizes(json, c);
    readHeads(json, c, 256);
    c.intermediate = json.required("intermediate_size", mostWidth);
    c.maxPositions = json.whole("max_position_embeddings", 1, mostTokens, 8192);
    // The key hidden_activation overrides hidden_act, which early configs set to a form that was never used.
    c.activation = activationOf(json, "hidden_activation", "gelu_pytorch_tanh");
    c.tiedHead = json.flag("tie_word_embeddings", true);
    c.qkvBias = c.outputBias = json.flag("attention_bias", false);
    c.embeddingScale = true;
}

void readGemma2(JsonReader& json, TransformerConfig& c) {
    readGemma(json, c);
    c.order = TransformerConfig::Order::Sandwich;
    c.logitSoftCap = true;
    c.window = json.whole("sliding_window", 1, mostTokens, 4096);
    for (std::int64_t i = 0; i < c.layers; ++i) c.windowed.push_back(i % 2 == 0);
    readLayerTypes(json, c);
}

void readGemma3(JsonReader& json, TransformerConfig& c) {
    // Gemma 3's nested text configs leave out whatever equals the library's defaults, sizes included.
    c.layers = json.whole("num_hidden_layers", 1, mostLayers, 26);
    c.hidden = json.whole("hidden_size", 1, mostWidth, 2304);
    c.heads = json.whole("num_attention_heads", 1, mostHeads, 8);
    c.vocabulary = json.whole("vocab_size", 1, mostRows, 262208);
    c.intermediate = json.whole("intermediate_size", 1, mostWidth, 9216);
    readHeads(json, c, 256);
    if (!json.has("num_key_value_heads")) c.kvHeads = 4;
    c.maxPositions = json.whole("max_position_embeddings", 1, mostTokens, 131072);
    c.activation = activationOf(json, "hidden_activation", "gelu_pytorch_tanh");
    c.tiedHead = json.flag("tie_word_embeddings", true);
    c.embeddingScale = c.queryKeyNorm = true;
    c.order = TransformerConfig::Order::Sandwich;
    c.window = json.whole("sliding_window", 1, mostTokens, 4096);
    const std::int64_t pattern = json.whole("sliding_window_pattern", 1, mostLayers, 6);
    for (std::int64_t i = 0; i < c.layers; ++i) c.windowed.push_back((i + 1) % pattern != 0);
    readLayerTypes(json, c);
}

void useLayerNorm(TransformerConfig& c) {
    c.norm = TransformerConfig::Norm::Layer;
    c.gated = false;
    c.qkvBias = c.outputBias = c.mlpBias = true;
}

void readGpt2(JsonReader& json, TransformerConfig& c) {
    c.layers = json.required("n_layer", mostLayers);
    c.hidden = json.required("n_embd", mostWidth);
    c.heads = json.required("n_head", mostHeads);
    c.vocabulary = json.required("vocab_size", mostRows);
    readHeads(json, c);
    c.kvHeads = c.heads;
    c.intermediate = json.whole("n_inner", 1, mostWidth, 4 * c.hidden);
    c.maxPositions = c.learnedPositions = json.whole("n_positions", 1, mostTokens, 1024);
    c.activation = activationOf(json, "activation_function", "gelu_new");
    readDropout(json, c, "resid_pdrop", "attn_pdrop");
    c.tiedHead = json.flag("tie_word_embeddings", true);
    useLayerNorm(c);
}

void readGptNeoX(JsonReader& json, TransformerConfig& c) {
    readSizes(json, c);
    readHeads(json, c);
    c.kvHeads = c.heads;
    c.intermediate = json.required("intermediate_size", mostWidth);
    c.maxPositions = json.whole("max_position_embeddings", 1, mostTokens, 2048);
    c.activation = activationOf(json, "hidden_act", "gelu");
    c.tiedHead = json.flag("tie_word_embeddings", false);
    useLayerNorm(c);
    c.qkvBias = c.outputBias = json.flag("attention_bias", true);
    if (json.flag("use_parallel_residual", true)) c.order = TransformerConfig::Order::Parallel;
}

void readOpt(JsonReader& json, TransformerConfig& c) {
    readSizes(json, c);
    readHeads(json, c);
    c.kvHeads = c.heads;
    c.intermediate = json.required("ffn_dim", mostWidth);
    c.maxPositions = json.whole("max_position_embeddings", 1, mostTokens, 2048);
    c.learnedPositions = c.maxPositions + 2;  // its table keeps two rows for padding
    c.embeddingDim = json.whole("word_embed_proj_dim", 1, mostWidth, c.hidden);
    c.activation = activationOf(json, "activation_function", "relu");
    readDropout(json, c, "dropout", "attention_dropout", 0.1, 0);
    c.tiedHead = json.flag("tie_word_embeddings", true);
    useLayerNorm(c);
    c.qkvBias = c.outputBias = c.mlpBias = json.flag("enable_bias", true);
    if (!json.flag("do_layer_norm_before", true)) {
        c.order = TransformerConfig::Order::Post;
        c.finalNorm = false;
    }
}

void readBloom(JsonReader& json, TransformerConfig& c) {
    c.layers =
        json.has("n_layer") ? json.required("n_layer", mostLayers) : json.required("num_hidden_layers", mostLayers);
    c.hidden = json.has("n_embed") ? json.required("n_embed", mostWidth) : json.required("hidden_size", mostWidth);
    c.heads = json.has("n_head") ? json.required("n_head", mostHeads) : json.required("num_attention_heads", mostHeads);
    c.vocabulary = json.required("vocab_size", mostRows);
    readHeads(json, c);
    c.kvHeads = c.heads;
    c.intermediate = 4 * c.hidden;
    c.maxPositions = json.whole("seq_length", 1, mostTokens, 2048);
    readDropout(json, c, "hidden_dropout", "attention_dropout", 0, 0);
    c.activation = "GeluTanh";
    c.tiedHead = json.flag("tie_word_embeddings", true);
    c.linearBias = c.embeddingNorm = true;
    useLayerNorm(c);
}

void readBert(JsonReader& json, TransformerConfig& c) {
    readSizes(json, c);
    readHeads(json, c);
    c.kvHeads = c.heads;
    c.intermediate = json.required("intermediate_size", mostWidth);
    c.maxPositions = c.learnedPositions = json.whole("max_position_embeddings", 1, mostTokens, 512);
    c.tokenTypes = json.whole("type_vocab_size", 1, mostRows, 2);
    readDropout(json, c, "hidden_dropout_prob", "attention_probs_dropout_prob");
    c.activation = activationOf(json, "hidden_act", "gelu");
    useLayerNorm(c);
    c.order = TransformerConfig::Order::Post;
    c.encoder = c.embeddingNorm = c.pooler = true;
    c.finalNorm = c.head = false;
}

void readDeepSeek(JsonReader& json, TransformerConfig& c) {
    readSizes(json, c);
    c.kvHeads = json.whole("num_key_value_heads", 1, mostHeads, c.heads);
    c.intermediate = json.required("intermediate_size", mostWidth);
    c.maxPositions = json.whole("max_position_embeddings", 1, mostTokens, 2048);
    c.activation = activationOf(json, "hidden_act", "silu");
    c.tiedHead = json.flag("tie_word_embeddings", false);
    c.qkvBias = c.outputBias = json.flag("attention_bias", false);
    c.latentKv = json.required("kv_lora_rank", mostWidth);
    c.latentQuery = json.whole("q_lora_rank", 0, mostWidth, 0);  // null: queries are projected directly
    c.nopeDim = json.required("qk_nope_head_dim", mostWidth);
    c.ropeDim = json.required("qk_rope_head_dim", mostWidth);
    c.valueDim = json.required("v_head_dim", mostWidth);
    c.headDim = c.nopeDim + c.ropeDim;
    c.experts = json.whole("n_routed_experts", 0, mostExperts, 0);
    if (c.experts == 0) return;
    c.expertsPerToken = json.required("num_experts_per_tok", mostExperts);
    c.expertIntermediate = json.required("moe_intermediate_size", mostWidth);
    c.sharedExperts = json.whole("n_shared_experts", 0, mostExperts, 0);
    c.sharedIntermediate = c.sharedExperts * c.expertIntermediate;
    checkExperts(json, c);
    const std::int64_t dense = json.whole("first_k_dense_replace", 0, mostLayers, 0);
    const std::int64_t every = json.whole("moe_layer_freq", 1, mostLayers, 1);
    for (std::int64_t i = 0; i < c.layers; ++i) c.expertLayer.push_back(i >= dense && i % every == 0);
}

void readDeepSeekV3(JsonReader& json, TransformerConfig& c) {
    readDeepSeek(json, c);
    c.routerBias = c.experts > 0;
}

}  // namespace

const std::vector<ModelFamily>& modelFamilies() {
    static const std::vector<ModelFamily> families{
        {"bert", readBert},
        {"bloom", readBloom},
        {"deepseek_v2", readDeepSeek},
        {"deepseek_v3", readDeepSeekV3},
        {"gemma", readGemma},
        {"gemma2", readGemma2},
        {"gemma3_text", readGemma3},
        {"gpt2", readGpt2},
        {"gpt_neox", readGptNeoX},
        {"llama", readLlama},
        {"mistral", readMistral},
        {"mixtral", readMixtral},
        {"opt", readOpt},
        {"phi3", readPhi3},
        {"qwen2", readQwen2},
        {"qwen2_moe", readQwen2Experts},
        {"qwen3", readQwen3},
        {"qwen3_moe", readQwen3Experts},
    };
    return families;
}

}  // namespace orrery
