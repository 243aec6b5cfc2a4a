#pragma once

// The file of runs and searches: its schema, and what brings an older one up to date. For sources of this folder only.

#include "store/runs/sqlite.h"

#include <string>

namespace orrery::store {

/// As RunStore::open().
Expected<Database> openRunDatabase(const std::string& path);
std::string utcNow();  ///< ISO 8601

}  // namespace orrery::store
