#pragma once

// A fluent way to write an operator graph by hand. Every method adds one operator (named within the current block),
// computes its output's shape, and returns the output. The builder never fails: models check their options first.

#include "workload/graph.h"
#include "workload/workload.h"

#include <string>
#include <string_view>
#include <vector>

namespace orrery {

class GraphBuilder {
public:
    GraphBuilder(std::string name, const WorkloadOptions& options);

    struct LinearSpec {
        bool bias = true;
        bool quantised = true;  ///< stored in the type of WorkloadOptions::weights; else in auxiliaryType()
        std::string weight;     ///< shares the weight of this name with an earlier operator, e.g. a tied head
    };
    struct ConvSpec {
        std::int64_t kernel = 1, stride = 1, padding = 0, groups = 1, dilation = 1;
        bool bias = true;
    };
    struct Cache {
        TensorId read = -1;  ///< cached keys and values, -1 if none
        TensorId append = -1;
    };

    TensorId input(std::string name, Shape shape);
    TensorId input(std::string name, Shape shape, DType type);
    /// A weight matrix in the storage type chosen (4-bit types with their group scales), or an auxiliary one (norms,
    /// biases, embeddings), which stays in auxiliaryType().
    TensorId matrix(std::string name, Shape shape);
    TensorId auxiliary(std::string name, Shape shape);
    TensorId constant(std::string name, Shape shape);
    TensorId cache(std::string name, Shape shape);

    TensorId linear(std::string name, TensorId x, std::int64_t features);
    TensorId linear(std::string name, TensorId x, std::int64_t features, const LinearSpec& spec);
    /// Experts' linear layers: x[rows, in] · W[experts, in, out], of which `share` of the experts is read.
    TensorId experts(std::string name, TensorId x, std::int64_t count, std::int64_t features, double share);
    TensorId matmul(std::string name, TensorId a, TensorId b, bool transB = false);
    /// NCHW convolution over two dimensions; `conv` squares the kernel.
    TensorId conv(std::string name, TensorId x, std::int64_t channels, const ConvSpec& spec);
    TensorId batchNorm(std::string name, TensorId x);
    TensorId layerNorm(std::string name, TensorId x, bool affine = true, bool bias = true);
    TensorId rmsNorm(std::string name, TensorId x);
    TensorId groupNorm(std::string name, TensorId x, std::int64_t groups);
    /// Element-wise of any type in operator_types.h; the output has the shape of `like` (default: the first input).
    TensorId elementwise(std::string type, std::string name, std::vector<TensorId> inputs, TensorId like = -1);
    TensorId softmax(std::string name, TensorId x);
    TensorId pool(std::string type, std::string name, TensorId x, std::int64_t kernel, std::int64_t stride,
                  std::int64_t padding = 0);
    TensorId globalPool(std::string name, TensorId x);
    TensorId adaptivePool(std::string name, TensorId x, std::int64_t size);
    TensorId view(std::string name, TensorId x, Shape shape);
    /// Transpose, concat, slice …: any Movement type with the output's shape.
    TensorId move(std::string type, std::string name, std::vector<TensorId> inputs, Shape shape);
    TensorId embedding(std::string name, TensorId ids, std::int64_t rows, std::int64_t features,
                       std::string type = "Embedding");
    TensorId attention(std::string name, std::vector<TensorId> inputs, const AttentionShape& shape,
                       std::vector<Cache> caches = {});
    /// Any other operator, already described; its name is put into the block.
    Operator& add(Operator op);
    Operator& last() { return graph_.operators.back(); }  ///< that was added

    /// Operators until endBlock() belong to a block that is executed `repeat` times and stored once.
    void beginBlock(std::string name, std::int64_t repeat);
    void endBlock();

    void output(TensorId id);
    const Shape& shape(TensorId id) const;
    std::int64_t extent(TensorId id, int axis) const;  ///< negative axes count from the end
    TensorId activation(Shape shape);
    /// Norms, biases and embeddings are stored like the matrices, but never in less than 16 bits.
    DType auxiliaryType() const { return auxiliary_; }
    const WorkloadOptions& options() const { return options_; }
    Graph finish();

private:
    Operator begin(std::string type, OperatorKind kind, std::string name, std::vector<TensorId> inputs) const;
    TensorId single(Operator op, Shape shape);
    /// What a product says of scales: WorkloadOptions::weightScaling and activationScaling.
    void scaleOperands(Operator& op) const;
    std::string scoped(const std::string& name) const;

    Graph graph_;
    WorkloadOptions options_;
    DType auxiliary_, stored_;
    std::string block_;
    std::int64_t repeat_ = 1;
    std::map<std::string, TensorId, std::less<>> weights_;
};

}  // namespace orrery
