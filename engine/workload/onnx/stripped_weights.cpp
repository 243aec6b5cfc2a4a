#include "workload/onnx/builder.h"

#include <array>

namespace orrery::onnx_import {
namespace {

/// Words by which exporters name parameters and nobody names data.
bool namesParameter(std::string_view name) {
    static constexpr std::array<std::string_view, 19> words{".weight",
                                                            ".bias",
                                                            "/weight",
                                                            "/bias",
                                                            "/kernel",
                                                            "/gamma",
                                                            "/beta",
                                                            "in_proj",
                                                            "_proj_weight",
                                                            "_proj_bias",
                                                            ".running_mean",
                                                            ".running_var",
                                                            "moving_mean",
                                                            "moving_variance",
                                                            "class_token",
                                                            "cls_token",
                                                            "pos_embed",
                                                            "position_embedding",
                                                            "relative_position_"};
    if (name.starts_with("onnx::")) return true;  // PyTorch's name for a folded parameter
    for (const std::string_view word : words) {
        if (name.find(word) != std::string_view::npos) return true;
    }
    return false;
}

bool namesState(std::string_view name) {
    for (const std::string_view word : {"past", "cache", "mask", "state", "position_ids", "input_ids"}) {
        if (name.find(word) != std::string_view::npos) return true;
    }
    return false;
}

bool fixed(const ::onnx::ValueInfoProto& input) {
    if (!input.type().has_tensor_type() || !input.type().tensor_type().has_shape()) return false;
    for (const auto& dim : input.type().tensor_type().shape().dim()) {
        if (!dim.has_dim_value()) return false;
    }
    return true;
}

}  // namespace

std::unordered_set<std::string_view> strippedWeights(const ::onnx::GraphProto& graph) {
    std::unordered_set<std::string_view> stored, weights;
    for (const auto& tensor : graph.initializer()) stored.insert(tensor.name());
    int named = 0;
    for (const auto& input : graph.input()) {
        named += !stored.contains(input.name()) && fixed(input) && namesParameter(input.name());
    }
    if (named < 2) return weights;
    // Exporters list a model's data first and its parameters behind, so what follows the first is one too.
    bool behind = false;
    for (const auto& input : graph.input()) {
        if (stored.contains(input.name()) || !fixed(input)) continue;
        behind = behind || namesParameter(input.name());
        if (behind && !namesState(input.name())) weights.insert(input.name());
    }
    return weights;
}

}  // namespace orrery::onnx_import
