#pragma once

// The dataflows of well-known accelerators as directives that apply to any layer: MICRO 2019, table 3, and the files of
// the same names that come with MAESTRO.

#include "mapping/data_centric/dataflow.h"

#include <span>
#include <string_view>

namespace orrery {

struct StockDataflow {
    std::string_view id;     ///< `kcp-ws`
    std::string_view title;  ///< `NVDLA-style, weight stationary`
    std::string_view source;
    std::int64_t units;          ///< of a cluster, where a person does not say: `Units` in the text
    std::string_view text;       ///< in MAESTRO's notation
    std::string_view depthwise;  ///< for layers whose channels stand alone; empty: `text` serves
};

std::span<const StockDataflow> stockDataflows();
/// Null if there is none of that name.
const StockDataflow* stockDataflow(std::string_view id);

/// The directives of one of stockDataflows() for a kind of layer, parsed once.
const DirectiveDataflow& directivesOf(const StockDataflow& stock, FlowLayerKind kind);
/// The same with clusters of so many units: the rows or columns of a real array.
DirectiveDataflow directivesOf(const StockDataflow& stock, FlowLayerKind kind, std::int64_t units);

/// A product as the 1×1 convolution that the stock dataflows speak of: M as Y, N as K, K as C, B as G. Others
/// unchanged.
FlowLayer asConvolution(const FlowLayer& layer);

}  // namespace orrery
