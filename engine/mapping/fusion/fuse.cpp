#include "mapping/fusion/fuse.h"

#include "mapping/bounds/data_movement.h"
#include "mapping/fusion/chain_bound.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>

namespace orrery {
namespace {

/// A partial answer: everything up to some operator. Of a group that is still open also what it holds.
struct Partial {
    double energy = 0, cycles = 0;
    double resident = 0, transient = 0;  ///< of the open group: sum, and largest
    double held = 0;                     ///< of the groups before, at the busiest moment; where capacity is free
    double waiting = 0;                  ///< words of its operator's input that wait for the next iteration
    std::int32_t before = -1;            ///< the partial that it extends, by its number
    std::size_t op = 0;
    bool joined = false;  ///< its operator takes its input from the one before
    const Surroundings* around = nullptr;
    const FusedPlacement* placement = nullptr;
};

bool noWorse(const Partial& a, const Partial& b) {
    return a.energy <= b.energy && a.cycles <= b.cycles && a.resident <= b.resident && a.transient <= b.transient &&
           a.held <= b.held;
}

/// A loop around the open group, as a dimension of the operator that comes next.
struct Row {
    std::uint8_t dimension = 0;
    std::int64_t count = 1, tile = 1;
    std::int64_t waiting = 0;  ///< rows of its input that the iteration before has made
    bool overlaps = false;     ///< some window of the group moves along it
    auto operator<=>(const Row&) const = default;
};
/// Outermost first.
using Rows = std::vector<Row>;

std::int64_t shareOf(std::int64_t extent, std::int64_t count) {
    return (extent + count - 1) / count;
}

class Fuser {
public:
    Fuser(const OperatorChain& chain, const FusionOptions& options, Placements& placements, std::stop_token stop)
        : chain_(chain), options_(options), placements_(placements), stop_(std::move(stop)) {
        if (chain.level) {
            const NestLevel& level = chain.hardware.levels[*chain.level];
            capacity_ = std::floor(level.capacityWords / level.multipleBuffering);
        }
    }

    /// The best whole answer; nothing where some operator has no mapping or it was stopped.
    std::optional<ChainPlan> best(bool fused) {
        const auto closed = run(fused);
        if (closed.empty()) return std::nullopt;
        const auto value = [&](std::int32_t at) {
            const Partial& p = all_[static_cast<std::size_t>(at)];
            ChainPlan plan;
            plan.energy = p.energy;
            plan.cycles = p.cycles;
            return plan.value(options_.objective);
        };
        std::int32_t least = closed[0];
        for (const std::int32_t at : closed) {
            if (value(at) < value(least)) least = at;
        }
        return planOf(least);
    }

    /// What whole answers hold and move, where moving a word costs 1: none holds and moves more than another.
    std::vector<ChainBoundPoint> curve(bool fused) {
        std::vector<ChainBoundPoint> points;
        for (const std::int32_t at : run(fused)) {
            const Partial& p = all_[static_cast<std::size_t>(at)];
            points.push_back({p.held, p.energy});
        }
        std::sort(points.begin(), points.end(), [](const ChainBoundPoint& a, const ChainBoundPoint& b) {
            return a.words != b.words ? a.words < b.words : a.moved < b.moved;
        });
        std::vector<ChainBoundPoint> corners;
        for (const ChainBoundPoint& point : points) {
            if (corners.empty() || point.moved < corners.back().moved) corners.push_back(point);
        }
        return corners;
    }

    std::size_t failed() const { return failed_; }
    std::size_t partials() const { return partials_; }

private:
    /// Loops that may stand around an operator: of each of its dimensions how many tiles of how many rows.
    using Tilings = std::map<std::uint8_t, std::set<std::pair<std::int64_t, std::int64_t>>>;

