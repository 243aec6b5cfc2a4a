#include "mapping/mappers/together.h"
#include "mapping/mapspace_dataflow.h"
#include "methods/array/loop_nest.h"

#include <fmt/format.h>

#include <map>

namespace orrery {
namespace {

struct NestQuestion {
    MappedNest mapped;  ///< without its search
    Mapspace space;
    std::shared_ptr<const SparseDesign> sparse;
};

Expected<NestQuestion> questionOf(const SpatialArrayView& view, const ArrayHardware& array, const OperatorNest& nest,
                                  const LoopNestOptions& options, const SearchContext& context) {
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
    mapped.options = std::move(search);
    std::shared_ptr<const SparseDesign> design = context.sparse;
    if (options.sparse) {
        auto sparse = options.sparse(nest.problem, array.hardware);
        if (!sparse) return tl::unexpected(std::move(sparse.error()));
        design = std::move(*sparse);
    }
    // Compressed tiles may fit where dense ones do not.
    auto space = Mapspace::make(nest.problem, array.hardware, mapped.constraints, {.prune = !design});
    if (!space) return tl::unexpected(std::move(space.error()));
    return NestQuestion{std::move(mapped), std::move(*space), std::move(design)};
}

Expected<MappedNest> mapNest(const SpatialArrayView& view, const ArrayHardware& array, const OperatorNest& nest,
                             const LoopNestOptions& options, SearchContext& context) {
    auto question = questionOf(view, array, nest, options, context);
    if (!question) return tl::unexpected(std::move(question.error()));
    SearchContext own = context;
    own.sparse = question->sparse;
    auto found = searchMappings(question->space, question->mapped.options, own);
    if (!found) return tl::unexpected(std::move(found.error()));
    question->mapped.search = std::move(*found);
    return std::move(question->mapped);
}

/// Energy × delay of several nests is not the sum of theirs: the mapper that proves looks at them together.
bool together(const ArrayHardware& array, const std::vector<OperatorNest>& nests, const LoopNestOptions& options) {
    return nests.size() > 1 && array.energies && options.mapper.kind == MapperKind::Optimal &&
           options.mapper.objectives.front() == MapObjective::Edp;
}

Expected<MappedOperator> mapTogether(const SpatialArrayView& view, const ArrayHardware& array,
                                     const std::vector<OperatorNest>& nests, const LoopNestOptions& options,
                                     SearchContext& context) {
    std::vector<NestQuestion> questions;
    for (const OperatorNest& nest : nests) {
        auto question = questionOf(view, array, nest, options, context);
        if (!question) return tl::unexpected(std::move(question.error()));
        questions.push_back(std::move(*question));
    }
    std::vector<NestInRow> row;
    for (const NestQuestion& each : questions) row.push_back({&each.space, each.mapped.times, each.sparse});
    auto found = searchTogether(row, options.mapper, context);
    if (!found) return tl::unexpected(std::move(found.error()));
    MappedOperator mapped{array.hardware, {}, found->edp(), found->lowerBound, found->proven};
    for (std::size_t i = 0; i < questions.size(); ++i) {
        questions[i].mapped.search = std::move(found->mappings[i]);
        mapped.nests.push_back(std::move(questions[i].mapped));
    }
    return mapped;
}

/// What is known of nests that were searched one by one. EDP: (E1 + E2) (T1 + T2) is no less than E1 T1 + E2 T2.
void conclude(MappedOperator& op) {
    if (op.nests.empty()) return;
    const MapObjective objective = op.nests.front().options.objectives.front();
    const bool product = objective == MapObjective::Edp;
    op.proven = op.nests.size() == 1 || !product;
    op.value = op.lowerBound = 0;
    for (const MappedNest& nest : op.nests) {
        op.proven = op.proven && nest.search->proven;
        op.value += nest.times * objectiveValue(objective, nest.counts());
        op.lowerBound += nest.search->lowerBound * nest.times * (product ? nest.times : 1);
    }
    if (product) op.value = op.energy() * op.cycles();
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
    if (together(array, nests, options)) return mapTogether(view, array, nests, options, context);
    MappedOperator mapped;
    mapped.hardware = array.hardware;
    for (const OperatorNest& nest : nests) {
        auto one = mapNest(view, array, nest, options, context);
        if (!one) return tl::unexpected(std::move(one.error()));
        mapped.nests.push_back(std::move(*one));
    }
    conclude(mapped);
    return mapped;
}

std::vector<Expected<MappedOperator>> mapOperators(const SpatialArrayView& view, const Graph& graph,
                                                   const LoopNestOptions& options, SearchContext& context) {
    const ArrayHardware array = nestHardware(view);
    std::vector<OperatorNest> shapes;
    std::vector<std::vector<OperatorNest>> rows;  // to be mapped together
    std::map<std::string, std::size_t> known, knownRows;
    std::vector<std::vector<std::pair<std::size_t, OperatorNest>>> nestsOfOperator(graph.operators.size());
    std::vector<std::optional<std::size_t>> rowOfOperator(graph.operators.size());
    for (std::size_t i = 0; i < graph.operators.size(); ++i) {
        std::vector<OperatorNest> nests = nestsOf(graph.operators[i], graph);
        if (together(array, nests, options)) {
            std::string key;
            for (const OperatorNest& nest : nests) key += shapeOf(nest.problem) + fmt::format("x{};", nest.times);
            const auto [at, added] = knownRows.try_emplace(key, rows.size());
            rowOfOperator[i] = at->second;
            if (added) rows.push_back(std::move(nests));
            continue;
        }
        for (OperatorNest& nest : nests) {
            const auto [at, added] = known.try_emplace(shapeOf(nest.problem), shapes.size());
            if (added) shapes.push_back(nest);
            nestsOfOperator[i].emplace_back(at->second, std::move(nest));
        }
    }
    std::vector<std::optional<Expected<MappedNest>>> mapped(shapes.size());
    std::vector<std::optional<Expected<MappedOperator>>> mappedRows(rows.size());
    context.executor.forEach(shapes.size() + rows.size(), [&](std::size_t i) {
        const auto serial = makeSerialExecutor();
        SearchContext inner{*serial, context.stop, nullptr, context.cache, {}, nullptr};
        if (i >= shapes.size()) {
            mappedRows[i - shapes.size()].emplace(mapTogether(view, array, rows[i - shapes.size()], options, inner));
            return;
        }
        mapped[i].emplace(context.stop.stop_requested()
                              ? Expected<MappedNest>(fail("mapper.cancelled", "the search was stopped"))
                              : mapNest(view, array, shapes[i], options, inner));
    });
    std::vector<Expected<MappedOperator>> result;
    for (std::size_t i = 0; i < graph.operators.size(); ++i) {
        if (rowOfOperator[i]) {
            result.push_back(*mappedRows[*rowOfOperator[i]]);
            continue;
        }
        Expected<MappedOperator> all{MappedOperator{array.hardware, {}, 0, 0, false}};
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
        if (all) conclude(*all);
        result.push_back(std::move(all));
    }
    return result;
}

}  // namespace orrery
