#pragma once

// What differs between two designs, for deriving one from another and comparing two side by side.

#include "hardware/component.h"

#include <optional>
#include <string>
#include <vector>

namespace orrery {

struct Difference {
    enum class What : std::uint8_t { Added, Removed, Changed, Renamed, Moved };
    What what = What::Changed;
    std::optional<ComponentPath> before, after;  ///< in the first and in the second design
    std::string attribute;                       ///< of Changed: `bandwidth`, `macs.bf16`, `count`
    std::string from, to;                        ///< printed values; `–` for none
};

/// Components are matched by path of names, then by kind and content among those left over, then by role: the same kind
/// inside the same part, in the order in which they stand; of these the numbers are compared, the names are not.
/// Sources, notes and comments are not compared. Linear in components × attributes but for the left-overs. Equal
/// designs have none.
std::vector<Difference> differences(const Component& before, const Component& after);
/// `hbm3 bandwidth 3.35 → 4 TB/s`, `hbm2e → hbm3: bandwidth 2.04 → 3.35 TB/s`, `added buffer l1`.
std::string toText(const Component& before, const Component& after, const Difference& difference);

}  // namespace orrery
