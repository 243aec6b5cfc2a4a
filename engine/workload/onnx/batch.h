#pragma once

// Whether a graph that was read for one input can be read for many: a file that was exported with a fixed batch may
// hold it in the shapes of its reshapes, and then answers something else.

#include "base/diagnostic.h"
#include "workload/graph.h"

#include <cstdint>
#include <optional>
#include <string>

namespace orrery::onnx_import {

/// `one` read at a batch of 1 and `many` at `batch`: every operator must be there in both, store its outputs and do its
/// work `batch` times, or as often as before where it does not see the batch; and weights must be the same. Otherwise
/// the first operator that does not, as `onnx.batch`.
std::optional<Diagnostic> batchProblem(const Graph& one, const Graph& many, std::int64_t batch,
                                       const std::string& path);
/// What an operator contradicts when it is read with a batch, as a refusal of the batch.
Diagnostic refusedBatch(Diagnostic contradiction, std::int64_t batch);

}  // namespace orrery::onnx_import