    /// How operator i may be tiled as a part of some group. Tiles of a group's last operator divide its rows; before it
    /// each makes what the next one's tile needs, or only what the iteration before has not made.
    void findTilings() {
        tilings_.assign(chain_.operators.size(), {});
        for (std::size_t i = chain_.operators.size(); i-- > 0;) {
            const auto& extents = chain_.operators[i].problem.extents;
            for (std::uint8_t d = 0; d < extents.size(); ++d) {
                for (std::int64_t count = 2; count <= extents[d]; ++count) {
                    if (extents[d] % count == 0) tilings_[i][d].insert({count, extents[d] / count});
                }
            }
            if (i + 1 == chain_.operators.size() || !chain_.joins[i].possible) continue;
            for (const RowDimension& row : chain_.joins[i].rows) {
                const std::int64_t extent = extents[row.producer];
                for (const auto& [count, tile] : tilings_[i + 1][row.consumer]) {
                    tilings_[i][row.producer].insert({count, shareOf(extent, count)});
                    if (makesAgain()) tilings_[i][row.producer].insert({count, std::min(extent, row.rowsFor(tile))});
                }
            }
        }
    }

    /// Whole answers that none beats; empty where some operator has no mapping or it was stopped.
    std::vector<std::int32_t> run(bool fused) {
        all_.clear();
        if (fused) findTilings();
        // Closed answers before operator i, and open ones by the loops around the group that operator i continues.
        std::vector<std::int32_t> closed{add({})};
        std::map<Rows, std::vector<std::int32_t>> open;
        for (std::size_t i = 0; i < chain_.operators.size(); ++i) {
            std::vector<Partial> closing;
            std::map<Rows, std::vector<Partial>> opening;
            const bool joins = fused && chain_.level && i < chain_.joins.size() && chain_.joins[i].possible;
            const auto extendAll = [&] {
                extend(i, closed, {}, false, joins, closing, opening);
                for (const auto& [rows, partials] : open) extend(i, partials, rows, true, joins, closing, opening);
            };
            asked_.emplace();
            extendAll();
            placements_.find(i, *asked_);
            asked_.reset();
            opening.clear();
            extendAll();
            if (stop_.stop_requested()) return {};
            closed = keep(closing);
            open.clear();
            for (auto& [rows, partials] : opening) {
                auto kept = keep(partials);
                if (!kept.empty()) open.emplace(rows, std::move(kept));
            }
            if (closed.empty() && open.empty()) {
                failed_ = i;
                return {};
            }
        }
        return closed;
    }

    std::int32_t add(const Partial& partial) {
        all_.push_back(partial);
        return static_cast<std::int32_t>(all_.size() - 1);
    }

    /// The surroundings stay where they are for the whole search.
    const Surroundings* surroundings(const Rows& rows, bool in, bool out, bool stored) {
        Surroundings made;
        for (const Row& row : rows) {
            made.order.push_back(row.dimension);
            made.count[row.dimension] = row.count;
            made.tile[row.dimension] = row.tile;
        }
        made.inputStays = in;
        made.outputStays = out;
        made.outputStored = out && stored;
        for (const auto& known : surroundings_) {
            if (*known == made) return known.get();
        }
        surroundings_.push_back(std::make_unique<Surroundings>(made));
        return surroundings_.back().get();
    }

    /// Operator i after each of the partials: as the last of its group, and going on where the next one may join.
    void extend(std::size_t i, const std::vector<std::int32_t>& partials, const Rows& rows, bool joined, bool joins,
                std::vector<Partial>& closing, std::map<Rows, std::vector<Partial>>& opening) {
        const auto& extents = chain_.operators[i].problem.extents;
        // The last of a group makes every row once.
        if (std::ranges::all_of(rows, [&](const Row& row) { return row.count * row.tile == extents[row.dimension]; }))
            place(i, partials, rows, surroundings(rows, joined, false, false), joined, closing);
        if (!joins) return;
        const ChainJoin& join = chain_.joins[i];
        Rows next;
        if (joined) return goOn(i, join, rows, next, partials, opening);
        Rows start;
        tiles(i, join, 0, start, next, partials, opening);
    }

