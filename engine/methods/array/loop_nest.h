#pragma once

// Loop nests on a spatial array: every operator that is a nest gets a mapping, found by a mapper, and the counts of the
// model of Timeloop (Parashar et al., ISPASS 2019); the others are priced by their roofline.

#include "hardware/views/spatial_array_view.h"
#include "mapping/mappers/mapper.h"
#include "mapping/problem_of_operator.h"
#include "workload/workload.h"

#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace orrery {

struct KernelMethod;
/// Kernels that are nests by their best mapping found; the others by their roofline.
KernelMethod loopNestKernels();

struct LoopNestOptions {
    /// What the search is for; without energies in the design latency, then accesses to main memory.
    MapperOptions mapper{.objectives = {MapObjective::Latency, MapObjective::Energy}, .evaluations = 2000};
    bool followDataflow = true;  ///< unroll as the array's dataflow says, not any dimension anywhere
    bool imperfect = false;      ///< factors need not divide; a mapping then takes milliseconds to count
    /// What is sparse, and what the hardware does about it, for a nest on the array; empty: everything is dense.
    std::function<Expected<std::shared_ptr<const SparseDesign>>(const NestProblem&, const NestHardware&)> sparse = {};
};

/// One nest of an operator, mapped.
struct MappedNest {
    NestProblem problem;
    MapspaceConstraints constraints;
    double times = 1;        ///< executions in one execution of the operator
    MapperOptions options;   ///< of the search, without objectives that the hardware cannot answer
    MapperResultPtr search;  ///< mapping, counts and how they were found; never null
    const NestMapping& mapping() const { return search->mapping; }
    const NestCounts& counts() const { return search->counts; }
};

/// One execution of an operator. Energy is 0 where the hardware has none.
struct MappedOperator {
    NestHardware hardware;
    std::vector<MappedNest> nests;  ///< one after the other
    /// By the search's first objective, of all nests together: no choice of mappings has less than `lowerBound` (0:
    /// nothing is known); proven where this one has no more, but for one part in 10^9.
    double value = 0, lowerBound = 0;
    bool proven = false;
    double cycles() const;
    double computeCycles() const;
    double energy() const;  ///< joules
    /// Bytes that cross a level of the hardware (reads, fills and updates of all its instances).
    double bytes(std::size_t level) const;
};

/// Maps one operator on the array: for the prices of kernels and for whoever shows a mapping. Fails with
/// `mapper.not-mappable` for operators that are no nest, and as Mapspace::make and searchMappings do.
Expected<MappedOperator> mapOperator(const SpatialArrayView& view, const Operator& op, const Graph& graph,
                                     const LoopNestOptions& options, SearchContext& context);

/// All operators of a graph, equal nests once, side by side on the context's executor. An operator without a mapping
/// has the diagnostic that says why (`mapper.not-mappable` for those that are no nest).
std::vector<Expected<MappedOperator>> mapOperators(const SpatialArrayView& view, const Graph& graph,
                                                   const LoopNestOptions& options, SearchContext& context);

}  // namespace orrery
