#pragma once

// All mappings of a problem on a hardware that constraints allow, numbered and drawn: factors of every dimension over
// the loops, orders of the temporal loops, X or Y for the spatial ones, levels that tensors pass by. Terms and rules of
// constraints as in Timeloop (Parashar et al., ISPASS 2019).

#include "base/diagnostic.h"
#include "mapping/mapspace_factors.h"
#include "mapping/nest_evaluator.h"
#include "mapping/nest_mapping.h"
#include "mapping/problem.h"
#include "mapping/storage.h"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace orrery {

inline constexpr std::size_t maxMapspaceLevels = 12;

/// Constraints of the spatial or the temporal loops of one level. Empty vectors constrain nothing.
struct LoopConstraint {
    std::vector<std::int64_t> factors;     ///< per dimension; 0: free
    std::vector<std::int64_t> maxFactors;  ///< per dimension; 0: none
    std::vector<std::uint8_t> innermost;   ///< dimensions that come first, inner to outer
    std::vector<std::uint8_t> outermost;   ///< dimensions that come last, inner to outer
    std::optional<std::size_t> split;      ///< of spatial loops: so many of the order are X, the others Y
    Place place;                           ///< where it is written
};

struct LevelConstraint {
    LoopConstraint spatial;  ///< the fan-out from this level to the one inside it
    LoopConstraint temporal;
    std::uint32_t keep = 0, bypass = 0;  ///< bit per tensor; neither: both are tried
    Place place;
};

struct MapspaceConstraints {
    std::vector<LevelConstraint> levels;  ///< parallel to NestHardware::levels, or empty
    double minParallelism = 0;            ///< least share of the arithmetic units that a mapping must use
    bool imperfect = false;               ///< factors need not divide (template `ruby`)
};

struct FanOut {
    std::int64_t x = 1, y = 1;
    bool any() const { return x > 1 || y > 1; }
};
/// Instances of the level inside (the arithmetic for level 0) per instance of a level.
FanOut fanOut(const NestHardware& hardware, std::size_t level);

/// One mapping of the space in fixed arrays, cheap to copy and change. Loops are numbered inner to outer: 2 × level for
/// the spatial ones of a level, 2 × level + 1 for its temporal ones.
struct MapPoint {
    std::array<std::array<std::int32_t, maxNestDimensions>, 2 * maxMapspaceLevels> factor;  ///< [loop][dimension]
    std::array<std::array<std::uint8_t, maxNestDimensions>, maxMapspaceLevels> order;  ///< temporal, inner to outer
    std::array<std::uint32_t, maxMapspaceLevels> x;                                    ///< bit: spatial loop is X
    std::array<std::uint32_t, maxMapspaceLevels> keeps;
    bool operator==(const MapPoint&) const = default;
};

/// Why a point is refused and where: the level whose fan-out or capacity it exceeds.
struct PointFault {
    MappingFault fault = MappingFault::None;
    std::size_t level = 0;
};

/// Sizes as Timeloop counts them: every order of every dimension, also of those with factor 1.
struct MapspaceSize {
    double factors = 1, orders = 1, splits = 1, keeps = 1;
    double total() const { return factors * orders * splits * keeps; }
};

struct MapspaceOptions {
    /// Leave out factors that exceed a fan-out or a capacity whatever the others are.
    bool prune = true;
};

/// Immutable; shared by threads.
class Mapspace {
public:
    /// Fails for constraints that speak of too many dimensions or levels, that contradict each other (places named), or
    /// that leave no factorisation of some dimension.
    static Expected<Mapspace> make(NestProblem problem, NestHardware hardware, MapspaceConstraints constraints = {},
                                   MapspaceOptions options = {});

    const NestProblem& problem() const { return problem_; }
    const NestHardware& hardware() const { return hardware_; }
    const MapspaceConstraints& constraints() const { return constraints_; }
    std::size_t levels() const { return hardware_.levels.size(); }
    std::size_t dimensions() const { return problem_.dimensions.size(); }
    MapspaceSize size() const;

    // Numbering. A factorisation is numbered by one number per dimension; the rest of a mapping (orders of loops longer
    // than 1, X or Y, keeps) by one number in [0, variants).
    std::uint64_t factorisations(std::size_t dimension) const { return spaces_[dimension].size(); }
    std::uint64_t factorisations() const;  ///< of all dimensions; saturates
    void setFactors(MapPoint& point, std::uint64_t number) const;
    std::uint64_t variants(const MapPoint& point) const;  ///< saturates
    void setVariant(MapPoint& point, std::uint64_t number) const;

