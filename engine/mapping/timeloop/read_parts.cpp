#include "mapping/timeloop/read_parts.h"

#include "base/text/nearest.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace orrery::timeloop {

Expected<RangedName> splitName(const DocNode& node) {
    const std::string& text = node.text;
    const auto open = text.find('[');
    if (open == std::string::npos) return RangedName{text, 1};
    std::int64_t first = 0, last = 0;
    const char* end = text.data() + text.size();
    const auto low = std::from_chars(text.data() + open + 1, end, first);
    const bool dots = low.ec == std::errc() && end - low.ptr > 2 && low.ptr[0] == '.' && low.ptr[1] == '.';
    if (!dots && low.ec == std::errc() && low.ptr < end && *low.ptr == ']' && first >= 1) {
        return RangedName{text.substr(0, open), first};
    }
    const auto high = dots ? std::from_chars(low.ptr + 2, end, last) : low;
    if (!dots || high.ec != std::errc() || high.ptr == end || *high.ptr != ']' || last < first ||
        last - first >= (std::int64_t{1} << 31)) {
        return fail("timeloop.name", fmt::format("`{}` has no valid range", text), "`name[0..15]`, ends included",
                    "write the first and the last number, two dots between them", node.place());
    }
    return RangedName{text.substr(0, open), last - first + 1};
}

std::string lastName(std::string_view path) {
    std::string plain;
    int depth = 0;
    for (const char c : path) {
        depth += c == '[';
        if (depth == 0) plain += c;
        depth -= c == ']' && depth > 0;
    }
    return plain.substr(plain.rfind('.') == std::string::npos ? 0 : plain.rfind('.') + 1);
}

Attributes::Attributes(const DocNode& node) : node_(&node), attributes_(node.find("attributes")) {
    if (const DocNode* text = node.find("name"); text != nullptr && text->isScalar()) {
        name = text->text.substr(0, text->text.find('['));
    }
}

const DocNode* Attributes::find(std::initializer_list<std::string_view> names) const {
    for (const DocNode* place : {attributes_, node_}) {
        if (place == nullptr) continue;
        if (const DocNode* found = place->findAny(names); found != nullptr && !found->isNull()) return found;
    }
    return nullptr;
}

std::string Attributes::text(std::initializer_list<std::string_view> names) const {
    const DocNode* found = find(names);
    return found != nullptr && found->isScalar() ? found->text : std::string();
}

Expected<void> Attributes::whole(std::initializer_list<std::string_view> names, std::int64_t& into, std::int64_t lowest,
                                 std::int64_t highest) const {
    const DocNode* found = find(names);
    if (found == nullptr) return {};
    const auto value = docWhole(*found, fmt::format("{} of {}", *names.begin(), name), lowest, highest);
    if (!value) return Unexpected(value.error());
    into = *value;
    return {};
}

Expected<void> Attributes::number(std::initializer_list<std::string_view> names, double& into) const {
    const DocNode* found = find(names);
    if (found == nullptr) return {};
    const auto value = docNumber(*found, fmt::format("{} of {}", *names.begin(), name));
    if (!value) return Unexpected(value.error());
    if (*value < 0) {
        return fail("timeloop.value", fmt::format("{} of {} is {}", *names.begin(), name, *value), "0 or more", "",
                    found->place());
    }
    into = *value;
    return {};
}

Expected<void> Attributes::flag(std::initializer_list<std::string_view> names, bool& into) const {
    const DocNode* found = find(names);
    if (found == nullptr) return {};
    const auto value = docBool(*found, fmt::format("{} of {}", *names.begin(), name));
    if (!value) return Unexpected(value.error());
    into = *value;
    return {};
}

Expected<void> Attributes::refuseUnknown(const std::vector<std::string>& known, Diagnostics& warnings) const {
    (void)warnings;
    for (const DocNode* place : {node_, attributes_}) {
        if (place == nullptr) continue;
        for (std::size_t i = 0; i < place->keys.size(); ++i) {
            const std::string& key = place->keys[i];
            if (std::any_of(known.begin(), known.end(), [&](const std::string& k) { return sameKey(k, key); }))
                continue;
            const bool chain = attributes_ == nullptr && node_->find("class") == nullptr;
            int distance = 1000;
            for (const std::string& one : known) distance = std::min(distance, editDistance(key, one));
            const bool slip = key.size() >= 5 && distance <= 1;
            if (!chain && !slip) continue;
            return fail("timeloop.key",
                        fmt::format("`{}` is no attribute of {}", key, name.empty() ? "the arithmetic" : name),
                        "attributes of storage or arithmetic", didYouMean(key, known), place->items[i].place(name));
        }
    }
    return {};
}

}  // namespace orrery::timeloop
