#pragma once

#include "workload/importers.h"

namespace orrery {

/// importOnnx() with a batch. Above 1, the leading extent of every input becomes that, whether it is an unbound symbol or
/// 1 in the file. Extents of the graph's inputs keep the name that they were bound by (Dim::symbol).
///
/// Fails with `onnx.batch`, naming the operator, where the file holds its batch fast: what it computes and stores has to
/// grow by `batch`, or not at all.
Expected<ImportedGraph> importOnnx(const std::string& path, const Bindings& bindings, std::int64_t batch);

}  // namespace orrery
