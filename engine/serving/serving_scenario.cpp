#include "serving/serving_scenario.h"

#include <array>

namespace orrery {

std::string_view toText(SlotKind kind) {
    static constexpr std::array<std::string_view, 3> names{"kernels", "table", "law"};
    return names[static_cast<std::size_t>(kind)];
}
std::string_view toText(AdapterTargets targets) {
    static constexpr std::array<std::string_view, 2> names{"attention", "all"};
    return names[static_cast<std::size_t>(targets)];
}
std::string_view toText(ClockPolicy policy) {
    static constexpr std::array<std::string_view, 3> names{"nominal", "fixed", "lowest"};
    return names[static_cast<std::size_t>(policy)];
}

}  // namespace orrery
