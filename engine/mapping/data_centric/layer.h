#pragma once

// A layer as data-centric dataflows name it: letters for loop dimensions, extents of the input, strides. The letters
// are those of MAESTRO (Kwon et al., MICRO 2019): convolutions over N G K C R S Y X, products over B M N K.

#include "base/diagnostic.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

enum class FlowDim : std::uint8_t { B, N, G, M, K, C, R, S, Y, X };
inline constexpr std::size_t flowDims = 10;
std::string_view toText(FlowDim dim);
std::optional<FlowDim> flowDim(std::string_view letter);

/// Convolution: I[N,G,C,Y,X] · W[G,K,C,R,S] → O[N,G,K,Y',X']; depthwise: every channel C on its own, K outputs of each;
/// product: I[B,M,K] · W[B,K,N] → O[B,M,N].
enum class FlowLayerKind : std::uint8_t { Convolution, Depthwise, Product };

struct FlowLayer {
    std::string name;
    FlowLayerKind kind = FlowLayerKind::Convolution;
    /// By FlowDim; 0 where the layer has no such dimension (it then counts as 1). Y and X are the input's, padding
    /// included: the filter slides inside them.
    std::array<std::int64_t, flowDims> extents{};
    std::int64_t strideY = 1, strideX = 1;

    std::int64_t extent(FlowDim dim) const { return extents[static_cast<std::size_t>(dim)]; }
    std::int64_t& extent(FlowDim dim) { return extents[static_cast<std::size_t>(dim)]; }
    bool has(FlowDim dim) const { return extent(dim) > 0; }
    bool operator==(const FlowLayer&) const = default;
};

/// The filter dimension that slides along Y or X; nothing for the others and for products.
std::optional<FlowDim> slidingFilter(const FlowLayer& layer, FlowDim dim);
std::int64_t outputExtent(const FlowLayer& layer, FlowDim dim);  ///< Y' of Y, X' of X; the extent itself of others

enum class FlowTensor : std::uint8_t { Input, Weight, Output };
inline constexpr std::size_t flowTensors = 3;
std::string_view toText(FlowTensor tensor);
/// Whether a tensor is indexed by a dimension; the output by Y and X through Y' and X'.
bool coupled(FlowLayerKind kind, FlowTensor tensor, FlowDim dim);

/// Multiply-accumulates by the layer's definition, whatever the dataflow: the product of all extents with Y' =
/// (Y−R)/stride
/// + 1 in the place of Y, and X' in that of X.
double macs(const FlowLayer& layer);
double elements(const FlowLayer& layer, FlowTensor tensor);

/// Extents of at least 1, a filter that fits into its input, a count of operations below 2^53 (they are kept in
/// doubles, which are exact up to there).
Expected<void> check(const FlowLayer& layer, const Place& place = {});

}  // namespace orrery
