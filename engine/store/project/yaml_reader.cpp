#include "store/project/yaml_reader.h"

#include "base/text/nearest.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/parser.h>

#include <charconv>
#include <set>
#include <sstream>

namespace orrery::store {

namespace {

constexpr std::size_t largestFile = std::size_t{16} << 20;
constexpr int deepest = 64;
constexpr int mostNodes = 500'000;
constexpr std::size_t mostUnknownWarnings = 20;

struct Refused {
    YAML::Mark mark;
    std::string code, message, expected, hint;
};

// Looks at the events before any tree is built: an alias can name a node that contains it.
class Guard : public YAML::EventHandler {
public:
    void OnDocumentStart(const YAML::Mark&) override {}
    void OnDocumentEnd() override {}
    void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { check(mark, anchor); }
    void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { refuseAlias(mark); }
    void OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor, const std::string&) override {
        check(mark, anchor);
    }
    void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                         YAML::EmitterStyle::value) override {
        enter(mark, anchor);
    }
    void OnSequenceEnd() override { --depth_; }
    void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                    YAML::EmitterStyle::value) override {
        enter(mark, anchor);
    }
    void OnMapEnd() override { --depth_; }

private:
    static void refuseAlias(const YAML::Mark& mark) {
        throw Refused{mark, "yaml.alias", "anchors and aliases are not allowed here", "every value written out",
                      "replace the `*alias` by what its `&anchor` stands for"};
    }
    void check(const YAML::Mark& mark, YAML::anchor_t anchor) {
        if (anchor != 0) refuseAlias(mark);
        if (++nodes_ > mostNodes) {
            throw Refused{mark, "yaml.size", "the file has too many entries", fmt::format("at most {}", mostNodes),
                          "is this the right file?"};
        }
    }
    void enter(const YAML::Mark& mark, YAML::anchor_t anchor) {
        check(mark, anchor);
        if (++depth_ > deepest) {
            throw Refused{mark, "yaml.depth", fmt::format("nested more than {} levels deep", deepest),
                          fmt::format("at most {} levels", deepest), "is this the right file?"};
        }
    }
    int depth_ = 0;
    int nodes_ = 0;
};

Place at(const YAML::Mark& mark, const std::string& file) {
    return mark.is_null() ? Place{file} : Place{file, mark.line + 1, mark.column + 1, {}};
}

}  // namespace

Place YamlContext::place(const YAML::Node& node, std::string path) const {
    Place place = node.IsDefined() ? at(node.Mark(), file) : Place{file};
    place.path = std::move(path);
    return place;
}

Expected<YAML::Node> parseYaml(std::string_view text, const YamlContext& context) {
    if (text.size() > largestFile) {
        return fail("yaml.size", fmt::format("the file has {} bytes", text.size()), "at most 16 MiB",
                    "is this the right file?", {context.file});
    }
    if (text.find('\0') != std::string_view::npos) {
        return fail("yaml.binary", "this is not a text file", "YAML text", "is this the right file?", {context.file});
    }
    try {
        const std::string copy(text);
        std::istringstream stream(copy);
        YAML::Parser parser(stream);
        Guard guard;
        if (!parser.HandleNextDocument(guard)) {
            return fail("yaml.empty", "the file is empty", "a YAML document that begins with `orrery: …`", "",
                        {context.file, 1});
        }
        if (parser.HandleNextDocument(guard)) {
            return fail("yaml.documents", "the file has more than one YAML document", "one document",
                        "put the part after `---` into a file of its own", {context.file});
        }
        YAML::Node root = YAML::Load(copy);
        if (!root.IsMap()) {
            return fail("yaml.root", "the document is not a mapping of keys to values",
                        "a YAML document that begins with `orrery: …`", "is this the right file?",
                        context.place(root, {}));
        }
        return root;
    } catch (const Refused& refused) {
        return fail(refused.code, refused.message, refused.expected, refused.hint, at(refused.mark, context.file));
    } catch (const YAML::Exception& error) {
        return fail("yaml.syntax", fmt::format("not valid YAML: {}", error.msg), "YAML",
                    "look at the indentation, quotes and brackets around this place", at(error.mark, context.file));
    } catch (const std::exception& error) {
        return fail("yaml.syntax", fmt::format("cannot be read as YAML: {}", error.what()), "YAML", "", {context.file});
    }
}

