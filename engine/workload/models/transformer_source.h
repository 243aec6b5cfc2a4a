#pragma once

// The configuration behind the name or file of a language model.

#include "workload/models/transformer.h"

#include <string>

namespace orrery {

/// The configuration of a built-in language model (by id or name) or of a Hugging Face config.json. Fails with
/// `workload.unknown`, with `workload.not-a-decoder` for models that are no decoder transformers, and as the reader
/// does.
Expected<TransformerConfig> transformerConfig(const std::string& source);
/// Of a Hugging Face config.json (huggingface/huggingface.cpp).
Expected<TransformerConfig> transformerOfHuggingFace(const std::string& path);

}  // namespace orrery
