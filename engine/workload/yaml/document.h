#pragma once

// The workload document, `orrery: workload/1`, in one of two forms.
//
// A recipe of a built-in model:
//
//     orrery: workload/1
//     builtin: llama-2-7b
//     options: {batch: 8, sequence: 2048, phase: decode, weights: int4, kv: fp8}
//
// Or a graph, operator by operator, each after those that make its inputs:
//
//     orrery: workload/1
//     name: Perceptron
//     dtype: fp16                       # of tensors that do not say; the activations' type if left out
//     tensors:
//       x: {shape: [batch, 1024], role: input}
//       w: {shape: [1024, 4096], role: weight, dtype: int8}
//     operators:
//       - {name: fc, type: MatMul, inputs: [x, w], outputs: {h: [batch, 4096]}, repeat: 4}
//       - {name: act, type: Gelu, inputs: [h]}
//
// Extents are whole numbers or symbols; `batch`, `sequence` and `image` are bound by the options of those names, others
// by `bindings`. Roles are input, output, weight, constant and kv_cache. Outputs may be left out where the shape
// follows (element-wise, normalisation, softmax, matrix products, convolutions); the output then has the operator's
// name. Types are those of operator_types.h; `kind` places another type. Options given from outside win over the
// document's.

#include "base/text/yaml_node.h"
#include "workload/importers.h"

#include <string>

namespace orrery {

/// The options of a document over those given: each applies where the given one is still the default.
Expected<WorkloadOptions> readOptions(const YamlNode& node, const std::string& file, WorkloadOptions given);
/// The graph form.
Expected<ImportedGraph> readGraph(const YamlNode& root, const std::string& file, const WorkloadOptions& options);

}  // namespace orrery
