#include "base/text/json_values.h"

#include "base/text/words.h"

#include <fmt/format.h>

#include <charconv>

namespace orrery {

namespace {

const JsonNode& emptyObject() {
    static const JsonNode empty{.type = JsonNode::Type::Object};
    return empty;
}

constexpr std::string_view aNumber = "a number", aWhole = "a whole number", aText = "a text in quotes",
                           aList = "a list", anObject = "an object";

}  // namespace

JsonValues::JsonValues(const JsonNode& object, std::optional<Diagnostic>& problem)
    : object_(&object), problem_(&problem) {
    if (object.isObject()) return;
    refuse(object, object.key, anObject);
    object_ = &emptyObject();
}

void JsonValues::refuse(const JsonNode& node, std::string_view key, std::string_view expected) const {
    if (*problem_) return;
    *problem_ =
        fail("json.value", fmt::format("{} is {}", key.empty() ? "a value" : key, node.shown()), std::string(expected),
             {}, Place{.line = node.line, .column = node.column, .path = std::string(key)})
            .value();
}

const JsonNode* JsonValues::find(std::string_view key, JsonNode::Type type, std::string_view expected,
                                 bool required) const {
    const JsonNode* found = object_->given(key);
    if (found && found->type == type) return found;
    if (found) {
        refuse(*found, key, expected);
    } else if (required) {
        missing(key, expected);
    }
    return nullptr;
}

void JsonValues::missing(std::string_view key, std::string_view expected) const {
    if (*problem_) return;
    *problem_ = fail("json.missing-key", fmt::format("the key {} is missing", key), std::string(expected), {},
                     Place{.line = object_->line, .column = object_->column, .path = std::string(key)})
                    .value();
}

void JsonValues::need(std::initializer_list<std::string_view> keys) const {
    for (const std::string_view key : keys) {
        if (!has(key)) missing(key, "all of an object's keys");
    }
}

bool JsonValues::has(std::string_view key) const {
    return object_->given(key) != nullptr;
}

double JsonValues::number(std::string_view key) const {
    const JsonNode* found = find(key, JsonNode::Type::Number, aNumber, true);
    return found ? found->number : 0;
}

double JsonValues::number(std::string_view key, double fallback) const {
    return has(key) ? number(key) : fallback;
}

std::int64_t JsonValues::whole(std::string_view key) const {
    const JsonNode* found = find(key, JsonNode::Type::Number, aWhole, true);
    if (!found) return 0;
    // As it is written: a double has 53 bits.
    if (const auto exact = wholeIn(found->text)) return *exact;
    if (found->isWhole()) return static_cast<std::int64_t>(found->number);
    refuse(*found, key, aWhole);
    return 0;
}

std::int64_t JsonValues::whole(std::string_view key, std::int64_t fallback) const {
    return has(key) ? whole(key) : fallback;
}

std::uint64_t JsonValues::seed(std::string_view key) const {
    if (!has(key)) return 0;
    const JsonNode* found = find(key, JsonNode::Type::Number, aWhole, true);
    if (!found) return 0;
    std::uint64_t value = 0;
    const char* const end = found->text.data() + found->text.size();
    const auto [stop, error] = std::from_chars(found->text.data(), end, value);
    if (error == std::errc{} && stop == end) return value;
    refuse(*found, key, aWhole);
    return 0;
}

std::string JsonValues::text(std::string_view key) const {
    const JsonNode* found = find(key, JsonNode::Type::Text, aText, true);
    return found ? found->text : std::string();
}

std::string JsonValues::text(std::string_view key, std::string fallback) const {
    return has(key) ? text(key) : std::move(fallback);
}

bool JsonValues::truth(std::string_view key, bool fallback) const {
    const JsonNode* found = find(key, JsonNode::Type::Truth, "true or false", false);
    return found ? found->truth : fallback;
}

std::vector<std::string> JsonValues::texts(std::string_view key) const {
    std::vector<std::string> all;
    for (const JsonNode& item : list(key)) {
        if (!item.isText()) refuse(item, key, aText);
        all.push_back(item.isText() ? item.text : std::string());
    }
    return all;
}

std::vector<double> JsonValues::numbers(std::string_view key) const {
    std::vector<double> all;
    for (const JsonNode& item : list(key)) {
        if (!item.isNumber()) refuse(item, key, aNumber);
        all.push_back(item.number);
    }
    return all;
}

std::span<const JsonNode> JsonValues::list(std::string_view key) const {
    const JsonNode* found = find(key, JsonNode::Type::Array, aList, false);
    return found ? std::span<const JsonNode>(found->items) : std::span<const JsonNode>();
}

JsonValues JsonValues::inner(std::string_view key) const {
    const JsonNode* found = find(key, JsonNode::Type::Object, anObject, false);
    return {found ? *found : emptyObject(), *problem_};
}

}  // namespace orrery
