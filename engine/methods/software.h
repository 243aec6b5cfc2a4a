#pragma once

// The software that runs a workload, as far as a question says it: whose kernels they are, and what its host does.

#include "base/diagnostic.h"

#include <optional>
#include <string>
#include <string_view>

namespace orrery {

/// Whether activations are quantised in a launch of its own or in a product's is told by their number format
/// (workload/number_format.h).
struct Software {
    std::string engine;                 ///< as tables name it: `vLLM 0.24.0`, `trtllm-1.3.0`; empty: not said
    std::optional<bool> graphs;         ///< one launch for a captured pass, or every kernel issued by the host
    std::optional<double> hostSeconds;  ///< of issuing one kernel, where no graph holds it
    bool empty() const { return engine.empty() && !graphs && !hostSeconds; }
    bool operator==(const Software&) const = default;
};

/// `vLLM 0.24.0(graphs=off, host=12 us)`: what was said, parsable.
std::string toText(const Software& software);
/// Fails with `software.bad-name` (no letter at its start), `software.bad-option`. An empty text is an empty software.
Expected<Software> parseSoftware(std::string_view text);

}  // namespace orrery
