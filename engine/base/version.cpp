#include "base/version.h"

namespace orrery {

std::string_view buildVersion() {
    return ORRERY_BUILD_VERSION;
}

}  // namespace orrery
