#pragma once

// The steps of applySparse, in order. Each reads what the ones before left in the workspace.

#include "mapping/sparse/sparse_counts.h"

namespace orrery {

struct SparseContext {
    const NestProblem& problem;
    const NestHardware& hardware;
    const NestMapping& mapping;
    const SparseDesign& design;
    SparseWorkspace& work;

    std::size_t tensors() const { return problem.tensors.size(); }
    std::size_t levels() const { return hardware.levels.size(); }
    SparseTensorCounts& at(std::size_t level, std::size_t tensor) const { return work.levels[level].tensors[tensor]; }
    SparseWorkspace::Plan& plan(std::size_t level, std::size_t tensor) const { return work.plans[level][tensor]; }
    MappingFault fault(MappingFault what, std::size_t level, std::size_t tensor, double needed = 0,
                       double available = 0) const;
};

/// Ranks of every kept tensor, expected and largest occupancies (sparse_occupancy.cpp).
MappingFault findOccupancies(const SparseContext& context);
/// Shares of accesses left out by gating and skipping (elimination.cpp).
MappingFault planEliminations(const SparseContext& context);
/// Instances left free by spatial skipping, and whether the rest fits (spatial_skipping.cpp).
MappingFault planSpatialSkipping(const SparseContext& context);
/// Passes left by packing positions, and how full they are (position_skipping.cpp).
MappingFault planPacking(const SparseContext& context);
/// Reads of other tensors, and operations, that packed positions of `tensor` no longer ask for.
void packAccesses(const SparseContext& context, std::size_t tensor, double& operations);
/// What remains of every access (sparse_traffic.cpp).
void splitAccesses(const SparseContext& context, double operations);
/// What remains of the operations (sparse_compute.cpp).
void splitComputes(const SparseContext& context);
/// Capacity, cycles and energy (sparse_cost.cpp).
MappingFault priceSparse(const SparseContext& context, NestCounts& counts);

}  // namespace orrery
