#include "mapping/nest_flat.h"

#include <fmt/format.h>

namespace orrery::nest {
namespace {

Expected<Projection> makeProjection(const NestTensor& tensor, std::size_t dimensions) {
    Projection projection;
    projection.ranks = tensor.ranks.size();
    if (tensor.ranks.empty() || tensor.ranks.size() > maxRanks) {
        return fail("mapping.problem", fmt::format("the tensor {} has {} ranks", tensor.name, tensor.ranks.size()),
                    fmt::format("1 to {} ranks", maxRanks), "give its projection one entry per coordinate",
                    {{}, 0, 0, tensor.name});
    }
    for (std::size_t d = 0; d < dimensions; ++d) {
        projection.begin[d] = static_cast<std::uint16_t>(projection.terms.size());
        for (std::size_t r = 0; r < tensor.ranks.size(); ++r) {
            for (const ProjectionTerm& term : tensor.ranks[r].terms) {
                if (term.dimension != d) continue;
                if (term.coefficient < 1 || term.coefficient > maxExtent) {
                    return fail("mapping.problem",
                                fmt::format("a coefficient of the tensor {} is {}", tensor.name, term.coefficient),
                                "a stride or dilation of 1 or more", "check strides and dilations",
                                {{}, 0, 0, tensor.name});
                }
                projection.terms.push_back({static_cast<std::uint8_t>(r), term.coefficient});
            }
        }
        projection.begin[d + 1] = static_cast<std::uint16_t>(projection.terms.size());
    }
    return projection;
}

Unexpected hardwareFault(std::string message, std::string expected, const std::string& name) {
    return fail("mapping.hardware", std::move(message), std::move(expected),
                "check instances and meshX of this level and of the next inner one", {{}, 0, 0, name});
}

double words(const Coordinates& span, std::size_t ranks) {
    double product = 1;
    for (std::size_t r = 0; r < ranks; ++r) product *= static_cast<double>(span[r]);
    return product;
}

// Walks the loops of one level, spatial ones first whatever their order, and keeps strides and spans.
struct Builder {
    const Frame& frame;
    FlatNest& flat;
    std::array<std::int64_t, maxNestDimensions> stride;
    std::array<Coordinates, maxNestTensors> span;

