#include "mapping/data_centric/cluster_plan.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery {

namespace {

/// Carried from level to level while planning.
struct Descent {
    std::array<bool, flowDims> compact{};  ///< the dimension is already reduced to what outputs read
};

std::int8_t find(const ClusterLevel& level, FlowDim dim) {
    for (std::int8_t i = 0; i < level.count; ++i) {
        if (level.directives[static_cast<std::size_t>(i)].dim == dim) return i;
    }
    return -1;
}

bool known(FlowLayerKind kind, FlowDim dim) {
    return coupled(kind, FlowTensor::Input, dim) || coupled(kind, FlowTensor::Weight, dim) ||
           coupled(kind, FlowTensor::Output, dim);
}

std::int64_t strideOf(const FlowLayer& layer, FlowDim dim) {
    return dim == FlowDim::Y ? layer.strideY : layer.strideX;
}

/// The filter's part that the level holds: its own directive, the level above, or the whole.
std::int64_t filterTile(const ClusterLevel& level, const ClusterLevel* above, std::int64_t whole, FlowDim filter) {
    if (const auto own = find(level, filter); own >= 0) return level.directives[static_cast<std::size_t>(own)].tile;
    if (above) {
        const auto inherited = find(*above, filter);
        if (inherited >= 0) return above->directives[static_cast<std::size_t>(inherited)].tile;
    }
    return whole;
}

// ApplyOuterStride of MAESTRO, with offsets that stay in the coordinates of the level: a tile that holds whole filters
// moves on by as many windows as it holds.
void applyWindows(const FlowLayer& layer, const ClusterLevel& level, const ClusterLevel* above, bool output,
                  std::int64_t outputOffset, Descent& descent, LevelDirective& entry) {
    const auto filter = slidingFilter(layer, entry.dim);
    const auto stride = strideOf(layer, entry.dim);
    const auto whole = filter ? layer.extent(*filter) : 1;
    bool& compact = descent.compact[static_cast<std::size_t>(entry.dim)];
    const auto held = filter ? filterTile(level, above, whole, *filter) : 1;
    entry.wholeFilter = whole;
    entry.stride = compact ? whole : stride;
    entry.step = std::min(stride, whole);
    std::int64_t outputs = 0;
    if (output) {
        outputs = entry.tile;
    } else if (stride != 1 && entry.tile >= whole) {
        outputs = (entry.tile - whole) / stride + 1;
        outputOffset = outputs;
    }
    if (outputs > 0) {
        const auto window = output ? std::min(held, whole) : whole;
        entry.tile = (outputs - 1) * entry.step + window;
        entry.span = compact ? entry.tile : (outputs - 1) * stride + window;
        entry.offset = outputOffset * entry.stride;
        if (whole < stride && !compact) compact = true;
    }
    entry.offsetOutputs = std::max<std::int64_t>(entry.offset / entry.stride, 1);
}

void inherit(const ClusterLevel& above, ClusterLevel& level) {
    ClusterLevel merged;
    merged.units = level.units;
    const auto push = [&](const LevelDirective& entry) {
        merged.directives[static_cast<std::size_t>(merged.count++)] = entry;
    };
    for (std::int8_t i = static_cast<std::int8_t>(above.count - 1); i >= 0; --i) {
        LevelDirective entry = above.directives[static_cast<std::size_t>(i)];
        if (find(level, entry.dim) >= 0) continue;
        entry.spatial = false;
        entry.span = entry.tile;  // one step covers what the level above has handed down
        if (entry.step < entry.stride) entry.stride = entry.step;
        push(entry);
    }
    for (std::int8_t i = 0; i < level.count; ++i) push(level.directives[static_cast<std::size_t>(i)]);
    level = merged;
}

void unrollMissing(const FlowLayer& layer, ClusterLevel& level) {
    for (std::size_t i = 0; i < flowDims; ++i) {
        const auto dim = static_cast<FlowDim>(i);
        if (!layer.has(dim) || find(level, dim) >= 0) continue;
        LevelDirective entry;
        entry.dim = dim;
        entry.tile = entry.span = entry.offset = layer.extent(dim);
        if (dim == FlowDim::Y || dim == FlowDim::X) {
            entry.stride = entry.step = strideOf(layer, dim);
            if (const auto filter = slidingFilter(layer, dim)) entry.wholeFilter = layer.extent(*filter);
            entry.offsetOutputs = outputExtent(layer, dim);
        }
        level.directives[static_cast<std::size_t>(level.count++)] = entry;
    }
}

Expected<void> finish(const FlowLayer& layer, ClusterLevel& level, const Place& place, int number) {
    int spatial = 0;
    for (std::int8_t i = 0; i < level.count; ++i) {
        LevelDirective& entry = level.directives[static_cast<std::size_t>(i)];
        entry.window = layer.kind != FlowLayerKind::Product && (entry.dim == FlowDim::Y || entry.dim == FlowDim::X);
        entry.filter = -1;
        if (const auto filter = slidingFilter(layer, entry.dim)) entry.filter = find(level, *filter);
        if (!entry.spatial) continue;
        (spatial == 0 ? level.primary : level.secondary) = i;
        ++spatial;
    }
    if (spatial == 0) {
        return fail("dataflow.no-spatial-map", fmt::format("cluster level {} has no SpatialMap", number),
                    "one SpatialMap per level: it says what the units of the level do side by side",
                    "make one TemporalMap of this level a SpatialMap, or remove the Cluster directive", place);
    }
    if (spatial > 2) {
        return fail("dataflow.spatial-maps", fmt::format("cluster level {} has {} SpatialMaps", number, spatial),
                    "one, or two that move together such as Y and R", "put the others behind a Cluster directive",
                    place);
    }
    return {};
}

/// Units per level, outermost first; clusters that the array cannot hold are made smaller, from the innermost outwards.
void fitUnits(std::span<const BoundDirective> directives, std::int64_t pes, ClusterPlan& plan) {
    std::array<std::int64_t, maxClusterLevels> sizes{};
    std::size_t clusters = 0;
    for (const auto& each : directives) {
        if (each.kind == Directive::Kind::Cluster) sizes[clusters++] = each.size;
    }
    std::int64_t used = 1;
    for (std::size_t i = clusters; i-- > 0;) {
        const auto fits = std::min(sizes[i], pes / used);
        plan.folded = plan.folded || fits < sizes[i];
        sizes[i] = fits;
        used *= fits;
    }
    plan.levels[0].units = pes / used;
    for (std::size_t i = 0; i < clusters; ++i) plan.levels[i + 1].units = sizes[i];
    plan.pes = plan.levels[0].units * used;
}

}  // namespace

