#pragma once

// The operator graph: what is computed. Operators stand in topological order and speak of tensors by index. A run of
// identical blocks (the 96 layers of a transformer) may be stored once with `repeat` = 96; every total counts it so.

#include "base/diagnostic.h"
#include "base/dtype.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace orrery {

/// One extent of a shape: a known number, a named symbol still to be bound (`batch`), or unknown.
struct Dim {
    std::int64_t value = -1;  ///< ≥ 0 if known
    std::string symbol;       ///< name if symbolic; empty and value < 0 means unknown
    Dim() = default;
    Dim(std::int64_t known) : value(known) {}  // NOLINT: a number is a Dim
    static Dim named(std::string name) {
        Dim dim;
        dim.symbol = std::move(name);
        return dim;
    }
    bool known() const { return value >= 0; }
    bool operator==(const Dim&) const = default;
};

using Shape = std::vector<Dim>;
/// Product of the extents as a double (exact to 2^53), or nothing if one is not known. A scalar has 1.
std::optional<double> elementCount(const Shape& shape);
std::string toText(const Shape& shape);  ///< `batch×12×128×64`

enum class TensorRole : std::uint8_t { Activation, Input, Output, Weight, Constant, KvCache };

using TensorId = std::int32_t;

struct Tensor {
    std::string name;
    DType type = DType::F32;
    Shape shape;
    bool ranked = true;  ///< false: not even the number of dimensions is known
    TensorRole role = TensorRole::Activation;
    /// For a sparse or quantised tensor whose storage is not elements × bits (e.g. int4 with group scales): stored
    /// bytes per element, 0 if the type says it.
    double bytesPerElement = 0;

    double elements() const { return ranked ? elementCount(shape).value_or(0) : 0; }
    Bytes bytes() const {
        return bytesPerElement > 0 ? Bytes(elements() * bytesPerElement) : bytesOf(type, elements());
    }
};

/// The family by which an operator is priced (costs.h) and coloured. `type` says which member it is.
enum class OperatorKind : std::uint8_t {
    MatMul,  ///< inputs A[…,M,K], B[…,K,N] (attributes transA, transB), optional bias
    Conv,    ///< inputs X[N,C,…], W[O,C/group,…], optional bias; attributes group
    ConvTranspose,
    Attention,    ///< fused: see AttentionShape
    Elementwise,  ///< flopsPerElement by type
    Normalization,
    Softmax,
    Reduce,
    Pool,
    Gather,    ///< embedding look-ups, gather, scatter: bytes only
    Scan,      ///< state-space and recurrent cells
    Movement,  ///< transpose, concat, pad, slice, cast: bytes, no work
    View,      ///< reshape, squeeze, identity: no bytes, no work
    Routing,   ///< top-k, sort, expert dispatch
    Other,     ///< no rule: priced by its bytes and listed in a warning
};
inline constexpr int operatorKindCount = 15;
std::string_view toText(OperatorKind kind);

/// Attention fused over one operator: Q·Kᵀ, softmax, ·V.
struct AttentionShape {
    std::int64_t batch = 1, heads = 1, kvHeads = 1, queries = 1, keys = 1, headDim = 64, valueDim = 64;
    bool causal = false;
    bool flash = true;  ///< false: the score matrix is written to and read from memory
    bool operator==(const AttentionShape&) const = default;
};

using OperatorAttribute = std::variant<std::int64_t, double, std::string, std::vector<std::int64_t>,
                                       std::vector<double>, std::vector<std::string>>;

struct Operator {
    std::string name;  ///< unique in the graph; scopes separated by `/` or `.`
    std::string type;  ///< the source's own word: `Conv`, `Gemm`, `LayerNormalization`, `SwiGLU`
    OperatorKind kind = OperatorKind::Other;
    std::vector<TensorId> inputs;  ///< -1 for an absent optional input
    std::vector<TensorId> outputs;
    std::map<std::string, OperatorAttribute, std::less<>> attributes;
    std::optional<AttentionShape> attention;
    std::int64_t repeat = 1;  ///< times the whole operator is executed
    /// Times its weights are stored. 0 means as many as `repeat` (a folded layer has its own weights each time); 1 for
    /// weights that are shared between the repetitions.
    std::int64_t weightCopies = 0;
    /// For mixtures of experts: share of the stored weights that one execution really reads (expected value), else 1.
    double weightShareRead = 1;
    std::string block;  ///< folded block that it belongs to: `layers ×32`; empty if none

    std::int64_t integer(std::string_view attribute, std::int64_t fallback) const;
    std::vector<std::int64_t> integers(std::string_view attribute) const;
    std::string text(std::string_view attribute) const;
};

struct Graph {
    std::string name;
    std::vector<Tensor> tensors;
    std::vector<Operator> operators;
    std::vector<TensorId> inputs;
    std::vector<TensorId> outputs;
    /// Every activation stays until the end, as a backward pass will want it (training-forward).
    bool keepsActivations = false;

    TensorId addTensor(Tensor tensor);
    const Tensor* tensor(TensorId id) const;  ///< null for -1
    /// Names of symbols that some tensor still carries, sorted.
    std::vector<std::string> symbols() const;
    /// Operators that compute something and have an input or output whose extents are not all known.
    std::vector<std::size_t> unresolved() const;
};

}  // namespace orrery
