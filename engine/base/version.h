#pragma once

// Which Orrery this is.

#include <string_view>

namespace orrery {

/// The tag of the release, with the commits since it: `0.2.0+7.1a2b3c4`; `0.1.0` where the sources have no tag. For
/// people and packages. What files keep is the release alone, the macro ORRERY_VERSION.
std::string_view buildVersion();

}  // namespace orrery
