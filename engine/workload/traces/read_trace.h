#pragma once

// Any trace of one rank, told by what stands in it: Chakra .et, PyTorch execution traces and Chakra's graphs as JSON,
// layers of ASTRA-sim 1.0 and SimAI, operators of TrioSim, AICB's logs; plain, gzipped, or the largest file of a tar
// archive.

#include "workload/traces/execution_trace.h"
#include "workload/traces/layer_text.h"

#include <string>
#include <string_view>

namespace orrery {

struct TraceReading {
    LayerOrder order = LayerOrder::Blocking;  ///< of tables of layers
    std::int64_t ranks = 0;                   ///< of tables of layers, whose exchanges it sizes; 0: as they say
    std::string timeline;                     ///< Kineto's, beside a PyTorch execution trace; empty: none
};

struct ReadTrace {
    ExecutionTrace trace;
    std::string form;  ///< `Chakra trace`, for people
};

/// Whether the first bytes could be of a text: no control characters but blanks.
bool looksLikeText(std::string_view text);

/// Fails with `reference.unreadable`, `trace.form` (what else it is, as far as it shows), and as the readers do.
Expected<ReadTrace> readTrace(const std::string& path, const TraceReading& how = {});

}  // namespace orrery
