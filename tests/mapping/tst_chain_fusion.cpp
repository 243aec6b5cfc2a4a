// Is a fused chain the best of all ways to group, tile and map it, and is nothing counted that stays on the chip?

#include "base/random.h"
#include "mapping/bounds/data_movement.h"
#include "mapping/fusion/chain_bound.h"
#include "mapping/fusion/fuse.h"
#include "support/mapping_fixture.h"
#include "support/near.h"

#include <QtTest/QtTest>

#include <set>

using namespace orrery;
using orrery::test::near;

namespace {

/// M N K with the tensors in the order of operators: Inputs, Weights, Outputs.
NestProblem chainProduct(std::int64_t m, std::int64_t n, std::int64_t k) {
    NestProblem made = fixture::product(m, n, k);
    made.tensors[0].name = "Inputs";
    made.tensors[1].name = "Weights";
    made.tensors[2].name = "Outputs";
    return made;
}

/// A convolution along one axis, of `p` results, a window of `r` and `c` → `k` channels.
NestProblem chainConvolution(std::int64_t p, std::int64_t r, std::int64_t stride, std::int64_t c, std::int64_t k) {
    NestProblem made = fixture::layer(k, c, p, 1, r, 1, stride);
    std::swap(made.tensors[0], made.tensors[1]);
    return made;
}

/// Registers, one buffer, main memory; the buffer keeps what `keeps` says, everything else passes it by.
OperatorChain chainOf(std::vector<NestProblem> problems, double buffer, std::uint32_t keeps, double registers = 16) {
    OperatorChain chain;
    chain.hardware = fixture::array(2, 1, registers, buffer);
    chain.energies = true;
    for (NestProblem& problem : problems) {
        ChainOperator op{"op" + std::to_string(chain.operators.size()), std::move(problem), {}, 1};
        op.constraints.levels.resize(3);
        op.constraints.levels[0].keep = 7;
        op.constraints.levels[1].keep = keeps;
        op.constraints.levels[1].bypass = 7u & ~keeps;
        if (!chain.operators.empty()) {
            ChainJoin join{true, false, commonRows(chain.operators.back().problem, op.problem)};
            chain.joins.push_back(join);
        }
        chain.operators.push_back(std::move(op));
    }
    chain.level = fusionLevel(chain.hardware, chain.operators);
    return chain;
}

FusionResult fuse(const OperatorChain& chain, MapObjective objective, bool exhaustive) {
    FusionOptions options;
    options.objective = objective;
    options.placements.exhaustive = exhaustive;
    const auto executor = makeSerialExecutor();
    auto result = fuseChain(chain, options, *executor);
    if (!result) qFatal("%s", toText(result.error()).c_str());
    return std::move(*result);
}

/// The slow twin: every grouping, every tile of the rows, every mapping of every operator, nothing left out on the way.
class EveryWay {
public:
    EveryWay(const OperatorChain& chain, MapObjective objective) : chain_(chain), objective_(objective) {}
    double least() {
        group(0, 0, 0);
        return least_;
    }

private:
    struct Way {
        double energy, cycles, resident, transient;
        auto operator<=>(const Way&) const = default;
    };
    // Groups of operators [first, last], then the next.
    void group(std::size_t first, double energy, double cycles) {
        if (first == chain_.operators.size()) {
            least_ = std::min(least_, objective_ == MapObjective::Latency  ? cycles
                                      : objective_ == MapObjective::Energy ? energy
                                                                           : energy * cycles);
            return;
        }
        for (std::size_t last = first; last < chain_.operators.size(); ++last) {
            if (last > first && !chain_.joins[last - 1].possible) break;
            std::vector<std::int64_t> counts;
            tile(first, last, counts, energy, cycles);
        }
    }
    // Tiles of the rows that every intermediate of the group has, one per row of the first; they divide those of the
    // last operator.
    void tile(std::size_t first, std::size_t last, std::vector<std::int64_t>& counts, double energy, double cycles) {
        const std::size_t rows = last > first ? chain_.joins[first].rows.size() : 0;
        if (counts.size() < rows) {
            const auto path = pathOf(first, last, counts.size());
            const std::int64_t extent = path.empty() ? 1 : chain_.operators[last].problem.extents[path.back()];
            for (std::int64_t count = 1; count <= extent; ++count) {
                if (extent % count) continue;
                counts.push_back(count);
                tile(first, last, counts, energy, cycles);
                counts.pop_back();
            }
            return;
        }
        // Before each operator but the first all that it needs is made again (0), or what is new (1).
        for (std::uint32_t fresh = 0; fresh < 1u << (last - first); ++fresh) {
            std::vector<Surroundings> around(last - first + 1);
            std::vector<double> waiting(around.size());
            int overlapping = 0;
            for (std::size_t r = 0; r < rows; ++r) {
                if (counts[r] == 1) continue;
                const bool innermost = std::all_of(counts.begin() + static_cast<std::ptrdiff_t>(r) + 1, counts.end(),
                                                   [](std::int64_t count) { return count == 1; });
                const auto path = pathOf(first, last, r);
                std::vector<std::int64_t> waits(around.size());
                bool overlaps = false;
                std::int64_t tile = chain_.operators[last].problem.extents[path.back()] / counts[r];
                for (std::size_t op = last;; --op) {
                    const std::uint8_t d = path[op - first];
                    around[op - first].count[d] = counts[r];
                    around[op - first].tile[d] = tile;
                    if (op == first) break;
                    const RowDimension& row = rowFrom(op - 1, path[op - 1 - first]);
                    const std::int64_t extent = chain_.operators[op - 1].problem.extents[row.producer];
                    const std::int64_t needed = (tile - 1) * row.stride + std::max(row.stride, row.window);
                    overlaps |= row.window > row.stride;
                    tile = std::min(needed, extent);
                    if (innermost && fresh >> (op - 1 - first) & 1u) {
                        const std::int64_t share = (extent + counts[r] - 1) / counts[r];
                        if (share < tile) {
                            waits[op - first] = tile - share;
                            tile = share;
                        }
                    }
                }
                overlapping += overlaps;
                for (std::size_t op = first; op <= last; ++op) around[op - first].order.push_back(path[op - first]);
                for (std::size_t op = first + 1; op <= last; ++op) {
                    if (waits[op - first] == 0) continue;
                    const NestProblem one = problemWithin(chain_.operators[op].problem, around[op - first]);
                    const RowDimension& row = rowFrom(op - 1, path[op - 1 - first]);
                    const std::int64_t length = (one.extents[row.consumer] - 1) * row.stride + row.window;
                    waiting[op - first] =
                        one.size(0) / static_cast<double>(length) * static_cast<double>(waits[op - first]);
                }
            }
            if (overlapping > 1) continue;
            for (std::size_t op = first; op <= last; ++op) {
                around[op - first].inputStays = op > first;
                around[op - first].outputStays = op < last;
                around[op - first].outputStored = op < last && chain_.joins[op].stored;
            }
            inside(first, first, last, around, waiting, {energy, cycles, 0, 0});
        }
    }
    const RowDimension& rowFrom(std::size_t join, std::uint8_t producer) const {
        const auto& rows = chain_.joins[join].rows;
        return *std::find_if(rows.begin(), rows.end(), [&](const RowDimension& r) { return r.producer == producer; });
    }
    // The dimension that row `row` of the group's first join is in each of its operators; empty where one has it not.
    std::vector<std::uint8_t> pathOf(std::size_t first, std::size_t last, std::size_t row) const {
        std::vector<std::uint8_t> path{chain_.joins[first].rows[row].producer};
        for (std::size_t op = first; op < last; ++op) {
            const auto& rows = chain_.joins[op].rows;
            const auto found = std::find_if(rows.begin(), rows.end(),
                                            [&](const RowDimension& r) { return r.producer == path.back(); });
            if (found == rows.end()) return {};
            path.push_back(found->consumer);
        }
        return path;
    }
    void inside(std::size_t op, std::size_t first, std::size_t last, const std::vector<Surroundings>& around,
                const std::vector<double>& waiting, const Way& before) {
        if (op > last) return group(last + 1, before.energy, before.cycles);
        for (const Way& way : waysOf(op, around[op - first])) {
            // What waits is a part of the input's tile while its operator runs.
            const double waits = waiting[op - first];
            const Way next{before.energy + way.energy, before.cycles + way.cycles,
                           before.resident + way.resident + waits, std::max(before.transient, way.transient - waits)};
            if (last > first && next.resident + next.transient > chain_.hardware.levels[*chain_.level].capacityWords)
                continue;
            inside(op + 1, first, last, around, waiting, next);
        }
    }
    const std::set<Way>& waysOf(std::size_t index, const Surroundings& around) {
        std::string key = std::to_string(index);
        for (const std::uint8_t d : around.order)
            key +=
                " " + std::to_string(d) + "x" + std::to_string(around.count[d]) + ":" + std::to_string(around.tile[d]);
        key += around.inputStays ? "i" : "-";
        key += around.outputStays ? "o" : "-";
        const auto [at, fresh] = ways_.try_emplace(key);
        if (!fresh) return at->second;
        const ChainOperator& op = chain_.operators[index];
        const NestProblem one = problemWithin(op.problem, around);
        const auto space = Mapspace::make(one, chain_.hardware, op.constraints);
        NestEvaluator evaluator(one, chain_.hardware);
        MapPoint point = space->start();
        NestMapping mapping;
        NestCounts counts;
        const bool alone = !around.inputStays && !around.outputStays;
        for (std::uint64_t f = 0; f < space->factorisations(); ++f) {
            space->setFactors(point, f);
            for (std::uint64_t v = 0, n = space->variants(point); v < n; ++v) {
                space->setVariant(point, v);
                if (space->checkFanOut(point).fault != MappingFault::None) continue;
                space->toMapping(point, mapping);
                if (evaluator.evaluate(mapping, counts) != MappingFault::None) continue;
                // No loop of the store over what stays.
                const auto moves = [&](std::size_t tensor) {
                    for (const NestLoop& loop : mapping.levels[*chain_.level + 1].loops) {
                        for (const TensorRank& rank : one.tensors[tensor].ranks) {
                            for (const ProjectionTerm& term : rank.terms)
                                if (loop.bound > 1 && term.dimension == loop.dimension) return true;
                        }
                    }
                    return false;
                };
                if ((around.inputStays && moves(0)) || (around.outputStays && moves(2))) continue;
                const LevelCounts& level = counts.levels[*chain_.level];
                if ((around.inputStays && !level.tensors[0].kept) || (around.outputStays && !level.tensors[2].kept))
                    continue;
                const bool kept = level.tensors[1].kept && !moves(1) && !alone && !around.order.empty();
                for (const std::uint32_t stays : {0u, 2u}) {
                    if (stays && !kept) continue;
                    const NestCounts all = countsWithin(chain_, op, around, stays, counts);
                    Way way{all.energy, all.cycles, 0, 0};
                    for (std::size_t t = 0; t < 3 && !alone; ++t) {
                        const TensorCounts& held = level.tensors[t];
                        if (held.kept) (stays >> t & 1u ? way.resident : way.transient) += held.tile;
                    }
                    at->second.insert(way);
                }
            }
        }
        return at->second;
    }

