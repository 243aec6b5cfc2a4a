#include "base/text/nearest.h"
#include "base/text/read_file.h"
#include "base/text/yaml_node.h"
#include "hardware/attributes.h"
#include "hardware/edit/tree_edit.h"
#include "hardware/files/hardware_yaml.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <set>
#include <sstream>

namespace orrery {
namespace {

constexpr int formatVersion = 1;
constexpr std::int64_t mostInstances = std::int64_t{1} << 53;

class Reader {
public:
    Reader(std::string_view text, std::string_view file) : file_(file) {
        for (std::size_t at = 0; at <= text.size();) {
            const auto end = std::min(text.find('\n', at), text.size());
            lines_.push_back(text.substr(at, end - at));
            at = end + 1;
        }
    }

    Expected<LoadedHardware> document(const YamlNode& root);
    Expected<Component> component(const YamlNode& node, const std::string& parent, std::int64_t copies,
                                  std::optional<ComponentKind> given = std::nullopt);

private:
    Place at(const YamlNode& node, std::string path = {}) const {
        return {std::string(file_), node.line, node.column, std::move(path)};
    }
    Place atKey(const YamlNode& node, std::string path = {}) const {
        return {std::string(file_), node.keyLine, node.keyColumn, std::move(path)};
    }
    Unexpected wrongType(const YamlNode& node, std::string_view what, std::string expected, std::string path) const {
        std::string found(node.typeText());
        if (node.isScalar()) found = fmt::format("`{}`", node.scalar);
        return fail("hardware.type", fmt::format("`{}` is {}", what, found), std::move(expected), {},
                    at(node, std::move(path)));
    }
    static Unexpected placed(Diagnostic wrong, Place place) {
        wrong.place = std::move(place);
        return Unexpected(std::move(wrong));
    }

    Expected<void> checkVersion(const YamlNode& root) const;
    Expected<std::string> text(const YamlNode& node, const std::string& path) const;
    Expected<std::int64_t> whole(const YamlNode& node, const std::string& path) const;
    Expected<void> mesh(const YamlNode& node, Component& out, const std::string& path) const;
    Expected<void> children(const YamlNode& node, Component& out, const std::string& path, std::int64_t copies);
    Expected<Attribute> attribute(const YamlNode& node, const AttributeSpec& spec, const std::string& path);
    Expected<Attribute::Value> value(const YamlNode& node, const AttributeSpec& spec, const std::string& path);
    Expected<void> sources(const YamlNode& node, Hardware& out) const;
    void unknownKey(const YamlNode& node, std::vector<UnknownKey>& into, const std::vector<std::string>& known,
                    std::string_view owner, const std::string& path);
    void unusual(const AttributeSpec& spec, const Measure& measure, const YamlNode& node, const std::string& path);
    std::string commentAbove(int line);

