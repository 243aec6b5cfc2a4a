#include "mapping/timeloop/document.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

namespace orrery {

bool sameKey(std::string_view a, std::string_view b) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i) {
        const char x = a[i] == '-' ? '_' : a[i], y = b[i] == '-' ? '_' : b[i];
        if (x != y) return false;
    }
    return true;
}

const DocNode* DocNode::find(std::string_view key) const {
    for (std::size_t i = 0; i < keys.size(); ++i) {
        if (sameKey(keys[i], key)) return &items[i];
    }
    return nullptr;
}

const DocNode* DocNode::findAny(std::initializer_list<std::string_view> names) const {
    for (const std::string_view name : names) {
        if (const DocNode* found = find(name)) return found;
    }
    return nullptr;
}

std::string_view DocNode::kindText() const {
    switch (kind) {
        case Kind::Null:
            return "nothing";
        case Kind::Scalar:
            return "text";
        case Kind::List:
            return "a list";
        case Kind::Map:
            return "a map";
    }
    return "nothing";
}

namespace {

Unexpected wrong(const DocNode& node, std::string_view meaning, std::string expected) {
    const std::string is = node.isScalar() ? fmt::format("`{}`", node.text) : std::string(node.kindText());
    return fail("timeloop.value", fmt::format("{} is {}", meaning, is), std::move(expected), "check the value's type",
                node.place());
}

}  // namespace

Expected<double> docNumber(const DocNode& node, std::string_view meaning) {
    double value = 0;
    const char* end = node.text.data() + node.text.size();
    const char* begin = node.text.data() + (node.text.starts_with('+') ? 1 : 0);
    const auto [stop, error] = std::from_chars(begin, end, value);
    if (!node.isScalar() || node.text.empty() || error != std::errc() || stop != end || !std::isfinite(value)) {
        return wrong(node, meaning, "a number");
    }
    return value;
}

Expected<std::int64_t> docWhole(const DocNode& node, std::string_view meaning, std::int64_t lowest,
                                std::int64_t highest) {
    const auto number = docNumber(node, meaning);
    const auto range = fmt::format("a whole number from {} to {}", lowest, highest);
    if (!number || *number != std::floor(*number) || *number < static_cast<double>(lowest) ||
        *number > static_cast<double>(highest)) {
        return wrong(node, meaning, range);
    }
    return static_cast<std::int64_t>(*number);
}

Expected<bool> docBool(const DocNode& node, std::string_view meaning) {
    for (const std::string_view yes : {"true", "True", "TRUE", "1", "yes"}) {
        if (node.isScalar() && node.text == yes) return true;
    }
    for (const std::string_view no : {"false", "False", "FALSE", "0", "no"}) {
        if (node.isScalar() && node.text == no) return false;
    }
    return wrong(node, meaning, "true or false");
}

Expected<std::vector<std::string>> docTexts(const DocNode& node, std::string_view meaning) {
    std::vector<std::string> texts;
    if (node.isNull()) return texts;
    if (node.isScalar()) return std::vector<std::string>{node.text};
    if (!node.isList()) return wrong(node, meaning, "a list of names");
    for (const DocNode& item : node.items) {
        if (!item.isScalar()) return wrong(item, fmt::format("an entry of {}", meaning), "a name");
        texts.push_back(item.text);
    }
    return texts;
}

}  // namespace orrery
