#pragma once

#include "workload/importers.h"

#include <string>

namespace orrery {

/// An ncnn `.param` file: its topology with the shapes that it states, else by rule from a picture of `image` pixels a
/// side (224 if not said). Layers with an int8 scale have int8 weights. Codes `ncnn.…`.
Expected<ImportedGraph> importNcnn(const std::string& path, const WorkloadOptions& options);

}  // namespace orrery
