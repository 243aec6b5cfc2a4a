#pragma once

// Why a method's stored answer is not that of an earlier run.

#include "store/runs/run_store.h"

namespace orrery {

/// What of two answers of one method to one question is not alike, as `version 2, was 1`, `hardware`, `workload`,
/// `task`, `plan`, `seed`, `assumptions`. Where all of that is alike and the answers are not, `calibrations or the program`,
/// neither of which an answer names. Empty where the answers are equal, or either failed.
std::vector<std::string> whatChanged(const StoredResult& now, const StoredResult& then);

}  // namespace orrery