    /// The loops around the group as the next operator has them: its tile needs as many rows as operator i makes, or
    /// more, of which some wait since the iteration before.
    void goOn(std::size_t i, const ChainJoin& join, const Rows& rows, Rows& next,
              const std::vector<std::int32_t>& partials, std::map<Rows, std::vector<Partial>>& opening) {
        if (next.size() == rows.size())
            return place(i, partials, rows, surroundings(rows, true, true, join.stored), true, opening[next]);
        const Row& own = rows[next.size()];
        const auto row =
            std::ranges::find_if(join.rows, [&](const RowDimension& r) { return r.producer == own.dimension; });
        if (row == join.rows.end()) return;
        const bool innermost = next.size() + 1 == rows.size();
        for (const auto& [count, tile] : tilings_[i + 1][row->consumer]) {
            if (count != own.count) continue;
            for (const auto& [made, going] : joinedRow(i, *row, count, tile, innermost)) {
                if (made != own.tile) continue;
                next.push_back(going);
                next.back().overlaps |= own.overlaps;
                if (std::ranges::count_if(next, &Row::overlaps) <= 1) goOn(i, join, rows, next, partials, opening);
                next.pop_back();
            }
        }
    }

    /// Rows that wait move no more and take as much room at both ends of the join: making them again can only help a
    /// third operator of the group. That is looked at where nothing is left out.
    bool makesAgain() const { return options_.placements.exhaustive || options_.placements.oneBuffer; }

    /// What operator i makes in one iteration for a tile of the next one, and that one's row: all of it again, or what
    /// is new. Rows can wait only for the very next iteration: the loop over them is the innermost one.
    std::vector<std::pair<std::int64_t, Row>> joinedRow(std::size_t i, const RowDimension& row, std::int64_t count,
                                                        std::int64_t tile, bool innermost) const {
        const std::int64_t extent = chain_.operators[i].problem.extents[row.producer];
        const std::int64_t all = std::min(extent, row.rowsFor(tile)), fresh = shareOf(extent, count);
        const bool overlaps = row.overlaps() || count * tile != chain_.operators[i + 1].problem.extents[row.consumer];
        std::vector<std::pair<std::int64_t, Row>> ways;
        if (innermost && fresh < all) ways.push_back({fresh, {row.consumer, count, tile, all - fresh, true}});
        if (fresh == all || makesAgain()) ways.push_back({all, {row.consumer, count, tile, 0, overlaps}});
        return ways;
    }

    /// Every tile of the rows that a group may begin with.
    void tiles(std::size_t i, const ChainJoin& join, std::size_t at, Rows& rows, Rows& next,
               const std::vector<std::int32_t>& partials, std::map<Rows, std::vector<Partial>>& opening) {
        if (stop_.stop_requested()) return;
        if (at == join.rows.size())
            return place(i, partials, rows, surroundings(rows, false, true, join.stored), false, opening[next]);
        tiles(i, join, at + 1, rows, next, partials, opening);
        const RowDimension& row = join.rows[at];
        for (const auto& [count, tile] : tilings_[i + 1][row.consumer]) {
            for (const auto& [made, going] : joinedRow(i, row, count, tile, true)) {
                // One loop over overlapping tiles: a second one would multiply what is searched.
                if (going.overlaps && std::ranges::any_of(next, &Row::overlaps)) continue;
                rows.push_back({row.producer, count, made});
                next.push_back(going);
                if (going.waiting > 0) {
                    place(i, partials, rows, surroundings(rows, false, true, join.stored), false, opening[next]);
                } else {
                    tiles(i, join, at + 1, rows, next, partials, opening);
                }
                next.pop_back();
                rows.pop_back();
            }
        }
    }

    /// Words of operator i's input that wait for the next iteration.
    double waitingWords(std::size_t i, const Rows& rows, const Surroundings& around) const {
        double words = 0;
        for (const Row& row : rows) {
            if (row.waiting == 0) continue;
            NestProblem one = problemWithin(chain_.operators[i].problem, around);
            auto& ranks = one.tensors[0].ranks;
            std::erase_if(ranks, [&](const TensorRank& rank) {
                return std::ranges::any_of(rank.terms,
                                           [&](const ProjectionTerm& t) { return t.dimension == row.dimension; });
            });
            words += static_cast<double>(row.waiting) * one.size(0);
        }
        return words;
    }

