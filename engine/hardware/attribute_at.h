#pragma once

// Where the path of an attribute leads (`hbm3.bandwidth`, `sm.count`, `tensor.macs.bf16`), for what sets it many times.

#include "hardware/attributes.h"

#include <vector>

namespace orrery {

struct AttributeAt {
    ComponentPath component;
    std::string attribute;                ///< as setAttribute() takes it: `bandwidth`, `macs.bf16`, `count`
    const AttributeSpec* spec = nullptr;  ///< null for `count`, `mesh` and `name`
};
/// Fails as withAttribute() does where nothing, or more than one, is meant.
Expected<AttributeAt> attributeAt(const Component& root, std::string_view path);

/// A number that a design may be turned by: one with a slider, a row of such a table, or how many copies there are.
struct TurnableNumber {
    std::string path;                     ///< the shortest that leads there: `hbm3.bandwidth`, `sm.count`
    const AttributeSpec* spec = nullptr;  ///< null for a count
    Measure value;
};
/// In tree order.
std::vector<TurnableNumber> turnableNumbers(const Component& root);

}  // namespace orrery
