#pragma once

// JSON as a plain tree with places, for documents that a stranger wrote: read by a JsonCursor, bounded in size, depth
// and number of values.

#include "base/diagnostic.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

struct JsonNode {
    enum class Type : std::uint8_t { Null, Truth, Number, Text, Array, Object };
    Type type = Type::Null;
    bool truth = false;
    double number = 0;            ///< finite
    std::string key;              ///< of a member
    std::string text;             ///< a text; of anything else but arrays and objects, how it is written
    std::vector<JsonNode> items;  ///< of an array, or the members of an object in file order
    int line = 0, column = 0;     ///< 1-based, of the value; of a member, of its key

    bool isNull() const { return type == Type::Null; }
    bool isTruth() const { return type == Type::Truth; }
    bool isNumber() const { return type == Type::Number; }
    bool isText() const { return type == Type::Text; }
    bool isArray() const { return type == Type::Array; }
    bool isObject() const { return type == Type::Object; }
    /// A number without a fraction, within 2^53.
    bool isWhole() const;
    /// The last member of that name; null if there is none, and for what is no object.
    const JsonNode* find(std::string_view wanted) const;
    /// find(), but null for a member that is null.
    const JsonNode* given(std::string_view wanted) const;
    std::optional<double> numberOf(std::string_view wanted) const;  ///< of a member; nothing if it is none
    /// The value on one line, cut to about `most` bytes: for messages.
    std::string shown(std::size_t most = 40) const;
};

inline constexpr std::size_t jsonLargestFile = 16u << 20;
inline constexpr int jsonDeepest = 64;
inline constexpr std::size_t jsonMostNodes = 1'000'000;

struct JsonLimits {
    std::size_t bytes = jsonLargestFile, values = jsonMostNodes;
};

/// Reads one document. Refuses text over the limits (16 MiB, a million values), invalid UTF-8, nesting over 64 levels,
/// numbers that are not finite, and whatever follows. Codes `<area>.too-large`, `.syntax`, `.too-deep`, `.number`.
Expected<JsonNode> parseJson(std::string_view text, std::string_view file = {}, std::string_view area = "json",
                             JsonLimits limits = {});

}  // namespace orrery
