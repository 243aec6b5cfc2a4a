#pragma once

// A device and cost rows made by hand, so that inner loops are tested against arithmetic on paper.

#include "hardware/views/device_view.h"
#include "workload/workload.h"

#include <memory>

namespace orrery::fixture {

/// 100 TFLOP/s fp16 on tensor units, 10 TFLOP/s on vector units, 1 TB/s of memory, an L2 of 32 MiB at 4 TB/s and 100
/// cores with 128 KiB of scratchpad at 16 TB/s together.
inline DeviceView device() {
    DeviceView d;
    d.name = "hand";
    d.path = "system/hand";
    d.clock = Hertz(1e9);
    d.cores = 100;
    auto& vector = d.peaks[static_cast<std::size_t>(UnitKind::Vector)];
    auto& tensor = d.peaks[static_cast<std::size_t>(UnitKind::Tensor)];
    vector[static_cast<std::size_t>(DType::F32)] = FlopsPerSecond(10e12);
    vector[static_cast<std::size_t>(DType::F16)] = FlopsPerSecond(10e12);
    tensor[static_cast<std::size_t>(DType::F16)] = FlopsPerSecond(100e12);
    d.levels = {{.name = "hbm", .path = "system/hand/hbm", .capacity = Bytes(16e9), .bandwidth = BytesPerSecond(1e12)},
                {.name = "l2",
                 .kind = ComponentKind::Cache,
                 .path = "system/hand/l2",
                 .capacity = Bytes(32.0 * 1024 * 1024),
                 .bandwidth = BytesPerSecond(4e12)},
                {.name = "smem",
                 .kind = ComponentKind::Buffer,
                 .path = "system/hand/sm/smem",
                 .capacity = Bytes(100 * 128.0 * 1024),
                 .bandwidth = BytesPerSecond(16e12),
                 .instances = 100}};
    return d;
}

inline void addRow(CostTable& t, OperatorKind kind, DType type, double macs, double flops, double weight, double input,
                   double output, double repeat = 1, GemmShape gemm = {}) {
    t.kind.push_back(kind);
    t.type.push_back(type);
    t.repeat.push_back(repeat);
    t.macs.push_back(macs);
    t.flops.push_back(flops);
    t.weightBytes.push_back(weight);
    t.kvReadBytes.push_back(0);
    t.kvWriteBytes.push_back(0);
    t.inputBytes.push_back(input);
    t.outputBytes.push_back(output);
    t.scratchBytes.push_back(0);
    t.gemm.push_back(gemm);
}

/// x[m,k]·W[k,n] in fp16.
inline void addProduct(CostTable& t, double m, double n, double k, double repeat = 1) {
    addRow(t, OperatorKind::MatMul, DType::F16, m * n * k, 2 * m * n * k, 2 * k * n, 2 * m * k, 2 * m * n, repeat,
           {1, m, n, k});
}

/// A chain of element-wise operators over one vector of `elements` fp16 numbers.
inline Graph chain(int length, std::int64_t elements) {
    Graph graph;
    Tensor tensor;
    tensor.type = DType::F16;
    tensor.shape = {elements};
    tensor.role = TensorRole::Input;
    auto last = graph.addTensor(tensor);
    graph.inputs = {last};
    for (int i = 0; i < length; ++i) {
        Operator op;
        op.name = "relu" + std::to_string(i);
        op.type = "Relu";
        op.kind = OperatorKind::Elementwise;
        op.inputs = {last};
        tensor.role = i + 1 == length ? TensorRole::Output : TensorRole::Activation;
        last = graph.addTensor(tensor);
        op.outputs = {last};
        graph.operators.push_back(op);
    }
    graph.outputs = {last};
    return graph;
}

inline std::shared_ptr<Workload> workloadOf(Graph graph) {
    auto workload = std::make_shared<Workload>();
    workload->id = workload->name = "hand";
    workload->graph = std::move(graph);
    workload->costs = costTable(workload->graph);
    workload->totals = costTotals(workload->graph, workload->costs);
    return workload;
}

}  // namespace orrery::fixture
