#pragma once

// Operators one after the other on one array, and what of them may stay on the chip between two. An intermediate that
// stays is made and used tile by tile: both operators run inside the same loops over its rows, and what one iteration
// makes the next operator uses before the following iteration begins (the fused mappings of LoopTree, Gilbert et al.,
// and of the Fast and Fusiest Mapper, 2026).

#include "mapping/mapspace.h"
#include "workload/graph.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace orrery {

/// One nest. Its tensors are Inputs, Weights, Outputs in this order.
struct ChainOperator {
    std::string name;
    NestProblem problem;
    MapspaceConstraints constraints;  ///< of the array's dataflow
    double repeat = 1;                ///< executions; joined operators have the same
    std::size_t source = 0;           ///< operator of the graph
};

/// A dimension that the intermediate has on both sides and that the consumer's result has too: loops over its tiles may
/// stand around both operators. Under a sliding window the consumer's tiles overlap in the intermediate.
struct RowDimension {
    std::uint8_t producer = 0, consumer = 0;
    std::int64_t stride = 1;  ///< rows of the intermediate from one of the consumer's to the next
    std::int64_t window = 1;  ///< rows of it that one of the consumer's needs: (kernel − 1) · dilation + 1
    bool overlaps() const { return window > stride; }
    /// Rows of the intermediate that so many of the consumer's need. A stride longer than its window skips none.
    std::int64_t rowsFor(std::int64_t tile) const { return (tile - 1) * stride + std::max(window, stride); }
    bool operator==(const RowDimension&) const = default;
};

/// Between an operator and the next one.
struct ChainJoin {
    bool possible = false;  ///< the result of the first is the first operand of the second
    bool stored = false;    ///< others read it too: it is written to the store all the same
    std::vector<RowDimension> rows;
};

struct OperatorChain {
    NestHardware hardware;
    bool energies = false;
    /// The level that may hold intermediates: the outermost one in front of the store that has one instance and may
    /// keep inputs and outputs of every operator. Nothing where there is none.
    std::optional<std::size_t> level;
    std::vector<ChainOperator> operators;
    std::vector<ChainJoin> joins;  ///< one fewer
};

/// Rows that two nests have in common: ranks of the first one's Outputs and the second one's Inputs in order (those of
/// extent 1 left out) that are as long, each moved by one dimension that the second one's Outputs have too. The Inputs
/// may be moved by a window besides, and be longer by what surrounds the intermediate (padding) or shorter by what a
/// stride leaves over.
std::vector<RowDimension> commonRows(const NestProblem& producer, const NestProblem& consumer);

/// See OperatorChain::level.
std::optional<std::size_t> fusionLevel(const NestHardware& hardware, const std::vector<ChainOperator>& operators);

struct SpatialArrayView;
/// The nests of operators [first, last] of a graph on an array. Operators between two nests that work element by
/// element, on rows or on shapes alone (activations, norms, softmax, reshapes) are passed through; what an intermediate
/// is read by is followed through them. Fails with `fusion.chain` where fewer than two nests are left.
Expected<OperatorChain> operatorChain(const SpatialArrayView& view, const Graph& graph, std::size_t first,
                                      std::size_t last);

}  // namespace orrery
