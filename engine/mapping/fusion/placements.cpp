#include "mapping/fusion/placements.h"

#include "mapping/bounds/bound_space.h"
#include "mapping/nest_energy.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery {
namespace {

constexpr std::size_t inputs = 0, outputs = 2;

std::uint32_t dimensionsOf(const NestProblem& problem, std::size_t tensor) {
    std::uint32_t mask = 0;
    for (const TensorRank& rank : problem.tensors[tensor].ranks) {
        for (const ProjectionTerm& term : rank.terms) mask |= 1u << term.dimension;
    }
    return mask;
}

/// Iterations of the innermost loops around that do not move a tensor.
double stillFor(const NestProblem& problem, const Surroundings& around, std::size_t tensor) {
    const std::uint32_t moved = dimensionsOf(problem, tensor);
    double iterations = 1;
    for (std::size_t i = around.order.size(); i-- > 0;) {
        if (moved >> around.order[i] & 1u) break;
        iterations *= static_cast<double>(std::max<std::int64_t>(around.count[around.order[i]], 1));
    }
    return iterations;
}

/// Energy, cycles, resident and transient words all no more.
bool noWorse(const FusedPlacement& a, const FusedPlacement& b) {
    return a.energy <= b.energy && a.cycles <= b.cycles && a.resident <= b.resident && a.transient <= b.transient;
}

void scale(TensorCounts& counts, double by) {
    counts.reads *= by;
    counts.fills *= by;
    counts.updates *= by;
    counts.temporalReductions *= by;
    counts.linkTransfers *= by;
}

}  // namespace

double Surroundings::iterations() const {
    double all = 1;
    for (const std::uint8_t d : order) all *= static_cast<double>(std::max<std::int64_t>(count[d], 1));
    return all;
}

NestProblem problemWithin(const NestProblem& problem, const Surroundings& around) {
    NestProblem one = problem;
    for (const std::uint8_t d : around.order) {
        if (around.tile[d] > 0)
            one.extents[d] = around.tile[d];
        else
            one.extents[d] /= std::max<std::int64_t>(around.count[d], 1);
    }
    return one;
}

NestCounts countsWithin(const OperatorChain& chain, const ChainOperator& op, const Surroundings& around,
                        std::uint32_t stays, const NestCounts& one) {
    NestCounts all = one;
    const double iterations = around.iterations();
    all.operations *= iterations;
    all.computed *= iterations;
    const std::size_t level = chain.level.value_or(0);
    for (LevelCounts& at : all.levels) {
        for (TensorCounts& tensor : at.tensors) scale(tensor, iterations);
    }
    for (std::size_t t = 0; t < op.problem.tensors.size(); ++t) {
        const bool gone =
            (t == inputs && around.inputStays) || (t == outputs && around.outputStays && !around.outputStored);
        const double share = gone ? 0 : stays >> t & 1u ? 1 / stillFor(op.problem, around, t) : 1;
        if (share == 1) continue;
        for (std::size_t l = level + 1; l < all.levels.size(); ++l) scale(all.levels[l].tensors[t], share);
        all.levels[level].tensors[t].fills *= share;
    }
    nest::countCycles(chain.hardware, one.computeCycles * iterations, all);
    // Networks fill and drain in every iteration.
    for (const NestLevel& each : chain.hardware.levels) all.cycles += (iterations - 1) * each.networkLatency;
    nest::countEnergy(chain.hardware, all);
    return all;
}

Placements::Placements(const OperatorChain& chain, const PlacementOptions& options, Executor& executor,
                       std::stop_token stop)
    : chain_(chain), options_(options), executor_(executor), stop_(std::move(stop)) {
    for (std::size_t i = 0; i < chain.operators.size(); ++i) {
        std::size_t first = 0;
        for (; first < i; ++first) {
            NestProblem named = chain.operators[first].problem;
            named.name = chain.operators[i].problem.name;
            if (named == chain.operators[i].problem) break;
        }
        alike_.push_back(first);
        if (chain.level && *chain.level < chain.operators[i].constraints.levels.size())
            residents_ = residents_ || !(chain.operators[i].constraints.levels[*chain.level].bypass & 2u);
        if (chain.level && chain.operators[i].constraints.levels.empty()) residents_ = true;
    }
    // Rows of an intermediate that wait for the next iteration take room while other operators run.
    for (const ChainJoin& join : chain.joins)
        residents_ =
            residents_ || std::ranges::any_of(join.rows, [](const RowDimension& row) { return row.overlaps(); });
    blocks_.resize(chain.operators.size());
}

