#include "workload/huggingface/json_file.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace orrery {
namespace {

struct TooDeep : std::runtime_error {
    TooDeep() : std::runtime_error("nested too deeply") {}
};

Place at(const std::string& path, const std::string& text, std::size_t byte) {
    Place place{.file = path, .line = 1, .column = 1};
    for (std::size_t i = 0; i + 1 < byte && i < text.size(); ++i) {
        if (text[i] == '\n') {
            ++place.line;
            place.column = 1;
        } else {
            ++place.column;
        }
    }
    return place;
}

/// The parser's own sentence without its number and position, which the place says better.
std::string reason(std::string what) {
    const std::size_t bracket = what.find("] ");
    if (what.starts_with('[') && bracket != std::string::npos) what.erase(0, bracket + 2);
    const std::size_t colon = what.find(": ");
    if (what.starts_with("parse error") && colon != std::string::npos) what.erase(0, colon + 2);
    return what;
}

std::string shown(const nlohmann::json& value) {
    std::string text = value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    if (text.size() > 40) text = text.substr(0, 37) + "...";
    return text;
}

}  // namespace

Expected<JsonFile> JsonFile::open(const std::string& path) {
    std::error_code error;
    const auto size = std::filesystem::file_size(path, error);
    std::ifstream stream(path, std::ios::binary);
    if (error || !stream) {
        return fail("json.unreadable", "the file cannot be read", "a readable JSON file",
                    "check that it exists and that you may read it", Place{.file = path});
    }
    if (size > largest) {
        return fail("json.too-large", fmt::format("the file has {} bytes", size), "a config of at most 16 MiB",
                    "this is not a model's config.json", Place{.file = path});
    }
    JsonFile file;
    file.path_ = path;
    file.text_.assign(std::istreambuf_iterator<char>(stream), {});
    if (file.text_.find_first_not_of(" \t\r\n") == std::string::npos) {
        return fail("json.empty", "the file is empty", "a JSON object", "download the file again",
                    Place{.file = path, .line = 1});
    }
    try {
        const auto depth = [](int level, nlohmann::json::parse_event_t, nlohmann::json&) {
            if (level > deepest) throw TooDeep();
            return true;
        };
        file.root_ = std::make_shared<const nlohmann::json>(nlohmann::json::parse(file.text_, depth));
    } catch (const nlohmann::json::parse_error& problem) {
        return fail("json.syntax", reason(problem.what()), "valid JSON", "is this a JSON file, and complete?",
                    at(path, file.text_, problem.byte));
    } catch (const TooDeep&) {
        return fail("json.too-deep", fmt::format("objects are nested more than {} deep", deepest),
                    "a config of flat keys", "this is not a model's config.json", Place{.file = path, .line = 1});
    } catch (const nlohmann::json::exception& problem) {
        // The only other thing that parsing reports: a number too large for a double, which it quotes.
        const std::string why = reason(problem.what());
        const std::size_t open = why.find('\'');
        const std::size_t close = why.rfind('\'');
        const std::size_t found =
            close > open && close != std::string::npos ? file.text_.find(why.substr(open + 1, close - open - 1)) : 0;
        return fail("json.number", why, "a number below 1.8e308", "look for a mistyped number",
                    at(path, file.text_, found == std::string::npos ? 1 : found + 1));
    }
    if (!file.root_->is_object()) {
        return fail("json.not-an-object", fmt::format("the document is {}", file.root_->type_name()),
                    "an object: { \"model_type\": …, … }", "this is not a model's config.json",
                    Place{.file = path, .line = 1});
    }
    return file;
}

Place JsonFile::place(const std::string& key) const {
    Place place{.file = path_, .path = key};
    const std::size_t dot = key.rfind('.');
    const std::string quoted = "\"" + (dot == std::string::npos ? key : key.substr(dot + 1)) + "\"";
    const std::size_t found = text_.find(quoted);
    if (found != std::string::npos) {
        const Place where = at(path_, text_, found + 1);
        place.line = where.line;
        place.column = where.column;
    }
    return place;
}

