#pragma once

// Snapshots for the tests of pictures: a transformer on an H100-like device, priced by the plain roofline formula
// here so that the tests of widgets depend on no method.

#include "widgets/common/snapshot.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace orrery::ui::fixture {

struct Row {
    const char* name;
    OperatorKind kind;
    double flops, bytes;  // of one execution
};

// A layer of hidden size h with a KV cache of `context` tokens, for `tokens` new tokens, in 2-byte types.
inline std::vector<Row> layer(double tokens, double context, double h, double ff) {
    const auto gemm = [&](const char* name, double n, double k) {
        return Row{name, OperatorKind::MatMul, 2 * tokens * n * k, 2 * (n * k + tokens * (n + k))};
    };
    const auto each = [&](const char* name, OperatorKind kind, double perElement, double width, double inputs) {
        return Row{name, kind, perElement * tokens * width, 2 * tokens * width * (inputs + 1)};
    };
    return {each("input_norm", OperatorKind::Normalization, 4, h, 1),
            gemm("q_proj", h, h),
            gemm("k_proj", h, h),
            gemm("v_proj", h, h),
            each("rope", OperatorKind::Elementwise, 6, 2 * h, 1),
            Row{"kv_append", OperatorKind::Movement, 0, 8 * tokens * h},
            Row{"attention", OperatorKind::Attention, 4 * tokens * context * h, 4 * (context + tokens) * h},
            gemm("o_proj", h, h),
            each("residual_1", OperatorKind::Elementwise, 1, h, 2),
            each("post_norm", OperatorKind::Normalization, 4, h, 1),
            gemm("gate_proj", ff, h),
            gemm("up_proj", ff, h),
            each("swiglu", OperatorKind::Elementwise, 5, ff, 2),
            gemm("down_proj", h, ff),
            each("residual_2", OperatorKind::Elementwise, 1, h, 2)};
}

inline std::shared_ptr<DeviceView> device(double bandwidth = 3.35e12) {
    auto view = std::make_shared<DeviceView>();
    view->name = "H100 SXM";
    view->clock = Hertz(1.83e9);
    view->cores = 132;
    const auto tensor = std::size_t(UnitKind::Tensor);
    const auto vector = std::size_t(UnitKind::Vector);
    view->peaks[tensor][std::size_t(DType::F16)] = FlopsPerSecond(989e12);
    view->peaks[tensor][std::size_t(DType::BF16)] = FlopsPerSecond(989e12);
    view->peaks[tensor][std::size_t(DType::FP8)] = FlopsPerSecond(1979e12);
    view->peaks[vector][std::size_t(DType::F32)] = FlopsPerSecond(66.9e12);
    view->levels = {{"hbm3", ComponentKind::Dram, "hbm3", Bytes(80e9), BytesPerSecond(bandwidth)},
                    {"l2", ComponentKind::Cache, "l2", Bytes(50e6), BytesPerSecond(5.5e12)},
                    {"smem", ComponentKind::Buffer, "smem", Bytes(30e6), BytesPerSecond(33e12)}};
    view->launchOverhead = Seconds(2e-6);
    return view;
}

struct Options {
    bool prefill = false;
    double bandwidth = 3.35e12;
    int layers = 4;  // stored one by one, 8 repeats each
    bool failSecond = false;
    double kvBytes = 17e9;
};