    explicit Builder(const Frame& f, FlatNest& n) : frame(f), flat(n) {
        stride.fill(1);
        for (auto& tensor : span) tensor.fill(1);
    }
    bool add(const NestLoop& loop) {
        if (loop.bound == 1) return true;
        if (flat.count >= maxLoops) return false;
        FlatLoop& next = flat.loops[flat.count++];
        next = {loop.dimension, loop.kind, loop.bound, loop.residual, stride[loop.dimension]};
        if (loop.bound != loop.residual) flat.perfect = false;
        for (std::size_t t = 0; t < frame.tensors; ++t) {
            frame.projections[t].add(loop.dimension, next.stride * (loop.bound - 1), span[t]);
        }
        stride[loop.dimension] *= loop.bound;
        return true;
    }
    void save(std::array<Coordinates, maxNestTensors>& spans, std::array<double, maxNestTensors>& tiles) const {
        for (std::size_t t = 0; t < frame.tensors; ++t) {
            spans[t] = span[t];
            tiles[t] = words(span[t], frame.projections[t].ranks);
        }
    }
};

bool factorsMatch(const Frame& frame, const NestMapping& mapping) {
    std::array<std::int64_t, maxNestDimensions> last{};  // index of the last iteration reached
    const auto& extents = frame.problem->extents;
    const auto take = [&](const NestLoop& loop) {
        if (loop.dimension >= frame.dimensions || loop.bound < 1 || loop.residual < 1 || loop.residual > loop.bound ||
            loop.bound > maxExtent) {
            return false;
        }
        std::int64_t& at = last[loop.dimension];
        at = at * loop.bound + loop.residual - 1;
        return at < extents[loop.dimension];
    };
    for (std::size_t l = mapping.levels.size(); l-- > 0;) {
        const auto& loops = mapping.levels[l].loops;
        for (std::size_t i = loops.size(); i-- > 0;) {
            if (loops[i].kind == LoopKind::Temporal && !take(loops[i])) return false;
        }
        for (std::size_t i = loops.size(); i-- > 0;) {
            if (loops[i].kind != LoopKind::Temporal && !take(loops[i])) return false;
        }
    }
    for (std::size_t d = 0; d < frame.dimensions; ++d) {
        if (last[d] + 1 != extents[d]) return false;
    }
    return true;
}

}  // namespace

Expected<Frame> makeFrame(const NestProblem& problem, const NestHardware& hardware) {
    Frame frame;
    frame.problem = &problem;
    frame.hardware = &hardware;
    frame.dimensions = problem.dimensions.size();
    frame.tensors = problem.tensors.size();
    if (frame.dimensions == 0 || frame.dimensions > maxNestDimensions || frame.tensors == 0 ||
        frame.tensors > maxNestTensors || problem.extents.size() != frame.dimensions) {
        return fail("mapping.problem",
                    fmt::format("the problem has {} dimensions, {} extents and {} tensors", frame.dimensions,
                                problem.extents.size(), frame.tensors),
                    fmt::format("1 to {} dimensions, each with its extent, and 1 to {} tensors", maxNestDimensions,
                                maxNestTensors),
                    "name every dimension once and give it an extent");
    }
    for (std::size_t d = 0; d < frame.dimensions; ++d) {
        if (problem.extents[d] < 1 || problem.extents[d] > maxExtent) {
            return fail("mapping.problem",
                        fmt::format("the dimension {} has the extent {}", problem.dimensions[d], problem.extents[d]),
                        "1 to 2^31", "a dimension that the problem does not have is 1, not 0",
                        {{}, 0, 0, problem.dimensions[d]});
        }
    }
    bool anyWritten = false;
    for (std::size_t t = 0; t < frame.tensors; ++t) {
        auto projection = makeProjection(problem.tensors[t], frame.dimensions);
        if (!projection) return Unexpected(projection.error());
        frame.projections[t] = std::move(*projection);
        frame.written[t] = problem.tensors[t].written;
        anyWritten = anyWritten || problem.tensors[t].written;
    }
    if (!anyWritten) {
        return fail("mapping.problem", "no tensor of the problem is written", "one result",
                    "mark the result with read-write");
    }
    if (hardware.levels.empty() || hardware.levels.size() > maxLevels) {
        return hardwareFault(fmt::format("there are {} storage levels", hardware.levels.size()),
                             fmt::format("1 to {}", maxLevels), hardware.name);
    }
    std::int64_t instances = hardware.arithmetic.instances, meshX = hardware.arithmetic.meshX;
    const std::string* inner = &hardware.arithmetic.name;
    for (std::size_t l = 0; l < hardware.levels.size(); ++l) {
        const NestLevel& level = hardware.levels[l];
        if (instances < 1 || meshX < 1 || instances % meshX != 0) {
            return hardwareFault(fmt::format("{} has {} instances in rows of {}", *inner, instances, meshX),
                                 "full rows", *inner);
        }
        if (level.instances < 1 || level.meshX < 1 || instances % level.instances != 0) {
            return hardwareFault(fmt::format("{} instances of {} cannot be shared evenly by {} of {}", instances,
                                             *inner, level.instances, level.name),
                                 "a whole number of inner instances per outer one", level.name);
        }
        if (level.wordBits < 1 || level.blockSize < 1 || level.clusterSize < 1) {
            return hardwareFault(fmt::format("{} has words, blocks or clusters of no size", level.name),
                                 "1 bit, 1 word and 1 instance or more", level.name);
        }
        const std::int64_t fanOut = instances / level.instances;
        // A mesh whose width does not divide is a row: only whole fan-outs have two directions.
        const std::int64_t x = meshX % level.meshX == 0 ? meshX / level.meshX : fanOut;
        frame.meshX[l] = fanOut % x == 0 ? x : fanOut;
        frame.meshY[l] = fanOut / frame.meshX[l];
        instances = level.instances;
        meshX = level.meshX;
        inner = &level.name;
    }
    frame.operations = problem.operations();
    return frame;
}

MappingFault flatten(const Frame& frame, const NestMapping& mapping, FlatNest& flat) {
    flat.levels = frame.hardware->levels.size();
    if (mapping.levels.size() != flat.levels || !factorsMatch(frame, mapping)) return MappingFault::Factors;
    flat.count = 0;
    flat.perfect = true;
    Builder builder(frame, flat);
    for (std::size_t l = 0; l < flat.levels; ++l) {
        flat.begin[l] = static_cast<std::uint16_t>(flat.count);
        std::int64_t x = 1, y = 1;
        for (const NestLoop& loop : mapping.levels[l].loops) {
            if (loop.kind == LoopKind::Temporal) continue;
            if (!builder.add(loop)) return MappingFault::Factors;
            (loop.kind == LoopKind::SpatialX ? x : y) *= loop.bound;
            if (x * y > maxFanOut || x > maxFanOut || y > maxFanOut) return MappingFault::FanOut;
        }
        flat.fanOutX[l] = x;
        flat.fanOutY[l] = y;
        flat.spatialEnd[l] = static_cast<std::uint16_t>(flat.count);
        builder.save(flat.spatialSpan[l], flat.spatialTile[l]);
        for (const NestLoop& loop : mapping.levels[l].loops) {
            if (loop.kind == LoopKind::Temporal && !builder.add(loop)) return MappingFault::Factors;
        }
        flat.end[l] = static_cast<std::uint16_t>(flat.count);
        builder.save(flat.span[l], flat.tile[l]);
    }
    std::int64_t used = 1;
    for (std::size_t l = flat.levels; l-- > 0;) {
        flat.instances[l] = used;
        used *= flat.fanOutX[l] * flat.fanOutY[l];
        if (used > maxExtent) return MappingFault::FanOut;
    }
    flat.arithmeticInstances = used;
    return MappingFault::None;
}

}  // namespace orrery::nest