    /// A point with the fixed factors and keeps, everything else 1 or first.
    MapPoint start() const { return start_; }
    void draw(MapPoint& point, RandomStream& random) const;  ///< uniform over factors, then over variants
    void drawFactors(MapPoint& point, RandomStream& random) const;
    void drawVariant(MapPoint& point, RandomStream& random) const;
    /// A neighbour: factors moved between loops, loops swapped, X exchanged for Y, a keep flipped.
    void mutate(MapPoint& point, RandomStream& random) const;
    /// A child: factors of each dimension and variants of each level from either parent.
    void cross(const MapPoint& mother, const MapPoint& father, MapPoint& child, RandomStream& random) const;

    /// Puts loops of a level into this order as far as its constraints let it; the others follow.
    void setOrder(MapPoint& point, std::size_t level, const std::vector<std::uint8_t>& dimensions) const;
    /// Chooses X or Y for the spatial loops of every level so that they fit; false if they cannot.
    bool fitSplits(MapPoint& point) const;

    /// Ways to lay the spatial loops of a level along X or Y, and the one with a number in [0, xChoices).
    std::uint64_t xChoices(const MapPoint& point, std::size_t level) const;
    void setXChoice(MapPoint& point, std::size_t level, std::uint64_t number) const;

    /// Fan-out, capacity and parallelism. Refuses nothing that NestEvaluator accepts, but for spatial loops that are
    /// longer than one side of the mesh: the evaluator counts instances only.
    PointFault check(const MapPoint& point) const;
    /// What factors alone decide, before a variant is drawn: refuses only points that no variant can save.
    PointFault checkFactors(const MapPoint& point) const;
    /// The level whose capacity every point exceeds, if there is one: tiles are as small as the free loops allow.
    PointFault checkSmallest() const;
    /// Fan-out and parallelism alone.
    PointFault checkFanOut(const MapPoint& point) const;
    /// Whether the point keeps to the constraints (its factors multiply to the extents, its orders fit).
    bool contains(const MapPoint& point) const;
    void toMapping(const MapPoint& point, NestMapping& mapping) const;

    struct FreeLoop {
        std::uint8_t loop;  ///< number as in MapPoint
        std::int64_t limit;
    };
    /// Loops over which a dimension may be spread, inner to outer.
    const std::vector<FreeLoop>& freeLoops(std::size_t dimension) const { return free_[dimension]; }
    std::uint32_t freeKeeps(std::size_t level) const { return freeKeeps_[level]; }
    const FanOut& fan(std::size_t level) const { return fans_[level]; }
    bool imperfect() const { return constraints_.imperfect; }

private:
    Expected<void> checkConstraints();
    Expected<void> makeSpaces(bool prune);
    struct XRule {
        enum Kind : std::uint8_t { Fixed, Free, Ordered } kind = Fixed;
        std::uint32_t mask = 0;  ///< of Fixed
    };
    using Dims = std::array<std::uint8_t, maxNestDimensions>;

    bool xAllowed(const MapPoint& point, std::size_t level) const;
    /// Dimensions of a level whose temporal loops are longer than 1 and whose place in the order is free.
    std::size_t loose(const MapPoint& point, std::size_t level, Dims& dims) const;
    void arrange(MapPoint& point, std::size_t level, Dims& dims, std::size_t count) const;
    void scatter(MapPoint& point, std::size_t dimension, const std::int32_t* factors) const;
    void gather(const MapPoint& point, std::size_t dimension, std::int32_t* factors) const;
    PointFault checkCapacity(const MapPoint& point, bool surely) const;
    void moveFactor(MapPoint& point, RandomStream& random) const;
    void swapLoops(MapPoint& point, RandomStream& random) const;

    NestProblem problem_;
    NestHardware hardware_;
    MapspaceConstraints constraints_;
    std::vector<FanOut> fans_;
    std::vector<FactorSpace> spaces_;                ///< per dimension
    std::vector<std::vector<FreeLoop>> free_;        ///< per dimension
    std::vector<std::uint32_t> freeKeeps_;           ///< per level
    std::vector<std::uint32_t> pinned_;              ///< per level: dimensions of the order that a constraint places
    std::vector<XRule> xRules_;                      ///< per level
    std::vector<std::vector<std::int32_t>> primes_;  ///< per dimension, with repetition
    std::vector<std::uint8_t> spread_;               ///< dimensions with a choice of factors
    std::vector<double> capacity_;                   ///< words that tiles of a level may take
    std::vector<std::uint8_t> active_;               ///< dimensions longer than 1
    std::int64_t leastParallel_ = 0;
    MapPoint start_{};
};

}  // namespace orrery
