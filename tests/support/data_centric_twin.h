#pragma once

// A slow twin of the data-centric model: it walks every tile of every cluster level and writes down each
// multiply-accumulate, with plain intervals of the input and none of the states, closed forms or caches of the engine.

#include "mapping/data_centric/dataflow.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <vector>

namespace orrery::test {

class DataCentricTwin {
public:
    DataCentricTwin(FlowLayer layer, std::vector<BoundDirective> directives, std::int64_t pes)
        : layer_(std::move(layer)) {
        std::vector<std::int64_t> clusters;
        levels_.emplace_back();
        for (const auto& each : directives) {
            if (each.kind == Directive::Kind::Cluster) {
                clusters.push_back(each.size);
                levels_.emplace_back();
            } else {
                levels_.back().push_back(each);
            }
        }
        std::int64_t used = 1;
        units_.assign(levels_.size(), 1);
        for (std::size_t i = clusters.size(); i-- > 0;) {
            units_[i + 1] = std::min(clusters[i], pes / used);
            used *= units_[i + 1];
        }
        units_[0] = pes / used;
    }

    struct Region {
        std::array<std::int64_t, flowDims> from{}, to{};  ///< half open, in input coordinates
    };

    /// Cycles where communication takes no time; `visit` is called once per multiply-accumulate with its coordinates.
    template <class Visit>
    double run(Visit&& visit) {
        Region all;
        for (std::size_t d = 0; d < flowDims; ++d) all.to[d] = std::max<std::int64_t>(layer_.extents[d], 1);
        return level(0, all, {}, visit);
    }

private:
    struct Step {
        std::int64_t size, offset;
        bool spatial;
        std::size_t dim;
    };
    using Held = std::array<std::int64_t, flowDims>;  ///< tile sizes of the level above; 0 where not mapped yet

    std::int64_t filterOf(std::size_t dim) const {
        if (layer_.kind == FlowLayerKind::Product) return 0;
        const auto filter = slidingFilter(layer_, static_cast<FlowDim>(dim));
        return filter ? static_cast<std::int64_t>(*filter) : -1;
    }
    bool slides(std::size_t dim) const {
        const auto d = static_cast<FlowDim>(dim);
        return layer_.kind != FlowLayerKind::Product && (d == FlowDim::Y || d == FlowDim::X);
    }
    std::int64_t stride(std::size_t dim) const {
        return static_cast<FlowDim>(dim) == FlowDim::Y ? layer_.strideY : layer_.strideX;
    }
    std::int64_t whole(std::size_t dim) const {
        const auto f = filterOf(dim);
        return f < 0 ? 1 : std::max<std::int64_t>(layer_.extents[static_cast<std::size_t>(f)], 1);
    }

    std::vector<Step> stepsOf(std::size_t depth, const Held& held) const {
        std::vector<Step> steps;
        for (const auto& each : levels_[depth]) {
            Step step{each.size, each.offset, each.kind == Directive::Kind::Spatial,
                      static_cast<std::size_t>(each.dim)};
            if (slides(step.dim)) {
                std::int64_t window = whole(step.dim);
                if (each.output) {
                    const auto f = filterOf(step.dim);
                    std::int64_t mapped =
                        f >= 0 && held[static_cast<std::size_t>(f)] > 0 ? held[static_cast<std::size_t>(f)] : window;
                    for (const auto& other : levels_[depth]) {
                        if (f >= 0 && static_cast<std::int64_t>(other.dim) == f) mapped = other.size;
                    }
                    window = std::min(mapped, window);
                    step.size = (each.size - 1) * stride(step.dim) + window;
                    step.offset = each.offset * stride(step.dim);
                } else if (stride(step.dim) != 1 && each.size >= window) {
                    const auto outputs = (each.size - window) / stride(step.dim) + 1;
                    step.size = (outputs - 1) * stride(step.dim) + window;
                    step.offset = outputs * stride(step.dim);
                }
            }
            steps.push_back(step);
        }
        return steps;
    }

    static std::int64_t positions(const Step& step, std::int64_t extent) {
        return extent <= step.size ? 1 : (extent - step.size + step.offset - 1) / step.offset + 1;
    }

    bool anyWork(const Region& region) const {
        for (std::size_t d = 0; d < flowDims; ++d) {
            if (region.from[d] >= region.to[d]) return false;
            if (slides(d) && outputs(region, d).empty()) return false;
        }
        return true;
    }

