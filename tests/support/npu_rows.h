#pragma once

// The workloads of the rows of accelerators/pytorchsim/baseline_cycle.csv, by their names, as the scripts of the
// PyTorchSim artifact build them: fp32 tensors throughout (torch.randn), channels-last convolutions, ResNet of batch 1,
// BERT as one encoder block of 512 tokens with separate projections of queries, keys and values. On a TPU products of
// fp32 tensors are one pass of bf16 multiplications by default.

#include "workload/models/builder.h"
#include "workload/workload.h"

#include <charconv>
#include <string>
#include <string_view>
#include <vector>

namespace orrery::npu_rows {

inline WorkloadOptions singlePrecision() {
    WorkloadOptions options;
    options.weights = options.activations = options.kv = DType::F32;
    options.flashAttention = false;
    return options;
}

/// The numbers of `gemm_256x512x1024`; empty if a part is none.
inline std::vector<std::int64_t> numbers(std::string_view text) {
    std::vector<std::int64_t> out;
    while (!text.empty()) {
        const auto end = std::min(text.find('x'), text.size());
        std::int64_t value = 0;
        const auto [at, error] = std::from_chars(text.data(), text.data() + end, value);
        if (error != std::errc() || at != text.data() + end) return {};
        out.push_back(value);
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return out;
}

/// softmax(K Qᵀ / √d) and Vᵀ times it, all heads at once.
inline TensorId attention(GraphBuilder& g, TensorId q, TensorId k, TensorId v) {
    TensorId scores = g.matmul("scores", k, q, true);
    scores = g.elementwise("Mul", "scale", {scores});
    return g.matmul("values", g.softmax("softmax", scores), v);
}

inline Graph block(const WorkloadOptions& options, std::int64_t hidden, std::int64_t heads, std::int64_t tokens) {
    GraphBuilder g("BERT block", options);
    const TensorId x = g.input("x", {tokens, hidden});
    const auto head = [&](const char* name) {
        const TensorId y = g.linear(name, x, hidden);
        return g.view(std::string(name) + ".heads", y, {heads, tokens, hidden / heads});
    };
    const TensorId q = head("query"), k = head("key"), v = head("value");
    TensorId h = g.view("join", attention(g, q, k, v), {tokens, hidden});
    h = g.elementwise("Add", "residual1", {g.linear("output", h, hidden), x});
    const TensorId middle = g.layerNorm("norm1", h);
    h = g.elementwise("Relu", "relu", {g.linear("ffn1", middle, 4 * hidden)});
    h = g.elementwise("Add", "residual2", {g.linear("ffn2", h, hidden), middle});
    g.output(g.layerNorm("norm2", h));
    return g.finish();
}

inline Graph resNet18(const WorkloadOptions& options) {
    GraphBuilder g("ResNet-18", options);
    const auto convNorm = [&g](const std::string& name, TensorId x, std::int64_t channels, std::int64_t kernel,
                               std::int64_t stride, bool relu) {
        x = g.conv(name + ".conv", x, channels,
                   {.kernel = kernel, .stride = stride, .padding = kernel / 2, .bias = false});
        x = g.batchNorm(name + ".bn", x);
        return relu ? g.elementwise("Relu", name + ".relu", {x}) : x;
    };
    TensorId x = g.input("image", {1, 3, 224, 224});
    x = convNorm("stem", x, 64, 7, 2, true);
    x = g.pool("MaxPool", "pool", x, 3, 2, 1);
    for (int stage = 0; stage < 4; ++stage) {
        for (int i = 0; i < 2; ++i) {
            const std::string name = "layer" + std::to_string(stage + 1) + "." + std::to_string(i);
            const std::int64_t width = std::int64_t{64} << stage;
            const std::int64_t stride = i == 0 && stage > 0 ? 2 : 1;
            TensorId h = convNorm(name + ".1", x, width, 3, stride, true);
            h = convNorm(name + ".2", h, width, 3, 1, false);
            const TensorId shortcut = stride == 1 ? x : convNorm(name + ".down", x, width, 1, stride, false);
            x = g.elementwise("Relu", name + ".relu", {g.elementwise("Add", name + ".add", {h, shortcut})});
        }
    }
    x = g.globalPool("average", x);
    x = g.view("flatten", x, {1, 512});
    g.output(g.linear("fc", x, 1000));
    return g.finish();
}

/// Null for a name that is none of the artifact's forms.
inline WorkloadPtr workloadOf(const std::string& row) {
    const auto options = singlePrecision();
    const auto finish = [&row](Graph graph) { return finishWorkload(row, row, {}, std::move(graph), {}); };
    if (row == "resnet18") return finish(resNet18(options));
    if (row == "resnet50") {
        auto loaded = loadWorkload({"resnet-50", options, {}});
        return loaded ? *loaded : nullptr;
    }
    if (row == "bert_base") return finish(block(options, 768, 12, 512));
    if (row == "bert_large") return finish(block(options, 1024, 16, 512));
    if (row == "bert_xlarge") return finish(block(options, 2048, 32, 512));
    const auto split = row.find('_');
    if (split == std::string::npos) return nullptr;
    const auto kind = row.substr(0, split);
    const auto n = numbers(std::string_view(row).substr(split + 1));
    GraphBuilder g(row, options);
    if (kind == "gemm" && n.size() == 3) {
        const TensorId a = g.input("a", {n[0], n[1]});
        g.output(g.matmul("gemm", a, g.input("b", {n[1], n[2]})));
    } else if (kind == "conv" && n.size() == 8) {
        const TensorId x = g.input("x", {n[0], n[3], n[1], n[2]});
        g.output(g.conv("conv", x, n[4], {.kernel = n[5], .stride = n[6], .padding = n[7]}));
    } else if (kind == "layernorm" && n.size() == 2) {
        g.output(g.layerNorm("norm", g.input("x", {n[0], n[1]})));
    } else if (kind == "softmax" && n.size() == 2) {
        g.output(g.softmax("softmax", g.input("x", {n[0], n[1]})));
    } else if (kind == "attention" && n.size() == 3) {
        const TensorId q = g.input("q", {n[0], n[1], n[2]}), k = g.input("k", {n[0], n[1], n[2]});
        g.output(attention(g, q, k, g.input("v", {n[0], n[1], n[2]})));
    } else {
        return nullptr;
    }
    return finish(g.finish());
}

}  // namespace orrery::npu_rows
