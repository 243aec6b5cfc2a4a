#include "evaluation/import_description.h"

#include "base/text/nearest.h"
#include "base/text/read_file.h"
#include "base/text/words.h"
#include "hardware/files/catalogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>

namespace orrery {

namespace {

struct TimeUnit {
    std::string_view name;
    double seconds;
};
constexpr std::array<TimeUnit, 5> timeUnits{{{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"µs", 1e-6}, {"ns", 1e-9}}};

class DescriptionReader {
public:
    DescriptionReader(const YamlNode& root, const std::string& file, bool own) : root_(root), file_(file) {
        result_.own = own;
    }

    Expected<ImportDescription> read() {
        if (!root_.isMap()) wrong(root_, "a description is a map", "name, time, kernel, …");
        for (const YamlNode& item : root_.items) {
            if (problem_) break;
            key(item);
        }
        if (!problem_ && !timeGiven_) wrong(root_, "`time` is missing", "time: {value: column, unit: ms}");
        if (!problem_ && !result_.own && result_.fields.empty() && result_.words.empty()) {
            wrong(root_, "`kernel` is missing", "kernel: {kind: gemm, m: column, …}");
        }
        if (problem_) return tl::unexpected(std::move(*problem_));
        result_.file = file_;
        result_.id = std::filesystem::path(file_).stem().string();
        return std::move(result_);
    }

private:
    void wrong(const YamlNode& at, std::string message, std::string expected, std::string hint = {}) {
        if (problem_) return;
        problem_ = fail("reference.description", std::move(message), std::move(expected), std::move(hint),
                        Place{file_, at.line, at.column, {}})
                       .value();
    }
    std::string text(const YamlNode& node) {
        if (!node.isScalar()) wrong(node, fmt::format("`{}` is {}", node.key, node.typeText()), "text");
        return node.scalar;
    }
    std::vector<std::string> list(const YamlNode& node) {
        std::vector<std::string> words;
        if (!node.isSequence()) wrong(node, fmt::format("`{}` is {}", node.key, node.typeText()), "a list");
        for (const YamlNode& item : node.items) words.push_back(text(item));
        return words;
    }
    const YamlNode* map(const YamlNode& node) {
        if (!node.isMap()) wrong(node, fmt::format("`{}` is {}", node.key, node.typeText()), "a map");
        return node.isMap() ? &node : nullptr;
    }
    Expression expression(const YamlNode& node) {
        auto parsed = Expression::parse(text(node));
        if (parsed) return std::move(*parsed);
        auto error = std::move(parsed.error());
        error.place = Place{file_, node.line, node.column, {}};
        if (!problem_) problem_ = std::move(error);
        return {};
    }
    void readTime(const YamlNode& node) {
        timeGiven_ = true;
        const YamlNode* value = node.isMap() ? node.find("value") : nullptr;
        const YamlNode* unit = node.isMap() ? node.find("unit") : nullptr;
        if (!value || !unit) {
            wrong(node, "`time` needs a value and a unit", "time: {value: latency, unit: ms}");
            return;
        }
        result_.time = expression(*value);
        const auto found =
            std::find_if(timeUnits.begin(), timeUnits.end(), [&](const TimeUnit& u) { return u.name == unit->scalar; });
        if (found == timeUnits.end()) {
            wrong(*unit, fmt::format("'{}' is no unit of time", unit->scalar), "s, ms, us or ns");
            return;
        }
        result_.timeUnit = unit->scalar;
        result_.secondsPerUnit = found->seconds;
    }
    std::vector<FieldRule> fieldRules(const YamlNode& node) {
        std::vector<FieldRule> rules;
        if (!map(node)) return rules;
        for (const YamlNode& item : node.items) rules.push_back(rule(item));
        // A word field that another depends on (batch after kind) is settled in finishKernel; order is the file's.
        return rules;
    }
    FieldRule rule(const YamlNode& item) {
        FieldRule rule;
        rule.field = findKernelField(item.key);
        if (!rule.field) {
            std::vector<std::string> names;
            for (const auto& field : kernelFields()) names.emplace_back(field.name);
            wrong(item, fmt::format("a kernel has no field `{}`", item.key), "a field of kernels",
                  didYouMean(item.key, names));
            return rule;
        }
        if (rule.field->setNumber) {
            rule.number = expression(item);
            return rule;
        }
        const auto value = text(item);
        if (value.size() > 2 && value.starts_with("{") && value.ends_with("}")) {
            rule.column = value.substr(1, value.size() - 2);
            return rule;
        }
        KernelDraft scratch;
        if (!rule.field->setWord(scratch, value)) {
            wrong(item, fmt::format("'{}' is no {}", value, item.key), std::string(rule.field->words),
                  "a column's name stands in braces inside quotes: \"{column}\"");
        }
        rule.word = value;
        return rule;
    }
    WordCase wordCase(const YamlNode& node) {
        WordCase made;
        if (!map(node)) return made;
        for (const YamlNode& item : node.items) {
            if (item.key == "time")
                made.time = expression(item);
            else if (item.key == "noise")
                made.noise = expression(item);
            else
                made.fields.push_back(rule(item));
        }
        return made;
    }
    void readWords(const YamlNode& node) {
        if (!map(node)) return;
        for (const YamlNode& column : node.items) {
            WordRule rule{column.key, {}};
            if (!map(column)) return;
            for (const YamlNode& word : column.items) rule.words[word.key] = wordCase(word);
            result_.words.push_back(std::move(rule));
        }
    }
    void readKind(const YamlNode& node) {
        const auto word = text(node);
        for (const auto kind : {ReferenceKind::Measured, ReferenceKind::Summed, ReferenceKind::Simulated}) {
            if (word == toText(kind)) {
                result_.kind = kind;
                return;
            }
        }
        wrong(node, fmt::format("'{}' is no kind of reference", word), "measured, summed or simulated");
    }
    void readTiming(const YamlNode& node) {
        const auto word = text(node);
        result_.hostTimed = word == "host";
        if (word != "host" && word != "device") {
            wrong(node, fmt::format("'{}' is no timing", word), "host (launch and waiting inside) or device");
        }
    }
    void readCopies(const YamlNode& node) {
        const auto copies = wholeIn(text(node));
        if (copies && *copies >= 1 && *copies <= 1'000'000)
            result_.weightCopies = static_cast<int>(*copies);
        else
            wrong(node, fmt::format("`weight_copies` is '{}'", text(node)), "a whole number from 1 to 1000000");
    }
    void key(const YamlNode& item) {
        const std::string& name = item.key;
        if (name == "orrery" || name == "rows" || name == "file") return;
        if (name == "name")
            result_.name = text(item);
        else if (name == "source")
            result_.source = text(item);
        else if (name == "licence")
            result_.licence = text(item);
        else if (name == "retrieved")
            result_.retrieved = text(item);
        else if (name == "software")
            result_.software = text(item);
        else if (name == "note")
            result_.note = text(item);
        else if (name == "kind")
            readKind(item);
        else if (name == "timing")
            readTiming(item);
        else if (name == "weight_copies")
            readCopies(item);
        else if (name == "files")
            result_.files = list(item);
        else if (name == "columns")
            result_.columns = list(item);
        else if (name == "device")
            result_.device = text(item);
        else if (name == "device_column")
            result_.deviceColumn = text(item);
        else if (name == "time")
            readTime(item);
        else if (name == "words")
            readWords(item);
        else if (name == "only")
            result_.only = expression(item);
        else if (name == "kernel") {
            auto rules = fieldRules(item);
            result_.fields.insert(result_.fields.end(), rules.begin(), rules.end());
        } else if (name == "noise") {
            const YamlNode* value = item.isMap() ? item.find("value") : &item;
            if (!value)
                wrong(item, "`noise` needs a value", "noise: {value: std / mean}");
            else
                result_.noise = expression(*value);
        } else if (name == "devices" || name == "defaults") {
            if (!map(item)) return;
            for (const YamlNode& each : item.items) {
                if (name == "devices")
                    result_.devices[plainName(each.key)] = text(each);
                else
                    result_.defaults[each.key] = text(each);
            }
        } else {
            wrong(item, fmt::format("a description has no key `{}`", name),
                  "name, source, licence, retrieved, software, kind, note, files, columns, device, device_column, "
                  "devices, defaults, only, time, timing, weight_copies, noise, kernel, words");
        }
    }