Expected<int> documentVersion(const YAML::Node& root, std::string_view kind, int newest, const YamlContext& context) {
    const std::string wanted = fmt::format("`orrery: {}/{}`", kind, newest);
    const YAML::Node node = root["orrery"];
    if (!node.IsDefined() || !node.IsScalar()) {
        return fail("document.kind", "the key `orrery` is missing, so what the file holds is not known", wanted,
                    fmt::format("put {} on the first line", wanted), context.place(root, {}));
    }
    const std::string text = node.Scalar();
    const auto slash = text.find('/');
    const std::string found = text.substr(0, slash);
    int version = -1;
    if (slash != std::string::npos) {
        const char* end = text.data() + text.size();
        const auto [rest, error] = std::from_chars(text.data() + slash + 1, end, version);
        if (error != std::errc{} || rest != end) version = -1;
    }
    if (found != kind) {
        return fail("document.kind", fmt::format("this is a `{}` document, not a {}", found, kind), wanted,
                    found == "hardware" || found == "workload" || found == "project" || found == "study"
                        ? fmt::format("open it as a {}", found)
                        : "is this the right file?",
                    context.place(node, "orrery"));
    }
    if (version < 0) {
        return fail("document.version", fmt::format("`{}` has no version number", text), wanted, "",
                    context.place(node, "orrery"));
    }
    if (version > newest) {
        return fail("document.newer",
                    fmt::format("the file was written by a newer Orrery ({} format {}; this one reads up to {})", kind,
                                version, newest),
                    wanted, "open it with a newer Orrery; this one leaves the file as it is",
                    context.place(node, "orrery"));
    }
    return version;
}

Expected<MapReader> MapReader::open(const YAML::Node& node, std::string path, YamlContext& context) {
    MapReader reader;
    reader.node_.reset(node);
    reader.path_ = std::move(path);
    reader.context_ = &context;
    if (!node.IsMap()) {
        return fail("yaml.type", "a mapping of keys to values should stand here", "`key: value` lines", "",
                    reader.place());
    }
    std::set<std::string, std::less<>> seen;
    for (const auto& pair : node) {
        if (!pair.first.IsScalar()) {
            return fail("yaml.key", "a key must be a word", "`key: value`", "",
                        context.place(pair.first, reader.path_));
        }
        const std::string& key = pair.first.Scalar();
        if (!seen.insert(key).second) {
            return fail("yaml.duplicate", fmt::format("the key `{}` stands here twice", key), "each key once",
                        "remove one of the two", context.place(pair.first, reader.path_));
        }
        reader.entries_.push_back({key, pair.second});
    }
    return reader;
}

std::optional<YAML::Node> MapReader::take(std::string_view key) {
    known_.emplace_back(key);
    for (Entry& entry : entries_) {
        if (entry.key != key) continue;
        entry.taken = true;
        if (entry.value.IsNull()) return std::nullopt;
        return entry.value;
    }
    return std::nullopt;
}

Expected<YAML::Node> MapReader::require(std::string_view key, std::string_view meaning) {
    if (auto node = take(key)) return *node;
    std::vector<std::string> present;
    for (const Entry& entry : entries_) {
        if (!entry.taken) present.push_back(entry.key);
    }
    const auto near = orrery::nearest(key, present, 1);
    return fail("yaml.missing", fmt::format("the key `{}` is missing", key), fmt::format("`{}`: {}", key, meaning),
                near.empty() ? std::string() : fmt::format("is `{}` a slip for it?", near.front()), place());
}

std::vector<std::string> MapReader::keys() const {
    std::vector<std::string> keys;
    for (const Entry& entry : entries_) keys.push_back(entry.key);
    return keys;
}

Place MapReader::placeOf(const YAML::Node& node, std::string_view key) const {
    return context_->place(node, path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key));
}

std::vector<UnknownKey> MapReader::rest() {
    std::vector<UnknownKey> unknown;
    for (const Entry& entry : entries_) {
        if (entry.taken) continue;
        unknown.push_back({entry.key, YAML::Dump(entry.value)});
        if (unknown.size() > mostUnknownWarnings) continue;
        context_->warnings.push_back(warning(
            "yaml.unknown-key", fmt::format("the key `{}` is not known here; it is kept and not used", entry.key),
            didYouMean(entry.key, known_), placeOf(entry.value, entry.key)));
    }
    return unknown;
}

}  // namespace orrery::store
