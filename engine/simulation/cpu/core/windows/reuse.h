#pragma once

// How many lines each straight line of a nest finds missing in each cache, from the affine addresses alone: what is
// touched again finds its line if what was touched between fits the cache. Footprints of affine references after
// Ferrante, Sarkar and Thrash ("On Estimating and Enhancing Cache Effectiveness", LCPC 1991); the tree of loops with
// its working sets as Wolf and Lam ("A Data Locality Optimizing Algorithm", PLDI 1991) use it. No access is simulated.

#include "simulation/cpu/core/kernels/nest.h"
#include "simulation/cpu/core/machine.h"

#include <algorithm>
#include <array>
#include <vector>

namespace orrery::pipeline {

struct NestReuse {
    int arrays = 0;
    std::vector<int> arrayOf;  ///< per operation, −1: touches no memory
    /// [node × arrays + array]: lines of one execution of the node; 0 where it touches none.
    std::vector<double> lines;
    /// The same, missing in each cache, of the nodes that are straight lines; caches that a machine has not repeat the
    /// one inside.
    std::vector<std::array<double, mostCaches>> missing;
    /// As `missing`: share of the lines brought from memory that are stored to before they leave the outermost cache.
    std::vector<double> dirtied;
    double footprint = 0;      ///< lines of the whole
    double fromMemory = 0;     ///< lines that the whole brings, again and again
    double writesPerRead = 0;  ///< lines that go back to memory for each of those

    double linesOf(int node, int array) const { return lines[index(node, array)]; }
    const std::array<double, mostCaches>& missingOf(int node, int array) const { return missing[index(node, array)]; }

private:
    std::size_t index(int node, int array) const {
        return static_cast<std::size_t>(node) * static_cast<std::size_t>(arrays) + static_cast<std::size_t>(array);
    }
};

/// Caches hold nothing at the beginning but the arrays that stand in them.
NestReuse reuseOf(const LoopNest& nest, const Machine& machine, const KernelStart& start = {});

}  // namespace orrery::pipeline