    const YamlNode& root_;
    const std::string& file_;
    ImportDescription result_;
    std::optional<Diagnostic> problem_;
    bool timeGiven_ = false;
};

ImportDescriptions readFolder(const std::string& folder) {
    ImportDescriptions result;
    std::vector<std::string> paths;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
        if (entry.path().extension() == ".yaml") paths.push_back(entry.path().string());
    }
    std::sort(paths.begin(), paths.end());
    for (const auto& path : paths) {
        auto read = readImportFile(path);
        if (read) {
            result.all.push_back(std::move(*read));
        } else {
            result.warnings.push_back(std::move(read.error()));
        }
    }
    return result;
}

}  // namespace

Expected<ImportDescription> readDescription(const YamlNode& root, const std::string& file, bool own) {
    return DescriptionReader(root, file, own).read();
}

Expected<ImportDescription> importOf(const std::string& text) {
    const auto read = [&]() -> Expected<ImportDescription> {
        auto root = parseYaml(text, "mapping");
        if (!root) return tl::unexpected(std::move(root.error()));
        const YamlNode* format = root->find("orrery");
        if (!format || format->scalar != "import/1")
            return fail("reference.version", "this is no import description of this version", "orrery: import/1");
        return readDescription(*root, "mapping");
    };
    auto description = read();
    if (!description) {
        // Lines of a text that nobody has seen would only mislead.
        auto error = std::move(description.error());
        error.place = {};
        return tl::unexpected(std::move(error));
    }
    description->text = text;
    return description;
}

