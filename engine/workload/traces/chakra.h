#pragma once

// Chakra execution traces (`.et`, plain or gzipped): messages of mlcommons/chakra's et_def.proto, each after its
// length, the first one about the file. Attributes are taken by name whatever type they were written in, since
// converters differ; unknown ones are passed over.

#include "workload/traces/execution_trace.h"

#include <string>
#include <string_view>

namespace orrery {

inline constexpr std::size_t largest_trace = std::size_t{2} << 30;  ///< unpacked, in bytes
inline constexpr std::size_t most_trace_nodes = 1 << 24, most_trace_waits = 1 << 27;

/// Fails with `reference.unreadable`, `trace.syntax` (with the byte at which a message does not parse), `trace.value`
/// (a size below zero or beyond 2^63, a collective that the schema does not have), `trace.large` (more nodes or
/// dependencies than the constants above, or a file that goes on beyond largest_trace), `trace.empty`, and as
/// TraceBuilder::finish() does. Where control and data dependencies contradict each other, those of data count, with a
/// warning.
Expected<std::string> readTraceFile(const std::string& path);  ///< unpacked
Expected<ExecutionTrace> readChakra(const std::string& path);
Expected<ExecutionTrace> parseChakra(std::string_view text, std::string_view file);

/// The same trace for other tools: schema 1.0.2-chakra.0.0.4, attributes as ASTRA-sim reads them.
std::string chakraText(const ExecutionTrace& trace);

}  // namespace orrery
