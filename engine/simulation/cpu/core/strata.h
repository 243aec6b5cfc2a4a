#pragma once

// A nest cut into strata of alike operations: its loops whose turns are short, and what stands between them. How many
// operations each has, and where any of them is, is arithmetic, so that a sample can draw from each as often as it
// wants.

#include "base/random.h"
#include "simulation/cpu/core/kernels/nest.h"

#include <vector>

namespace orrery::pipeline {

class Strata {
public:
    /// Loops whose turns have at most `turn` operations are not cut; strata of less than `least` of all are one.
    explicit Strata(const LoopNest& nest, std::uint64_t turn = 4096, double least = 1e-3);

    std::size_t count() const { return operations_.size(); }
    const std::vector<double>& operations() const { return operations_; }
    /// Stratum of each static operation.
    const std::vector<int>& of() const { return of_; }
    /// Where a random operation of the stratum is that runs at this part of its executions: `when` in [0, 1).
    std::uint64_t draw(std::size_t stratum, double when, RandomStream& random) const;

private:
    struct Place {
        int node = 0;
        std::uint64_t executions = 0, ops = 0;  ///< of one execution
    };
    int open();
    void mark(int node, int stratum);
    void visit(int node, std::uint64_t turn);
    void locate(int node, std::uint64_t executions);
    void joinRare(double least);

    const LoopNest& nest_;
    std::vector<int> of_, parent_;
    std::vector<std::uint64_t> offset_;  ///< of a node in a turn of its parent
    std::vector<double> operations_;
    std::vector<std::vector<Place>> places_;
};

}  // namespace orrery::pipeline