JsonReader::JsonReader(const JsonFile& file, const nlohmann::json& object, std::string prefix)
    : file_(file), object_(object), prefix_(std::move(prefix)) {}

const nlohmann::json* JsonReader::find(const char* key) const {
    const auto found = object_.find(key);
    return found == object_.end() || found->is_null() ? nullptr : &*found;
}

bool JsonReader::has(const char* key) const {
    return find(key) != nullptr;
}

void JsonReader::refuse(const char* key, std::string message, std::string expected, std::string hint) {
    if (problem_) return;
    problem_ =
        fail("huggingface.value", std::move(message), std::move(expected), std::move(hint), file_.place(prefix_ + key))
            .value();
}

std::optional<std::int64_t> JsonReader::number(const char* key, const nlohmann::json& value, std::int64_t low,
                                               std::int64_t high) {
    const auto expected = fmt::format("a whole number from {} to {}", low, high);
    const auto hint = "compare with the model's published config.json";
    if (!value.is_number()) {
        refuse(key, fmt::format("{}{} is {}", prefix_, key, shown(value)), expected, hint);
        return std::nullopt;
    }
    const double real = value.get<double>();
    if (!std::isfinite(real) || real != std::floor(real) || real < static_cast<double>(low) ||
        real > static_cast<double>(high)) {
        refuse(key, fmt::format("{}{} is {}", prefix_, key, shown(value)), expected, hint);
        return std::nullopt;
    }
    return static_cast<std::int64_t>(real);
}

std::int64_t JsonReader::required(const char* key, std::int64_t high) {
    const nlohmann::json* value = find(key);
    if (!value) {
        if (!problem_) {
            problem_ =
                fail("huggingface.missing-key", fmt::format("the key {}{} is missing", prefix_, key),
                     fmt::format("a whole number from 1 to {}", high), "compare with the model's published config.json",
                     Place{.file = file_.path(), .line = 1, .path = prefix_ + key})
                    .value();
        }
        return 1;
    }
    return number(key, *value, 1, high).value_or(1);
}

std::int64_t JsonReader::whole(const char* key, std::int64_t low, std::int64_t high, std::int64_t fallback) {
    const nlohmann::json* value = find(key);
    return value ? number(key, *value, low, high).value_or(fallback) : fallback;
}

bool JsonReader::flag(const char* key, bool fallback) {
    const nlohmann::json* value = find(key);
    if (!value) return fallback;
    if (value->is_boolean()) return value->get<bool>();
    refuse(key, fmt::format("{}{} is {}", prefix_, key, shown(*value)), "true or false", "write it without quotes");
    return fallback;
}

std::string JsonReader::text(const char* key, std::string fallback) {
    const nlohmann::json* value = find(key);
    if (!value) return fallback;
    if (value->is_string()) return value->get<std::string>();
    refuse(key, fmt::format("{}{} is {}", prefix_, key, shown(*value)), "text in quotes",
           "compare with the model's published config.json");
    return fallback;
}

std::vector<std::int64_t> JsonReader::wholes(const char* key, std::int64_t high) {
    std::vector<std::int64_t> values;
    const nlohmann::json* list = find(key);
    if (!list) return values;
    if (!list->is_array() || list->size() > 100'000) {
        refuse(key, fmt::format("{}{} is {}", prefix_, key, shown(*list)), "a list of whole numbers", "write [ … ]");
        return values;
    }
    for (const nlohmann::json& item : *list) values.push_back(number(key, item, 0, high).value_or(0));
    return values;
}

std::vector<std::string> JsonReader::texts(const char* key) {
    std::vector<std::string> values;
    const nlohmann::json* list = find(key);
    if (!list) return values;
    const auto wrong = [&] {
        refuse(key, fmt::format("{}{} is {}", prefix_, key, shown(*list)), "a list of texts", "write [ \"…\", … ]");
    };
    if (!list->is_array() || list->size() > 100'000) {
        wrong();
        return values;
    }
    for (const nlohmann::json& item : *list) {
        if (!item.is_string()) {
            wrong();
            return {};
        }
        values.push_back(item.get<std::string>());
    }
    return values;
}

}  // namespace orrery
