#include "base/hash.h"
#include "mapping/mappers/lane.h"
#include "mapping/mappers/optimal/optimal.h"
#include "mapping/mappers/search_key.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

namespace orrery {

namespace {
constexpr std::uint64_t roundShare = 512;  // mappings of one lane in one round: a few milliseconds

double secondsSince(std::chrono::steady_clock::time_point begin) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}
}  // namespace

class LaneRounds {
public:
    LaneRounds(const Mapspace& space, const MapperOptions& options, SearchContext& context, MapperAlgorithm& algorithm)
        : space_(space), options_(options), context_(context), algorithm_(algorithm) {
        for (std::size_t i = 0; i < algorithm.lanes(); ++i) {
            lanes_.push_back(std::make_unique<MapLane>(space, options, context.sparse, i));
            lanes_.back()->stop_ = context.stop;
        }
    }

    void run(MapperResult& result) {
        const auto begin = std::chrono::steady_clock::now();
        const std::uint64_t budget = options_.evaluations ? options_.evaluations : algorithm_.usualEvaluations();
        if (context_.steps) context_.steps->setTotal(budget);
        std::uint64_t lastImproved = 0, refusedInRow = 0;
        for (std::uint64_t round = 1;; ++round) {
            std::uint64_t left = std::numeric_limits<std::uint64_t>::max();
            if (budget) {
                if (result.valid >= budget) break;
                left = budget - result.valid;
            }
            for (std::size_t i = 0; i < lanes_.size(); ++i) {
                MapLane& lane = *lanes_[i];
                lane.validBefore_ += lane.valid_;
                lane.examined_ = lane.valid_ = 0;
                lane.improvements_.clear();
                // The last round is shared out to the mapping.
                lane.validLimit_ = std::min(roundShare, left / lanes_.size() + (i < left % lanes_.size() ? 1 : 0));
                lane.examineLimit_ = lane.validLimit_ ? 8 * roundShare : 0;
            }
            context_.executor.forEach(lanes_.size(), [this](std::size_t i) { algorithm_.advance(*lanes_[i], i); });
            const std::uint64_t validBefore = result.valid;
            const bool improved = merge(result, begin);
            if (improved) lastImproved = result.valid;
            if (context_.steps) context_.steps->advance(result.valid - validBefore);
            refusedInRow = result.valid > validBefore ? 0 : refusedInRow + examinedInRound_;
            algorithm_.exchange(round);
            if (context_.stop.stop_requested()) {
                result.cancelled = true;
                break;
            }
            if (options_.seconds > 0 && secondsSince(begin) > options_.seconds) break;
            bool exhausted = true;
            for (std::size_t i = 0; i < lanes_.size(); ++i) exhausted = exhausted && algorithm_.exhausted(i);
            if (exhausted) {
                result.complete = algorithm_.coversAll();
                break;
            }
            if (options_.victory && result.valid > lastImproved + options_.victory) break;
            if (options_.timeout && refusedInRow >= options_.timeout) break;
        }
        for (const auto& lane : lanes_) {
            for (std::size_t f = 0; f < mappingFaultCount; ++f) {
                for (std::size_t l = 0; l < maxMapspaceLevels; ++l)
                    result.refusals.count[f][l] += lane->refusals_.count[f][l];
            }
        }
    }

    bool found() const { return found_; }
    const MapPoint& best() const { return best_; }

private:
    /// Lanes in their order, as if one had run after the other.
    bool merge(MapperResult& result, std::chrono::steady_clock::time_point begin) {
        const double seconds = secondsSince(begin);
        std::vector<MapperPoint> added;
        examinedInRound_ = 0;
        for (const auto& lane : lanes_) {
            for (const auto& step : lane->improvements_) {
                if (found_ && !(step.score < bestScore_)) continue;
                bestScore_ = step.score;
                found_ = true;
                best_ = lane->best_;  // the lane's last improvement is its best, so the last to pass is right
                added.push_back({result.valid + step.valid, seconds, step.cycles, step.energy, step.score.value[0]});
            }
            result.valid += lane->valid_;
            result.examined += lane->examined_;
            examinedInRound_ += lane->examined_;
        }
        result.curve.insert(result.curve.end(), added.begin(), added.end());
        if (context_.progress) context_.progress->post(added, result.examined, result.valid);
        return !added.empty();
    }

    const Mapspace& space_;
    const MapperOptions& options_;
    SearchContext& context_;
    MapperAlgorithm& algorithm_;
    std::vector<std::unique_ptr<MapLane>> lanes_;
    bool found_ = false;
    MapPoint best_;
    MapScore bestScore_;
    std::uint64_t examinedInRound_ = 0;
};

