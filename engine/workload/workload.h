#pragma once

// A loaded workload: a graph with its costs, ready to be asked about, and the recipe from which it can be made again
// (which is what a project stores).

#include "workload/costs.h"
#include "workload/graph.h"
#include "workload/number_format.h"
#include "workload/passes.h"
#include "workload/what_if.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

enum class Phase : std::uint8_t { Forward, Prefill, Decode, TrainingForward };
std::string_view toText(Phase phase);  ///< `forward`, `prefill`, `decode`, `training-forward`
std::optional<Phase> phase(std::string_view text);

/// Everything a person can set about a workload without editing its graph.
struct WorkloadOptions {
    std::int64_t batch = 1;
    std::int64_t sequence = 0;  ///< tokens of context; 0: the model's usual one. Decode: length of the KV cache read
    std::int64_t image = 0;     ///< height = width; 0: the model's usual one
    Phase phase = Phase::Forward;
    DType weights = DType::F16;
    DType activations = DType::F16;
    DType kv = DType::F16;
    /// How weights share scales; and inputs of products. With a scaling of their own activations pass memory in 16
    /// bits, and every product with quantised weights scales and narrows its input itself, as inference engines do;
    /// with the usual one they are stored in their type.
    Scaling weightScaling = Scaling::Usual, activationScaling = Scaling::Usual;
    bool flashAttention = true;
    Bindings bindings;  ///< symbols of an imported graph
    bool operator==(const WorkloadOptions&) const = default;

    NumberFormat weightFormat() const { return {weights, weightScaling}; }
    NumberFormat activationFormat() const { return {activations, activationScaling}; }
    void setWeights(const NumberFormat& format) { weights = format.type, weightScaling = format.scaling; }
    void setActivations(const NumberFormat& format) { activations = format.type, activationScaling = format.scaling; }
};

/// How to make a workload: where from, with which options and changes. `source` is a built-in id (`llama-2-7b`), or a
/// path to .onnx, a Hugging Face config.json, or a workload YAML.
struct WorkloadRecipe {
    std::string source;
    WorkloadOptions options;
    std::vector<WhatIf> whatIfs;  ///< applied to the loaded graph, in order
    bool operator==(const WorkloadRecipe&) const = default;
};

/// What a decoder or encoder transformer is made of, as read from a config or known of a built-in model. Methods that
/// reason about phases and caches read this beside the graph.
struct TransformerFacts {
    std::int64_t layers = 0, hidden = 0, heads = 0, kvHeads = 0, headDim = 0, intermediate = 0, vocabulary = 0;
    std::int64_t experts = 0, expertsPerToken = 0, sharedExperts = 0;
    double parameters = 0;        ///< all stored
    double activeParameters = 0;  ///< that one token uses
    double kvBytesPerToken = 0;   ///< all layers, at the KV precision chosen
    std::int64_t maxPositions = 0;
    /// While training, and where a config says so: of what is added to the residual stream, of attention's
    /// probabilities.
    bool residualDropout = false, attentionDropout = false;
};

struct Workload {
    std::string id;
    std::string name;
    WorkloadRecipe recipe;
    Graph graph;
    CostTable costs;
    CostTotals totals;
    std::optional<TransformerFacts> transformer;
    Diagnostics warnings;
};
using WorkloadPtr = std::shared_ptr<const Workload>;

/// Which options a built-in model or file understands; the studio shows controls for these only.
struct WorkloadInfo {
    std::string id, name, group, description;  ///< group: `Vision`, `Language`, `Diffusion`, `Recommendation`, …
    bool hasSequence = false, hasImage = false, hasPhases = false;
    WorkloadOptions usual;
    std::string source;  ///< paper or model card
};
/// The built-in models, by group.
const std::vector<WorkloadInfo>& builtinWorkloads();
const WorkloadInfo* builtinWorkload(std::string_view idOrName);

/// Makes the workload of a recipe: builds or imports, binds symbols, sorts and folds imported graphs, counts costs.
Expected<WorkloadPtr> loadWorkload(const WorkloadRecipe& recipe);
/// Finishes a graph that stands in topological order: warns of what has no price, counts costs and totals.
WorkloadPtr finishWorkload(std::string id, std::string name, WorkloadRecipe recipe, Graph graph, Diagnostics warnings,
                           std::optional<TransformerFacts> transformer = std::nullopt);

}  // namespace orrery
