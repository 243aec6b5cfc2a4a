#pragma once

// Numbers out of what a program wrote.

#include "methods/adapter/adapter.h"
#include "methods/adapter/adapter_values.h"

#include <map>
#include <string>

namespace orrery {

/// One number; nothing where `missing` may be missing and the file or the row is not there. `folder`: of the run.
/// Fails with `adapter.output`, with file and line.
Expected<std::optional<double>> readNumber(const AdapterRead& read, const Adapter& adapter, const AdapterValues& values,
                                           const std::string& folder, bool recorded);

}  // namespace orrery
