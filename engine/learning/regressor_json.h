#pragma once

// A model behind the name of its kind, as files hold it.

#include "learning/regressor.h"

namespace orrery {

/// From the cursor on, of `{"kind": "trees", KEY: {…}}`, the kind first; null if it fails, which the cursor says:
/// `model`.
RegressorPtr readRegressorAt(std::string_view key, JsonCursor& json);
/// With its quotes; bytes that are no UTF-8 replaced.
std::string jsonText(std::string_view text);

}  // namespace orrery
