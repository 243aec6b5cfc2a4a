#pragma once

// What of a drawing was read to answer, and what was not: so that a canvas can grey what did not count.

#include "hardware/component.h"

#include <string>
#include <string_view>
#include <vector>

namespace orrery {

struct UsedPart {
    ComponentPath path;
    std::vector<std::string> attributes;  ///< names, sorted, no repeats; may be empty for what was only counted
    bool operator==(const UsedPart&) const = default;
};

/// Components that counted: those of which an attribute or the number was read, and all that contain one of them.
struct UsedParts {
    std::vector<UsedPart> parts;  ///< by path, no repeats

    /// Null where the component did not count.
    const UsedPart* find(const ComponentPath& path) const;
    bool uses(const ComponentPath& path, std::string_view attribute) const;
    void add(const UsedParts& others);
    bool operator==(const UsedParts&) const = default;
};

/// What is drawn and did not count.
struct IgnoredParts {
    std::vector<ComponentPath> components;  ///< the outermost of each, in tree order: what is inside goes with it
    std::vector<UsedPart> attributes;       ///< of components that did count, in tree order
    bool empty() const { return components.empty() && attributes.empty(); }
};
/// Only what could change a number: names, sources, notes, words for people (`process`, `area` …) and the canvas are
/// left out, and components without any such attribute inside.
IgnoredParts ignoredParts(const Hardware& design, const UsedParts& used);
/// Whether an attribute of that name states performance, power or energy, or a choice on which they depend.
bool countsForPerformance(std::string_view attribute);

}  // namespace orrery