// `slower` scales the second method's times, so that two methods differ.
inline std::shared_ptr<Estimate> estimate(const Workload& workload, const std::vector<Row>& rows,
                                          const DeviceView& view, double slower) {
    auto result = std::make_shared<Estimate>();
    result->method = slower == 1 ? "roofline" : "hierarchical-roofline";
    result->levels = {"hbm3", "l2", "smem"};
    result->ceilings = {{"hbm3 " + format(view.main().bandwidth), true, view.main().bandwidth.value, 0},
                        {"l2 5.5 TB/s", true, 5.5e12, 1},
                        {"smem 33 TB/s", true, 33e12, 2},
                        {"fp8 tensor 1.98 PFLOP/s", false, 1979e12, -1},
                        {"bf16 tensor 989 TFLOP/s", false, 989e12, -1},
                        {"fp32 66.9 TFLOP/s", false, 66.9e12, -1}};
    result->timeline.rows = {"compute", "memory"};
    std::int64_t now = 0;
    OperatorEstimates& columns = result->operators;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const double repeat = double(workload.graph.operators[i].repeat);
        const bool matrix = rows[i].kind == OperatorKind::MatMul || rows[i].kind == OperatorKind::Attention;
        const double compute = rows[i].flops / (matrix ? 989e12 * 0.7 : 66.9e12 * 0.5);
        const double memory = rows[i].bytes / (view.main().bandwidth.value * 0.85);
        const double overhead = view.launchOverhead.value;
        const double seconds = std::max({compute, memory, overhead}) * slower;
        columns.seconds.push_back(seconds * repeat);
        columns.bound.push_back(overhead >= std::max(compute, memory) ? Bound{BoundKind::Overhead, -1}
                                : compute > memory                    ? Bound{BoundKind::Compute, -1}
                                                                      : Bound{BoundKind::Memory, 0});
        columns.flops.push_back(rows[i].flops * repeat);
        columns.bytes.push_back(rows[i].bytes * repeat);
        result->latency += Seconds(seconds * repeat);
        for (std::int64_t r = 0; r < workload.graph.operators[i].repeat; ++r) {
            const auto ps = [](double s) { return std::int64_t(s * 1e12); };
            if (compute > 0)
                result->timeline.spans.push_back({now, now + ps(std::max(compute, 0.05 * seconds)), 0, int(i), int(r)});
            result->timeline.spans.push_back({now, now + ps(std::max(memory, 0.05 * seconds)), 1, int(i), int(r)});
            now += ps(seconds);
        }
    }
    std::stable_sort(result->timeline.spans.begin(), result->timeline.spans.end(), [](const auto& a, const auto& b) {
        return a.row != b.row ? a.row < b.row : a.startPs < b.startPs;
    });
    result->interval = {result->latency * 0.8, result->latency * 1.25};
    return result;
}

inline SnapshotPtr snapshot(const Options& options = {}) {
    const double tokens = options.prefill ? 2048 : 8;
    auto workload = std::make_shared<Workload>();
    workload->id = options.prefill ? "llm-prefill" : "llm-decode";
    workload->name = options.prefill ? "7B prefill" : "7B decode";
    std::vector<Row> rows;
    const auto add = [&](const Row& row, const std::string& scope, std::int64_t repeat) {
        Operator op;
        op.name = scope + row.name;
        op.type = row.kind == OperatorKind::MatMul ? "Gemm" : "";
        op.kind = row.kind;
        op.repeat = repeat;
        if (!scope.empty()) op.block = scope.substr(0, scope.size() - 1);
        workload->graph.operators.push_back(op);
        const bool matrix = row.kind == OperatorKind::MatMul || row.kind == OperatorKind::Attention;
        workload->costs.type.push_back(DType::BF16);
        workload->costs.macs.push_back(matrix ? row.flops / 2 : 0);
        rows.push_back(row);
    };
    add({"embed", OperatorKind::Gather, 0, 2 * tokens * 4096}, "", 1);
    for (int i = 0; i < options.layers; ++i) {
        for (const Row& row : layer(tokens, 2048, 4096, 11008)) add(row, fmt::format("layers.{}/", i), 8);
    }
    add({"final_norm", OperatorKind::Normalization, 4 * tokens * 4096, 4 * tokens * 4096}, "", 1);
    add({"lm_head", OperatorKind::MatMul, 2 * tokens * 4096 * 32000, 2 * 4096.0 * 32000}, "", 1);
    add({"sample", OperatorKind::Softmax, 5 * tokens * 32000, 4 * tokens * 32000}, "", 1);

    auto result = std::make_shared<Snapshot>();
    result->revision = 1;
    auto view = device(options.bandwidth);
    result->device = view;
    result->scenario.workload = workload;
    auto first = estimate(*workload, rows, *view, 1);
    MemoryUse memory{Bytes(13.5e9), Bytes(options.kvBytes), Bytes(1.2e9), Bytes(80e9)};
    first->memory = memory;
    result->answers.push_back({"roofline", "Roofline", first, std::nullopt, 0});
    Answer second{"hierarchical-roofline", "Hierarchical roofline", nullptr, std::nullopt, 1};
    if (options.failSecond)
        second.failure = fail("method.needs", "the device gives no L2 bandwidth").value();
    else
        second.estimate = estimate(*workload, rows, *view, 1.35);
    result->answers.push_back(second);
    return result;
}

}  // namespace orrery::ui::fixture
