#include "base/text/words.h"
#include "base/text/yaml_node.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <map>
#include <optional>
#include <sstream>
#include <unordered_set>

namespace orrery {
namespace {

constexpr std::size_t longestKey = 1000;  // YAML reads no longer ones back unless they are marked with `?`

struct Refused {
    Diagnostic diagnostic;
};

Place placeAt(std::string_view file, int line, int column) {
    return {std::string(file), line, column, {}};
}

// Builds the tree from parse events, with a key waiting for its value on each open map.
class Builder : public YAML::EventHandler {
public:
    Builder(std::string_view file, YamlAliases aliases) : file_(file), aliases_(aliases) {}
    YamlNode take() { return std::move(root_); }

    void OnDocumentStart(const YAML::Mark&) override {}
    void OnDocumentEnd() override {}
    void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        add(node(YamlNode::Type::Null, mark), anchor);
    }
    void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  const std::string& value) override {
        YamlNode scalar = node(YamlNode::Type::Scalar, mark);
        scalar.quoted = tag == "!";
        scalar.scalar = value;
        add(std::move(scalar), anchor);
    }
    void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        allowAlias(mark);
        const auto found = anchors_.find(anchor);
        if (found == anchors_.end()) {
            refuse(mark, "yaml.alias-cycle", "the alias stands inside the very value that it names",
                   "an alias to a value that is complete", "write the value out instead of using an alias");
        }
        YamlNode copy = found->second;
        charge(copy, mark);
        copy.line = mark.line + 1;
        copy.column = mark.column + 1;
        place(std::move(copy));
    }
    void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                         YAML::EmitterStyle::value) override {
        open(node(YamlNode::Type::Sequence, mark), anchor, mark);
    }
    void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                    YAML::EmitterStyle::value) override {
        open(node(YamlNode::Type::Map, mark), anchor, mark);
    }
    void OnSequenceEnd() override { close(); }
    void OnMapEnd() override { close(); }

private:
    struct Open {
        YamlNode node;
        YAML::anchor_t anchor = 0;
        bool keyWaits = false;
        YamlNode key;
        std::unordered_set<std::string> keys;
    };

    [[noreturn]] void refuse(const YAML::Mark& mark, std::string code, std::string message, std::string expected,
                             std::string hint) const {
        throw Refused{fail(std::move(code), std::move(message), std::move(expected), std::move(hint),
                           placeAt(file_, mark.line + 1, mark.column + 1))
                          .value()};
    }
    YamlNode node(YamlNode::Type type, const YAML::Mark& mark) {
        if (++nodes_ > yamlMostNodes) tooMany(mark);
        YamlNode fresh;
        fresh.type = type;
        fresh.line = mark.line + 1;
        fresh.column = mark.column + 1;
        return fresh;
    }
    [[noreturn]] void tooMany(const YAML::Mark& mark) const {
        refuse(mark, "yaml.too-large", fmt::format("the document has more than {} values", yamlMostNodes),
               "a smaller document", "split the file");
    }
    void allowAlias(const YAML::Mark& mark) const {
        if (aliases_ == YamlAliases::Bounded) return;
        refuse(mark, "yaml.alias", "anchors and aliases are not allowed here", "every value written out",
               "replace the `*alias` by what its `&anchor` stands for");
    }
    void charge(const YamlNode& copied, const YAML::Mark& mark) {
        if (++copied_ > yamlMostCopies) {
            refuse(mark, "yaml.too-large", fmt::format("aliases stand for more than {} values", yamlMostCopies),
                   "aliases that do not multiply", "write the values out, or remove aliases of aliases");
        }
        for (const YamlNode& item : copied.items) charge(item, mark);
    }
    void open(YamlNode fresh, YAML::anchor_t anchor, const YAML::Mark& mark) {
        if (static_cast<int>(stack_.size()) >= yamlDeepest) {
            refuse(mark, "yaml.too-deep", fmt::format("the document is nested more than {} levels deep", yamlDeepest),
                   fmt::format("at most {} levels", yamlDeepest), "check for a bracket that is never closed");
        }
        stack_.push_back({std::move(fresh), anchor, false, {}, {}});
    }
    void close() {
        Open done = std::move(stack_.back());
        stack_.pop_back();
        add(std::move(done.node), done.anchor);
    }
    void add(YamlNode fresh, YAML::anchor_t anchor) {
        if (anchor != 0) {
            YAML::Mark mark;
            mark.line = fresh.line - 1;
            mark.column = fresh.column - 1;
            allowAlias(mark);
            charge(fresh, mark);
            anchors_.insert_or_assign(anchor, fresh);
        }
        place(std::move(fresh));
    }
    void place(YamlNode fresh) {
        if (stack_.empty()) {
            root_ = std::move(fresh);
            return;
        }
        Open& top = stack_.back();
        if (!top.node.isMap()) {
            top.node.items.push_back(std::move(fresh));
        } else if (!top.keyWaits) {
            takeKey(top, std::move(fresh));
        } else {
            fresh.key = std::move(top.key.scalar);
            fresh.keyLine = top.key.line;
            fresh.keyColumn = top.key.column;
            top.keyWaits = false;
            top.node.items.push_back(std::move(fresh));
        }
    }
    void takeKey(Open& top, YamlNode key) {
        const auto at = placeAt(file_, key.line, key.column);
        if (!key.isScalar()) {
            throw Refused{fail("yaml.key", fmt::format("a key must be text, this one is {}", key.typeText()),
                               "`key: value`", "put the key in quotes if it holds brackets", at)
                              .value()};
        }
        if (yamlScalar(key.scalar).size() > longestKey) {
            throw Refused{fail("yaml.key", fmt::format("a key has {} characters", key.scalar.size()),
                               fmt::format("keys of at most {} characters", longestKey),
                               "check quotes and indentation here; text may have become part of a key", at)
                              .value()};
        }
        if (!top.keys.insert(key.scalar).second) {
            throw Refused{fail("yaml.duplicate-key", fmt::format("the key `{}` occurs twice in one map", key.scalar),
                               "each key once", "remove one of the two", at)
                              .value()};
        }
        top.key = std::move(key);
        top.keyWaits = true;
    }

    std::string_view file_;
    YamlAliases aliases_;
    YamlNode root_;
    std::vector<Open> stack_;
    std::map<YAML::anchor_t, YamlNode> anchors_;
    std::size_t nodes_ = 0;
    std::size_t copied_ = 0;
};

