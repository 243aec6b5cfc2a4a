// What PyTorch in eager mode launches for operators that are composite there. The passes of activations and norms are
// those of Hugging Face's transformers 4.36 (activations.py, modeling_llama.py); those of attention are the eager paths
// of its GPT-2, BERT and OPT, which agree in their number: scores, scale, mask, softmax, context, and copies that bring
// heads in front of positions.

#include "methods/model/eager_passes.h"
#include "methods/model/launches.h"
#include "workload/costs.h"

#include <algorithm>
#include <array>

namespace orrery {

namespace {

using P = EagerPass;
// NewGELUActivation: 0.5·x·(1 + tanh(√(2/π)·(x + 0.044715·x³))).
constexpr std::array geluTanh{P{"Pow", 1},  P{"Mul", 1}, P{"Add", 2}, P{"Mul", 1},
                              P{"Tanh", 1}, P{"Add", 1}, P{"Mul", 1}, P{"Mul", 2}};
constexpr std::array geluTanhBack{P{"Mul", 2}, P{"Mul", 2}, P{"Mul", 1}, P{"Tanh", 2}, P{"Mul", 1}, P{"Mul", 1},
                                  P{"Add", 2}, P{"Pow", 1}, P{"Mul", 1}, P{"Mul", 2},  P{"Add", 2}};
constexpr std::array siluTimes{P{"SiLU", 1}, P{"Mul", 2}};
constexpr std::array geluTimes{P{"Gelu", 1}, P{"Mul", 2}};
constexpr std::array gateBack{P{"Mul", 2}, P{"Mul", 2}, P{"SiLU", 2}, P{"Concat", 2}};
// rotate_half and the two products with cosine and sine.
constexpr std::array rotary{P{"Neg", 1}, P{"Concat", 1}, P{"Mul", 1}, P{"Mul", 1}, P{"Add", 2}};
// LlamaRMSNorm in the type that it is asked in; casts of narrower types come on top.
constexpr std::array rms{P{"Pow", 1}, P{"ReduceMean", 1, false}, P{"Mul", 1}, P{"Mul", 1}};
constexpr std::array rmsBack{P{"Mul", 2}, P{"Mul", 2}, P{"ReduceSum", 2, false}, P{"Mul", 2}, P{"Mul", 2}, P{"Add", 2}};

Launch launchOf(const Workload& workload, std::size_t i, Kernel kernel, std::string_view what) {
    Launch launch;
    launch.kernel = kernel;
    launch.op = static_cast<std::int32_t>(i);
    launch.count = workload.costs.repeat[i];
    launch.what = what;
    return launch;
}

double size(DType type) {
    return bits(type) / 8.0;
}

}  // namespace

std::span<const EagerPass> eagerPasses(std::string_view function, bool backward) {
    if (function == "GeluTanh" || function == "FastGelu") {
        return backward ? std::span<const P>(geluTanhBack) : std::span<const P>(geluTanh);
    }
    if (function == "SwiGLU") return backward ? std::span<const P>(gateBack) : std::span<const P>(siluTimes);
    if (function == "GeGLU" || function == "GeGLUTanh") {
        return backward ? std::span<const P>(gateBack) : std::span<const P>(geluTimes);
    }
    if (function == "RotaryEmbedding") return rotary;
    if (function == "RMSNormalization") return backward ? std::span<const P>(rmsBack) : std::span<const P>(rms);
    return {};
}

Kernel eagerKernel(const EagerPass& pass, DType type, double m, double n) {
    Kernel kernel = rowsKernel(KernelKind::Elementwise, pass.function, type, m, n, pass.operands);
    if (!pass.writesAll) kernel.writeBytes /= std::max(1.0, n);
    return kernel;
}

bool addEagerLaunches(const Workload& workload, std::size_t i, const ModelOptions& options,
                      std::vector<Launch>& launches) {
    const auto passes = eagerPasses(workload.graph.operators[i].type, false);
    const bool drops = !workload.transformer || workload.transformer->residualDropout;
    const bool dropout = drops && options.step == Step::Training && workload.graph.operators[i].type == "Residual";
    if (passes.empty() && !dropout) return false;
    const Kernel whole = kernelOf(workload.graph, workload.costs, i);
    if (whole.kind != KernelKind::Elementwise && whole.kind != KernelKind::Normalization) return false;
    const auto m = static_cast<double>(whole.m), n = static_cast<double>(whole.n);
    if (dropout) {
        Kernel drop = rowsKernel(KernelKind::Elementwise, "Mul", whole.type, m, n, 1);
        drop.writeBytes += m * n;  // a byte of mask per element
        launches.push_back(launchOf(workload, i, drop, "dropout"));
        launches.push_back(launchOf(workload, i, whole, {}));
        return true;
    }
    const bool casts = whole.kind == KernelKind::Normalization && bits(whole.type) < 32;
    const DType inner = casts ? DType::F32 : whole.type;
    if (casts) {
        launches.push_back(
            launchOf(workload, i, movementKernel("Cast", inner, m * n * size(whole.type), m * n * 4), "to fp32"));
    }
    for (const EagerPass& pass : passes) {
        launches.push_back(launchOf(workload, i, eagerKernel(pass, inner, m, n), pass.function));
    }
    if (casts) {
        launches.push_back(
            launchOf(workload, i, movementKernel("Cast", inner, m * n * 4, m * n * size(whole.type)), "from fp32"));
    }
    return true;
}

void addUnfusedAttention(const Workload& workload, std::size_t i, const ModelOptions& options,
                         std::vector<Launch>& launches) {
    const Operator& op = workload.graph.operators[i];
    const AttentionShape& a = *op.attention;
    const DType type = workload.costs.type[i];
    const auto count = [](std::int64_t value) { return static_cast<double>(value); };
    const double groups = count(a.batch) * count(a.heads);
    const double queries = count(a.queries), keys = count(a.keys);
    const double rows = groups * queries;
    const double cached = workload.costs.kvReadBytes[i];
    const auto add = [&](Kernel kernel, std::string_view what) {
        launches.push_back(launchOf(workload, i, kernel, what));
    };
    const auto copy = [&](double elements, std::string_view what) {
        add(movementKernel("Transpose", type, elements * size(type), elements * size(type)), what);
    };
    const bool engine = options.fusion == Fusion::Epilogue;
    if (!engine) {
        copy(rows * count(a.headDim), "query heads");
        if (cached > 0) {
            const double whole = count(a.batch) * count(a.kvHeads) * keys * count(a.headDim + a.valueDim);
            add(movementKernel("Concat", type, cached, whole * size(type)), "append to cache");
        }
        copy(groups * keys * count(a.headDim), "key heads");
        copy(groups * keys * count(a.valueDim), "value heads");
    }
    Kernel scores = productKernel(type, groups, queries, keys, count(a.headDim));
    scores.transposedWeight = true;
    add(scores, "scores");
    if (options.fusion == Fusion::None) {
        add(rowsKernel(KernelKind::Elementwise, "Div", type, rows, keys, 1), "scale");
        add(rowsKernel(KernelKind::Elementwise, "Add", type, rows, keys, 1), "mask");
    }
    add(rowsKernel(KernelKind::Softmax, "Softmax", type, rows, keys, 1), "softmax");
    const bool drops = !workload.transformer || workload.transformer->attentionDropout;
    if (drops && options.step == Step::Training && options.fusion == Fusion::None) {
        Kernel drop = rowsKernel(KernelKind::Elementwise, "Mul", type, rows, keys, 1);
        drop.writeBytes += rows * keys;
        add(drop, "dropout");
    }
    add(productKernel(type, groups, queries, count(a.valueDim), keys), "context");
    copy(rows * count(a.valueDim), "merge heads");
}

}  // namespace orrery
