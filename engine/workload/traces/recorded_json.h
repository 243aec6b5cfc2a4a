#pragma once

// Traces as JSON: what PyTorch's ExecutionTraceObserver writes of the host (schema 1.0.2-chakra.0.0.4: nodes with the
// node that called them in `ctrl_deps`), and Chakra's own form of an .et (`workload_graph`: Id, NodeType, runtime in
// us, data_deps, is_cpu_op).

#include "workload/traces/execution_trace.h"
#include "workload/traces/kineto.h"

#include <cstdint>
#include <string_view>

namespace orrery {

enum class RecordedForm : std::uint8_t { None, PyTorch, Chakra, Kineto };
/// By the members of the outermost object; None where it is no such object.
RecordedForm recordedForm(std::string_view text);

/// Every operator waits for its caller. Host operators have no times. What NCCL does (`nccl:all_reduce` and the like)
/// are collectives of the device: bytes of their tensors, the communicator of the call around them. Fails with
/// `trace.not-json` and what else JsonCursor says, `trace.value`, with the line.
///
/// With the timeline recorded beside it: operators take the time that is left without those that they call; kernels
/// wait for their operator, for the one before on their stream, and for one of another stream where they had been
/// launched before and began only after it. NCCL's kernels are the collectives. What the host waits for of the device
/// is not told.
Expected<ExecutionTrace> parsePyTorchTrace(std::string_view text, std::string_view file,
                                           const KinetoTimeline* timeline = nullptr);

/// Collectives of the device are told by the names of their kernels; they have no size, but the time that they took.
Expected<ExecutionTrace> parseChakraJson(std::string_view text, std::string_view file);

}  // namespace orrery
