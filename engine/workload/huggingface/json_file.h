#pragma once

// A JSON document that a stranger wrote, read with a place for every complaint: line and column for what cannot be
// parsed, key path and line for a value that makes no sense.

#include "base/diagnostic.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

class JsonFile {
public:
    static constexpr std::size_t largest = 16u << 20;  ///< bytes that are read at all
    static constexpr int deepest = 64;                 ///< nesting that is followed

    /// Fails on files that cannot be read, are too large, nested too deeply, or not a JSON object.
    static Expected<JsonFile> open(const std::string& path);

    const nlohmann::json& root() const { return *root_; }
    const std::string& path() const { return path_; }
    /// The file, the first line on which the key's last part is written, and the key path.
    Place place(const std::string& key) const;

private:
    std::string path_;
    std::string text_;
    std::shared_ptr<const nlohmann::json> root_;
};

/// Reads keys of one object. The first thing wrong is kept; after it every read answers a harmless value, so a reader
/// may ask for all it needs and look at problem() once.
class JsonReader {
public:
    /// `prefix` is put before key names in places: `text_config.`.
    JsonReader(const JsonFile& file, const nlohmann::json& object, std::string prefix = {});

    bool has(const char* key) const;  ///< present and not null
    /// A whole number that must be there, from 1 to `high`.
    std::int64_t required(const char* key, std::int64_t high);
    /// A whole number from `low` to `high`; absent or null: the fallback.
    std::int64_t whole(const char* key, std::int64_t low, std::int64_t high, std::int64_t fallback);
    bool flag(const char* key, bool fallback);
    std::string text(const char* key, std::string fallback);
    std::vector<std::int64_t> wholes(const char* key, std::int64_t high);
    std::vector<std::string> texts(const char* key);

    /// Keeps a complaint about a key of one's own.
    void refuse(const char* key, std::string message, std::string expected, std::string hint);
    const std::optional<Diagnostic>& problem() const { return problem_; }

private:
    const nlohmann::json* find(const char* key) const;
    std::optional<std::int64_t> number(const char* key, const nlohmann::json& value, std::int64_t low,
                                       std::int64_t high);

    const JsonFile& file_;
    const nlohmann::json& object_;
    std::string prefix_;
    std::optional<Diagnostic> problem_;
};

}  // namespace orrery
