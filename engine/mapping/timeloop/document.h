#pragma once

// Files for Timeloop as one plain tree, whatever their syntax: libconfig (v1 to v3) or YAML (v3, v4). Readers of
// problems, architectures, mappings and constraints walk this tree and know the place of every value.

#include "base/diagnostic.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

struct DocNode {
    enum class Kind : std::uint8_t { Null, Scalar, List, Map };
    Kind kind = Kind::Null;
    bool quoted = false;            ///< a scalar in quotes: text even where it looks like a number
    std::string text;               ///< of a scalar
    std::vector<std::string> keys;  ///< of a map, parallel to items
    std::vector<DocNode> items;     ///< of a list, or the values of a map in file order
    std::string file;
    int line = 0;  ///< 1-based, of the value

    bool isNull() const { return kind == Kind::Null; }
    bool isScalar() const { return kind == Kind::Scalar; }
    bool isList() const { return kind == Kind::List; }
    bool isMap() const { return kind == Kind::Map; }
    /// The value of a key of a map; hyphen and underscore are the same (`data-spaces`, `data_spaces`). Null if absent.
    const DocNode* find(std::string_view key) const;
    /// The first of several names that is there.
    const DocNode* findAny(std::initializer_list<std::string_view> names) const;
    Place place(std::string path = {}) const { return {file, line, 0, std::move(path)}; }
    /// `text`, `a list`, `a map`, `nothing`: for messages.
    std::string_view kindText() const;
};

/// Whether two keys are the same but for hyphens and underscores.
bool sameKey(std::string_view a, std::string_view b);

/// Values of scalars. Fail with code `timeloop.value` where the text is no such thing or out of [lowest, highest].
Expected<std::int64_t> docWhole(const DocNode& node, std::string_view meaning, std::int64_t lowest,
                                std::int64_t highest);
Expected<double> docNumber(const DocNode& node, std::string_view meaning);
Expected<bool> docBool(const DocNode& node, std::string_view meaning);
/// A list of texts: a list of scalars, or one scalar.
Expected<std::vector<std::string>> docTexts(const DocNode& node, std::string_view meaning);

/// One file by its ending (`.cfg`: libconfig, else YAML) or, where that is unknown, by its content. Codes `yaml.*`,
/// `timeloop.syntax`, `timeloop.file`.
Expected<DocNode> parseTimeloopText(std::string_view text, const std::string& file);
Expected<DocNode> parseTimeloopFile(const std::string& path);
/// Several files as one map: a key that stands in two of them is refused, except lists and maps, which are joined
/// (`components`, `variables`) or must be equal.
Expected<DocNode> parseTimeloopFiles(const std::vector<std::string>& paths);

}  // namespace orrery
