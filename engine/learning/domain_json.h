#pragma once

// A domain as it stands in files.

#include "base/text/json_cursor.h"
#include "learning/domain.h"

#include <memory>
#include <string>

namespace orrery {

/// From the cursor on; whether it went well is the cursor's: `missing`, `range`, `domain`.
std::shared_ptr<const Domain> readDomain(JsonCursor& json);
/// `{"low": […], …}`, six digits.
std::string domainJson(const Domain& domain);

}  // namespace orrery
