#pragma once

// A training loop as a table of layers: the text that ASTRA-sim 1.0 reads (Rashidi et al., ISPASS 2020) and SimAI's
// (Wang et al., NSDI 2025; written by AICB), which has the same rows. First line: how the work is divided; second: the
// number of rows; then `name -1 forward exchange bytes input-gradient exchange bytes weight-gradient exchange bytes
// update`, times in cycles of 1 us (as recorded runs of ASTRA-sim 2 have them) or, of SimAI, in nanoseconds. SimAI's
// are those that name `ep:`, `all_gpus:` or no checkpoint in a HYBRID_TRANSFORMER_FWD_IN_BCKWD.

#include "workload/traces/execution_trace.h"

#include <string>
#include <string_view>
#include <vector>

namespace orrery {

enum class LayerPolicy : std::uint8_t {
    Data,         ///< weight gradients among all
    Model,        ///< everything else among all
    All,          ///< everything among all: MICRO, DLRM
    Transformer,  ///< groups of `modelParallel` consecutive ranks; their likes share weights
    ModelInside,  ///< HYBRID_DATA_MODEL: the network's first dimension shares a model, the others data
    DataInside,   ///< HYBRID_MODEL_DATA: the other way round
    EachItsOwn    ///< HYBRID_CUSTOMIZED: a thirteenth column
};

struct LayerPart {
    double microseconds = 0;
    bool exchanges = false;
    TraceCollective collective = TraceCollective::AllReduce;
    bool expert = false;     ///< `_EP`: among the ranks that share experts; `_DP_EP`: among their likes
    bool likes = false;      ///< `_DP_EP`
    std::int64_t bytes = 0;  ///< as the file has it: of SimAI's all-gathers, of all shards
};

struct TextLayer {
    std::string name;
    LayerPart forward, input, weight;
    double update = 0;  ///< microseconds, after the weights' exchange; no run of ASTRA-sim 2 has it
    LayerPolicy policy = LayerPolicy::Data;
};

struct LayerTable {
    LayerPolicy policy = LayerPolicy::Data;
    bool simai = false;
    std::int64_t modelParallel = 1, expertParallel = 1, pipeline = 1, chunks = 1, microBatches = 1;
    std::int64_t devices = 0;                          ///< 0: not said
    std::vector<std::size_t> checkpoints, recomputed;  ///< rows; going back, a recomputed one asks for those between
    std::vector<TextLayer> layers;
    Diagnostics warnings;
};

bool isLayerText(std::string_view text);
/// Fails with `trace.syntax` and `trace.value`, both with the line.
Expected<LayerTable> parseLayerText(std::string_view text, std::string_view file);

enum class LayerOrder : std::uint8_t {
    Blocking,  ///< everything waits for what stands before it: input gradient, weight gradient, exchange, next layer
    Overlap    ///< weight gradient first, its exchange beside all that follows; the first layer has no input gradient
};

/// One rank of `ranks` (0: as many as the table says, or a model-parallel group, or 8). A pipeline's trace is of one
/// stage, which a warning says. Fails with `trace.value` where the groups do not divide the ranks.
Expected<ExecutionTrace> layerTrace(const LayerTable& table, LayerOrder order, std::int64_t ranks,
                                    std::string_view file);

}  // namespace orrery
