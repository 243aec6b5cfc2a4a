#pragma once

// A language model as one device of a replica sees it, and the configuration behind a source.

#include "workload/models/transformer.h"

#include <cstdint>
#include <string>

namespace orrery {

/// The configuration of a built-in language model (by id or name) or of a Hugging Face config.json. Fails with
/// `workload.unknown`, with `workload.not-a-decoder` for models that are no decoder transformers, and as the reader
/// does.
Expected<TransformerConfig> transformerConfig(const std::string& source);
/// Of a Hugging Face config.json (huggingface/huggingface.cpp).
Expected<TransformerConfig> transformerOfHuggingFace(const std::string& path);

/// How one replica is spread over devices.
struct TransformerPlan {
    std::int64_t tensor = 1;    ///< heads, widths and vocabulary of a layer over so many devices (Shoeybi et al. 2019)
    std::int64_t pipeline = 1;  ///< layers over so many stages
    std::int64_t expert = 1;    ///< whole experts over so many of the tensor-parallel devices, instead of their widths
    bool operator==(const TransformerPlan&) const = default;
};

/// What one tensor-parallel device holds: its share of heads, of the intermediate width (or of the experts) and of the
/// vocabulary. Key-value heads fewer than the devices are held more than once, latent caches by all. Layers are all
/// there. Fails with `serving.bad-plan` where something does not divide.
Expected<TransformerConfig> shardOf(const TransformerConfig& config, const TransformerPlan& plan);

}  // namespace orrery
