#pragma once

// What PyTorch's execution traces say of a node and of an operator's arguments: `{"shapes": [[32, 3, 224, 224], …],
// "types":
// ["Tensor(float)", …], …}`, also as Chakra's converters keep it.

#include "base/text/json_cursor.h"
#include "workload/traces/operator_recording.h"

#include <vector>

namespace orrery {

/// Arguments that are tensors, or lists of them, in their order.
std::vector<RecordedTensor> readTorchTensors(JsonCursor& json);
/// `rf_id`, the record function of a node, of its attributes `[{"name": "rf_id", "value": 3}, …]`; -1 without it.
std::int64_t readRecordFunction(JsonCursor& json);

}  // namespace orrery
