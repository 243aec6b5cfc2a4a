#include "methods/stated_errors.h"

namespace orrery {

std::span<const StatedErrors> statedErrorsTable() {
    return {};
}

}  // namespace orrery
