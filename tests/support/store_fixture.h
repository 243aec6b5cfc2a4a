#pragma once

// A hand-made question and answer for the tests of the store: small enough to check by eye, with names that break
// careless writers (quotes, commas, markup, line breaks, bytes that are not UTF-8).

#include "study/study.h"

#include <memory>
#include <string>

namespace orrery::test {

inline const std::string awkward = "a,\"b\"\n<script>alert('x')</script> & \xff";

inline Scenario awkwardScenario() {
    auto hardware = std::make_shared<Hardware>();
    hardware->name = "Chip <b>&\"";
    auto workload = std::make_shared<Workload>();
    workload->name = "Model, \"quoted\"";
    workload->recipe.source = "./model.onnx";
    workload->recipe.options.batch = 4;
    workload->recipe.options.phase = Phase::Decode;
    workload->totals.macs = 1e6;
    workload->totals.flops = 2e6;
    workload->totals.operators = 33;
    Operator first, second, third;
    first.name = awkward;
    first.type = "Gemm";
    first.kind = OperatorKind::MatMul;
    first.repeat = 32;
    first.block = "layers ×32";
    second.name = "softmax";
    second.type = "Softmax";
    second.kind = OperatorKind::Softmax;
    third.name = "view";
    third.type = "Reshape";
    third.kind = OperatorKind::View;
    workload->graph.operators = {first, second, third};
    return {std::move(hardware), std::move(workload)};
}

/// Energy and the capacity of memory are not predicted.
inline Estimate awkwardEstimate() {
    Estimate estimate;
    estimate.method = "roofline";
    estimate.latency = Seconds(3.3e-3);
    estimate.interval = {Seconds(3e-3), Seconds(0.1 + 0.2), IntervalKind::Bound, "a <bound>"};
    estimate.memory = MemoryUse{Bytes(1e9), Bytes(0), Bytes(5e6), Bytes(0)};
    estimate.operators.seconds = {3e-3, 3e-4, 0};
    estimate.operators.bound = {{BoundKind::Memory, 1}, {BoundKind::Compute, -1}, {}};
    estimate.operators.flops = {1.9e6, 1e5, 0};
    estimate.operators.bytes = {4e6, 1e6, 0};
    estimate.operators.levelBytes = {{4e6, 1e6, 0}, {8e6, 2e6, 0}};
    estimate.levels = {"hbm", "l2"};
    estimate.ceilings = {
        {"HBM 2 TB/s", true, 2e12, 0}, {"L2 <5> TB/s", true, 5e12, 1}, {"fp16 100 TFLOP/s", false, 1e14, -1}};
    // A start beyond 2^53 ps ÷ 10^6: a trace written through a double would lose its last digits.
    const std::int64_t late = 9'007'199'254'740'993;
    estimate.timeline.rows = {"compute", "memory"};
    estimate.timeline.spans = {
        {0, 3'000'000'001, 0, 0, 0}, {3'000'000'001, 3'300'000'001, 0, 1, 0}, {late, late + 7, 1, 0, 1}};
    estimate.figures = {{"Throughput", 1200, Dimension::Number, "token/s"},
                        {"First token", 0.092, Dimension::Time, {}}};
    estimate.assumptions = {"`registers` are <free>"};
    estimate.warnings = {warning("test.warning", "careful & <slow>", "a hint", {"", 0, 0, "op/1"})};
    estimate.provenance = {"roofline", "1", "0123456789abcdef", "fedcba9876543210", 18446744073709551615ull};
    estimate.cost = Seconds(1e-5);
    return estimate;
}

inline Study awkwardStudy(std::size_t scenarios = 1) {
    Study study;
    study.name = "A study, \"quoted\" <i>";
    for (std::size_t i = 0; i < scenarios; ++i) study.scenarios.push_back(awkwardScenario());
    study.methods = {"roofline", "llm-inference"};
    return study;
}

inline StudyResult answer(std::size_t scenario = 0) {
    return {scenario, "roofline", std::make_shared<const Estimate>(awkwardEstimate()), std::nullopt};
}

inline StudyResult failure(std::size_t scenario = 0) {
    return {scenario, "llm-inference", nullptr,
            fail("method.not-applicable", "not a <transformer>", "a transformer", "ask another", {"", 0, 0, "here"})
                .value()};
}

}  // namespace orrery::test