    void place(std::size_t i, const std::vector<std::int32_t>& partials, const Rows& rows, const Surroundings* around,
               bool joined, std::vector<Partial>& into) {
        if (partials.empty()) return;
        if (asked_) return asked_->push_back(around);
        const double repeat = chain_.operators[i].repeat, waiting = waitingWords(i, rows, *around);
        for (const FusedPlacement& placement : placements_.of(i, *around)) {
            for (const std::int32_t at : partials) {
                const Partial& before = all_[static_cast<std::size_t>(at)];
                Partial next{before.energy + repeat * placement.energy, before.cycles + repeat * placement.cycles};
                const bool free = options_.placements.oneBuffer;
                next.held = before.held;
                if (joined || around->outputStays || free) {
                    // While the operator runs, what waits is a part of its input's tile.
                    next.resident = (joined ? before.resident : 0) + placement.resident + waiting;
                    next.transient = std::max(joined ? before.transient : 0, placement.transient - waiting);
                    if (!free && next.resident + next.transient > capacity_) continue;
                }
                if (!around->outputStays) {
                    if (free) next.held = std::max(next.held, next.resident + next.transient);
                    next.resident = next.transient = 0;
                }
                next.before = at;
                next.op = i;
                next.joined = joined;
                next.around = around;
                next.placement = &placement;
                next.waiting = waiting;
                into.push_back(next);
                if (into.size() > 4096) prune(into);
            }
        }
    }

    static void prune(std::vector<Partial>& partials) {
        std::stable_sort(partials.begin(), partials.end(), [](const Partial& a, const Partial& b) {
            if (a.energy != b.energy) return a.energy < b.energy;
            if (a.cycles != b.cycles) return a.cycles < b.cycles;
            return a.resident + a.transient < b.resident + b.transient;
        });
        std::vector<Partial> kept;
        for (const Partial& partial : partials) {
            if (std::none_of(kept.rbegin(), kept.rend(), [&](const Partial& k) { return noWorse(k, partial); }))
                kept.push_back(partial);
        }
        const bool nothingHeld = std::all_of(kept.begin(), kept.end(), [](const Partial& p) {
            return p.resident == 0 && p.transient == 0 && p.held == 0;
        });
        // Energy × cycles is quasi-concave, sums of either are linear: only corners of the convex hull can end best.
        if (nothingHeld) hull(kept);
        partials = std::move(kept);
    }

    /// Of partials by rising energy and falling cycles, those on the lower convex hull.
    static void hull(std::vector<Partial>& partials) {
        std::vector<Partial> corners;
        for (const Partial& next : partials) {
            while (corners.size() >= 2) {
                const Partial &a = corners[corners.size() - 2], &b = corners.back();
                const double turn =
                    (b.energy - a.energy) * (next.cycles - a.cycles) - (b.cycles - a.cycles) * (next.energy - a.energy);
                if (turn > 0) break;
                corners.pop_back();
            }
            corners.push_back(next);
        }
        partials = std::move(corners);
    }

    std::vector<std::int32_t> keep(std::vector<Partial>& partials) {
        prune(partials);
        partials_ += partials.size();
        std::vector<std::int32_t> numbers;
        for (const Partial& partial : partials) numbers.push_back(add(partial));
        return numbers;
    }

