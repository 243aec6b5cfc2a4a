#include "hardware/views/used_parts.h"

#include <algorithm>
#include <array>

namespace orrery {
namespace {

// Whether anything in it could change a number: containers alone cannot.
bool couldCount(const Component& component) {
    return std::ranges::any_of(component.attributes,
                               [](const Attribute& each) { return countsForPerformance(each.name); }) ||
           std::ranges::any_of(component.children, couldCount);
}

void collectIgnored(const Component& component, ComponentPath& here, const UsedParts& used, IgnoredParts& out) {
    const UsedPart* part = used.find(here);
    if (!part) {
        if (couldCount(component)) out.components.push_back(here);
        return;
    }
    UsedPart unread{here, {}};
    for (const Attribute& each : component.attributes) {
        if (!countsForPerformance(each.name)) continue;
        if (!std::ranges::binary_search(part->attributes, each.name)) unread.attributes.push_back(each.name);
    }
    std::ranges::sort(unread.attributes);
    if (!unread.attributes.empty()) out.attributes.push_back(std::move(unread));
    for (std::size_t i = 0; i < component.children.size(); ++i) {
        here.push_back(static_cast<int>(i));
        collectIgnored(component.children[i], here, used, out);
        here.pop_back();
    }
}

}  // namespace

const UsedPart* UsedParts::find(const ComponentPath& path) const {
    const auto found = std::ranges::lower_bound(parts, path, {}, &UsedPart::path);
    return found != parts.end() && found->path == path ? &*found : nullptr;
}

bool UsedParts::uses(const ComponentPath& path, std::string_view attribute) const {
    const UsedPart* part = find(path);
    return part && std::ranges::binary_search(part->attributes, attribute);
}

void UsedParts::add(const UsedParts& others) {
    if (others.parts.empty()) return;
    std::vector<UsedPart> both;
    both.reserve(parts.size() + others.parts.size());
    auto a = parts.begin();
    auto b = others.parts.begin();
    while (a != parts.end() || b != others.parts.end()) {
        if (b == others.parts.end() || (a != parts.end() && a->path < b->path)) {
            both.push_back(std::move(*a++));
        } else if (a == parts.end() || b->path < a->path) {
            both.push_back(*b++);
        } else {
            UsedPart one{a->path, {}};
            std::ranges::set_union(a->attributes, b->attributes, std::back_inserter(one.attributes));
            both.push_back(std::move(one));
            ++a, ++b;
        }
    }
    parts = std::move(both);
}

IgnoredParts ignoredParts(const Hardware& design, const UsedParts& used) {
    IgnoredParts out;
    ComponentPath here;
    collectIgnored(design.root, here, used, out);
    return out;
}

bool countsForPerformance(std::string_view attribute) {
    constexpr std::array<std::string_view, 9> words{"source",  "note", "process", "area",    "from_port",
                                                    "to_port", "from", "to",      "platform"};
    return std::ranges::find(words, attribute) == words.end();
}

}  // namespace orrery