    std::string_view file_;
    std::vector<std::string_view> lines_;
    std::set<int> claimed_;  // lines of comments that already belong to a component
    Diagnostics warnings_;
};

std::string Reader::commentAbove(int line) {
    std::vector<std::string_view> found;
    for (int i = line - 2; i >= 0 && i < static_cast<int>(lines_.size()); --i) {
        std::string_view text = lines_[static_cast<std::size_t>(i)];
        if (text.ends_with('\r')) text.remove_suffix(1);
        const auto start = text.find_first_not_of(' ');
        if (start == std::string_view::npos || text[start] != '#' || !claimed_.insert(i).second) break;
        text.remove_prefix(start + 1);
        if (text.starts_with(' ')) text.remove_prefix(1);
        found.push_back(text.substr(0, text.find_last_not_of(" \t") + 1));
    }
    std::reverse(found.begin(), found.end());
    return fmt::format("{}", fmt::join(found, "\n"));
}

void Reader::unknownKey(const YamlNode& node, std::vector<UnknownKey>& into, const std::vector<std::string>& known,
                        std::string_view owner, const std::string& path) {
    into.push_back({node.key, yamlFlow(node)});
    const std::string hint = didYouMean(node.key, known);
    warnings_.push_back(warning("hardware.unknown-key", fmt::format("`{}` is not a key of {}", node.key, owner),
                                hint.empty() ? "it is kept in the file, and no method reads it" : hint,
                                atKey(node, path)));
}

void Reader::unusual(const AttributeSpec& spec, const Measure& measure, const YamlNode& node, const std::string& path) {
    if (isUsual(spec, measure)) return;
    warnings_.push_back(warning("hardware.unusual-value",
                                fmt::format("`{}` is outside the usual range of `{}`", measure.spelling, spec.name),
                                "check the unit", at(node, path)));
}

Expected<std::string> Reader::text(const YamlNode& node, const std::string& path) const {
    if (node.isNull()) return std::string();
    if (!node.isScalar()) return wrongType(node, node.key, "text", path);
    return node.scalar;
}

Expected<std::int64_t> Reader::whole(const YamlNode& node, const std::string& path) const {
    std::int64_t number = 0;
    const char* const end = node.scalar.data() + node.scalar.size();
    const auto [rest, error] = std::from_chars(node.scalar.data(), end, number);
    if (error == std::errc::result_out_of_range) {
        return fail("hardware.count-overflow", fmt::format("`{}` is too large a number of copies", node.scalar),
                    "a whole number up to 2^53", "check for a stray digit", at(node, path));
    }
    if (!node.isScalar() || error != std::errc{} || rest != end) {
        return wrongType(node, node.key.empty() ? "mesh" : node.key, "a whole number from 1", path);
    }
    if (number < 1) {
        return fail("hardware.count", fmt::format("there cannot be {} copies", number), "a whole number from 1",
                    "remove the component instead", at(node, path));
    }
    return number;
}

Expected<void> Reader::mesh(const YamlNode& node, Component& out, const std::string& path) const {
    if (!node.isSequence() || node.items.empty() || node.items.size() > 4) {
        return wrongType(node, "mesh", "one to four sides such as `[14, 12]`", path);
    }
    for (const YamlNode& item : node.items) {
        const auto side = whole(item, path);
        if (!side) return Unexpected(side.error());
        out.mesh.push_back(*side);
    }
    return {};
}

Expected<Attribute::Value> Reader::value(const YamlNode& node, const AttributeSpec& spec, const std::string& path) {
    if (spec.form == AttributeForm::Table) {
        if (!node.isMap()) return wrongType(node, spec.name, "rows such as `{bf16: 512/cycle}`", path);
        std::vector<TableRow> rows;
        for (const YamlNode& item : node.items) {
            if (!item.isScalar()) return wrongType(item, item.key, "a rate such as `512/cycle`", path);
            auto measure = parseAttributeMeasure(spec, item.scalar);
            if (!measure) return placed(measure.error(), at(item, path + "." + item.key));
            unusual(spec, *measure, item, path + "." + item.key);
            rows.push_back({item.key, std::move(*measure)});
        }
        if (auto right = checkRows(spec, rows); !right) return placed(right.error(), at(node, path));
        return Attribute::Value(std::move(rows));
    }
    if (spec.form == AttributeForm::List && node.isSequence()) {
        std::vector<std::string> all;
        for (const YamlNode& item : node.items) {
            if (!item.isScalar()) return wrongType(item, spec.name, "a list of words", path);
            if (!spec.choices.empty()) {
                if (auto right = parseAttribute(spec, item.scalar); !right)
                    return placed(right.error(), at(item, path));
            }
            all.push_back(item.scalar);
        }
        return Attribute::Value(std::move(all));
    }
    if (!node.isScalar()) {
        const std::string expected = spec.form == AttributeForm::List ? "a list such as `[inputs, outputs]`"
                                     : spec.form == AttributeForm::Measure
                                         ? fmt::format("a {} such as `{}`", toText(spec.dimension),
                                                       formatMeasure(std::max(spec.lowest, 1e-15), spec.dimension))
                                         : "text";
        return wrongType(node, spec.name, expected, path);
    }
    if (spec.form == AttributeForm::Text) return Attribute::Value(node.scalar);
    auto parsed = parseAttribute(spec, node.scalar);
    if (!parsed) return placed(parsed.error(), at(node, path));
    if (const Measure* measure = std::get_if<Measure>(&*parsed)) unusual(spec, *measure, node, path);
    return parsed;
}

// Plain (`bandwidth: 3.35 TB/s`) or with its provenance (`bandwidth: {value: 3.35 TB/s, source: sheet}`).
Expected<Attribute> Reader::attribute(const YamlNode& node, const AttributeSpec& spec, const std::string& path) {
    Attribute out;
    out.name = std::string(spec.name);
    const YamlNode* inner = node.isMap() ? node.find("value") : nullptr;
    const bool hasRows = spec.form == AttributeForm::Table;
    if (!inner && node.isMap() && !hasRows) {
        return fail("hardware.type", fmt::format("`{}` is a map without `value`", spec.name),
                    "`{value: …, source: …, note: …}`", "add `value`", at(node, path));
    }
    if (inner) {
        for (const YamlNode& item : node.items) {
            if (item.key == "value") continue;
            if (item.key != "source" && item.key != "note") {
                return fail("hardware.unknown-key", fmt::format("`{}` may not stand beside `value`", item.key),
                            "`value`, `source` and `note`", didYouMean(item.key, {"source", "note", "value"}),
                            atKey(item, path));
            }
            auto words = text(item, path);
            if (!words) return Unexpected(std::move(words.error()));
            (item.key == "source" ? out.source : out.note) = std::move(*words);
        }
    }
    auto parsed = value(inner ? *inner : node, spec, path);
    if (!parsed) return Unexpected(std::move(parsed.error()));
    out.value = std::move(*parsed);
    return out;
}

Expected<void> Reader::children(const YamlNode& node, Component& out, const std::string& path, std::int64_t copies) {
    if (node.isNull()) return {};
    if (!node.isSequence()) return wrongType(node, "children", "a list of components", path);
    for (const YamlNode& item : node.items) {
        auto child = component(item, path, copies);
        if (!child) return Unexpected(std::move(child.error()));
        out.children.push_back(std::move(*child));
    }
    return {};
}

Expected<Component> Reader::component(const YamlNode& node, const std::string& parent, std::int64_t copies,
                                      std::optional<ComponentKind> given) {
    if (!node.isMap()) return wrongType(node, "component", "a map such as `{kind: dram, name: hbm}`", parent);
    Component out;
    out.comment = commentAbove(node.line);
    if (given) {
        out.kind = *given;
    } else {
        const YamlNode* kind = node.find("kind");
        std::vector<std::string> known;
        for (int i = 0; i < componentKindCount; ++i) known.emplace_back(toText(static_cast<ComponentKind>(i)));
        if (!kind) {
            return fail("hardware.no-kind", "the component has no `kind`", quotedList(known, "or"),
                        "add `kind`, such as `kind: cache`", at(node, parent));
        }
        const auto found = kind->isScalar() ? componentKind(kind->scalar) : std::nullopt;
        if (!found) {
            return fail("hardware.unknown-kind",
                        fmt::format("{} is not a kind of component",
                                    kind->isScalar() ? "`" + kind->scalar + "`" : std::string(kind->typeText())),
                        quotedList(known, "or"), didYouMean(kind->scalar, known), at(*kind, parent));
        }
        out.kind = *found;
    }
    if (const YamlNode* name = node.find("name")) {
        auto words = text(*name, parent);
        if (!words) return Unexpected(std::move(words.error()));
        out.name = std::move(*words);
    }
    const std::string path = parent.empty() ? std::string(nameOf(out)) : parent + "/" + std::string(nameOf(out));
    if (const YamlNode* count = node.find("count")) {
        const auto number = whole(*count, path);
        if (!number) return Unexpected(number.error());
        out.count = *number;
    }
    if (const YamlNode* sides = node.find("mesh")) {
        if (auto right = mesh(*sides, out, path); !right) return Unexpected(std::move(right.error()));
    }
    std::int64_t total = 0;
    if (__builtin_mul_overflow(copies, out.instances(), &total) || total > mostInstances) {
        return fail(
            "hardware.count-overflow", fmt::format("the design would hold more than 2^53 copies of `{}`", nameOf(out)),
            "counts whose product stays below 2^53", "check `count` and `mesh` here and further out", at(node, path));
    }
    for (const YamlNode& item : node.items) {
        if (item.key == "kind" && !given) continue;
        if (item.key == "name" || item.key == "count" || item.key == "mesh") continue;
        if (item.key == "children") {
            if (auto right = children(item, out, path, total); !right) return Unexpected(std::move(right.error()));
        } else if (const AttributeSpec* spec = attributeSpec(out.kind, item.key)) {
            auto one = attribute(item, *spec, path + "." + item.key);
            if (!one) return Unexpected(std::move(one.error()));
            out.attributes.push_back(std::move(*one));
        } else {
            auto known = attributeNames(out.kind);
            known.insert(known.end(), {"kind", "name", "count", "mesh", "children"});
            unknownKey(item, out.unknown, known, fmt::format("a {}", toText(out.kind)), path);
        }
    }
    return out;
}

Expected<void> Reader::checkVersion(const YamlNode& root) const {
    const std::string wanted = fmt::format("`orrery: hardware/{}`", formatVersion);
    const YamlNode* mark = root.find("orrery");
    if (!mark) {
        return fail("hardware.not-hardware", "the file does not say that it is an Orrery hardware file", wanted,
                    "add that line at the top if it is one", at(root));
    }
    const std::string_view words = mark->scalar;
    if (!words.starts_with("hardware/")) {
        return fail("hardware.not-hardware", fmt::format("this is not a hardware file but `{}`", words), wanted,
                    words.starts_with("project/") ? "open it as a project" : didYouMean(words, {"hardware/1"}),
                    at(*mark));
    }
    int version = 0;
    const std::string_view digits = words.substr(9);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), version);
    const bool whole = end == digits.data() + digits.size() && !digits.empty();
    if (error == std::errc::result_out_of_range || (whole && version > formatVersion)) {
        return fail("hardware.newer-version",
                    fmt::format("the file is of version {}, this program knows version {}", digits, formatVersion),
                    wanted, "open it with a newer Orrery", at(*mark));
    }
    if (error != std::errc{} || !whole || version != formatVersion) {
        return fail("hardware.not-hardware", fmt::format("`{}` is not a version of hardware files", words), wanted, {},
                    at(*mark));
    }
    return {};
}

