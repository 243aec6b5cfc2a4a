#include "methods/answer/parts_used.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace orrery {

void addParts(Estimate& answer, const Hardware& design, const PartsRead& read) {
    UsedParts parts;
    parts.used.reserve(read.parts.size());
    for (const PartRead& each : read.parts) {
        parts.used.push_back({pathText(design.root, each.path), each.attributes});
    }
    const PartsIgnored ignored = ignoredParts(design, read);
    // In tree order: neither list names what the other does.
    auto whole = ignored.components.begin();
    auto part = ignored.attributes.begin();
    while (whole != ignored.components.end() || part != ignored.attributes.end()) {
        const bool isWhole =
            part == ignored.attributes.end() || (whole != ignored.components.end() && *whole < part->path);
        parts.ignored.push_back(isWhole ? UsedParts::Part{pathText(design.root, *whole), {}}
                                        : UsedParts::Part{pathText(design.root, part->path), part->attributes});
        if (isWhole) {
            ++whole;
        } else {
            ++part;
        }
    }
    answer.parts = std::move(parts);
}

void addMoreParts(Estimate& answer, const Hardware& design, const PartsRead& read) {
    UsedParts& parts = answer.parts;
    if (parts.used.empty()) return;
    for (const PartRead& each : read.parts) {
        const std::string path = pathText(design.root, each.path);
        auto used = std::ranges::find(parts.used, path, &UsedParts::Part::path);
        if (used == parts.used.end()) used = parts.used.insert(used, {path, {}});
        std::vector<std::string> both;
        std::ranges::set_union(used->attributes, each.attributes, std::back_inserter(both));
        used->attributes = std::move(both);
        auto ignored = std::ranges::find(parts.ignored, path, &UsedParts::Part::path);
        if (ignored == parts.ignored.end()) continue;
        if (ignored->attributes.empty()) {  // the whole of it, until now
            for (const Attribute& attribute : componentAt(design.root, each.path)->attributes)
                if (countsForPerformance(attribute.name)) ignored->attributes.push_back(attribute.name);
        }
        std::erase_if(ignored->attributes, [&](const std::string& name) {
            return std::ranges::find(used->attributes, name) != used->attributes.end();
        });
        if (ignored->attributes.empty()) parts.ignored.erase(ignored);
    }
}

}  // namespace orrery
