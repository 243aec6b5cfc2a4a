#pragma once

// The kernels of one iteration of an inference engine on one of its devices, in groups that depend on different
// numbers: all tokens, prompt tokens, decoded tokens, sampled rows, attention. They come from the same graphs as those
// of a model-level method, so that both say the same of the same work.

#include "mapping/shard.h"
#include "methods/model/launches.h"
#include "methods/model/software_stack.h"
#include "serving/fleet/expert_routing.h"
#include "workload/models/transformer_source.h"

#include <cstdint>
#include <string>
#include <vector>

namespace orrery {

enum class IterationGroup : std::uint8_t {
    Tokens,      ///< embedding, norms, projections, feed-forward, all-reduces: by all tokens
    Experts,     ///< grouped products: by all tokens (share of one device where experts are spread)
    PromptOnly,  ///< MLA's expansion of keys and values: by prompt tokens and what stands before them
    DecodeOnly,  ///< MLA's absorbed products: by decoded tokens
    Head         ///< output head, gather of logits, sampler: by sampled rows
};
inline constexpr int iterationGroupCount = 5;

/// A model as a replica runs it.
struct ServedTransformer {
    TransformerConfig config;  ///< the whole
    Plan plan;
    DType weights = DType::BF16, activations = DType::BF16, kv = DType::BF16;
    Fusion fusion = Fusion::Epilogue;
    CollectiveLibrary collectives = CollectiveLibrary::Custom;
    bool sampler = true;
    bool flashDecoding = false;  ///< Kernel::flashDecoding of its decode attention
    /// Which experts tokens choose. All wait for the slowest device: it is taken to have the most (token, expert) pairs
    /// and the most distinct experts of any, spread evenly over those. Balanced on one wave: as graphs of the model.
    ExpertRouting routing;
    /// Ranks of a wave. Above 1 the experts are spread whole over all their devices, and every layer with experts
    /// gathers the tokens of all ranks and scatters their sums back (vLLM's data-parallel engines; counted as
    /// LLMServingSim 2 does).
    std::int64_t dataParallel = 1;
};

class IterationLaunches {
public:
    static Expected<IterationLaunches> make(const ServedTransformer& model);
    /// One pass over all layers (all stages together), counts included; `extent` tokens or rows.
    std::vector<Launch> of(IterationGroup group, std::int64_t extent) const;
    /// Attention of `sequences` chunks of `queries` tokens after `context` cached ones each; of one new token each.
    /// One launch per sort of layer (windowed or not).
    std::vector<Launch> prefill(std::int64_t sequences, std::int64_t queries, std::int64_t context) const;
    std::vector<Launch> decode(std::int64_t sequences, std::int64_t context) const;
    /// Hand-over of activations from one pipeline stage to the next.
    Launch handOver(std::int64_t tokens) const;
    bool has(IterationGroup group) const { return present_[static_cast<std::size_t>(group)]; }

    const ServedTransformer& model() const { return model_; }
    const TransformerConfig& shard() const { return shard_; }
    /// Of one tensor-parallel device, all stages together.
    double parameters() const { return parameters_; }
    double weightBytes() const { return weightBytes_; }
    double kvBytesPerToken() const { return kvBytesPerToken_; }
    /// Of the whole model.
    const TransformerFacts& facts() const { return facts_; }

private:
    /// Experts where they are not as a graph of the model has them.
    bool routed() const { return model_.dataParallel > 1 || model_.routing.kind != RoutingKind::Balanced; }
    ExpertLoad loadOf(std::int64_t tokens) const;
    double expertLayers() const;
    std::vector<Launch> graphLaunches(std::int64_t batch, std::int64_t sequence, Phase phase,
                                      std::vector<IterationGroup>& groups,
                                      std::vector<std::string>* names = nullptr) const;

    ServedTransformer model_;
    TransformerConfig shard_;
    TransformerFacts facts_;
    double parameters_ = 0, weightBytes_ = 0, kvBytesPerToken_ = 0;
    std::vector<Launch> prefill_, decode_;  ///< attention, extents to be set
    bool present_[iterationGroupCount] = {};
};

}  // namespace orrery
