#pragma once

// The options of a workload as YAML keys, shared by projects and studies.

#include "store/project/yaml_reader.h"
#include "workload/workload.h"

namespace orrery::store {

/// Takes `batch, sequence, image, phase, weights, activations, kv, flash_attention, bindings` out of the map; what is
/// absent stays as in `base`. Batches, extents and bindings are whole numbers from 1 (0 for "the usual one") to 10^9.
/// Warns of types that a file of `source` does not take.
Expected<WorkloadOptions> readOptions(MapReader& map, WorkloadOptions base = {}, const std::string& source = {});
/// Lines of those options that differ from `base`, indented.
std::string writeOptions(const WorkloadOptions& options, int indent, const WorkloadOptions& base = {});

}  // namespace orrery::store