Expected<void> Reader::sources(const YamlNode& node, Hardware& out) const {
    if (node.isNull()) return {};
    if (!node.isMap()) return wrongType(node, "sources", "a map such as `{sheet: \"vendor data sheet\"}`", {});
    for (const YamlNode& item : node.items) {
        auto words = text(item, "sources." + item.key);
        if (!words) return Unexpected(std::move(words.error()));
        out.sources.push_back({item.key, std::move(*words)});
    }
    return {};
}

Expected<LoadedHardware> Reader::document(const YamlNode& root) {
    if (!root.isMap()) {
        return fail("hardware.not-hardware", fmt::format("the file holds {}, not a hardware design", root.typeText()),
                    "`orrery: hardware/1` and `system`", "is this the right file?", at(root));
    }
    if (auto right = checkVersion(root); !right) return Unexpected(std::move(right.error()));
    Hardware out;
    out.comment = commentAbove(root.line);
    const YamlNode* system = nullptr;
    for (const YamlNode& item : root.items) {
        if (item.key == "orrery") continue;
        if (item.key == "name" || item.key == "group" || item.key == "description" || item.key == "derived_from") {
            auto words = text(item, item.key);
            if (!words) return Unexpected(std::move(words.error()));
            (item.key == "name"          ? out.name
             : item.key == "group"       ? out.group
             : item.key == "description" ? out.description
                                         : out.derivedFrom) = std::move(*words);
        } else if (item.key == "sources") {
            if (auto right = sources(item, out); !right) return Unexpected(std::move(right.error()));
        } else if (item.key == "layout") {
            if (!item.isMap() && !item.isNull()) return wrongType(item, "layout", "a map", "layout");
            for (const YamlNode& entry : item.items) {
                out.layoutYaml += yamlScalar(entry.key) + ": " + yamlFlow(entry) + "\n";
            }
        } else if (item.key == "system") {
            system = &item;
        } else {
            unknownKey(item, out.unknown,
                       {"orrery", "name", "group", "description", "derived_from", "sources", "layout", "system"},
                       "a hardware file", {});
        }
    }
    if (!system) {
        return fail("hardware.no-system", "the file describes no system", "`system:` with `children`",
                    "the file may be cut short", at(root));
    }
    if (system->isNull()) {
        out.root.kind = ComponentKind::System;
    } else {
        auto tree = component(*system, {}, 1, ComponentKind::System);
        if (!tree) return Unexpected(std::move(tree.error()));
        tree->comment.clear();  // what stands between `system:` and its first key belongs to nobody
        out.root = std::move(*tree);
    }
    return LoadedHardware{std::move(out), std::move(warnings_)};
}

