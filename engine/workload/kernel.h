#pragma once

// One kernel launch as prices see it: what a GPU is really asked to run, free of graphs and tensors. Reference tables
// hold kernels, kernel methods price them, and a graph becomes a list of them (methods/model/).

#include "workload/graph.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace orrery {

struct CostTable;

enum class KernelKind : std::uint8_t {
    Gemm,  ///< batch × [m×k]·[k×n]; k is the reduction
    PrefillAttention,
    DecodeAttention,  ///< one new query per sequence against a cache
    Elementwise,      ///< m rows of n elements
    Softmax,          ///< over n, m rows
    Normalization,    ///< over n, m rows
    Convolution,
    Collective,
    Movement,  ///< bytes in and out alone
    Other,     ///< flops and bytes alone
    Experts,   ///< one rank's experts: quantise, permute, grouped products and activation, unpermute
};
inline constexpr int kernelKindCount = 11;
std::string_view toText(KernelKind kind);  ///< `gemm`, `prefill-attention`, `decode-attention`, …: in files and JSON
std::optional<KernelKind> kernelKind(std::string_view text);

enum class CollectiveOp : std::uint8_t { AllReduce, AllGather, ReduceScatter, AllToAll, Broadcast, SendReceive };
std::string_view toText(CollectiveOp op);  ///< `all-reduce`, …
std::optional<CollectiveOp> collectiveOp(std::string_view text);
/// Whose kernels move the bytes: NCCL's, or an inference engine's own low-latency ones (one- and two-shot).
enum class CollectiveLibrary : std::uint8_t { Nccl, Custom };

struct ConvolutionShape {
    std::int64_t batch = 1, inChannels = 1, outChannels = 1, groups = 1;
    std::int64_t height = 1, width = 1, kernelHeight = 1, kernelWidth = 1;
    std::int64_t outHeight = 1, outWidth = 1, stride = 1, dilation = 1;
    bool operator==(const ConvolutionShape&) const = default;
};

/// What one rank's experts compute (workload/expert_routing.h says how tokens fall on them).
struct ExpertShape {
    std::int64_t tokens = 1;   ///< that enter, of all ranks together where they share experts
    std::int64_t rows = 1;     ///< choices of tokens that this rank computes
    std::int64_t held = 1;     ///< experts that stand on this rank
    std::int64_t touched = 1;  ///< of them, chosen by some token: their weights are read
    std::int64_t hidden = 1, inner = 1;
    bool gated = true;  ///< two products of hidden × inner before the activation, else one
    double skew = 0;    ///< exponent of the power law by which rows fall on experts, 0 for evenly
    bool operator==(const ExpertShape&) const = default;
};

/// What a product does to its result before it is stored: the operators that are fused into it.
struct Epilogue {
    double operations = 0;
    double bytes = 0;  ///< operands that it reads on top, beside the kernel's own
    bool operator==(const Epilogue&) const = default;
};

struct Kernel {
    KernelKind kind = KernelKind::Other;
    DType type = DType::F16;        ///< in which it computes; of the first operand
    DType weightType = DType::F16;  ///< of a product's second operand (int4 weights of a bf16 product)
    DType kvType = DType::F16;      ///< of attention's cache
    /// Elements that share one scale of a quantised operand, 0 for one scale per tensor or none.
    std::int32_t scaleBlock = 0;
    /// Quantises its activations itself before it multiplies, so that their cost is inside (as fp8 products measured
    /// through an inference engine are).
    bool quantisesInput = false;
    bool bias = false;
    bool transposedWeight = false;  ///< second operand stored n×k, as linear layers do
    std::string_view function;      ///< of vector kernels: `Add`, `Gelu`, `LayerNormalization`; static storage
    std::int32_t operands = 1;      ///< m×n tensors that a vector kernel reads
    std::int64_t batch = 1, m = 0, n = 0, k = 0;
    AttentionShape attention;
    std::int64_t window = 0;  ///< tokens that attention looks back, 0 for all
    /// Decode attention as FlashAttention and FlashInfer run it: any number of query heads of one cache head share a
    /// block, and a cache of 8 bits is widened there. False: as TensorRT-LLM does (engine_kernels.h).
    bool flashDecoding = false;
    ConvolutionShape convolution;
    ExpertShape experts;
    CollectiveOp collective = CollectiveOp::AllReduce;
    CollectiveLibrary library = CollectiveLibrary::Nccl;
    std::int64_t ranks = 1;
    double messageBytes = 0;  ///< of a collective: as NCCL's tests count it (of the larger buffer of one rank)
    double flops = 0;         ///< a multiply-accumulate is two
    double readBytes = 0, writeBytes = 0;  ///< each operand once
    Epilogue epilogue;                     ///< counted in none of the three above

    double bytes() const { return readBytes + writeBytes; }
    bool operator==(const Kernel&) const = default;
};

/// What makes two kernels the same question, as one number: of all fields that a kernel of its kind is asked by (not of
/// flops and bytes, which follow, except for kinds that have no other). Kernels that are equal have one identity.
/// Stable across runs, machines and versions: files keep splits that were made with it. Some 50 ns; allocates nothing.
std::uint64_t kernelIdentity(const Kernel& kernel);

/// Fills flops, readBytes and writeBytes from kind, types and extents (not for Movement and Other, which only have
/// those).
void countWork(Kernel& kernel);
/// `gemm 1024×4096×4096 bf16`
std::string toText(const Kernel& kernel);

/// What operator i of a graph launches if nothing is fused; kind Other with its flops and bytes where no better one
/// fits. Of one execution.
Kernel kernelOf(const Graph& graph, const CostTable& costs, std::size_t i);
/// Appends the kernel as one operator with tensors of its own, so that methods over graphs can be asked about it. Not
/// for collectives. `name`: of the operator, made unique in the graph, and the start of its tensors' names; empty: none
/// has a name.
void addOperator(Graph& graph, const Kernel& kernel, std::string_view name = {});

}  // namespace orrery
