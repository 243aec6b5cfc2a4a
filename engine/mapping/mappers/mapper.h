#pragma once

// Searches a mapspace for the mapping that is best by an objective. One function, seven ways to search; all of them
// give the same answer for a seed whatever the number of threads, keep the best when stopped, and say why nothing fits.

#include "base/executor.h"
#include "base/progress.h"
#include "mapping/mapspace.h"

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

enum class MapperKind : std::uint8_t {
    Exhaustive,    ///< every mapping, in order
    LinearPruned,  ///< every factorisation, spread over the space, with a few variants of each
    RandomPruned,  ///< uniform draws, bad ones refused before they are costed
    LoopOrder,     ///< orders of prime factors, filled into levels bottom up (LOMA, Symons et al., AICAS 2021)
    Annealing,     ///< simulated annealing of several chains (in the manner of SALSA, Jung et al., AICAS 2023)
    Genetic,       ///< islands of mappings that cross and mutate (in the manner of GAMMA, Kao and Krishna, ICCAD 2020)
    Optimal,       ///< branch and bound that proves its optimum (mapping/mappers/optimal)
};
inline constexpr std::size_t mapperKindCount = 7;
std::string_view toText(MapperKind kind);  ///< `exhaustive`, `linear-pruned`, `random-pruned`, `loop-order`, …
std::optional<MapperKind> mapperKind(std::string_view text);

enum class MapObjective : std::uint8_t { Latency, Energy, Edp, LastLevelAccesses };
std::string_view toText(MapObjective objective);                  ///< `latency`, `energy`, `edp`, `last-level-accesses`
std::optional<MapObjective> mapObjective(std::string_view text);  ///< also `delay`
/// Cycles; joules; joules × cycles; words read, filled and updated at the outermost level over all its instances.
double objectiveValue(MapObjective objective, const NestCounts& counts, double joulesPerCycle = 0);

struct MapperOptions {
    MapperKind kind = MapperKind::Annealing;
    /// By priority: a later one decides between mappings that are equal by the earlier ones.
    std::vector<MapObjective> objectives{MapObjective::Edp, MapObjective::Latency};
    std::uint64_t seed = 1;
    /// Valid mappings to cost; 0: as many as the kind needs (exhaustive: all). Optimal ends with its proof instead, or
    /// after `steps`.
    std::uint64_t evaluations = 0;
    std::uint64_t victory = 0;       ///< end after so many valid mappings without a better one; 0: never
    std::uint64_t timeout = 400000;  ///< end after so many refused mappings in a row
    double seconds = 0;              ///< end after so long, the one rule that makes answers depend on time; 0: never
    std::uint64_t steps = 0;         ///< of optimal: end after so many partial mappings; 0: after 2·10^8
    double joulesPerCycle = 0;       ///< what a cycle costs: added to the objective `energy`, and to no other
    bool operator==(const MapperOptions&) const = default;
};

/// A point of the best-so-far curve.
struct MapperPoint {
    std::uint64_t evaluations = 0;  ///< valid mappings costed until then
    double seconds = 0;
    double cycles = 0, energy = 0, objective = 0;
};

/// How a search goes, written by it a few times in a second and read by whoever shows it.
class MapperProgress {
public:
    void post(const std::vector<MapperPoint>& points, std::uint64_t examined, std::uint64_t valid);
    std::vector<MapperPoint> curve() const;
    std::uint64_t examined() const;
    std::uint64_t valid() const;
    /// No mapping has a smaller value of the first objective; 0 until a search knows better. Only `optimal` does.
    void postBound(double lowerBound);
    double lowerBound() const;

private:
    mutable std::mutex mutex_;
    std::vector<MapperPoint> curve_;
    std::uint64_t examined_ = 0, valid_ = 0;
    double lowerBound_ = 0;
};

inline constexpr std::size_t mappingFaultCount = 6;
struct Refusals {
    /// [fault][level]
    std::array<std::array<std::uint64_t, maxMapspaceLevels>, mappingFaultCount> count{};
    std::uint64_t of(MappingFault fault) const;
    std::uint64_t total() const;
};
/// `19,853 by fan-out (GlobalBuffer 16 × 1 most often), 147 by capacity (…)`.
std::string refusalText(const Refusals& refusals, const NestHardware& hardware);

struct MapperResult {
    NestMapping mapping;
    NestCounts counts;
    std::uint64_t examined = 0, valid = 0;
    Refusals refusals;
    std::vector<MapperPoint> curve;  ///< the last is the result
    bool complete = false;           ///< every mapping was looked at, or shown to be no better
    bool cancelled = false;
    /// No mapping has a smaller first objective than the result, but for one part in 10^9. Of optimal and of complete
    /// exhaustive searches.
    bool proven = false;
    double lowerBound = 0;  ///< of the first objective over the whole space; 0 where the search gives none
    double seconds = 0;
};
using MapperResultPtr = std::shared_ptr<const MapperResult>;

/// Results of searches by everything that they depend on. Bounded: the oldest are forgotten.
class MappingCache {
public:
    explicit MappingCache(std::size_t capacity = 4096) : capacity_(capacity) {}
    MapperResultPtr find(const std::string& key) const;
    void store(const std::string& key, MapperResultPtr result);

private:
    mutable std::mutex mutex_;
    std::size_t capacity_;
    std::vector<std::pair<std::string, MapperResultPtr>> entries_;  ///< a ring, `next_` is the oldest once full
    std::size_t next_ = 0;
};

struct SearchContext {
    Executor& executor;
    std::stop_token stop{};
    MapperProgress* progress = nullptr;
    MappingCache* cache = nullptr;
    std::shared_ptr<const SparseDesign> sparse{};
    Progress* steps = nullptr;  ///< valid mappings of those that are to be costed
};

/// The best mapping found. Fails with `mapper.no-mapping` (none fits; the message counts why and names the level that
/// refuses most), `mapper.objective` (energy asked of hardware without energies), `mapper.cancelled` (stopped before
/// the first valid mapping).
Expected<MapperResultPtr> searchMappings(const Mapspace& space, const MapperOptions& options, SearchContext& context);

}  // namespace orrery
