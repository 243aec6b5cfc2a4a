#pragma once

// Exact work and traffic per operator, as columns: what analytic methods read in their inner loop. All numbers are of
// one execution; multiply by `repeat`.
//
// Rules, by kind (|T| is the number of elements of T; FLOPs per element are in operator_types.h):
//
//   MatMul         MACs = batch·M·N·K of the broadcast operands; + M·N per batch FLOPs for a bias. Leading extents of A
//                  count as rows where B has none (one product, not many). GroupedMatMul A[M,K], B[E,K,N]: M·N·K.
//   Conv           MACs = |Y|·|W|/O (output elements times weights per output channel)
//   ConvTranspose  MACs = |X|·|W|/C (input elements times weights per input channel)
//   Attention      MACs = batch·heads·pairs·(headDim + valueDim); + 5 FLOPs per score for the softmax. pairs is the
//                  whole queries·keys, masked or not, except where the kernel skips masked blocks (causal and flash):
//                  queries·(keys-queries) + queries·(queries+1)/2, the lower triangle with its diagonal. Causal with
//                  fewer keys than queries is a sliding window of `keys`: keys·(keys+1)/2 + (queries-keys)·keys.
//                  Without flash the scores are written, read and written by softmax, read: scratch = 4·|scores|.
//   Elementwise    FLOPs = flopsPerElement·|outputs|
//   Normalization, Softmax, Reduce, Routing    FLOPs = flopsPerElement·|input|
//   Pool           FLOPs = |output|·window; global pools |input|
//   Gather         no FLOPs (EmbeddingBag adds one per element summed). Of the table, only the rows that the indices
//                  name are read.
//   Scan           SelectiveScan (Mamba): 9·B·L·D·N FLOPs (Gu in state-spaces/mamba issue 110, for the parallel scan)
//                  and 2·B·L·D for the skip through D; LSTM, GRU, RNN:
//                  MACs = steps·batch·(|W| + |R|)
//   Movement       bytes in and out, no FLOPs
//   View           nothing. Also any operator whose outputs are all constants: it runs when the model is loaded.
//   Other          bytes in and out, no FLOPs
//
// A tensor that an operator names twice is read once. KV-cache inputs are read whole; KV-cache outputs are written.
// Experts of a mixture read `weightShareRead` of their stored bytes.

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
/// Attention gives B H M N K with K = headDim + valueDim; element-wise kinds give the output's extents as D0 D1 …
std::vector<Loop> loopSpace(const Operator& op, const Graph& graph);

/// A product of matrices that an operator amounts to: batch × [m×k]·[k×n]; extents 0 if it is none. A convolution is
/// given as its implicit GEMM (per group in `batch`); attention as batch·heads of queries × keys × (headDim +
/// valueDim); experts as the expected number of distinct experts in `batch`, so extents may be fractions. batch·m·n·k =
/// MACs, except for causal flash attention, which does about half of them.
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

/// One row per operator; operators with unknown extents are priced as zero. Linear.
CostTable costTable(const Graph& graph);
/// The product that an operator amounts to; zeros if none or an extent is unknown.
GemmShape gemmShape(const Operator& op, const Graph& graph);
/// Query-key pairs that attention computes per head and sequence, by the convention above.
double attentionPairs(const AttentionShape& shape);
CostTotals costTotals(const Graph& graph, const CostTable& table);

}  // namespace orrery
