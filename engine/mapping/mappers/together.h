#pragma once

// Nests that run one after the other, mapped so that energy × delay of all of them together is least. The best of the
// sum is not the sum of the bests: (E1 + E2) (T1 + T2) may trade one nest's energy for the other's time.

#include "mapping/mappers/mapper.h"

#include <memory>
#include <vector>

namespace orrery {

struct NestInRow {
    const Mapspace* space = nullptr;
    double times = 1;  ///< executions
    std::shared_ptr<const SparseDesign> sparse{};
};

struct TogetherResult {
    /// Parallel to the nests: the mapping, and what is known of this nest alone (`lowerBound` of its own EDP; `proven`
    /// where its mapping is its own best as well). `seconds` are of all searches of the nest.
    std::vector<MapperResultPtr> mappings;
    double energy = 0, cycles = 0;  ///< of all executions
    double edp() const { return energy * cycles; }
    double lowerBound = 0;  ///< no choice of mappings has a smaller energy × delay
    bool proven = false;    ///< edp() is the least, but for one part in 10^9
    std::uint64_t searches = 0;
};

/// Every search is by the mapper `optimal`. Energy × delay is quasi-concave, so the best sum is a corner of the convex
/// hull of all sums of (energy, delay), and a corner for a price of time is the sum of every nest's best for the same
/// price. So nests are searched for energy + price × delay, each price a line below which no sum lies; the corners of
/// what the lines leave bound the product, and the next price is asked where it is least. With bounds instead of proofs
/// the lines still hold. `options.seconds` is for each nest in all its searches. Fails as searchMappings does.
Expected<TogetherResult> searchTogether(const std::vector<NestInRow>& nests, const MapperOptions& options,
                                        SearchContext& context);

}  // namespace orrery
