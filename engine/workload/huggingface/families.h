#pragma once

// Model families by `model_type`. Keys that a config may leave out get the value that the transformers library gives
// them; sizes that define a model (layers, hidden size, heads, vocabulary) must be there.

#include "base/text/json_file.h"
#include "workload/models/transformer.h"

#include <string_view>
#include <vector>

namespace orrery {

struct ModelFamily {
    std::string_view type;  ///< `model_type`
    void (*read)(JsonReader& json, TransformerConfig& config);
};
const std::vector<ModelFamily>& modelFamilies();

/// What to do about a value that makes no sense, for the JsonReader of a config.
inline constexpr std::string_view huggingFaceHint = "compare with the model's published config.json";

}  // namespace orrery
