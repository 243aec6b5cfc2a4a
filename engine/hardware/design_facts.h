#pragma once

// A design as a list of names and values, for what must know whether two designs say the same.

#include "hardware/component.h"

#include <span>
#include <string>
#include <utility>
#include <vector>

namespace orrery {

struct DesignFacts {
    std::vector<std::string> parts;  ///< paths, in tree order
    /// `h100/sm.clock`, `1.755 GHz`; of a part itself its path and kind. Counts, meshes, rows of tables one by one. In
    /// numbers that read back as the same whatever their spelling; sources, notes and comments are no facts.
    std::vector<std::pair<std::string, std::string>> values;
};
/// Without the attributes at `turned` (paths as withAttribute() takes them).
DesignFacts designFacts(const Hardware& design, std::span<const std::string> turned = {});

}  // namespace orrery