void noteUnverified(const Component& component, const std::string& path, std::vector<std::string>& into) {
    for (const Attribute& attribute : component.attributes) {
        const bool number = std::holds_alternative<Measure>(attribute.value) ||
                            std::holds_alternative<std::vector<TableRow>>(attribute.value);
        if (!number) continue;
        if (sourceOf(component, attribute) == "unverified") into.push_back(path + "." + attribute.name);
    }
    for (const Component& child : component.children) {
        noteUnverified(child, path + "/" + std::string(nameOf(child)), into);
    }
}

}  // namespace

Expected<LoadedHardware> readHardware(std::string_view yaml, std::string_view file) {
    auto tree = parseYaml(yaml, file);
    if (!tree) return Unexpected(std::move(tree.error()));
    auto loaded = Reader(yaml, file).document(*tree);
    if (!loaded) return loaded;
    std::vector<std::string> unverified;
    noteUnverified(loaded->hardware.root, std::string(nameOf(loaded->hardware.root)), unverified);
    if (!unverified.empty()) {
        const std::size_t count = unverified.size();
        if (count > 5) unverified.resize(5);
        Diagnostic note = warning("hardware.unverified",
                                  fmt::format("{} number{} nobody has verified: {}{}", count, count == 1 ? "" : "s",
                                              quotedList(unverified, "and"), count > 5 ? " and more" : ""),
                                  "check them against the maker's documents and give the source", {});
        note.severity = Severity::Note;
        note.place.file = std::string(file);
        loaded->warnings.push_back(std::move(note));
    }
    return loaded;
}