void Placements::collect(const Question& question, bool whole, std::vector<NestMapping>& blocks) {
    if (options_.oneBuffer) {
        for (std::uint32_t keeps = 0; keeps < 8; ++keeps) {
            NestMapping block;
            block.levels.resize(chain_.hardware.levels.size());
            block.levels[0].keeps = keeps;
            blocks.push_back(std::move(block));
        }
        return;
    }
    const auto space = Mapspace::make(question.problem, chain_.hardware, question.constraints);
    if (!space) return;
    std::vector<MapObjective> objectives{MapObjective::Latency};
    if (chain_.energies) objectives.insert(objectives.end(), {MapObjective::Energy, MapObjective::Edp});
    for (const MapObjective objective : objectives) {
        MapperOptions options = options_.mapper;
        if (!whole && options.kind == MapperKind::Optimal)
            options = {.seed = options.seed, .evaluations = PlacementOptions{}.mapper.evaluations};
        options.objectives = {objective, objective == MapObjective::Latency && chain_.energies ? MapObjective::Energy
                                                                                               : MapObjective::Latency};
        SearchContext context{executor_, stop_};
        const auto found = searchMappings(*space, options, context);
        // Where no draw fits, none does for another objective: they are the same.
        if (!found) return;
        evaluated_ += (*found)->valid;
        if (std::find(blocks.begin(), blocks.end(), (*found)->mapping) == blocks.end())
            blocks.push_back((*found)->mapping);
    }
}

void Placements::offer(const Question& question, const NestMapping& mapping, NestEvaluator& evaluator,
                       std::vector<FusedPlacement>& found) {
    evaluated_.fetch_add(1, std::memory_order_relaxed);
    thread_local NestCounts one;
    if (evaluator.evaluate(mapping, one) != MappingFault::None) return;
    const std::size_t level = chain_.level.value_or(0);
    const NestProblem& problem = question.op.problem;
    const Surroundings& around = question.around;
    const bool alone = around.order.empty() && !around.inputStays && !around.outputStays;
    std::uint32_t may = 0;
    if (residents_ && !alone) {
        std::uint32_t outside = 0;
        for (std::size_t l = level + 1; l < mapping.levels.size(); ++l) {
            for (const NestLoop& loop : mapping.levels[l].loops) {
                if (loop.bound > 1) outside |= 1u << loop.dimension;
            }
        }
        for (std::size_t t = 0; t < problem.tensors.size(); ++t) {
            if (problem.tensors[t].written || (t == inputs && around.inputStays)) continue;
            if (one.levels[level].tensors[t].kept && !(outside & dimensionsOf(problem, t)) &&
                stillFor(problem, around, t) > 1)
                may |= 1u << t;
        }
    }
    // What stays on the chip must stand at its level.
    if (around.inputStays && !one.levels[level].tensors[inputs].kept) return;
    if (around.outputStays && !one.levels[level].tensors[outputs].kept) return;
    for (std::uint32_t stays = may;; stays = (stays - 1) & may) {
        FusedPlacement made;
        made.stays = stays;
        if (alone) {
            made.energy = one.energy;
            made.cycles = one.cycles;
        } else {
            const NestCounts all = countsWithin(chain_, question.op, around, stays, one);
            made.energy = all.energy;
            made.cycles = all.cycles;
        }
        if (options_.oneBuffer || (residents_ && !alone)) {
            for (std::size_t t = 0; t < problem.tensors.size(); ++t) {
                const TensorCounts& at = one.levels[level].tensors[t];
                if (at.kept) (stays >> t & 1u ? made.resident : made.transient) += at.tile;
            }
        }
        const bool beaten =
            std::any_of(found.begin(), found.end(), [&](const FusedPlacement& other) { return noWorse(other, made); });
        if (!beaten) {
            std::erase_if(found, [&](const FusedPlacement& other) { return noWorse(made, other); });
            made.mapping = mapping;
            found.push_back(std::move(made));
        }
        if (stays == 0) break;
    }
}

