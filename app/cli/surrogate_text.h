#pragma once

// What was learned, and how well, in words.

#include "learning/surrogate.h"

#include <string>

namespace orrery::cli {

/// Rows, and of each target its kind of model with what rows left out say of it.
std::string learnedText(const Surrogate& surrogate, const std::string& file);

}  // namespace orrery::cli