    /// Outputs whose window over the region's part of the filter lies in the region.
    std::vector<std::int64_t> outputs(const Region& region, std::size_t dim) const {
        const auto f = filterOf(dim);
        const auto rFrom = f >= 0 ? region.from[static_cast<std::size_t>(f)] : 0;
        const auto rTo = f >= 0 ? region.to[static_cast<std::size_t>(f)] : 1;
        std::vector<std::int64_t> found;
        const auto last = outputExtent(layer_, static_cast<FlowDim>(dim));
        for (std::int64_t o = 0; o < last; ++o) {
            if (o * stride(dim) + rFrom >= region.from[dim] && o * stride(dim) + rTo <= region.to[dim])
                found.push_back(o);
        }
        return found;
    }

    template <class Visit>
    double level(std::size_t depth, const Region& region, const Held& held, Visit&& visit) {
        if (depth == levels_.size()) return element(region, visit);
        const auto steps = stepsOf(depth, held);
        Held below = held;
        for (const auto& step : steps) below[step.dim] = step.size;
        std::vector<std::int64_t> counts;  // time steps per directive
        std::vector<std::int64_t> every;   // positions per directive
        std::size_t primary = steps.size();
        for (std::size_t i = 0; i < steps.size(); ++i) {
            every.push_back(positions(steps[i], region.to[steps[i].dim] - region.from[steps[i].dim]));
            if (steps[i].spatial && primary == steps.size()) primary = i;
            counts.push_back(steps[i].spatial ? (every[i] + units_[depth] - 1) / units_[depth] : every[i]);
        }
        // A second spatial map of the filter moves with the first.
        std::vector<bool> follows(steps.size(), false);
        for (std::size_t i = 0; i < steps.size(); ++i) {
            if (!steps[i].spatial || i == primary || every[i] != every[primary]) continue;
            follows[i] = filterOf(steps[i].dim) == static_cast<std::int64_t>(steps[primary].dim) ||
                         filterOf(steps[primary].dim) == static_cast<std::int64_t>(steps[i].dim);
            if (follows[i]) counts[i] = 1;
        }
        std::vector<std::int64_t> at(steps.size(), 0);
        double cycles = 0;
        while (true) {
            double slowest = 0;
            for (std::int64_t unit = 0; unit < units_[depth]; ++unit) {
                Region inner = region;
                bool there = true;
                for (std::size_t i = 0; i < steps.size(); ++i) {
                    const auto& step = steps[i];
                    const auto turn = follows[i] ? at[primary] : at[i];
                    const auto position = step.spatial ? turn * units_[depth] + unit : turn;
                    there = there && position < every[i];
                    inner.from[step.dim] = region.from[step.dim] + position * step.offset;
                    inner.to[step.dim] = std::min(inner.from[step.dim] + step.size, region.to[step.dim]);
                }
                if (there && anyWork(inner)) slowest = std::max(slowest, level(depth + 1, inner, below, visit));
            }
            cycles += slowest;
            std::size_t i = steps.size();
            while (i > 0 && ++at[i - 1] == counts[i - 1]) at[--i] = 0;
            if (i == 0) return cycles;
        }
    }

    template <class Visit>
    double element(const Region& region, Visit&& visit) {
        std::vector<std::vector<std::int64_t>> ranges;
        for (std::size_t d = 0; d < flowDims; ++d) {
            if (slides(d)) {
                ranges.push_back(outputs(region, d));
            } else {
                ranges.emplace_back();
                for (auto v = region.from[d]; v < region.to[d]; ++v) ranges.back().push_back(v);
            }
        }
        double work = 1;
        for (const auto& range : ranges) work *= static_cast<double>(range.size());
        std::vector<std::size_t> at(flowDims, 0);
        for (double done = 0; done < work; ++done) {
            std::array<std::int64_t, flowDims> point{};
            for (std::size_t d = 0; d < flowDims; ++d) point[d] = ranges[d][at[d]];
            visit(point);
            for (std::size_t d = flowDims; d-- > 0;) {
                if (++at[d] < ranges[d].size()) break;
                at[d] = 0;
            }
        }
        return work;
    }

    FlowLayer layer_;
    std::vector<std::vector<BoundDirective>> levels_;
    std::vector<std::int64_t> units_;
};

}  // namespace orrery::test
