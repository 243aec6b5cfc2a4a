#pragma once

// What the mappers share: lanes. A search runs in rounds; in each round every lane takes a bounded number of steps with
// a state and a random stream of its own, then the lanes are merged in their order. So threads only decide which lane
// runs where, and the answer is the same for any number of them.

#include "base/random.h"
#include "mapping/mappers/mapper.h"

#include <stop_token>

namespace orrery {

struct MapScore {
    std::array<double, 4> value{};  ///< by priority; smaller is better
    bool operator<(const MapScore& other) const { return value < other.value; }
};

/// Costs points for one lane and remembers its best.
class MapLane {
public:
    MapLane(const Mapspace& space, const MapperOptions& options, const std::shared_ptr<const SparseDesign>& sparse,
            std::size_t number);

    const Mapspace& space() const { return space_; }
    RandomStream& random() { return random_; }
    /// Whether the round is over for this lane: its share of mappings is spent, or the search is stopped.
    bool done() { return examined_ >= examineLimit_ || valid_ >= validLimit_ || stopped(); }
    /// Costs a point; false if it is refused. `score` is set where it is not.
    bool consider(const MapPoint& point, MapScore& score);
    /// Counts a point that was refused before its variant was drawn.
    void refuse(const PointFault& fault);
    bool sparse() const { return sparse_; }
    std::uint64_t validInAll() const { return validBefore_ + valid_; }

private:
    friend class LaneRounds;
    bool stopped();

    const Mapspace& space_;
    std::vector<MapObjective> objectives_;
    double joulesPerCycle_;
    bool sparse_;
    NestEvaluator evaluator_;
    NestMapping mapping_;
    NestCounts counts_;
    RandomStream random_;
    std::stop_token stop_;
    std::uint64_t examineLimit_ = 0, validLimit_ = 0, sincePoll_ = 0;
    bool stopSeen_ = false;

    std::uint64_t examined_ = 0, valid_ = 0, validBefore_ = 0;  ///< of this round; valid of earlier ones
    Refusals refusals_;
    bool found_ = false;
    MapPoint best_;
    MapScore bestScore_;
    struct Improvement {
        std::uint64_t valid;
        MapScore score;
        double cycles, energy;
    };
    std::vector<Improvement> improvements_;  ///< of this round
};

/// One way to search. Lanes call `advance` side by side, each with its own number; `exchange` runs alone between
/// rounds.
class MapperAlgorithm {
public:
    virtual ~MapperAlgorithm() = default;
    virtual std::size_t lanes() const { return 16; }
    virtual std::uint64_t usualEvaluations() const = 0;
    /// Takes steps until lane.done(), or returns earlier where it has no more to do.
    virtual void advance(MapLane& lane, std::size_t number) = 0;
    virtual void exchange(std::uint64_t round) { static_cast<void>(round); }
    /// Whether lane `number` has visited all that it will ever visit.
    virtual bool exhausted(std::size_t number) const { return static_cast<void>(number), false; }
    virtual bool coversAll() const { return false; }  ///< when all lanes are exhausted, nothing is left unseen
};

std::unique_ptr<MapperAlgorithm> exhaustiveMapper(const Mapspace& space);
std::unique_ptr<MapperAlgorithm> linearPrunedMapper(const Mapspace& space);
std::unique_ptr<MapperAlgorithm> randomPrunedMapper();
std::unique_ptr<MapperAlgorithm> loopOrderMapper(const Mapspace& space);
std::unique_ptr<MapperAlgorithm> annealingMapper(const Mapspace& space, std::uint64_t evaluations);
std::unique_ptr<MapperAlgorithm> geneticMapper(const Mapspace& space);

}  // namespace orrery
