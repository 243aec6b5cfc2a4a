#include "workload/operator_types.h"

#include "base/text/words.h"

#include <string>
#include <unordered_map>

namespace orrery {
namespace {

using K = OperatorKind;

std::vector<OperatorType> makeTypes() {
    std::vector<OperatorType> types;
    const auto add = [&types](OperatorKind kind, double flops, std::initializer_list<std::string_view> names) {
        for (const std::string_view name : names) types.push_back({name, kind, flops});
    };
    // Work of these comes from their shapes (costs_shapes.cpp).
    add(K::MatMul, 0, {"MatMul", "Gemm", "Linear", "Einsum", "GroupedMatMul", "MatMulInteger", "QLinearMatMul"});
    add(K::MatMul, 0, {"FusedMatMul", "FusedGemm", "MatMulNBits"});
    add(K::Conv, 0, {"Conv", "ConvInteger", "QLinearConv", "DeformConv", "FusedConv"});
    add(K::ConvTranspose, 0, {"ConvTranspose"});
    add(K::Attention, 0, {"Attention", "MultiHeadAttention", "GroupQueryAttention", "LatentAttention"});
    add(K::Scan, 0, {"LSTM", "GRU", "RNN", "SelectiveScan"});

    add(K::Elementwise, 1,
        {"Add",     "Sub",        "Mul",        "Div",         "Neg",        "Abs",    "Relu",
         "Sqrt",    "Exp",        "Log",        "Pow",         "Erf",        "Tanh",   "Sin",
         "Cos",     "Tan",        "Asin",       "Acos",        "Atan",       "Sinh",   "Cosh",
         "Asinh",   "Acosh",      "Atanh",      "Reciprocal",  "Floor",      "Ceil",   "Round",
         "Sign",    "Not",        "And",        "Or",          "Xor",        "Mod",    "Equal",
         "Greater", "Less",       "Where",      "Min",         "Max",        "Sum",    "GreaterOrEqual",
         "IsNaN",   "IsInf",      "BitShift",   "LessOrEqual", "BitwiseAnd", "Mean",   "BitwiseOr",
         "Trilu",   "BitwiseXor", "BitwiseNot", "Residual",    "Bias",       "CumSum", "Bernoulli"});
    add(K::Elementwise, 2, {"Clip", "LeakyRelu", "PRelu", "ThresholdedRelu", "Rsqrt", "Softsign", "DequantizeLinear"});
    add(K::Elementwise, 2, {"ScaleShift", "ReluSquared", "Relu6"});
    add(K::Elementwise, 3, {"Elu", "Celu", "Selu", "Softplus", "RotaryEmbedding", "QuantizeLinear", "Shrink"});
    add(K::Elementwise, 3, {"DynamicQuantizeLinear", "SoftCap"});
    add(K::Elementwise, 4, {"Sigmoid", "HardSigmoid"});
    add(K::Elementwise, 5, {"Swish", "SiLU", "Gelu", "HardSwish", "Mish", "QuickGelu"});
    add(K::Elementwise, 6, {"SwiGLU", "GeGLU"});
    add(K::Elementwise, 9, {"GeluTanh", "FastGelu"});
    add(K::Elementwise, 10, {"GeGLUTanh"});
    add(K::Elementwise, 7, {"Resize", "Upsample", "GridSample", "AffineGrid"});  // bilinear: 4 multiplies, 3 adds

    add(K::Normalization, 2, {"BatchNormalization"});  // its statistics are constants: one scale, one shift
    add(K::Normalization, 4, {"RMSNormalization", "SimplifiedLayerNormalization", "LpNormalization"});
    add(K::Normalization, 5, {"SkipSimplifiedLayerNormalization"});
    add(K::Normalization, 6,
        {"LayerNormalization", "GroupNormalization", "InstanceNormalization", "MeanVarianceNormalization", "LRN"});
    add(K::Normalization, 7, {"SkipLayerNormalization"});
    add(K::Softmax, 5, {"Softmax", "LogSoftmax", "Hardmax"});
    add(K::Reduce, 1, {"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ArgMax", "ArgMin"});
    add(K::Reduce, 2, {"ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceLogSum", "WeightedSum"});
    add(K::Reduce, 3, {"ReduceLogSumExp"});
    add(K::Pool, 1, {"MaxPool", "AveragePool", "GlobalAveragePool", "GlobalMaxPool", "AdaptiveAveragePool"});
    add(K::Pool, 2, {"LpPool", "GlobalLpPool", "MaxRoiPool", "RoiAlign"});
    add(K::Gather, 0,
        {"Gather", "GatherElements", "GatherND", "Embedding", "EmbeddingBag", "Scatter", "ScatterElements", "ScatterND",
         "Compress", "OneHot"});
    add(K::Movement, 0, {"Transpose",      "Concat",          "Pad",      "Slice",        "Cast",
                         "Split",          "Expand",          "Tile",     "SpaceToDepth", "DepthToSpace",
                         "CastLike",       "ConstantOfShape", "Range",    "EyeLike",      "Col2Im",
                         "CenterCropPad",  "ReverseSequence", "Dispatch", "SequenceAt",   "ConcatFromSequence",
                         "UpsampleNearest"});
    add(K::View, 0,
        {"Reshape", "Squeeze", "Unsqueeze", "Identity", "Flatten", "Dropout", "Constant", "Shape", "Size", "View"});
    add(K::Routing, 1, {"TopK", "Unique", "NonZero", "NonMaxSuppression", "Router"});
    return types;
}

}  // namespace

const std::vector<OperatorType>& operatorTypes() {
    static const std::vector<OperatorType> types = makeTypes();
    return types;
}

const OperatorType* operatorType(std::string_view name) {
    static const std::unordered_map<std::string, const OperatorType*> byName = [] {
        std::unordered_map<std::string, const OperatorType*> map;
        for (const OperatorType& type : operatorTypes()) map.emplace(lower(type.name), &type);
        return map;
    }();
    const auto found = byName.find(lower(name));
    return found == byName.end() ? nullptr : found->second;
}

}  // namespace orrery
