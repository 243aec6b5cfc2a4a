#pragma once

// Decoder and encoder language models from one description. A built-in model is a constant of this struct with its
// source (language_models.cpp); a Hugging Face config.json is read into the same struct (huggingface.cpp).
//
// Conventions of the graph:
//   Forward, TrainingForward  all tokens of the sequence, logits of every token, no KV cache
//   Prefill    all tokens, keys and values written to the cache, logits of the last token alone (as serving engines do)
//   Decode     one new token per sequence; reads `sequence` cached tokens, writes one
//   QKV and gate/up projections are one matrix product each, as serving engines fuse them. Layers of one sort (dense or
//   of experts, windowed or not) are stored once, with `repeat`. Attention with latent KV (MLA) expands keys and values
//   in prefill and uses the absorbed form in decode (DeepSeek-V2, arXiv:2405.04434, section 2.1).

#include "workload/importers.h"

#include <cstdint>
#include <string>
#include <vector>

namespace orrery {

struct TransformerConfig {
    enum class Norm : std::uint8_t { Rms, Layer };
    enum class Order : std::uint8_t {
        Pre,       ///< norm before attention and before the feed-forward part
        Post,      ///< norm after each residual addition (BERT, OPT-350m)
        Sandwich,  ///< both before and after each part (Gemma 2 and 3)
        Parallel,  ///< attention and feed-forward read the same input's norms (GPT-NeoX)
    };

    std::string name;
    std::int64_t layers = 0, hidden = 0, heads = 0, kvHeads = 0, headDim = 0, intermediate = 0, vocabulary = 0;
    std::int64_t maxPositions = 0;
    std::int64_t learnedPositions = 0;  ///< rows of a learned position table; 0: rotary
    bool linearBias = false;            ///< positions by biases on scores (ALiBi): neither a table nor rotary
    std::int64_t tokenTypes = 0;        ///< rows of BERT's segment table
    std::int64_t embeddingDim = 0;      ///< if it differs from hidden (OPT-350m), else 0
    std::string activation = "SiLU";    ///< a type of operator_types.h: of the gate, if gated
    bool gated = true;                  ///< activation(gate) × up
    Norm norm = Norm::Rms;
    Order order = Order::Pre;
    bool encoder = false;  ///< bidirectional, no cache, no head
    bool embeddingNorm = false, finalNorm = true, pooler = false, head = true, tiedHead = false;
    bool qkvBias = false, outputBias = false, mlpBias = false;
    bool queryKeyNorm = false;
    bool embeddingScale = false;  ///< embeddings × √hidden (Gemma)
    bool logitSoftCap = false;
    bool residualDropout = false, attentionDropout = false;  ///< while training

    std::int64_t window = 0;     ///< tokens that a windowed layer sees; 0: none
    std::vector<bool> windowed;  ///< per layer; empty: all, if window > 0

    std::int64_t experts = 0, expertsPerToken = 0, expertIntermediate = 0;
    /// Of a part of a model, whose `experts` stand on one of so many devices: a router chooses among those of all. The
    /// tokens of so many copies of the model come to them.
    std::int64_t expertDevices = 1, expertCopies = 1;
    std::int64_t sharedIntermediate = 0;  ///< of all shared experts together
    std::int64_t sharedExperts = 0;
    bool sharedGate = false;        ///< Qwen2-MoE weighs the shared expert by a gate
    bool routerBias = false;        ///< DeepSeek-V3's load-balancing bias, one number per expert
    std::vector<bool> expertLayer;  ///< per layer; empty: all, if experts > 0

    std::int64_t latentKv = 0;     ///< kv_lora_rank; 0: no latent attention
    std::int64_t latentQuery = 0;  ///< q_lora_rank; 0: queries are projected directly
    std::int64_t ropeDim = 0, nopeDim = 0, valueDim = 0;

    bool latent() const { return latentKv > 0; }
};

/// The sequence that is asked about: the options', else the model's positions, 2048 at most.
std::int64_t usualSequence(const TransformerConfig& config, const WorkloadOptions& options);

/// The graph of a configuration. Warns if the sequence exceeds the positions the model was made for. Fails if an
/// encoder is asked to prefill or decode.
Expected<ImportedGraph> buildTransformer(const TransformerConfig& config, const WorkloadOptions& options);

/// Share of `experts` experts that at least one of `tokens` tokens chooses, if each chooses `perToken` of them evenly
/// and independently: 1 - (1 - perToken/experts)^tokens.
double expectedExpertShare(double experts, double perToken, double tokens);

}  // namespace orrery
