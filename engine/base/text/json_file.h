#pragma once

// A JSON document that a stranger wrote, read with a place for every complaint: line and column for what cannot be
// parsed, key path and line for a value that makes no sense.

#include "base/text/json_node.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

class JsonFile {
public:
    /// Fails on files that cannot be read, hold nothing, are no JSON object, and as parseJson() does. Codes `json.*`.
    static Expected<JsonFile> open(const std::string& path);

    const JsonNode& root() const { return root_; }
    const std::string& path() const { return path_; }
    /// The file, where the key path's member stands (else the first member with the name of its last part), and the
    /// path.
    Place place(const std::string& key) const;

private:
    std::string path_;
    JsonNode root_;
};

/// Reads keys of one object. The first thing wrong is kept; after it every read answers a harmless value, so a reader
/// may ask for all it needs and look at problem() once.
class JsonReader {
public:
    /// `prefix` is put before key names in places: `text_config.`; codes are `<area>.value` and `<area>.missing-key`;
    /// `hint` stands where a value makes no sense.
    JsonReader(const JsonFile& file, const JsonNode& object, std::string prefix, std::string area, std::string hint);

    bool has(const char* key) const;  ///< present and not null
    /// A whole number that must be there, from 1 to `high`.
    std::int64_t required(const char* key, std::int64_t high);
    /// A whole number from `low` to `high`; absent or null: the fallback.
    std::int64_t whole(const char* key, std::int64_t low, std::int64_t high, std::int64_t fallback);
    bool flag(const char* key, bool fallback);
    double fraction(const char* key, double fallback);  ///< 0 to 1
    std::string text(const char* key, std::string fallback);
    std::vector<std::int64_t> wholes(const char* key, std::int64_t high);
    std::vector<std::string> texts(const char* key);

    /// Keeps a complaint about a key of one's own.
    void refuse(const char* key, std::string message, std::string expected, std::string hint);
    const std::optional<Diagnostic>& problem() const { return problem_; }

private:
    const JsonNode* find(const char* key) const;
    std::optional<std::int64_t> number(const char* key, const JsonNode& value, std::int64_t low, std::int64_t high);

    const JsonFile& file_;
    const JsonNode& object_;
    std::string prefix_, area_, hint_;
    std::optional<Diagnostic> problem_;
};

}  // namespace orrery
