#include "mapping/mappers/search_key.h"

#include "mapping/mappers/mapper.h"

#include <fmt/format.h>

#include <iterator>

namespace orrery {
namespace {

void add(std::string& key, const LoopConstraint& loops) {
    fmt::format_to(std::back_inserter(key), "[{}|{}|{}|{}|{}]", fmt::join(loops.factors, ","),
                   fmt::join(loops.maxFactors, ","), fmt::join(loops.innermost, ","), fmt::join(loops.outermost, ","),
                   loops.split ? static_cast<long long>(*loops.split) : -1);
}

}  // namespace

std::string searchKey(const Mapspace& space, const MapperOptions& options) {
    std::string key;
    const auto out = std::back_inserter(key);
    const NestProblem& problem = space.problem();
    for (std::size_t d = 0; d < problem.dimensions.size(); ++d)
        fmt::format_to(out, "{}={};", problem.dimensions[d], problem.extents[d]);
    for (const NestTensor& tensor : problem.tensors) {
        fmt::format_to(out, "{}:{}", tensor.name, tensor.written);
        for (const TensorRank& rank : tensor.ranks) {
            key += '(';
            for (const ProjectionTerm& term : rank.terms)
                fmt::format_to(out, "{}*{},", term.dimension, term.coefficient);
            key += ')';
        }
    }
    const NestHardware& hardware = space.hardware();
    const NestArithmetic& a = hardware.arithmetic;
    fmt::format_to(out, "/{};{};{};{};{};{}", a.instances, a.meshX, a.wordBits, a.energy, a.gatedEnergy,
                   a.skippedEnergy);
    for (const NestLevel& l : hardware.levels) {
        fmt::format_to(out, "/{};{};{};{};{};{};{};{};{};{};{};{};{};{}", l.name, l.instances, l.meshX, l.wordBits,
                       l.blockSize, l.clusterSize, l.capacityWords, l.readBandwidth, l.writeBandwidth,
                       l.sharedBandwidth, l.multipleBuffering, l.minUtilisation, l.networkLatency, l.dram);
        fmt::format_to(out, ";{};{};{}", l.energy.vectorRead, l.energy.vectorWrite, l.energy.vectorUpdate);
    }
    const MapspaceConstraints& constraints = space.constraints();
    fmt::format_to(out, "/{};{}", constraints.minParallelism, constraints.imperfect);
    for (const LevelConstraint& level : constraints.levels) {
        add(key, level.spatial);
        add(key, level.temporal);
        fmt::format_to(out, "{}-{}", level.keep, level.bypass);
    }
    fmt::format_to(out, "/{};{};{};{};{}", toText(options.kind), options.seed, options.evaluations, options.victory,
                   options.timeout);
    if (options.joulesPerCycle != 0 || options.steps != 0)
        fmt::format_to(out, ";{};{}", options.joulesPerCycle, options.steps);
    for (const MapObjective objective : options.objectives) fmt::format_to(out, ";{}", toText(objective));
    return key;
}

}  // namespace orrery
