#pragma once

// Small parts that the readers of this folder share.

#include "mapping/timeloop/document.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace orrery::timeloop {

struct RangedName {
    std::string name;
    std::int64_t count = 1;
};

/// `PE[0..167]` is 168 of PE; `MACs` is one. Fails with `timeloop.name` where the range is none.
Expected<RangedName> splitName(const DocNode& name);
/// `chip.PE[0..167].spad` is `spad`: the last part of a path without ranges.
std::string lastName(std::string_view path);

/// Attributes of a component: beside its name in v1, under `attributes` since v2.
class Attributes {
public:
    explicit Attributes(const DocNode& node);

    std::string name;  ///< without a range
    Place place() const { return node_->place(name); }
    bool has(std::initializer_list<std::string_view> names) const { return find(names) != nullptr; }
    std::string text(std::initializer_list<std::string_view> names) const;
    // Where the attribute is there, its value; null counts as absent.
    Expected<void> whole(std::initializer_list<std::string_view> names, std::int64_t& into, std::int64_t lowest,
                         std::int64_t highest) const;
    Expected<void> number(std::initializer_list<std::string_view> names, double& into) const;
    Expected<void> flag(std::initializer_list<std::string_view> names, bool& into) const;
    /// In a chain (v1) an unknown key is an error. In a tree components carry attributes for energy estimators: there
    /// one that looks like a slip of a known key is an error, any other is left alone.
    Expected<void> refuseUnknown(const std::vector<std::string>& known, Diagnostics& warnings) const;

private:
    const DocNode* find(std::initializer_list<std::string_view> names) const;
    const DocNode* node_;
    const DocNode* attributes_ = nullptr;
};

}  // namespace orrery::timeloop
