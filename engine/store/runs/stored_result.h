#pragma once

// A result as its row has it: the estimate or the failure as JSON. For sources of this folder only.

#include "study/study.h"

#include <string>

namespace orrery::store {

/// Fails as parseStored() and on what is no diagnostic.
Expected<Diagnostic> failureFrom(const std::string& json);
/// Of the two texts one is empty. The estimate carries no names of operators: they are the scenario's.
Expected<StudyResult> resultFrom(std::size_t scenario, std::string method, const std::string& estimate,
                                 const std::string& failure);

}  // namespace orrery::store