    const OperatorChain& chain_;
    MapObjective objective_;
    double least_ = 1e300;
    std::map<std::string, std::set<Way>> ways_;
};

}  // namespace

class TestChainFusion : public QObject {
    Q_OBJECT
private slots:
    void isTheBestOfEveryWayOnSmallChains() {
        RandomStream random(16);
        int fusedOnes = 0, tiled = 0, resident = 0;
        for (int i = 0; i < 60; ++i) {
            const auto extent = [&] { return std::int64_t{1} << random.below(3); };
            std::vector<NestProblem> problems;
            const std::int64_t rows = 2 * extent();
            std::int64_t k = extent();
            const int length = 2 + i % 2;
            for (int op = 0; op < length; ++op) {
                const std::int64_t n = 1 + static_cast<std::int64_t>(random.below(3));
                problems.push_back(chainProduct(rows, n, k));
                k = n;
            }
            OperatorChain chain = chainOf(std::move(problems), 8 + static_cast<double>(random.below(24)),
                                          i % 3 ? 7u : 5u, 3 + static_cast<double>(random.below(6)));
            if (i % 5 == 0) chain.joins[0].stored = true;
            const auto objective = std::array{MapObjective::Edp, MapObjective::Latency, MapObjective::Energy}[i % 3];
            const FusionResult result = fuse(chain, objective, true);
            const double least = EveryWay(chain, objective).least(), found = result.fused.value(objective);
            QVERIFY2(
                near(found, least, 1e-12),
                qPrintable(QString("chain %1: %2, every way %3").arg(i).arg(found, 0, 'g', 17).arg(least, 0, 'g', 17)));
            QVERIFY(found <= result.unfused.value(objective));
            for (const FusedGroup& group : result.fused.groups) {
                fusedOnes += group.last > group.first;
                tiled += !group.loops.empty();
                resident += group.resident > 0;
            }
        }
        // The chains are such that every kind of answer occurs.
        QVERIFY2(fusedOnes > 20 && tiled > 3 && resident > 3,
                 qPrintable(QString("%1 fused, %2 tiled, %3 resident").arg(fusedOnes).arg(tiled).arg(resident)));
    }
    void isTheBestOfEveryWayUnderWindows() {
        RandomStream random(8);
        int again = 0, waiting = 0, strided = 0;
        for (int i = 0; i < 160; ++i) {
            const auto one = [&](std::uint64_t most) { return 1 + static_cast<std::int64_t>(random.below(most)); };
            // From the last to the first: each has the rows that the next one asks for, or fewer where it pads.
            const int length = i % 8 == 0 ? 3 : 2;
            std::vector<NestProblem> problems;
            std::int64_t rows = length == 3 ? 2 * one(2) : 2 * one(4), channels = one(2);
            for (int op = length; op-- > 0;) {
                const std::int64_t window = one(3), stride = one(2), before = length == 3 ? 1 : one(2);
                problems.insert(problems.begin(), chainConvolution(rows, window, stride, before, channels));
                rows = (rows - 1) * stride + window - (window > 1 && random.below(2) ? window - 1 : 0);
                channels = before;
            }
            const OperatorChain chain = chainOf(std::move(problems), 6 + static_cast<double>(random.below(20)),
                                                i % 3 ? 7u : 5u, 3 + static_cast<double>(random.below(6)));
            const auto objective = std::array{MapObjective::Energy, MapObjective::Edp, MapObjective::Latency}[i % 3];
            const FusionResult result = fuse(chain, objective, true);
            const double least = EveryWay(chain, objective).least(), found = result.fused.value(objective);
            QVERIFY2(
                near(found, least, 1e-12),
                qPrintable(QString("chain %1: %2, every way %3").arg(i).arg(found, 0, 'g', 17).arg(least, 0, 'g', 17)));
            for (const FusedGroup& group : result.fused.groups) {
                again += group.repeated > 1;
                waiting += group.waiting > 0;
                strided += group.last > group.first && !group.loops.empty();
                QVERIFY(group.repeated >= 1 - 1e-12 && group.waiting <= group.resident);
            }
        }
        QVERIFY2(again > 5 && waiting > 5 && strided > 20,
                 qPrintable(QString("%1 made again, %2 waiting, %3 tiled").arg(again).arg(waiting).arg(strided)));
    }
    void rowsUnderAWindowAreFound() {
        // 3 × 1, stride 1, padded: 16 rows of 16.
        auto rows = commonRows(chainConvolution(16, 1, 1, 4, 8), chainConvolution(16, 3, 1, 8, 4));
        QCOMPARE(rows.size(), std::size_t{1});
        QCOMPARE(rows[0].window, std::int64_t{3});
        QCOMPARE(rows[0].rowsFor(4), std::int64_t{6});
        QVERIFY(rows[0].overlaps());
        // Stride 2: 8 rows of 16, four of them need nine.
        rows = commonRows(chainConvolution(16, 1, 1, 4, 8), chainConvolution(8, 3, 2, 8, 4));
        QCOMPARE(rows.size(), std::size_t{1});
        QCOMPARE(rows[0].rowsFor(4), std::int64_t{9});
        // A window of 1 with stride 2 skips rows that are made all the same.
        rows = commonRows(chainConvolution(16, 1, 1, 4, 8), chainConvolution(8, 1, 2, 8, 4));
        QCOMPARE(rows[0].rowsFor(4), std::int64_t{8});
        QVERIFY(!rows[0].overlaps());
        // Rows of other lengths are none.
        QVERIFY(commonRows(chainConvolution(16, 1, 1, 4, 8), chainConvolution(32, 3, 1, 8, 4)).empty());
    }
    void whatStaysIsTakenAwayExactly() {
        const OperatorChain chain = chainOf({chainProduct(16, 8, 8), chainProduct(16, 4, 8)}, 4096, 7);
        const ChainOperator& op = chain.operators[0];
        NestMapping mapping;
        mapping.levels.resize(3);
        for (std::uint8_t d = 0; d < 3; ++d)
            mapping.levels[1].loops.push_back({d, LoopKind::Temporal, op.problem.extents[d], op.problem.extents[d]});
        NestEvaluator evaluator(op.problem, chain.hardware);
        const NestCounts whole = *evaluator.explain(mapping);
        Surroundings around;
        around.outputStays = true;
        const NestCounts stays = countsWithin(chain, op, around, 0, whole);
        // 16 × 8 results are not written: an update each, of 200 pJ.
        QVERIFY(near(whole.energy - stays.energy, 128 * 200e-12));
        QCOMPARE(stays.levels[2].tensors[2].updates, 0.0);
        around.outputStored = true;
        QVERIFY(near(countsWithin(chain, op, around, 0, whole).energy, whole.energy));
        // Operands that are there are neither read from the store nor written to the buffer.
        around = {};
        around.inputStays = true;
        const NestCounts there = countsWithin(chain, op, around, 0, whole);
        QVERIFY(near(whole.energy - there.energy, 128 * 200e-12 + 128 * 6e-12));
        // In four iterations over rows everything else is done four times, weights that stay once.
        around = {};
        around.order = {0};
        around.count[0] = 4;
        const NestProblem one = problemWithin(op.problem, around);
        QCOMPARE(one.extents[0], std::int64_t{4});
        mapping.levels[1].loops[0].bound = mapping.levels[1].loops[0].residual = 4;
        NestEvaluator part(one, chain.hardware);
        const NestCounts quarter = *part.explain(mapping);
        const NestCounts again = countsWithin(chain, op, around, 0, quarter),
                         kept = countsWithin(chain, op, around, 2, quarter);
        QVERIFY(near(again.energy, 4 * quarter.energy));
        QCOMPARE(again.levels[2].tensors[1].reads, 4 * 64.0);
        QCOMPARE(kept.levels[2].tensors[1].reads, 64.0);
        QCOMPARE(kept.levels[1].tensors[1].fills, 64.0);
        QCOMPARE(again.operations, op.problem.operations());
    }
    void rowsOfBothSidesAreFound() {
        // M of the first is M of the second; what the second sums over is none.
        const auto rows = commonRows(chainProduct(16, 8, 4), chainProduct(16, 6, 8));
        QCOMPARE(rows.size(), std::size_t{1});
        QCOMPARE(int(rows[0].producer), 0);
        QCOMPARE(int(rows[0].consumer), 0);
        QVERIFY(commonRows(chainProduct(16, 8, 4), chainProduct(8, 6, 16)).empty());
    }
    void aBufferThatHoldsNothingFusesNothing() {
        const OperatorChain chain = chainOf({chainProduct(64, 64, 64), chainProduct(64, 64, 64)}, 64, 5);
        const FusionResult result = fuse(chain, MapObjective::Edp, false);
        // One row of the intermediate fills the buffer.
        for (const FusedGroup& group : result.fused.groups) QCOMPARE(group.first, group.last);
        QCOMPARE(result.fused.value(MapObjective::Edp), result.unfused.value(MapObjective::Edp));
    }
    void theBoundOfAChainAloneIsTheSumOfItsOperators() {
        const auto executor = makeSerialExecutor();
        const OperatorChain chain =
            chainOf({chainProduct(24, 16, 12), chainProduct(24, 10, 16), chainProduct(24, 6, 10)}, 0, 7);
        const auto bound = chainBound(chain, *executor);
        QVERIFY(bound);
        std::vector<BoundCurve> alone;
        for (const ChainOperator& op : chain.operators)
            alone.push_back(*dataMovementBound(op.problem, {.anyTile = false}));
        for (const ChainBoundPoint& point : bound->unfused) {
            double moved = 0;
            for (const BoundCurve& curve : alone) moved += curve.at(point.words)->moved;
            QCOMPARE(point.moved, moved);
        }
        QVERIFY(bound->unfused.size() > 20);
        // Fused, only what comes in and goes out has to move.
        QCOMPARE(bound->fused.back().moved, 24.0 * 12 + 12 * 16 + 16 * 10 + 10 * 6 + 24 * 6);
        const auto at = [](const std::vector<ChainBoundPoint>& curve, double words) {
            double moved = 1e300;
            for (const ChainBoundPoint& p : curve) moved = p.words <= words ? p.moved : moved;
            return moved;
        };
        for (const ChainBoundPoint& point : bound->unfused) QVERIFY(at(bound->fused, point.words) <= point.moved);
        for (std::size_t i = 1; i < bound->fused.size(); ++i) {
            QVERIFY(bound->fused[i].words > bound->fused[i - 1].words);
            QVERIFY(bound->fused[i].moved < bound->fused[i - 1].moved);
        }
    }
    void theFusedBoundIsTheBestOfEveryWay() {
        RandomStream random(4);
        const auto executor = makeSerialExecutor();
        for (int i = 0; i < 20; ++i) {
            const auto extent = [&] { return std::int64_t{1} << random.below(3); };
            const std::int64_t rows = 2 * extent(), k = extent(), n = 1 + extent();
            std::vector<NestProblem> problems{chainProduct(rows, n, k), chainProduct(rows, extent(), n)};
            if (i % 4 == 0) problems.push_back(chainProduct(rows, 2, problems[1].extents[1]));
            OperatorChain chain = chainOf(std::move(problems), 0, 7);
            const auto bound = chainBound(chain, *executor);
            QVERIFY(bound);
            for (const double words : {3.0, 6.0, 11.0, 20.0, 37.0}) {
                OperatorChain machine = chain;
                machine.hardware = twoLevelMachine(words);
                ActionEnergies& store = machine.hardware.levels[1].energy;
                store.vectorRead = store.vectorWrite = store.vectorUpdate = 1;
                machine.level = 0;
                for (ChainOperator& op : machine.operators) {
                    op.constraints = {};
                    op.constraints.levels.resize(2);
                }
                double moved = 1e300;
                for (const ChainBoundPoint& p : bound->fused) moved = p.words <= words ? p.moved : moved;
                const double least = EveryWay(machine, MapObjective::Energy).least();
                QVERIFY2(near(moved, least, 1e-12),
                         qPrintable(
                             QString("chain %1, %2 words: %3, every way %4").arg(i).arg(words).arg(moved).arg(least)));
            }
        }
    }
    void eightOperatorsFuseInSecondsAndNeverLose() {
        std::vector<NestProblem> problems;
        for (int i = 0; i < 8; ++i) problems.push_back(chainProduct(256, i % 2 ? 64 : 256, i % 2 ? 256 : 64));
        const OperatorChain chain = chainOf(std::move(problems), 16384, 5, 256);
        for (const auto objective : {MapObjective::Edp, MapObjective::Latency, MapObjective::Energy}) {
            const FusionResult result = fuse(chain, objective, false);
            QVERIFY(result.seconds < 120);
            QVERIFY(result.fused.value(objective) <= result.unfused.value(objective));
            QCOMPARE(result.fused.operators.size(), std::size_t{8});
            if (objective == MapObjective::Energy) QVERIFY(result.fused.energy < 0.95 * result.unfused.energy);
            // The same again, to the last bit.
            QCOMPARE(fuse(chain, objective, false).fused.value(objective), result.fused.value(objective));
        }
    }
    void bottlenecksRunRowByRow() {
        // Expansion, a window of three, projection: the wide intermediates need not fit, three of their rows do.
        std::vector<NestProblem> problems{chainConvolution(64, 1, 1, 4, 24), chainConvolution(64, 3, 1, 24, 24),
                                          chainConvolution(64, 1, 1, 24, 4)};
        const OperatorChain chain = chainOf(std::move(problems), 2400, 7, 64);
        const FusionResult result = fuse(chain, MapObjective::Energy, false);
        QCOMPARE(result.fused.groups.size(), std::size_t{1});
        const FusedGroup& group = result.fused.groups[0];
        QCOMPARE(group.loops.size(), std::size_t{1});
        QCOMPARE(group.repeated, 1.0);
        // Two rows of 24 words wait, and never more is held than there is.
        QCOMPARE(group.waiting, 2 * 24.0);
        QVERIFY(group.held <= 2400);
        // What moves to and from the store: the first input, the last result, and weights; no intermediate.
        double updates = 0;
        for (std::size_t i = 0; i < 3; ++i) {
            const PlacedOperator& placed = result.fused.operators[i];
            const ChainOperator& op = chain.operators[i];
            NestEvaluator evaluator(problemWithin(op.problem, placed.around), chain.hardware);
            const NestCounts all = countsWithin(chain, op, placed.around, placed.placement.stays,
                                                *evaluator.explain(placed.placement.mapping));
            QCOMPARE(all.operations, op.problem.operations());
            if (i > 0) QCOMPARE(all.levels[2].tensors[0].reads, 0.0);
            updates += all.levels[2].tensors[2].updates;
        }
        QCOMPARE(updates, 64.0 * 4);
        QVERIFY(result.fused.energy < 0.8 * result.unfused.energy);
        // On two threads the same, to the last bit.
        const auto threads = makeThreadExecutor(2);
        FusionOptions options;
        options.objective = MapObjective::Energy;
        const auto again = fuseChain(chain, options, *threads);
        QVERIFY(again);
        QCOMPARE(again->fused.energy, result.fused.energy);
        QCOMPARE(again->fused.cycles, result.fused.cycles);
        QCOMPARE(again->evaluated, result.evaluated);
    }
    void whatCannotBeAskedSaysWhy() {
        OperatorChain chain = chainOf({chainProduct(4, 4, 4), chainProduct(4, 4, 4)}, 64, 7);
        const auto executor = makeSerialExecutor();
        FusionOptions options;
        options.objective = MapObjective::LastLevelAccesses;
        QCOMPARE(fuseChain(chain, options, *executor).error().code, std::string("fusion.objective"));
        chain.energies = false;
        options.objective = MapObjective::Energy;
        QCOMPARE(fuseChain(chain, options, *executor).error().code, std::string("mapper.objective"));
        chain.energies = true;
        std::stop_source stop;
        stop.request_stop();
        QCOMPARE(fuseChain(chain, options, *executor, stop.get_token()).error().code, std::string("mapper.cancelled"));
        // Registers that hold no word of each tensor.
        const OperatorChain none = chainOf({chainProduct(4, 4, 4), chainProduct(4, 4, 4)}, 64, 7, 1);
        QCOMPARE(fuseChain(none, options, *executor).error().code, std::string("fusion.no-mapping"));
    }
};

QTEST_GUILESS_MAIN(TestChainFusion)
#include "tst_chain_fusion.moc"
