#include "base/text/read_file.h"
#include "base/text/yaml_node.h"
#include "mapping/timeloop/document.h"

#include <fmt/format.h>
#include <libconfig.h++>

#include <filesystem>
#include <optional>

namespace orrery {
namespace {

constexpr int deepest = 64;

// YAML's merge keys (`<<: *other`): what the map does not have itself.
void merge(DocNode& into, const DocNode& from) {
    if (from.isList()) {
        for (const DocNode& one : from.items) merge(into, one);
    }
    for (std::size_t i = 0; i < from.keys.size(); ++i) {
        if (into.find(from.keys[i]) != nullptr) continue;
        into.keys.push_back(from.keys[i]);
        into.items.push_back(from.items[i]);
    }
}

DocNode fromYaml(const YamlNode& yaml, const std::string& file) {
    DocNode node;
    node.file = file;
    node.line = yaml.line;
    switch (yaml.type) {
        case YamlNode::Type::Null:
            break;
        case YamlNode::Type::Scalar:
            node.kind = DocNode::Kind::Scalar;
            node.quoted = yaml.quoted;
            node.text = yaml.scalar;
            break;
        case YamlNode::Type::Sequence:
            node.kind = DocNode::Kind::List;
            for (const YamlNode& item : yaml.items) node.items.push_back(fromYaml(item, file));
            break;
        case YamlNode::Type::Map:
            node.kind = DocNode::Kind::Map;
            for (const YamlNode& item : yaml.items) {
                if (item.key == "<<") continue;
                node.keys.push_back(item.key);
                node.items.push_back(fromYaml(item, file));
                // A value on a later line belongs to its key's line in messages about the key.
                if (!item.isMap() && !item.isSequence()) node.items.back().line = item.keyLine;
            }
            for (const YamlNode& item : yaml.items) {
                if (item.key == "<<") merge(node, fromYaml(item, file));
            }
            break;
    }
    return node;
}

Expected<DocNode> fromLibconfig(const libconfig::Setting& setting, const std::string& file, int depth) {
    DocNode node;
    node.file = setting.getSourceFile() != nullptr ? setting.getSourceFile() : file;
    node.line = static_cast<int>(setting.getSourceLine());
    if (depth > deepest) {
        return fail("timeloop.syntax", fmt::format("the file is nested more than {} levels deep", deepest),
                    fmt::format("at most {} levels", deepest), "check for a bracket that is never closed",
                    node.place());
    }
    switch (setting.getType()) {
        case libconfig::Setting::TypeInt:
            node.text = fmt::format("{}", static_cast<int>(setting));
            break;
        case libconfig::Setting::TypeInt64:
            node.text = fmt::format("{}", static_cast<long long>(setting));
            break;
        case libconfig::Setting::TypeFloat:
            node.text = fmt::format("{}", static_cast<double>(setting));
            break;
        case libconfig::Setting::TypeBoolean:
            node.text = static_cast<bool>(setting) ? "true" : "false";
            break;
        case libconfig::Setting::TypeString:
            node.text = static_cast<const char*>(setting);
            node.quoted = true;
            break;
        case libconfig::Setting::TypeArray:
        case libconfig::Setting::TypeList:
        case libconfig::Setting::TypeGroup: {
            const bool map = setting.getType() == libconfig::Setting::TypeGroup;
            node.kind = map ? DocNode::Kind::Map : DocNode::Kind::List;
            for (int i = 0; i < setting.getLength(); ++i) {
                auto item = fromLibconfig(setting[i], file, depth + 1);
                if (!item) return item;
                if (map) node.keys.emplace_back(setting[i].getName());
                node.items.push_back(std::move(*item));
            }
            return node;
        }
        default:
            return node;
    }
    node.kind = DocNode::Kind::Scalar;
    return node;
}

std::string syntaxHint(std::string_view error) {
    if (error.find("duplicate") != std::string_view::npos) return "give every setting once";
    return "check `=` or `:`, the `;` after every setting, and brackets at this line or the one before";
}

Expected<DocNode> parseLibconfig(std::string_view text, const std::string& file) {
    if (text.size() > yamlLargestFile || text.find('\0') != std::string_view::npos) {
        return fail("timeloop.syntax", "the file is not text, or larger than 16 MiB", "a libconfig file",
                    "is this the right file?", {file, 1, 0, {}});
    }
    try {
        libconfig::Config config;
        const auto folder = std::filesystem::path(file).parent_path();
        config.setIncludeDir(folder.empty() ? "." : folder.c_str());
        config.readString(std::string(text));
        return fromLibconfig(config.getRoot(), file, 0);
    } catch (const libconfig::ParseException& error) {
        const std::string where = error.getFile() != nullptr ? error.getFile() : file;
        return fail("timeloop.syntax", fmt::format("this is not valid libconfig: {}", error.getError()),
                    "`name = value;`", syntaxHint(error.getError()), {where, std::max(1, error.getLine()), 0, {}});
    } catch (const std::exception& error) {
        return fail("timeloop.syntax", fmt::format("the libconfig reader gave up: {}", error.what()),
                    "a libconfig file", "check files that it includes", {file, 1, 0, {}});
    }
}

// libconfig needs `=`, or `:` with `;` or braces after it; YAML has neither semicolons at line ends nor `= (`.
bool looksLikeLibconfig(std::string_view text) {
    while (!text.empty()) {
        const auto end = text.find('\n');
        std::string_view line = text.substr(0, end);
        text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
        line = line.substr(0, line.find_first_of("#"));
        const auto last = line.find_last_not_of(" \t\r");
        if (last == std::string_view::npos || line.starts_with("//")) continue;
        line = line.substr(0, last + 1);
        if (line.back() == ';' || line.find("= (") != std::string_view::npos ||
            line.find("= {") != std::string_view::npos)
            return true;
        const auto first = line.find_first_not_of(" \t");
        if (line[first] == '-' || line.starts_with("---")) return false;
    }
    return false;
}

}  // namespace

Expected<DocNode> parseTimeloopText(std::string_view text, const std::string& file) {
    const bool yaml = file.ends_with(".yaml") || file.ends_with(".yml");
    if (file.ends_with(".cfg") || (!yaml && looksLikeLibconfig(text))) return parseLibconfig(text, file);
    const auto tree = parseYaml(text, file);
    if (!tree) return Unexpected(tree.error());
    DocNode root = fromYaml(*tree, file);
    if (!root.isMap()) {
        return fail("timeloop.file", fmt::format("the file holds {}", root.kindText()),
                    "a map with `problem`, `architecture`, `mapping` or others", "is this a file for Timeloop?",
                    {file, 1, 0, {}});
    }
    return root;
}

Expected<DocNode> parseTimeloopFile(const std::string& path) {
    const auto text = readFile(path, {.most = yamlLargestFile, .code = "timeloop.file", .expected = "a text file"});
    if (!text) return Unexpected(text.error());
    return parseTimeloopText(*text, path);
}

Expected<DocNode> parseTimeloopFiles(const std::vector<std::string>& paths) {
    DocNode all;
    all.kind = DocNode::Kind::Map;
    if (!paths.empty()) all.file = paths.front(), all.line = 1;
    for (const std::string& path : paths) {
        auto root = parseTimeloopFile(path);
        if (!root) return root;
        for (std::size_t i = 0; i < root->keys.size(); ++i) {
            DocNode* there = nullptr;
            for (std::size_t k = 0; k < all.keys.size(); ++k) {
                if (sameKey(all.keys[k], root->keys[i])) there = &all.items[k];
            }
            DocNode& value = root->items[i];
            if (there == nullptr) {
                all.keys.push_back(root->keys[i]);
                all.items.push_back(std::move(value));
            } else if (there->isList() && value.isList()) {
                for (DocNode& item : value.items) there->items.push_back(std::move(item));
            } else if (there->isMap() && value.isMap()) {
                for (std::size_t k = 0; k < value.keys.size(); ++k) {
                    if (there->find(value.keys[k]) != nullptr && value.keys[k] != "version") {
                        return fail("timeloop.twice",
                                    fmt::format("`{}.{}` stands in two files", root->keys[i], value.keys[k]),
                                    "every part in one file",
                                    fmt::format("the other one is at {}", toText(there->find(value.keys[k])->place())),
                                    value.items[k].place());
                    }
                    if (there->find(value.keys[k]) != nullptr) continue;
                    there->keys.push_back(value.keys[k]);
                    there->items.push_back(std::move(value.items[k]));
                }
            } else if (!there->isScalar() || !value.isScalar() || there->text != value.text) {
                return fail("timeloop.twice", fmt::format("`{}` stands in two files", root->keys[i]),
                            "every part in one file", fmt::format("the other one is at {}", toText(there->place())),
                            value.place());
            }
        }
    }
    return all;
}

}  // namespace orrery
