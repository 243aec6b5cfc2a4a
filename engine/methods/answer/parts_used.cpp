#include "methods/answer/parts_used.h"

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

}  // namespace orrery