std::optional<Diagnostic> checkCharacters(std::string_view text, std::string_view file) {
    int line = 1, column = 1;
    for (std::size_t i = 0; i < text.size();) {
        const auto c = static_cast<unsigned char>(text[i]);
        const std::size_t length = utf8Length(text.substr(i));
        const bool control = (c < 0x20 && c != '\n' && c != '\r' && c != '\t') || c == 0x7f;
        if (length == 0 || control) {
            return fail("yaml.characters",
                        control ? fmt::format("the control character 0x{:02x} may not stand in a text file", c)
                                : fmt::format("the byte 0x{:02x} is not valid UTF-8", c),
                        "a YAML file in UTF-8", "is this a binary file, or text in another encoding?",
                        placeAt(file, line, column))
                .value();
        }
        column = c == '\n' ? 1 : column + 1;
        line += c == '\n' ? 1 : 0;
        i += length;
    }
    return std::nullopt;
}

std::string hintFor(std::string_view text, int line) {
    for (int at = 1; at < line && !text.empty(); ++at) {
        const auto end = text.find('\n');
        text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    }
    const std::string_view head = text.substr(0, text.find_first_not_of(" \t"));
    if (head.find('\t') != std::string_view::npos) return "YAML is indented with spaces; replace the tab";
    return "check brackets, quotes and indentation at this place; the file may be cut short";
}

}  // namespace

const YamlNode* YamlNode::find(std::string_view wanted) const {
    for (const YamlNode& item : items) {
        if (isMap() && item.key == wanted) return &item;
    }
    return nullptr;
}

std::string_view YamlNode::typeText() const {
    switch (type) {
        case Type::Null:
            return "nothing";
        case Type::Scalar:
            return "text";
        case Type::Sequence:
            return "a list";
        case Type::Map:
            return "a map";
    }
    return "nothing";
}

Expected<YamlNode> parseYaml(std::string_view text, std::string_view file, YamlAliases aliases) {
    if (text.size() > yamlLargestFile) {
        return fail("yaml.too-large", fmt::format("the file has {} bytes", text.size()), "at most 16 MiB",
                    "is this the right file?", placeAt(file, 0, 0));
    }
    if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
    if (auto wrong = checkCharacters(text, file)) return Unexpected(std::move(*wrong));
    try {
        std::istringstream stream{std::string(text)};
        YAML::Parser parser(stream);
        Builder builder(file, aliases);
        if (!parser.HandleNextDocument(builder)) {
            return fail("yaml.empty", "the file is empty", "a YAML document", "is this the right file?",
                        placeAt(file, 1, 1));
        }
        Builder second(file, aliases);
        if (parser.HandleNextDocument(second)) {
            const YamlNode extra = second.take();
            return fail("yaml.documents", "the file holds more than one YAML document", "one document",
                        "remove the second `---` and what follows", placeAt(file, extra.line, extra.column));
        }
        return builder.take();
    } catch (const Refused& refused) {
        return Unexpected(refused.diagnostic);
    } catch (const YAML::Exception& error) {
        const int line = std::max(error.mark.line + 1, 1);
        return fail("yaml.syntax", fmt::format("this is not valid YAML: {}", error.msg), "a YAML document",
                    hintFor(text, line), placeAt(file, line, std::max(error.mark.column + 1, 1)));
    } catch (const std::exception& error) {
        return fail("yaml.syntax", fmt::format("the YAML reader gave up: {}", error.what()), "a YAML document",
                    "check the file's start", placeAt(file, 1, 1));
    }
}

}  // namespace orrery