Expected<ImportDescription> readImportFile(const std::string& path) {
    const auto text = readFile(path, {.code = "reference.unreadable", .expected = "a YAML file", .pipes = true});
    if (!text) return tl::unexpected(text.error());
    auto root = parseYaml(*text, path);
    if (!root) return tl::unexpected(std::move(root.error()));
    const YamlNode* format = root->find("orrery");
    if (!format || format->scalar != "import/1") {
        return fail("reference.version", "this is no import description of this version", "orrery: import/1", {},
                    Place{path, format ? format->line : 1, 0, {}});
    }
    return readDescription(*root, path);
}

const ImportDescriptions& shippedImports() {
    static const ImportDescriptions all = readFolder(presetsFolder() + "/references/import");
    return all;
}

namespace {

bool matchFrom(std::string_view pattern, std::string_view name, std::map<std::string, std::string>& found) {
    if (pattern.empty()) return name.empty();
    if (pattern.front() != '{') {
        return !name.empty() && pattern.front() == name.front() && matchFrom(pattern.substr(1), name.substr(1), found);
    }
    const auto close = pattern.find('}');
    if (close == std::string_view::npos) return false;
    const std::string key(pattern.substr(1, close - 1));
    for (std::size_t length = 1; length <= name.size() && name[length - 1] != '/'; ++length) {
        if (!matchFrom(pattern.substr(close + 1), name.substr(length), found)) continue;
        if (key != "any") found[key] = std::string(name.substr(0, length));
        return true;
    }
    return false;
}

}  // namespace

std::optional<std::map<std::string, std::string>> matchFileName(std::string_view pattern, std::string_view path) {
    // As many folders as the pattern speaks of.
    auto start = path.size();
    for (auto parts = std::count(pattern.begin(), pattern.end(), '/') + 1; parts > 0 && start > 0; --parts) {
        const auto slash = path.substr(0, start).find_last_of('/');
        start = slash == std::string_view::npos ? 0 : slash;
    }
    std::string name(path.substr(start));
    if (name.starts_with('/')) name.erase(0, 1);
    if (name.ends_with(".gz")) name.resize(name.size() - 3);
    // The same table in another form.
    if (name.ends_with(".parquet")) name.replace(name.size() - 8, 8, ".csv");
    std::map<std::string, std::string> found;
    if (name.size() > 255 || !matchFrom(pattern, name, found)) return std::nullopt;
    return found;
}

std::string plainName(std::string_view name) {
    std::string plain;
    for (const char c : name) {
        const auto letter = static_cast<unsigned char>(c);
        if (std::isalnum(letter) != 0) {
            plain.push_back(static_cast<char>(std::tolower(letter)));
        } else if (!plain.empty() && plain.back() != '-') {
            plain.push_back('-');
        }
    }
    while (!plain.empty() && plain.back() == '-') plain.pop_back();
    return plain;
}

}  // namespace orrery
