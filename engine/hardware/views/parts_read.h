#pragma once

// What of a drawing was read to answer, and what was not: so that a canvas can grey what did not count.

#include "hardware/component.h"

#include <string>
#include <string_view>
#include <vector>

namespace orrery {

struct PartRead {
    ComponentPath path;
    std::vector<std::string> attributes;  ///< names, sorted, no repeats; may be empty for what was only counted
    bool operator==(const PartRead&) const = default;
};

/// Components that counted: those of which an attribute or the number was read, and all that contain one of them.
struct PartsRead {
    std::vector<PartRead> parts;  ///< by path, no repeats

    /// Null where the component did not count.
    const PartRead* find(const ComponentPath& path) const;
    bool uses(const ComponentPath& path, std::string_view attribute) const;
    void add(const PartsRead& others);
    bool operator==(const PartsRead&) const = default;
};

/// What is drawn and did not count.
struct PartsIgnored {
    std::vector<ComponentPath> components;  ///< the outermost of each, in tree order: what is inside goes with it
    std::vector<PartRead> attributes;       ///< of components that did count, in tree order
    bool empty() const { return components.empty() && attributes.empty(); }
};
/// Only what could change a number: names, sources, notes, words for people (`process`, `area` …) and the canvas are
/// left out, and components without any such attribute inside.
PartsIgnored ignoredParts(const Hardware& design, const PartsRead& used);
/// Whether an attribute of that name states performance, power or energy, or a choice on which they depend.
bool countsForPerformance(std::string_view attribute);

}  // namespace orrery