std::int64_t tileAt(const LevelDirective& directive, std::int64_t rest) {
    if (rest >= directive.span) return directive.tile;
    if (directive.tile == directive.span) return std::max<std::int64_t>(rest, 0);
    if (rest < directive.wholeFilter) return 0;
    return ((rest - directive.wholeFilter) / directive.stride + 1) * directive.step;
}

Expected<void> planClusters(const FlowLayer& layer, std::span<const BoundDirective> directives, std::int64_t pes,
                            const std::string& file, ClusterPlan& plan) {
    plan.layer = layer;
    plan.depth = 0;
    plan.folded = false;
    const auto clusters = std::count_if(directives.begin(), directives.end(),
                                        [](const auto& each) { return each.kind == Directive::Kind::Cluster; });
    const auto placeOf = [&](int line) { return Place{file, line, 0, layer.name}; };
    if (clusters + 1 > static_cast<std::ptrdiff_t>(maxClusterLevels)) {
        return fail("dataflow.levels", fmt::format("{} cluster levels", clusters + 1),
                    fmt::format("at most {}", maxClusterLevels), "remove Cluster directives of size 1",
                    placeOf(directives.back().line));
    }
    plan.levels.fill({});
    fitUnits(directives, pes, plan);

    Descent descent;
    std::size_t next = 0;
    int line = directives.empty() ? 0 : directives.front().line;
    for (std::ptrdiff_t depth = 0; depth <= clusters; ++depth) {
        ClusterLevel& level = plan.levels[static_cast<std::size_t>(depth)];
        const ClusterLevel* above = depth > 0 ? &plan.levels[static_cast<std::size_t>(depth - 1)] : nullptr;
        const std::size_t begin = next;
        for (; next < directives.size() && directives[next].kind != Directive::Kind::Cluster; ++next) {
            const BoundDirective& directive = directives[next];
            line = directive.line;
            if (!known(layer.kind, directive.dim)) {
                return fail(
                    "dataflow.dimension",
                    fmt::format("a map of {}, which layer `{}` has not", toText(directive.dim), layer.name),
                    layer.kind == FlowLayerKind::Product ? "one of B, M, N, K" : "one of N, G, K, C, R, S, Y, X",
                    "remove the directive", placeOf(line));
            }
            if (find(level, directive.dim) >= 0) {
                return fail("dataflow.dimension-twice",
                            fmt::format("cluster level {} maps {} twice", depth + 1, toText(directive.dim)),
                            "one map per dimension and level", "put the second behind a Cluster directive",
                            placeOf(line));
            }
            LevelDirective entry;
            entry.dim = directive.dim;
            entry.spatial = directive.kind == Directive::Kind::Spatial;
            entry.tile = entry.span = directive.size;
            entry.offset = directive.offset;
            level.directives[static_cast<std::size_t>(level.count++)] = entry;
        }
        // Windows need the filter's directive, which may stand after theirs.
        for (std::size_t i = begin; i < next; ++i) {
            LevelDirective& entry = level.directives[i - begin];
            const bool slides =
                layer.kind != FlowLayerKind::Product && (entry.dim == FlowDim::Y || entry.dim == FlowDim::X);
            if (slides) {
                applyWindows(layer, level, above, directives[i].output, directives[i].offset, descent, entry);
            }
        }
        if (above) inherit(*above, level);
        unrollMissing(layer, level);
        if (auto done = finish(layer, level, placeOf(line), static_cast<int>(depth + 1)); !done) return done;
        if (next < directives.size()) line = directives[next++].line;
        ++plan.depth;
    }
    return {};
}

}  // namespace orrery
