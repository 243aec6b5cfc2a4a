#include "mapping/mapspace_dataflow.h"
#include "methods/array/loop_nest.h"

#include <fmt/format.h>

#include <map>

namespace orrery {
namespace {

Expected<MappedNest> mapNest(const SpatialArrayView& view, const ArrayHardware& array, const OperatorNest& nest,
                             const LoopNestOptions& options, SearchContext& context) {
    MappedNest mapped;
    mapped.problem = nest.problem;
    mapped.times = nest.times;
    if (options.followDataflow) mapped.constraints = dataflowConstraints(view, nest.problem);
    MapperOptions search = options.mapper;
    if (!array.energies) {
        std::erase_if(search.objectives,
                      [](MapObjective o) { return o == MapObjective::Energy || o == MapObjective::Edp; });
        if (search.objectives.empty()) search.objectives.push_back(MapObjective::Latency);
        if (search.objectives.size() < 4) search.objectives.push_back(MapObjective::LastLevelAccesses);
    }
    mapped.constraints.imperfect = options.imperfect;
    SearchContext own = context;
    if (options.sparse) {
        auto sparse = options.sparse(nest.problem, array.hardware);
        if (!sparse) return tl::unexpected(std::move(sparse.error()));
        own.sparse = std::move(*sparse);
    }
    // Compressed tiles may fit where dense ones do not.
    auto space = Mapspace::make(nest.problem, array.hardware, mapped.constraints, {.prune = !own.sparse});
    if (!space) return tl::unexpected(std::move(space.error()));
    auto found = searchMappings(*space, search, own);
    if (!found) return tl::unexpected(std::move(found.error()));
    mapped.search = std::move(*found);
    mapped.options = std::move(search);
    return mapped;
}

std::string shapeOf(const NestProblem& problem) {
    std::string key;
    for (std::size_t d = 0; d < problem.dimensions.size(); ++d)
        key += fmt::format("{}{},", problem.dimensions[d], problem.extents[d]);
    for (const NestTensor& tensor : problem.tensors) {
        for (const TensorRank& rank : tensor.ranks) {
            key += '|';
            for (const ProjectionTerm& term : rank.terms)
                key += fmt::format("{}*{}+", term.dimension, term.coefficient);
        }
    }
    return key;
}

Unexpected notMappable(const Operator& op) {
    return fail("mapper.not-mappable", fmt::format("`{}` ({}) is no loop nest over matrix products", op.name, op.type),
                "a product of matrices, a convolution or attention with known extents", {}, {{}, 0, 0, op.name});
}

}  // namespace

double MappedOperator::cycles() const {
    double sum = 0;
    for (const MappedNest& nest : nests) sum += nest.times * nest.counts().cycles;
    return sum;
}
double MappedOperator::computeCycles() const {
    double sum = 0;
    for (const MappedNest& nest : nests) sum += nest.times * nest.counts().computeCycles;
    return sum;
}
double MappedOperator::energy() const {
    double sum = 0;
    for (const MappedNest& nest : nests) sum += nest.times * nest.counts().energy;
    return sum;
}
double MappedOperator::bytes(std::size_t level) const {
    double words = 0;
    for (const MappedNest& nest : nests) {
        for (const TensorCounts& tensor : nest.counts().levels[level].tensors) {
            if (tensor.kept) words += nest.times * tensor.instances * (tensor.reads + tensor.fills + tensor.updates);
        }
    }
    return words * static_cast<double>(hardware.levels[level].wordBits) / 8;
}

Expected<MappedOperator> mapOperator(const SpatialArrayView& view, const Operator& op, const Graph& graph,
                                     const LoopNestOptions& options, SearchContext& context) {
    const auto nests = nestsOf(op, graph);
    if (nests.empty()) return notMappable(op);
    const ArrayHardware array = nestHardware(view);
    MappedOperator mapped;
    mapped.hardware = array.hardware;
    for (const OperatorNest& nest : nests) {
        auto one = mapNest(view, array, nest, options, context);
        if (!one) return tl::unexpected(std::move(one.error()));
        mapped.nests.push_back(std::move(*one));
    }
    return mapped;
}

std::vector<Expected<MappedOperator>> mapOperators(const SpatialArrayView& view, const Graph& graph,
                                                   const LoopNestOptions& options, SearchContext& context) {
    const ArrayHardware array = nestHardware(view);
    std::vector<OperatorNest> shapes;
    std::map<std::string, std::size_t> known;
    std::vector<std::vector<std::pair<std::size_t, OperatorNest>>> nestsOfOperator(graph.operators.size());
    for (std::size_t i = 0; i < graph.operators.size(); ++i) {
        for (OperatorNest& nest : nestsOf(graph.operators[i], graph)) {
            const auto [at, added] = known.try_emplace(shapeOf(nest.problem), shapes.size());
            if (added) shapes.push_back(nest);
            nestsOfOperator[i].emplace_back(at->second, std::move(nest));
        }
    }
    std::vector<std::optional<Expected<MappedNest>>> mapped(shapes.size());
    context.executor.forEach(shapes.size(), [&](std::size_t i) {
        const auto serial = makeSerialExecutor();
        SearchContext inner{*serial, context.stop, nullptr, context.cache, {}, nullptr};
        mapped[i].emplace(context.stop.stop_requested()
                              ? Expected<MappedNest>(fail("mapper.cancelled", "the search was stopped"))
                              : mapNest(view, array, shapes[i], options, inner));
    });
    std::vector<Expected<MappedOperator>> result;
    for (std::size_t i = 0; i < graph.operators.size(); ++i) {
        Expected<MappedOperator> all{MappedOperator{array.hardware, {}}};
        if (nestsOfOperator[i].empty()) all = notMappable(graph.operators[i]);
        for (auto& [shape, nest] : nestsOfOperator[i]) {
            const auto& found = *mapped[shape];
            if (!found) {
                all = tl::unexpected(found.error());
                break;
            }
            MappedNest one = *found;
            one.problem.name = nest.problem.name;
            one.times = nest.times;
            all->nests.push_back(std::move(one));
        }
        result.push_back(std::move(all));
    }
    return result;
}

}  // namespace orrery