void Placements::everyTile(const Question& question, const NestMapping& block, NestEvaluator& evaluator,
                           std::vector<FusedPlacement>& found) {
    const NestProblem& problem = question.problem;
    const std::size_t level = chain_.level ? *chain_.level : chain_.hardware.levels.size() - 2;
    const std::size_t store = chain_.hardware.levels.size() - 1;
    // What is inside, and the loops that are left.
    NestMapping base = block;
    std::array<std::int64_t, maxNestDimensions> left{};
    for (std::size_t d = 0; d < problem.dimensions.size(); ++d) left[d] = problem.extents[d];
    for (std::size_t l = 0; l <= store; ++l) {
        std::erase_if(base.levels[l].loops,
                      [&](const NestLoop& loop) { return l >= level && loop.kind == LoopKind::Temporal; });
        for (const NestLoop& loop : base.levels[l].loops) {
            if (loop.residual != loop.bound || left[loop.dimension] % loop.bound != 0) return;
            left[loop.dimension] /= loop.bound;
        }
    }
    const auto space = bounds::makeSpace(problem, {.anyTile = false});
    if (!space) return;
    std::vector<std::vector<std::uint8_t>> orders;
    for (const bounds::OrderClass& order : bounds::orderClasses(*space, 7u, false)) {
        std::vector<std::uint8_t> dimensions;
        for (const std::uint8_t axis : order.axes) {
            const auto& of = space->axes[axis].dimensions;
            dimensions.insert(dimensions.end(), of.begin(), of.end());
        }
        for (std::uint8_t d = 0; d < problem.dimensions.size(); ++d) {
            if (std::find(dimensions.begin(), dimensions.end(), d) == dimensions.end()) dimensions.push_back(d);
        }
        orders.push_back(std::move(dimensions));
    }
    std::array<std::int64_t, maxNestDimensions> outside{};
    outside.fill(1);
    NestMapping mapping;
    const auto active = [&](const std::vector<std::uint8_t>& order, bool atStore) {
        std::vector<std::uint8_t> loops;
        for (const std::uint8_t d : order) {
            if ((atStore ? outside[d] : left[d] / outside[d]) > 1) loops.push_back(d);
        }
        return loops;
    };
    const auto all = [&] {
        std::vector<std::vector<std::uint8_t>> inner, outer;
        for (const auto& order : orders) {
            for (const bool atStore : {false, true}) {
                auto loops = active(order, atStore);
                auto& list = atStore ? outer : inner;
                if (std::find(list.begin(), list.end(), loops) == list.end()) list.push_back(std::move(loops));
            }
        }
        // Of one buffer nothing inside asks in which order.
        if (options_.oneBuffer) inner.resize(1);
        for (const auto& in : inner) {
            for (const auto& out : outer) {
                mapping = base;
                for (const std::uint8_t d : in) {
                    const std::int64_t bound = left[d] / outside[d];
                    mapping.levels[level].loops.push_back({d, LoopKind::Temporal, bound, bound});
                }
                for (const std::uint8_t d : out)
                    mapping.levels[store].loops.push_back({d, LoopKind::Temporal, outside[d], outside[d]});
                offer(question, mapping, evaluator, found);
            }
        }
    };
    const std::size_t dimensions = problem.dimensions.size();
    const auto split = [&](auto& self, std::size_t d) -> void {
        if (stop_.stop_requested()) return;
        if (d == dimensions) return all();
        for (std::int64_t count = 1; count <= left[d]; ++count) {
            if (left[d] % count != 0 || (count > 1 && question.whole >> d & 1u)) continue;
            outside[d] = count;
            self(self, d + 1);
        }
        outside[d] = 1;
    };
    split(split, 0);
}

void Placements::everyMapping(const Question& question, NestEvaluator& evaluator, std::vector<FusedPlacement>& found) {
    const auto space = Mapspace::make(question.problem, chain_.hardware, question.constraints);
    if (!space) return;
    MapPoint point = space->start();
    NestMapping mapping;
    for (std::uint64_t f = 0, all = space->factorisations(); f < all && !stop_.stop_requested(); ++f) {
        space->setFactors(point, f);
        if (space->checkFactors(point).fault != MappingFault::None) continue;
        for (std::uint64_t v = 0, n = space->variants(point); v < n; ++v) {
            space->setVariant(point, v);
            if (space->check(point).fault != MappingFault::None) continue;
            space->toMapping(point, mapping);
            offer(question, mapping, evaluator, found);
        }
    }
}

