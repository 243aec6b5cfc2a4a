#pragma once

// From directives to levels of clusters: every level with one directive per dimension, missing ones inherited from the
// level above, Y' and X' turned into Y and X, strides applied, cluster sizes fitted to the processing elements.

#include "mapping/data_centric/dataflow.h"

#include <array>
#include <span>

namespace orrery {

inline constexpr std::size_t maxClusterLevels = 8;

/// One dimension at one level. A window of a strided convolution that is wider than its filter is kept compact: only
/// the rows that some output reads are counted, `tile` of them out of `span` in the coordinates of the level.
struct LevelDirective {
    FlowDim dim = FlowDim::K;
    bool spatial = false;
    std::int64_t tile = 1;           ///< elements that one unit holds
    std::int64_t span = 1;           ///< what they cover of the level's dimension
    std::int64_t offset = 1;         ///< from one step or unit to the next, in the level's dimension
    bool window = false;             ///< Y or X of a convolution, with the rest below
    std::int8_t filter = -1;         ///< index of the directive of R or S at this level
    std::int64_t step = 1;           ///< between two windows inside the tile
    std::int64_t stride = 1;         ///< between two windows in the level's dimension
    std::int64_t wholeFilter = 1;    ///< extent of R or S of the layer
    std::int64_t offsetOutputs = 1;  ///< outputs from one step or unit to the next
};

struct ClusterLevel {
    std::array<LevelDirective, flowDims> directives;  ///< outer to inner
    std::int8_t count = 0;
    std::int64_t units = 1;      ///< sub-clusters, or processing elements at the last level
    std::int8_t primary = -1;    ///< the first spatial directive
    std::int8_t secondary = -1;  ///< a second one, which shares the units with the first
};

struct ClusterPlan {
    FlowLayer layer;
    std::array<ClusterLevel, maxClusterLevels> levels;  ///< outermost first
    std::int8_t depth = 0;
    std::int64_t pes = 1;  ///< used: a multiple of the cluster sizes
    bool folded = false;   ///< clusters were larger than the array and have been made smaller
};

/// Elements of the tile that starts `rest` before the end of the dimension; 0 where no window fits any more.
std::int64_t tileAt(const LevelDirective& directive, std::int64_t rest);

/// Fails where a level has no spatial map or more than two, maps a dimension twice, or names one that the layer's kind
/// has not, and on more than eight levels. `pes` ≥ 1.
Expected<void> planClusters(const FlowLayer& layer, std::span<const BoundDirective> directives, std::int64_t pes,
                            const std::string& file, ClusterPlan& plan);

}  // namespace orrery
