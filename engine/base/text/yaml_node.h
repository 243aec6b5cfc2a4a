#pragma once

// YAML text as a plain tree with places. Used by every reader of Orrery's own files, because a file from outside must
// not be able to hurt: sizes, nesting and aliases are bounded before a tree exists.

#include "base/diagnostic.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

struct YamlNode {
    enum class Type : std::uint8_t { Null, Scalar, Sequence, Map };
    Type type = Type::Null;
    bool quoted = false;  ///< a scalar in quotes: never a number or null
    std::string key;      ///< of an item of a map
    std::string scalar;
    std::vector<YamlNode> items;  ///< of a sequence, or the values of a map in file order
    int line = 0, column = 0;     ///< 1-based, of the value
    int keyLine = 0, keyColumn = 0;

    bool isMap() const { return type == Type::Map; }
    bool isSequence() const { return type == Type::Sequence; }
    bool isScalar() const { return type == Type::Scalar; }
    bool isNull() const { return type == Type::Null; }
    const YamlNode* find(std::string_view wanted) const;
    /// `text`, `a list`, `a map`, `nothing`: for messages.
    std::string_view typeText() const;
};

inline constexpr std::size_t yamlLargestFile = 16u << 20;
inline constexpr int yamlDeepest = 64;
inline constexpr std::size_t yamlMostNodes = 1'000'000;
inline constexpr std::size_t yamlMostCopies = 100'000;  ///< by aliases and anchors

/// Whether `*name` may stand for the value that `&name` marks.
enum class YamlAliases : std::uint8_t { Bounded, Refused };

/// Reads one YAML document. Refuses text over 16 MiB, invalid UTF-8, control characters, more than 64 levels of
/// nesting, duplicate keys, keys that are not text, cycles of aliases, aliases that multiply, more than a million
/// nodes, and a second document; anchors and aliases at all where told so. Codes `yaml.*`.
Expected<YamlNode> parseYaml(std::string_view text, std::string_view file = {},
                             YamlAliases aliases = YamlAliases::Bounded);

/// The node on one line; parseYaml gives the same node back.
std::string yamlFlow(const YamlNode& node);
/// Text as a YAML scalar: plain where that is safe inside `{…}`, else in double quotes.
std::string yamlScalar(std::string_view text);

}  // namespace orrery