std::string Placements::keyOf(std::size_t first, const Surroundings& around) const {
    std::string key = fmt::format("{}:{}{}{}", first, around.inputStays, around.outputStays, around.outputStored);
    for (const std::uint8_t d : around.order) {
        if (around.count[d] > 1) key += fmt::format(" {}x{}:{}", d, around.count[d], around.tile[d]);
    }
    return key;
}

const std::vector<FusedPlacement>& Placements::of(std::size_t index, const Surroundings& around) {
    const Surroundings* const one = &around;
    find(index, {&one, 1});
    return known_.at(keyOf(alike_[index], around));
}

void Placements::find(std::size_t index, std::span<const Surroundings* const> around) {
    const std::size_t first = alike_[index];
    std::vector<std::pair<const Surroundings*, std::vector<FusedPlacement>*>> fresh;
    for (const Surroundings* each : around) {
        const auto [at, isFresh] = known_.try_emplace(keyOf(first, *each));
        if (isFresh) fresh.push_back({each, &at->second});
    }
    std::vector<NestMapping>& whole = blocks_[first];
    if (!fresh.empty() && whole.empty() && !options_.exhaustive) {
        const Surroundings none;
        const ChainOperator& op = chain_.operators[first];
        collect({op, none, op.problem, op.constraints}, true, whole);
    }
    executor_.forEach(fresh.size(), [&](std::size_t i) { *fresh[i].second = search(first, *fresh[i].first); });
}

std::vector<FusedPlacement> Placements::search(std::size_t first, const Surroundings& around) {
    const ChainOperator& op = chain_.operators[first];
    Question question{op, around, problemWithin(op.problem, around), op.constraints};
    if (around.inputStays) question.whole |= dimensionsOf(op.problem, inputs);
    if (around.outputStays) question.whole |= dimensionsOf(op.problem, outputs);
    question.constraints.levels.resize(chain_.hardware.levels.size());
    for (std::size_t l = chain_.level.value_or(0) + 1; question.whole && l < chain_.hardware.levels.size(); ++l) {
        for (LoopConstraint* loops :
             {&question.constraints.levels[l].temporal, &question.constraints.levels[l].spatial}) {
            loops->factors.resize(op.problem.dimensions.size(), 0);
            for (std::size_t d = 0; d < op.problem.dimensions.size(); ++d) {
                if (question.whole >> d & 1u) loops->factors[d] = 1;
            }
        }
    }
    std::vector<FusedPlacement> found;
    // What stays stands whole at the fusion level: no search finds room where there is none.
    const NestLevel& level = chain_.hardware.levels[chain_.level.value_or(0)];
    double staying = 0;
    if (around.inputStays) staying += question.problem.size(inputs);
    if (around.outputStays) staying += question.problem.size(outputs);
    if (staying > level.capacityWords / level.multipleBuffering) return found;
    NestEvaluator evaluator(question.problem, chain_.hardware);
    if (options_.exhaustive) {
        everyMapping(question, evaluator, found);
    } else {
        const std::vector<NestMapping>& whole = blocks_[first];
        std::vector<NestMapping> blocks;
        if (question.whole || !around.order.empty()) {
            collect(question, false, blocks);
        } else {
            blocks = whole;
        }
        // What the searches found for this very question is among the answers, whatever its orders are.
        for (const NestMapping& own : blocks) offer(question, own, evaluator, found);
        for (const NestMapping& other : whole) {
            if (std::find(blocks.begin(), blocks.end(), other) == blocks.end()) blocks.push_back(other);
        }
        for (const NestMapping& block : blocks) everyTile(question, block, evaluator, found);
    }
    std::stable_sort(found.begin(), found.end(), [](const FusedPlacement& a, const FusedPlacement& b) {
        return a.energy != b.energy ? a.energy < b.energy : a.cycles < b.cycles;
    });
    return found;
}

}  // namespace orrery
