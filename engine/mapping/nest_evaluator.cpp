#include "mapping/nest_evaluator.h"

#include "mapping/nest_chain.h"
#include "mapping/nest_energy.h"
#include "mapping/nest_traffic.h"
#include "mapping/sparse/sparse_counts.h"

#include <fmt/format.h>

#include <cmath>

namespace orrery {

struct NestEvaluator::State {
    NestProblem problem;
    NestHardware hardware;
    std::shared_ptr<const SparseDesign> sparse;
    Expected<nest::Frame> frame = Unexpected(Diagnostic{});
    nest::FlatNest flat;
    nest::SpatialPositions positions;
    nest::Traffic traffic;
    SparseWorkspace sparsely;

    MappingFault place(const NestMapping& mapping);
    MappingFault fits(const NestMapping& mapping) const;
    Diagnostic why(const NestMapping& mapping, MappingFault fault) const;
};

// Everything that does not depend on what is kept: loops, fan-out, capacity.
MappingFault NestEvaluator::State::place(const NestMapping& mapping) {
    if (!frame) return MappingFault::Factors;
    if (const auto fault = nest::flatten(*frame, mapping, flat); fault != MappingFault::None) return fault;
    for (std::size_t t = 0; t < frame->tensors; ++t) {
        bool kept = false;
        for (const LevelMapping& level : mapping.levels) kept = kept || (level.keeps >> t & 1u) != 0;
        if (!kept) return MappingFault::Keeps;
    }
    return sparse ? MappingFault::None : fits(mapping);
}

MappingFault NestEvaluator::State::fits(const NestMapping& mapping) const {
    if (flat.arithmeticInstances > hardware.arithmetic.instances) return MappingFault::FanOut;
    for (std::size_t l = 0; l < flat.levels; ++l) {
        if (flat.instances[l] > hardware.levels[l].instances) return MappingFault::FanOut;
    }
    for (std::size_t l = 0; l < flat.levels; ++l) {
        const NestLevel& level = hardware.levels[l];
        if (std::isinf(level.capacityWords)) continue;
        double used = 0;
        for (std::size_t t = 0; t < frame->tensors; ++t) {
            if (mapping.levels[l].keeps >> t & 1u) used += flat.tile[l][t];
        }
        const double capacity = std::floor(level.capacityWords / level.multipleBuffering);
        if (used > capacity) return MappingFault::Capacity;
        if (used < capacity * level.minUtilisation) return MappingFault::Utilisation;
    }
    return MappingFault::None;
}

NestEvaluator::NestEvaluator(const NestProblem& problem, const NestHardware& hardware,
                             std::shared_ptr<const SparseDesign> sparse)
    : state_(std::make_unique<State>()) {
    state_->problem = problem;
    state_->hardware = hardware;
    state_->sparse = std::move(sparse);
    state_->frame = nest::makeFrame(state_->problem, state_->hardware);
}

NestEvaluator::~NestEvaluator() = default;
NestEvaluator::NestEvaluator(NestEvaluator&&) noexcept = default;
NestEvaluator& NestEvaluator::operator=(NestEvaluator&&) noexcept = default;

MappingFault NestEvaluator::evaluate(const NestMapping& mapping, NestCounts& counts) {
    State& state = *state_;
    state.sparsely.fault = MappingFault::None;
    if (const auto fault = state.place(mapping); fault != MappingFault::None) return fault;
    const nest::Frame& frame = *state.frame;
    if (state.flat.perfect) {
        nest::perfectTraffic(frame, state.flat, state.positions, state.traffic);
    } else if (!nest::walkTraffic(frame, state.flat, state.traffic)) {
        return MappingFault::Factors;
    }
    counts.levels.resize(state.flat.levels);
    for (std::size_t t = 0; t < frame.tensors; ++t) {
        nest::countTensor(frame, state.flat, state.traffic, mapping, t, counts);
    }
    for (LevelCounts& level : counts.levels) {
        for (std::size_t t = frame.tensors; t < maxNestTensors; ++t) level.tensors[t] = {};
    }
    counts.operations = counts.computed = frame.operations;
    nest::countCycles(state.hardware, state.traffic.cycles, counts);
    nest::countEnergy(state.hardware, counts);
    if (!state.sparse) return MappingFault::None;
    return applySparse(state.problem, state.hardware, mapping, *state.sparse, state.sparsely, counts);
}

Expected<NestCounts> NestEvaluator::explain(const NestMapping& mapping) {
    NestCounts counts;
    if (const auto fault = evaluate(mapping, counts); fault != MappingFault::None) {
        return Unexpected(state_->why(mapping, fault));
    }
    return counts;
}

Diagnostic NestEvaluator::State::why(const NestMapping& mapping, MappingFault fault) const {
    if (!frame) return frame.error();
    if (sparse && sparsely.fault == fault) return sparseFault(problem, hardware, sparsely);
    const auto told = [](std::string code, std::string message, std::string expected, std::string hint,
                         std::string path = {}) {
        return Diagnostic{Severity::Error,     std::move(code), std::move(message),
                          std::move(expected), std::move(hint), {{}, 0, 0, std::move(path)}};
    };
    switch (fault) {
        case MappingFault::None:
            break;
        case MappingFault::Factors: {
            if (mapping.levels.size() != hardware.levels.size()) {
                return told("mapping.levels",
                            fmt::format("the mapping has {} levels, the hardware {}", mapping.levels.size(),
                                        hardware.levels.size()),
                            "one level of loops per storage level", "map every storage level");
            }
            for (std::size_t d = 0; d < problem.dimensions.size(); ++d) {
                double product = 1;
                for (const LevelMapping& level : mapping.levels) {
                    for (const NestLoop& loop : level.loops) {
                        if (loop.dimension == d) product *= static_cast<double>(loop.bound);
                    }
                }
                if (product != static_cast<double>(problem.extents[d])) {
                    return told(
                        "mapping.factors",
                        fmt::format("the factors of {} multiply to {}, its extent is {}", problem.dimensions[d],
                                    product, problem.extents[d]),
                        fmt::format("factors of {} whose product is {}", problem.dimensions[d], problem.extents[d]),
                        "a factor 0 takes what the others leave", problem.dimensions[d]);
                }
            }
            return told("mapping.factors", "the loops do not make up the problem, or are too many and too uneven",
                        "loops over known dimensions whose last iterations end at the extent",
                        "use factors that divide the extents");
        }
        case MappingFault::FanOut: {
            for (std::size_t l = 0; l < flat.levels; ++l) {
                const bool innermost = l == 0;
                const std::int64_t used = innermost ? flat.arithmeticInstances : flat.instances[l - 1];
                const std::int64_t there = innermost ? hardware.arithmetic.instances : hardware.levels[l - 1].instances;
                const std::string& name = innermost ? hardware.arithmetic.name : hardware.levels[l - 1].name;
                if (used > there) {
                    return told(
                        "mapping.fan-out",
                        fmt::format("the spatial loops ask for {} instances of {}, there are {}", used, name, there),
                        fmt::format("at most {} in parallel", there),
                        fmt::format("lower the spatial factors of {} or of a level above it", hardware.levels[l].name),
                        hardware.levels[l].name);
                }
            }
            return told("mapping.fan-out", "the spatial loops ask for more instances than can be counted",
                        fmt::format("at most {} children of one level", nest::maxFanOut), "lower the spatial factors");
        }
        case MappingFault::Capacity:
        case MappingFault::Utilisation: {
            for (std::size_t l = 0; l < flat.levels; ++l) {
                const NestLevel& level = hardware.levels[l];
                double used = 0;
                std::string parts;
                for (std::size_t t = 0; t < frame->tensors; ++t) {
                    if ((mapping.levels[l].keeps >> t & 1u) == 0) continue;
                    used += flat.tile[l][t];
                    parts +=
                        fmt::format("{}{} {}", parts.empty() ? "" : ", ", problem.tensors[t].name, flat.tile[l][t]);
                }
                const double capacity = std::floor(level.capacityWords / level.multipleBuffering);
                if (fault == MappingFault::Capacity && used > capacity) {
                    return told(
                        "mapping.capacity",
                        fmt::format("{} would hold {} words ({}), it has {}", level.name, used, parts, capacity),
                        fmt::format("tiles of at most {} words together", capacity),
                        "move factors to an outer level, or let a tensor pass this level by", level.name);
                }
                if (fault == MappingFault::Utilisation && used < capacity * level.minUtilisation) {
                    return told("mapping.utilisation",
                                fmt::format("{} would hold {} of {} words", level.name, used, capacity),
                                fmt::format("{} words or more", capacity * level.minUtilisation),
                                "move factors to this level, or lower its min-utilization", level.name);
                }
            }
            break;
        }
        case MappingFault::Keeps: {
            for (std::size_t t = 0; t < frame->tensors; ++t) {
                bool kept = false;
                for (const LevelMapping& level : mapping.levels) kept = kept || (level.keeps >> t & 1u) != 0;
                if (!kept) {
                    return told("mapping.keeps",
                                fmt::format("{} passes every level by and is stored nowhere", problem.tensors[t].name),
                                "one level that keeps it", "keep it at the outermost level", problem.tensors[t].name);
                }
            }
            break;
        }
    }
    return told("mapping.fault", "the mapping does not fit", "", "");
}

}  // namespace orrery
