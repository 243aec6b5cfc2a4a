#include "hardware/views/parts_read.h"

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

void collectIgnored(const Component& component, ComponentPath& here, const PartsRead& used, PartsIgnored& out) {
    const PartRead* part = used.find(here);
    if (!part) {
        if (couldCount(component)) out.components.push_back(here);
        return;
    }
    PartRead unread{here, {}};
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

const PartRead* PartsRead::find(const ComponentPath& path) const {
    const auto found = std::ranges::lower_bound(parts, path, {}, &PartRead::path);
    return found != parts.end() && found->path == path ? &*found : nullptr;
}

bool PartsRead::uses(const ComponentPath& path, std::string_view attribute) const {
    const PartRead* part = find(path);
    return part && std::ranges::binary_search(part->attributes, attribute);
}

void PartsRead::add(const PartsRead& others) {
    if (others.parts.empty()) return;
    std::vector<PartRead> both;
    both.reserve(parts.size() + others.parts.size());
    auto a = parts.begin();
    auto b = others.parts.begin();
    while (a != parts.end() || b != others.parts.end()) {
        if (b == others.parts.end() || (a != parts.end() && a->path < b->path)) {
            both.push_back(std::move(*a++));
        } else if (a == parts.end() || b->path < a->path) {
            both.push_back(*b++);
        } else {
            PartRead one{a->path, {}};
            std::ranges::set_union(a->attributes, b->attributes, std::back_inserter(one.attributes));
            both.push_back(std::move(one));
            ++a, ++b;
        }
    }
    parts = std::move(both);
}

PartsIgnored ignoredParts(const Hardware& design, const PartsRead& used) {
    PartsIgnored out;
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