Expected<LoadedHardware> readHardwareFile(const std::string& path) {
    const auto text = readFile(path, {.most = yamlLargestFile,
                                      .code = "hardware.unreadable",
                                      .tooLarge = "yaml.too-large",
                                      .expected = "a hardware file",
                                      .pipes = true});
    if (!text) return Unexpected(text.error());
    return readHardware(*text, path);
}

Expected<Component> readComponent(std::string_view yaml) {
    auto tree = parseYaml(yaml);
    if (!tree) return Unexpected(std::move(tree.error()));
    return Reader(yaml, {}).component(*tree, {}, 1);
}

Expected<std::vector<Component>> readComponents(std::string_view yaml) {
    auto tree = parseYaml(yaml);
    if (!tree) return Unexpected(std::move(tree.error()));
    std::vector<Component> parts;
    if (tree->isMap() && tree->find("orrery")) {
        auto loaded = readHardware(yaml);
        if (!loaded) return Unexpected(std::move(loaded.error()));
        parts = std::move(loaded->hardware.root.children);
    } else if (tree->isSequence()) {
        Reader reader(yaml, {});
        for (const YamlNode& item : tree->items) {
            auto part = reader.component(item, {}, 1);
            if (!part) return Unexpected(std::move(part.error()));
            parts.push_back(std::move(*part));
        }
    } else {
        auto part = Reader(yaml, {}).component(*tree, {}, 1);
        if (!part) return Unexpected(std::move(part.error()));
        parts.push_back(std::move(*part));
    }
    if (parts.empty()) {
        return fail("hardware.no-components", "the text holds no components",
                    "a list of components such as `- {kind: dram, name: hbm}`", "copy components, or a hardware file");
    }
    return parts;
}

}  // namespace orrery
