#pragma once

// Reads MAESTRO's files: a network of layers with their dataflows, and a hardware description. As tolerant as MAESTRO
// of commas and semicolons, but whatever it would skip or take for 0 is refused with its place.

#include "mapping/data_centric/data_centric.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

using FlowConstants = std::map<std::string, std::int64_t, std::less<>>;

struct MaestroLayer {
    FlowLayer layer;
    std::string type;  ///< as written: CONV, DSCONV, TRCONV, NGCONV, FC, GEMM, BMM, LSTM
    DirectiveDataflow dataflow;
    int line = 0;
};

struct MaestroNetwork {
    std::string name;
    std::vector<MaestroLayer> layers;
    Diagnostics warnings;
};

/// `Constant NAME n; Network NAME { Layer NAME { Type: … Stride {…} Dimensions {…} Dataflow {…} } }`. A layer without
/// directives takes those of the layer before it, with its own sizes. Sizes are expressions of numbers, constants and
/// Sz(dimension). FC and LSTM are products (M, N, K) or 1×1 convolutions (K, C), by the dimensions that they give;
/// TRCONV is the convolution over its Y and X.
Expected<MaestroNetwork> parseMaestroMapping(std::string_view text, const std::string& file);
Expected<MaestroNetwork> readMaestroMapping(const std::string& path);

/// The body of a Dataflow block alone, with or without `Dataflow { }` around it; `constants` stand
/// for names in it.
Expected<DirectiveDataflow> parseDataflow(std::string_view text, const std::string& file = {},
                                          FlowConstants constants = {});

/// `num_pes: 256` and so on, one key and a whole number each.
Expected<FlowHardware> parseMaestroHardware(std::string_view text, const std::string& file);
Expected<FlowHardware> readMaestroHardware(const std::string& path);

}  // namespace orrery