namespace {

std::unique_ptr<MapperAlgorithm> algorithmOf(const Mapspace& space, const MapperOptions& options) {
    switch (options.kind) {
        case MapperKind::Exhaustive:
            return exhaustiveMapper(space);
        case MapperKind::LinearPruned:
            return linearPrunedMapper(space);
        case MapperKind::RandomPruned:
            return randomPrunedMapper();
        case MapperKind::LoopOrder:
            return loopOrderMapper(space);
        case MapperKind::Annealing:
            return annealingMapper(space, options.evaluations);
        case MapperKind::Genetic:
            return geneticMapper(space);
        case MapperKind::Optimal:  // begins with a good mapping, see proveOptimum
            return annealingMapper(space, options.evaluations);
    }
    return randomPrunedMapper();
}

bool knowsEnergy(const NestHardware& hardware) {
    if (hardware.arithmetic.energy > 0) return true;
    return std::any_of(hardware.levels.begin(), hardware.levels.end(), [](const NestLevel& level) {
        return level.energy.vectorRead > 0 || level.energy.vectorWrite > 0;
    });
}

/// A short search by annealing for a mapping to beat, then the proof. True where a mapping is found.
bool proveOptimum(const Mapspace& space, const MapperOptions& options, SearchContext& context, MapperResult& result,
                  MapPoint& point) {
    optimal::Incumbent best(space, options, context, result);
    {
        MapperOptions first = options;
        first.kind = MapperKind::Annealing;
        first.evaluations = optimal::bounded(space, context) ? 2000 : 40000;
        first.victory = 0;
        first.timeout = 50000;
        const auto serial = makeSerialExecutor();
        SearchContext own{*serial, context.stop, nullptr, nullptr, context.sparse, nullptr};
        MapperResult found;
        const auto algorithm = algorithmOf(space, first);
        LaneRounds rounds(space, first, own, *algorithm);
        rounds.run(found);
        result.examined = found.examined;
        result.valid = found.valid;
        result.refusals = found.refusals;
        if (rounds.found()) best.consider(rounds.best());
    }
    optimal::search(space, options, context, best, result);
    if (best.found()) point = best.point();
    return best.found();
}

std::string_view nameOf(const NestProblem& problem) {
    return problem.name.empty() ? std::string_view("the problem") : problem.name;
}

std::string_view nameOf(const NestHardware& hardware) {
    return hardware.name.empty() ? std::string_view("this hardware") : hardware.name;
}

Unexpected noMapping(const Mapspace& space, const MapperResult& result) {
    const std::string counts = refusalText(result.refusals, space.hardware());
    return fail("mapper.no-mapping",
                fmt::format("no mapping of {} on {} {}: {} refused, {}", nameOf(space.problem()),
                            nameOf(space.hardware()), result.complete ? "fits" : "was found", result.examined, counts),
                "at least one mapping that fits",
                "Loosen the constraints of the level that refuses most, or enlarge its capacity or fan-out.");
}

}  // namespace

Expected<MapperResultPtr> searchMappings(const Mapspace& space, const MapperOptions& options, SearchContext& context) {
    if (options.objectives.empty() || options.objectives.size() > 4)
        return fail("mapper.objective", fmt::format("{} objectives", options.objectives.size()), "one to four");
    for (const MapObjective objective : options.objectives) {
        if ((objective == MapObjective::Energy || objective == MapObjective::Edp) && !knowsEnergy(space.hardware()))
            return fail("mapper.objective",
                        fmt::format("{} is asked for, but {} has no energies", toText(objective),
                                    space.hardware().name.empty() ? "the hardware" : space.hardware().name),
                        "energies of the arithmetic or of a level",
                        "Give an energy table, or search for the latency alone.");
    }
    // Compressed tiles may be smaller than any dense one.
    if (!context.sparse) {
        if (const PointFault none = space.checkSmallest(); none.fault != MappingFault::None)
            return fail("mapper.no-mapping",
                        fmt::format("no mapping of {} on {} fits: the smallest tiles exceed the capacity of {}",
                                    nameOf(space.problem()), nameOf(space.hardware()),
                                    space.hardware().levels[none.level].name),
                        "at least one mapping that fits",
                        "Enlarge its capacity, loosen the constraints of the levels outside it, or let a tensor pass "
                        "it by.");
    }
    std::string key;
    if (context.cache && !context.sparse) {
        key = searchKey(space, options);
        if (auto known = context.cache->find(key)) {
            if (context.progress) {
                context.progress->post(known->curve, known->examined, known->valid);
                context.progress->postBound(known->lowerBound);
            }
            return known;
        }
    }
    const auto begin = std::chrono::steady_clock::now();
    auto result = std::make_shared<MapperResult>();
    bool found = false;
    MapPoint best;
    if (options.kind == MapperKind::Optimal) {
        found = proveOptimum(space, options, context, *result, best);
    } else {
        const auto algorithm = algorithmOf(space, options);
        LaneRounds rounds(space, options, context, *algorithm);
        rounds.run(*result);
        found = rounds.found();
        if (found) best = rounds.best();
    }
    result->seconds = secondsSince(begin);
    if (!found) {
        if (result->cancelled)
            return fail("mapper.cancelled", "the search was stopped before it found a mapping", {}, {});
        return noMapping(space, *result);
    }
    space.toMapping(best, result->mapping);
    NestEvaluator evaluator(space.problem(), space.hardware(), context.sparse);
    evaluator.evaluate(result->mapping, result->counts);
    if (result->complete && options.kind == MapperKind::Exhaustive) {
        result->proven = true;
        result->lowerBound = objectiveValue(options.objectives[0], result->counts, options.joulesPerCycle);
    }
    if (context.progress && result->lowerBound > 0) context.progress->postBound(result->lowerBound);
    const bool timed = options.seconds > 0 && !result->complete;
    if (!key.empty() && !result->cancelled && !timed) context.cache->store(key, result);
    return MapperResultPtr(result);
}

}  // namespace orrery
