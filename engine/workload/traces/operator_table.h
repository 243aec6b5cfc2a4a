#pragma once

// What one device did, operator by operator, as tables: TrioSim's operator traces (CSV with OperatorID, OperatorName,
// Operator_cudatime in us, InputSize and OutputSize in elements, stage forward, backward or optimizer;
// sarchlab/triosim) and AICB's logs of exchanges (CSV with comm_type, comm_group, comm_group_size, msg_size,
// _elapsed_time in ms).

#include "workload/traces/execution_trace.h"

#include <string>
#include <string_view>

namespace orrery {

bool isOperatorTable(std::string_view text);
/// Operators after each other, as one stream of a device does them. Elements are taken as four bytes: the tables of
/// tensors that stand beside the recorded traces say so. Fails with `trace.syntax`, `trace.value`, with the line.
Expected<ExecutionTrace> operatorTrace(std::string_view text, std::string_view file);

bool isExchangeLog(std::string_view text);
/// Exchanges after each other, each with its size and the time that it took there. Groups: tensor parallel of
/// consecutive ranks, others of those that stand that far apart. Messages between stages are left out with a warning.
Expected<ExecutionTrace> exchangeLogTrace(std::string_view text, std::string_view file);

}  // namespace orrery
