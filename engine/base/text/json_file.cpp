#include "base/text/json_file.h"

#include "base/text/read_file.h"

#include <fmt/format.h>

#include <cmath>

namespace orrery {

namespace {

// First member of that name, parents first.
const JsonNode* anywhere(const JsonNode& node, std::string_view key) {
    if (node.isObject()) {
        for (const JsonNode& member : node.items) {
            if (member.key == key) return &member;
        }
    }
    for (const JsonNode& item : node.items) {
        if (const JsonNode* found = anywhere(item, key)) return found;
    }
    return nullptr;
}

}  // namespace

Expected<JsonFile> JsonFile::open(const std::string& path) {
    const auto text = readFile(
        path,
        {.most = jsonLargestFile, .code = "json.unreadable", .tooLarge = "json.too-large", .expected = "a JSON file"});
    if (!text) return Unexpected(text.error());
    if (text->find_first_not_of(" \t\r\n") == std::string::npos) {
        return fail("json.empty", "the file is empty", "a JSON object", "download the file again",
                    Place{.file = path, .line = 1});
    }
    auto root = parseJson(*text, path);
    if (!root) {
        if (root.error().hint.empty()) root.error().hint = "is this a JSON file, and complete?";
        return Unexpected(std::move(root.error()));
    }
    if (!root->isObject()) {
        return fail("json.not-an-object",
                    fmt::format("the document is {}", root->isArray() ? "an array" : root->shown()),
                    "an object: { \"key\": …, … }", "is this the right file?", Place{.file = path, .line = 1});
    }
    JsonFile file;
    file.path_ = path;
    file.root_ = std::move(*root);
    return file;
}

Place JsonFile::place(const std::string& key) const {
    const JsonNode* at = &root_;
    std::size_t from = 0;
    while (at && from <= key.size()) {
        const std::size_t dot = std::min(key.find('.', from), key.size());
        at = at->find(std::string_view(key).substr(from, dot - from));
        from = dot + 1;
    }
    if (!at) at = anywhere(root_, key);
    if (!at) at = anywhere(root_, std::string_view(key).substr(key.rfind('.') + 1));
    return {path_, at ? at->line : 0, at ? at->column : 0, key};
}

JsonReader::JsonReader(const JsonFile& file, const JsonNode& object, std::string prefix, std::string area,
                       std::string hint)
    : file_(file), object_(object), prefix_(std::move(prefix)), area_(std::move(area)), hint_(std::move(hint)) {}

const JsonNode* JsonReader::find(const char* key) const {
    return object_.given(key);
}

bool JsonReader::has(const char* key) const {
    return find(key) != nullptr;
}

void JsonReader::refuse(const char* key, std::string message, std::string expected, std::string hint) {
    if (problem_) return;
    problem_ =
        fail(area_ + ".value", std::move(message), std::move(expected), std::move(hint), file_.place(prefix_ + key))
            .value();
}

std::optional<std::int64_t> JsonReader::number(const char* key, const JsonNode& value, std::int64_t low,
                                               std::int64_t high) {
    const auto expected = fmt::format("a whole number from {} to {}", low, high);
    if (!value.isNumber()) {
        refuse(key, fmt::format("{}{} is {}", prefix_, key, value.shown()), expected, hint_);
        return std::nullopt;
    }
    const double real = value.number;
    if (!std::isfinite(real) || real != std::floor(real) || real < static_cast<double>(low) ||
        real > static_cast<double>(high)) {
        refuse(key, fmt::format("{}{} is {}", prefix_, key, value.shown()), expected, hint_);
        return std::nullopt;
    }
    return static_cast<std::int64_t>(real);
}

std::int64_t JsonReader::required(const char* key, std::int64_t high) {
    const JsonNode* value = find(key);
    if (!value) {
        if (!problem_) {
            problem_ = fail(area_ + ".missing-key", fmt::format("the key {}{} is missing", prefix_, key),
                            fmt::format("a whole number from 1 to {}", high), hint_,
                            Place{.file = file_.path(), .line = 1, .path = prefix_ + key})
                           .value();
        }
        return 1;
    }
    return number(key, *value, 1, high).value_or(1);
}

std::int64_t JsonReader::whole(const char* key, std::int64_t low, std::int64_t high, std::int64_t fallback) {
    const JsonNode* value = find(key);
    return value ? number(key, *value, low, high).value_or(fallback) : fallback;
}

bool JsonReader::flag(const char* key, bool fallback) {
    const JsonNode* value = find(key);
    if (!value) return fallback;
    if (value->isTruth()) return value->truth;
    refuse(key, fmt::format("{}{} is {}", prefix_, key, value->shown()), "true or false", "write it without quotes");
    return fallback;
}

double JsonReader::fraction(const char* key, double fallback) {
    const JsonNode* value = find(key);
    if (!value) return fallback;
    if (value->isNumber() && value->number >= 0 && value->number <= 1) return value->number;
    refuse(key, fmt::format("{}{} is {}", prefix_, key, value->shown()), "a number from 0 to 1", hint_);
    return fallback;
}

std::string JsonReader::text(const char* key, std::string fallback) {
    const JsonNode* value = find(key);
    if (!value) return fallback;
    if (value->isText()) return value->text;
    refuse(key, fmt::format("{}{} is {}", prefix_, key, value->shown()), "text in quotes", hint_);
    return fallback;
}

std::vector<std::int64_t> JsonReader::wholes(const char* key, std::int64_t high) {
    std::vector<std::int64_t> values;
    const JsonNode* list = find(key);
    if (!list) return values;
    if (!list->isArray() || list->items.size() > 100'000) {
        refuse(key, fmt::format("{}{} is {}", prefix_, key, list->shown()), "a list of whole numbers", "write [ … ]");
        return values;
    }
    for (const JsonNode& item : list->items) values.push_back(number(key, item, 0, high).value_or(0));
    return values;
}

std::vector<std::string> JsonReader::texts(const char* key) {
    std::vector<std::string> values;
    const JsonNode* list = find(key);
    if (!list) return values;
    const auto wrong = [&] {
        refuse(key, fmt::format("{}{} is {}", prefix_, key, list->shown()), "a list of texts", "write [ \"…\", … ]");
    };
    if (!list->isArray() || list->items.size() > 100'000) {
        wrong();
        return values;
    }
    for (const JsonNode& item : list->items) {
        if (!item.isText()) {
            wrong();
            return {};
        }
        values.push_back(item.text);
    }
    return values;
}

}  // namespace orrery
