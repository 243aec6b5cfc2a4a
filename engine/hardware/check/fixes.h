#pragma once

// Ways out of what validate() finds, where one is obvious.

#include "hardware/component.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace orrery {

struct Fix {
    std::string title;  ///< `Link hbm to gpu`, `Rename the second l2 to l22`, `Raise ports to 9`
    std::function<Expected<Hardware>(Hardware)> apply;
};

/// The fixes of one problem of this design; empty where a person must decide, or
/// where siblings of one name must be renamed first. Every fix removes the problem that it is
/// for and brings no error of a code that was not there (tried here, but in designs of more than 5000 components).
std::vector<Fix> fixesFor(const Hardware& design, const Diagnostic& problem);

/// Usual values for all numbers that parts of the design are of little use without, marked as unverified; nothing where
/// none is missing.
std::optional<Fix> allMissingNumbers(const Hardware& design);

}  // namespace orrery
