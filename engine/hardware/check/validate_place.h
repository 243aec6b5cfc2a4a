#pragma once

// Where a check stands in the tree, kept on the stack and put into words only when something is wrong: most components
// of a large design are in order, and their paths are never needed.

#include "hardware/component.h"

#include <string>
#include <string_view>

namespace orrery {

struct CheckPlace {
    const CheckPlace* outer = nullptr;
    const Component* component = nullptr;

    /// `system/h100/hbm3`.
    std::string text() const {
        std::string out = outer ? outer->text() + "/" : std::string();
        return out += nameOf(*component);
    }
    operator std::string() const { return text(); }
    friend std::string operator+(const CheckPlace& place, std::string_view after) { return place.text().append(after); }
};

}  // namespace orrery
