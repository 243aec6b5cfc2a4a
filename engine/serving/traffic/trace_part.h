#pragma once

#include "serving/traffic/traffic.h"

#include <optional>

namespace orrery {

/// A warning (`traffic.part-of-trace`) where a number of requests or a time leaves out rows of a trace whose arrivals
/// are taken: `1,200 of the 8,819 requests of the trace`. `requests`: how many were made of it.
std::optional<Diagnostic> partOfTrace(const TrafficSpec& spec, std::size_t requests);

}  // namespace orrery
