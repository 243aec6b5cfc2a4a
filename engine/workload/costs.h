#pragma once

// Exact work and traffic per operator, as columns: what analytic methods read in their inner loop. All numbers are of
// one execution; multiply by `repeat`.

#include "workload/graph.h"

#include <cstdint>
#include <string>
#include <vector>

namespace orrery {

/// A loop of an operator's iteration space, outermost first.
struct Loop {
    std::string name;  ///< field's letter: N K C P Q R S for convolution, B M N K for matrix products
    std::int64_t extent = 1;
    bool reduction = false;
};
/// Perfect loop nest of one operator; empty for kinds without one (View, Other).
std::vector<Loop> loopSpace(const Operator& op, const Graph& graph);

/// A product of matrices that an operator amounts to: batch × [m×k]·[k×n]; extents 0 if it is none. A convolution is
/// given as its implicit GEMM (per group in `batch`).
struct GemmShape {
    double batch = 0, m = 0, n = 0, k = 0;
};

/// One row per operator of the graph, in its order. Doubles hold integers exactly up to 2^53.
struct CostTable {
    std::vector<OperatorKind> kind;
    std::vector<DType> type;  ///< in which it computes (of the widest floating input or weight operand)
    std::vector<double> repeat;
    std::vector<double> macs;          ///< multiply-accumulates of matrix units (conv, gemm, matmul, attention)
    std::vector<double> flops;         ///< 2 × macs plus element-wise work
    std::vector<double> weightBytes;   ///< parameters that one execution reads
    std::vector<double> kvReadBytes;   ///< KV cache read
    std::vector<double> kvWriteBytes;  ///< KV cache written
    std::vector<double> inputBytes;    ///< activations read, each distinct tensor once
    std::vector<double> outputBytes;   ///< activations written
    std::vector<double> scratchBytes;  ///< unfused intermediates that are written and read back inside the operator
    std::vector<GemmShape> gemm;
    std::size_t size() const { return kind.size(); }

    /// All bytes that one execution of operator i moves past the outermost level if nothing is reused across operators.
    double bytes(std::size_t i) const {
        return weightBytes[i] + kvReadBytes[i] + kvWriteBytes[i] + inputBytes[i] + outputBytes[i] + scratchBytes[i];
    }
};

struct CostTotals {
    double operators = 0;  ///< executed, repeats counted
    double macs = 0, flops = 0;
    double parameters = 0;           ///< stored weight elements, shared ones once
    double weightBytes = 0;          ///< stored
    double weightBytesRead = 0;      ///< by one pass
    double kvBytes = 0;              ///< resident KV cache after the pass
    double activationBytes = 0;      ///< read plus written by one pass
    double peakActivationBytes = 0;  ///< largest sum of live activations in the stored order
    double unresolved = 0;           ///< operators with unknown extents (priced as zero, listed in a warning)
};

CostTable costTable(const Graph& graph);
CostTotals costTotals(const Graph& graph, const CostTable& table);

}  // namespace orrery
