#include "mapping/fusion/chain.h"

#include "mapping/mapspace_dataflow.h"
#include "mapping/problem_of_operator.h"

#include <algorithm>
#include <set>

namespace orrery {
namespace {

constexpr std::size_t inputs = 0, outputs = 2;

/// Dimensions longer than 1 that move a rank.
std::vector<ProjectionTerm> longTerms(const NestProblem& problem, const TensorRank& rank) {
    std::vector<ProjectionTerm> terms;
    for (const ProjectionTerm& term : rank.terms) {
        if (problem.extents[term.dimension] > 1) terms.push_back(term);
    }
    return terms;
}

std::vector<std::vector<ProjectionTerm>> longRanks(const NestProblem& problem, std::size_t tensor) {
    std::vector<std::vector<ProjectionTerm>> ranks;
    for (const TensorRank& rank : problem.tensors[tensor].ranks) {
        auto terms = longTerms(problem, rank);
        if (!terms.empty()) ranks.push_back(std::move(terms));
    }
    return ranks;
}

bool has(const NestProblem& problem, std::size_t tensor, std::uint8_t dimension) {
    for (const TensorRank& rank : problem.tensors[tensor].ranks) {
        for (const ProjectionTerm& term : rank.terms) {
            if (term.dimension == dimension) return true;
        }
    }
    return false;
}

/// Where a tensor is used once everything that only passes it through is followed.
struct Readers {
    std::set<std::size_t> nests;   ///< operators that are nests
    std::set<std::size_t> asRows;  ///< of them those that take it as first operand, with all its elements
    bool others = false;           ///< something else reads it, or it is a result of the model
};

bool passesThrough(const Operator& op) {
    return op.kind == OperatorKind::Elementwise || op.kind == OperatorKind::Normalization ||
           op.kind == OperatorKind::Softmax || op.kind == OperatorKind::View;
}

void follow(const Graph& graph, TensorId tensor, double elements, std::set<TensorId>& seen, Readers& readers) {
    if (!seen.insert(tensor).second) return;
    if (std::find(graph.outputs.begin(), graph.outputs.end(), tensor) != graph.outputs.end()) readers.others = true;
    for (std::size_t i = 0; i < graph.operators.size(); ++i) {
        const Operator& op = graph.operators[i];
        const auto at = std::find(op.inputs.begin(), op.inputs.end(), tensor);
        if (at == op.inputs.end()) continue;
        if (mappable(op, graph)) {
            readers.nests.insert(i);
            const Tensor* arrives = graph.tensor(tensor);
            if (at == op.inputs.begin() && arrives && arrives->elements() == elements) readers.asRows.insert(i);
        } else if (passesThrough(op)) {
            for (const TensorId result : op.outputs) follow(graph, result, elements, seen, readers);
        } else {
            readers.others = true;
        }
    }
}

ChainJoin joinOf(const Graph& graph, std::size_t producer, std::size_t consumer) {
    ChainJoin join;
    const Operator& made = graph.operators[producer];
    if (made.outputs.empty() || made.repeat != graph.operators[consumer].repeat) return join;
    const Tensor* tensor = graph.tensor(made.outputs[0]);
    if (!tensor) return join;
    Readers readers;
    std::set<TensorId> seen;
    follow(graph, made.outputs[0], tensor->elements(), seen, readers);
    join.possible = readers.asRows.contains(consumer);
    join.stored = readers.others || readers.nests.size() > 1;
    return join;
}

}  // namespace

std::vector<RowDimension> commonRows(const NestProblem& producer, const NestProblem& consumer) {
    const auto made = longRanks(producer, outputs), used = longRanks(consumer, inputs);
    std::vector<RowDimension> rows;
    if (made.size() != used.size()) return rows;
    for (std::size_t r = 0; r < made.size(); ++r) {
        if (made[r].size() != 1 || made[r][0].coefficient != 1) continue;
        RowDimension row{made[r][0].dimension};
        std::size_t moving = 0;
        for (const ProjectionTerm& term : used[r]) {
            if (has(consumer, outputs, term.dimension)) {
                row.consumer = term.dimension;
                row.stride = term.coefficient;
                ++moving;
            } else {
                row.window += (consumer.extents[term.dimension] - 1) * term.coefficient;
            }
        }
        if (moving != 1 || row.stride < 1) continue;
        const std::int64_t there = producer.extents[row.producer],
                           asked = (consumer.extents[row.consumer] - 1) * row.stride + row.window;
        if (there >= asked - 2 * (row.window - 1) && there < asked + row.stride) rows.push_back(row);
    }
    return rows;
}

std::optional<std::size_t> fusionLevel(const NestHardware& hardware, const std::vector<ChainOperator>& operators) {
    for (std::size_t l = hardware.levels.size() - 1; l-- > 0;) {
        if (hardware.levels[l].instances != 1) return std::nullopt;
        const bool keeps = std::none_of(operators.begin(), operators.end(), [&](const ChainOperator& op) {
            return l < op.constraints.levels.size() && (op.constraints.levels[l].bypass & 0b101u) != 0;
        });
        if (keeps) return l;
    }
    return std::nullopt;
}

Expected<OperatorChain> operatorChain(const SpatialArrayView& view, const Graph& graph, std::size_t first,
                                      std::size_t last) {
    OperatorChain chain;
    ArrayHardware array = nestHardware(view);
    chain.hardware = std::move(array.hardware);
    chain.energies = array.energies;
    std::size_t before = 0;
    for (std::size_t i = first; i <= last && i < graph.operators.size(); ++i) {
        const Operator& op = graph.operators[i];
        const std::vector<OperatorNest> nests = nestsOf(op, graph);
        for (std::size_t n = 0; n < nests.size(); ++n) {
            ChainOperator made{nests[n].problem.name, nests[n].problem, dataflowConstraints(view, nests[n].problem),
                               static_cast<double>(op.repeat) * nests[n].times, i};
            if (!chain.operators.empty()) {
                // Scores of an attention go to its values and nowhere else.
                ChainJoin join = n > 0 ? ChainJoin{true, false, {}} : joinOf(graph, before, i);
                if (made.repeat != chain.operators.back().repeat) join.possible = false;
                if (join.possible) join.rows = commonRows(chain.operators.back().problem, made.problem);
                chain.joins.push_back(std::move(join));
            }
            chain.operators.push_back(std::move(made));
        }
        if (!nests.empty()) before = i;
    }
    if (chain.operators.size() < 2)
        return fail("fusion.chain", "fewer than two of these operators are loop nests",
                    "two or more products of matrices, convolutions or attentions", "name a longer range of operators");
    chain.level = fusionLevel(chain.hardware, chain.operators);
    return chain;
}

}  // namespace orrery
