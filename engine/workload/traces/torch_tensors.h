#pragma once

// What PyTorch's execution traces say of an operator's arguments: `{"shapes": [[32, 3, 224, 224], …], "types":
// ["Tensor(float)", …], …}`, also as Chakra's converters keep it.

#include "base/text/json_cursor.h"
#include "workload/traces/operator_recording.h"

#include <vector>

namespace orrery {

/// Arguments that are tensors, or lists of them, in their order.
std::vector<RecordedTensor> readTorchTensors(JsonCursor& json);

}  // namespace orrery