    ChainPlan planOf(std::int32_t at) const {
        ChainPlan plan;
        plan.energy = all_[static_cast<std::size_t>(at)].energy;
        plan.cycles = all_[static_cast<std::size_t>(at)].cycles;
        std::vector<const Partial*> path;
        for (; all_[static_cast<std::size_t>(at)].placement; at = all_[static_cast<std::size_t>(at)].before)
            path.push_back(&all_[static_cast<std::size_t>(at)]);
        std::reverse(path.begin(), path.end());
        double busiest = 0, asked = 0, done = 0;
        for (const Partial* p : path) {
            plan.operators.push_back({*p->around, *p->placement});
            if (!p->joined) {
                plan.groups.push_back({p->op, p->op, {}, 0, 0, 0, 1});
                busiest = asked = done = 0;
                for (const std::uint8_t d : p->around->order)
                    plan.groups.back().loops.push_back(
                        {chain_.operators[p->op].problem.dimensions[d], p->around->count[d]});
            }
            FusedGroup& group = plan.groups.back();
            group.last = p->op;
            group.resident += p->placement->resident + p->waiting;
            group.waiting += p->waiting;
            busiest = std::max(busiest, p->placement->transient - p->waiting);
            group.held = group.resident + busiest;
            const NestProblem& whole = chain_.operators[p->op].problem;
            asked += whole.operations();
            done += problemWithin(whole, *p->around).operations() * p->around->iterations();
            group.repeated = done / asked;
        }
        return plan;
    }

    const OperatorChain& chain_;
    const FusionOptions& options_;
    Placements& placements_;
    std::stop_token stop_;
    double capacity_ = std::numeric_limits<double>::infinity();
    std::vector<Partial> all_;
    std::vector<std::unique_ptr<Surroundings>> surroundings_;
    std::vector<Tilings> tilings_;  ///< per operator
    /// While the surroundings of one operator are gathered, so that they are found in parallel, and nothing is placed.
    std::optional<std::vector<const Surroundings*>> asked_;
    std::size_t failed_ = 0, partials_ = 0;
};

}  // namespace

double ChainPlan::value(MapObjective objective) const {
    if (objective == MapObjective::Latency) return cycles;
    if (objective == MapObjective::Energy) return energy;
    return energy * cycles;
}

Expected<FusionResult> fuseChain(const OperatorChain& chain, const FusionOptions& options, Executor& executor,
                                 std::stop_token stop) {
    const auto start = std::chrono::steady_clock::now();
    if (options.objective == MapObjective::LastLevelAccesses)
        return fail("fusion.objective", "last-level accesses of a chain are not what groups are chosen by",
                    "latency, energy or edp");
    if (!chain.energies && options.objective != MapObjective::Latency)
        return fail("mapper.objective", "the array gives no energies", "energies of every level, or latency",
                    "choose latency");
    Placements placements(chain, options.placements, executor, stop);
    Fuser fuser(chain, options, placements, stop);
    const auto unfused = fuser.best(false);
    const auto fused = unfused ? fuser.best(true) : std::nullopt;
    if (stop.stop_requested()) return fail("mapper.cancelled", "the search was stopped before the chain had an answer");
    if (!fused)
        return fail("fusion.no-mapping",
                    fmt::format("{} has no mapping on this array", chain.operators[fuser.failed()].name),
                    "operators that each have one", "`orrery-cli map --operator` says why");
    FusionResult result{*fused, *unfused, true, placements.evaluated(), fuser.partials()};
    result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return result;
}

Expected<ChainBound> chainBound(const OperatorChain& chain, Executor& executor, std::stop_token stop) {
    const auto start = std::chrono::steady_clock::now();
    OperatorChain machine;
    machine.hardware = twoLevelMachine(std::numeric_limits<double>::infinity());
    // A word read or written costs 1, nothing else does: energy is what moves.
    ActionEnergies& store = machine.hardware.levels[1].energy;
    store.vectorRead = store.vectorWrite = store.vectorUpdate = 1;
    machine.energies = true;
    machine.level = 0;
    machine.joins = chain.joins;
    for (const ChainOperator& op : chain.operators) {
        machine.operators.push_back({op.name, op.problem, {}, op.repeat, op.source});
        machine.operators.back().constraints.levels.resize(2);
    }
    FusionOptions options;
    options.objective = MapObjective::Energy;
    options.placements.oneBuffer = true;
    Placements placements(machine, options.placements, executor, stop);
    Fuser fuser(machine, options, placements, stop);
    ChainBound bound;
    bound.unfused = fuser.curve(false);
    if (!stop.stop_requested()) bound.fused = fuser.curve(true);
    if (stop.stop_requested()) return fail("bound.cancelled", "the bound was stopped before it was known");
    bound.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return bound;
}

}  // namespace orrery
