#include "store/judging/judging_file.h"

#include "base/hash.h"
#include "base/text/nearest.h"
#include "base/text/read_file.h"
#include "evaluation/reference_table.h"
#include "hardware/files/catalogue.h"
#include "methods/method.h"
#include "workload/yaml/fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace orrery {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t mostItems = 1000;

std::optional<Facet> facetNamed(std::string_view word) {
    for (const Facet facet : facets) {
        if (toText(facet) == word) return facet;
    }
    return std::nullopt;
}

std::vector<std::string> facetWords() {
    std::vector<std::string> words;
    for (const Facet facet : facets) words.emplace_back(toText(facet));
    return words;
}

/// Text items of a list, or of one text.
std::vector<std::string> textsOf(YamlFields& fields, const YamlNode& node) {
    std::vector<std::string> all;
    if (node.isScalar()) return {node.scalar};
    if (!node.isSequence() || node.items.size() > mostItems) {
        fields.refuse(node, "this is no list", "a list of texts", "[first, second]");
        return all;
    }
    for (const YamlNode& item : node.items) {
        if (!item.isScalar()) {
            fields.refuse(item, fmt::format("this is {}", item.typeText()), "a text", {});
            return all;
        }
        all.push_back(item.scalar);
    }
    return all;
}

std::string resolved(const std::string& path, const fs::path& folder) {
    if (path == "shipped" || path.empty() || fs::path(path).is_absolute()) return path;
    if (path.starts_with("presets/")) return (fs::path(presetsFolder()) / path.substr(8)).string();
    return (folder / path).lexically_normal().string();
}

void readFacetsOff(YamlFields& fields, const YamlNode& node, FacetsOff& off) {
    if (!node.isMap()) return fields.refuse(node, fmt::format("this is {}", node.typeText()), "a map", {});
    for (const YamlNode& item : node.items) {
        const auto facet = facetNamed(item.key);
        if (!facet) {
            return fields.refuse(item, fmt::format("rows have no '{}'", item.key), quotedList(facetWords(), "or"),
                                 didYouMean(item.key, facetWords()));
        }
        for (std::string& word : textsOf(fields, item)) off[*facet].insert(std::move(word));
    }
}

void readCompare(YamlFields& fields, const YamlNode& node, std::map<std::string, bool>& compare) {
    if (!node.isMap()) return fields.refuse(node, fmt::format("this is {}", node.typeText()), "{booster: false}", {});
    for (const YamlNode& item : node.items) {
        if (!item.isScalar() || (item.scalar != "true" && item.scalar != "false"))
            return fields.refuse(item, "a method is compared or not", "true or false", {});
        compare[item.key] = item.scalar == "true";
    }
}

// Descriptions are read once here, so that a wrong one is refused where it stands.
void readImports(YamlFields& fields, const YamlNode& node, const fs::path& folder, JudgingQuestion& question) {
    if (!node.isMap() || node.items.size() > mostItems)
        return fields.refuse(node, "these are no descriptions by reference", "{table.csv: description}", {});
    for (const YamlNode& item : node.items) {
        const std::string table = resolved(item.key, folder);
        if (std::find(question.references.begin(), question.references.end(), table) == question.references.end())
            return fields.refuse(item, fmt::format("'{}' is none of the references", item.key), "a file named there",
                                 {});
        if (const auto read = importOf(item.isScalar() ? item.scalar : std::string()); !read)
            return fields.refuse(item, read.error().message, read.error().expected, read.error().hint);
        question.imports[table] = item.scalar;
    }
}

void readSaved(YamlFields& fields, const YamlNode& node, const std::string& file, SavedRows& saved) {
    YamlFields inside(node, file, "saved");
    saved.version = inside.text("version", {});
    saved.rows = static_cast<std::size_t>(inside.whole("rows", 0, 1'000'000'000, 0));
    saved.hash = inside.text("hash", {});
    saved.calibrations = inside.text("calibrations", {});
    saved.results = inside.text("results", {});
    inside.refuseOthers();
    if (inside.problem())
        fields.refuse(node, inside.problem()->message, inside.problem()->expected, inside.problem()->hint);
}

JudgingQuestion readQuestion(YamlFields& fields, const std::string& file) {
    const fs::path folder = fs::path(file).parent_path();
    JudgingQuestion question;
    question.name = fields.text("name", {});
    question.meaning = fields.text("meaning", {});
    if (const YamlNode* node = fields.find("references")) question.references = textsOf(fields, *node);
    if (question.references.empty())
        fields.refuse(fields.map(), "no references are named", "references: [shipped]", {});
    for (std::string& each : question.references) each = resolved(each, folder);
    if (const YamlNode* node = fields.find("imports")) readImports(fields, *node, folder, question);
    question.where = fields.text("where", {});
    if (const auto filter = parseFilter(question.where); !filter) {
        const Diagnostic& wrong = filter.error();
        fields.refuse(*fields.find("where"), wrong.message, wrong.expected, wrong.hint);
    }
    if (const YamlNode* node = fields.find("without")) readFacetsOff(fields, *node, question.without);
    question.most = static_cast<std::size_t>(fields.whole("most", 1, 1'000'000, 2000));
    question.seen = fields.flag("seen", false);
    question.leaveDeviceOut = fields.flag("leave_device_out", false);
    if (const YamlNode* node = fields.find("methods")) {
        question.methods = textsOf(fields, *node);
        for (std::string& method : question.methods) {
            const auto choice = methodChoice(method, builtinMethods());
            if (choice) {
                method = toText(*choice);
            } else {
                fields.refuse(*node, choice.error().message, choice.error().expected, choice.error().hint);
            }
        }
    }
    if (const YamlNode* node = fields.find("compare")) readCompare(fields, *node, question.compare);
    question.common = fields.flag("common", true);
    question.equal = fields.flag("equal", true);
    question.published = fields.flag("published", false);
    const std::string by = fields.text("by", "platform");
    if (const auto facet = facetNamed(by)) {
        question.by = *facet;
    } else {
        fields.refuse(*fields.find("by"), fmt::format("there is no matrix by '{}'", by), quotedList(facetWords(), "or"),
                      didYouMean(by, facetWords()));
    }
    if (const YamlNode* node = fields.find("results")) question.results = textsOf(fields, *node);
    for (std::string& each : question.results) each = resolved(each, folder);
    if (const YamlNode* node = fields.find("saved")) readSaved(fields, *node, file, question.saved);
    return question;
}

Diagnostic ours(Diagnostic diagnostic) {
    diagnostic.code = "judging.value";
    return diagnostic;
}

/// The root of a document of this kind and version.
Expected<YamlNode> rootOf(std::string_view yaml, const std::string& file, std::string_view kind) {
    auto root = parseYaml(yaml, file, YamlAliases::Refused);
    if (!root) return tl::unexpected(std::move(root.error()));
    const YamlNode* format = root->find("orrery");
    const std::string wanted = fmt::format("{}/1", kind);
    if (format && format->scalar == wanted) return root;
    const bool newer = format && format->scalar.starts_with(fmt::format("{}/", kind));
    return fail(newer ? "judging.version" : "judging.format",
                fmt::format("this is no {} that this version reads", kind), fmt::format("orrery: {}", wanted),
                newer ? "it is from a newer Orrery" : "a file begins with this line",
                Place{file, format ? format->line : 1, 0, {}});
}

Expected<std::string> textOf(const std::string& path) {
    return readFile(path, {.most = yamlLargestFile, .code = "judging.unreadable", .expected = "a YAML file"});
}

std::string listed(const std::vector<std::string>& all) {
    std::string text;
    for (const std::string& each : all) text.append(text.empty() ? "" : ", ").append(yamlScalar(each));
    return "[" + text + "]";
}

std::vector<std::string> relativeTo(std::vector<std::string> paths, const fs::path& folder) {
    const fs::path presets = presetsFolder();
    for (std::string& path : paths) {
        if (path == "shipped") continue;
        const fs::path inside = fs::path(path).lexically_relative(presets);
        if (!inside.empty() && *inside.begin() != "..") {
            path = "presets/" + inside.string();
            continue;
        }
        if (folder.empty()) continue;
        const fs::path near = fs::absolute(path).lexically_relative(fs::absolute(folder));
        if (!near.empty() && std::count(near.begin(), near.end(), fs::path("..")) <= 2) path = near.string();
    }
    return paths;
}

}  // namespace

std::string judgingKind(std::string_view text) {
    const auto at = text.substr(0, 4096).find("orrery:");
    if (at == std::string_view::npos) return {};
    auto value = text.substr(at + 7, 40);
    value.remove_prefix(std::min(value.find_first_not_of(" \t\"'"), value.size()));
    return value.starts_with("judging/") ? "judging" : value.starts_with("benchmark/") ? "benchmark" : "";
}

Expected<JudgingQuestion> readJudging(std::string_view yaml, const std::string& file) {
    const auto root = rootOf(yaml, file, "judging");
    if (!root) return tl::unexpected(root.error());
    YamlFields fields(*root, file, {});
    fields.find("orrery");
    JudgingQuestion question = readQuestion(fields, file);
    fields.refuseOthers();
    if (fields.problem()) return tl::unexpected(ours(*fields.problem()));
    if (question.name.empty()) question.name = fs::path(file).stem().string();
    return question;
}

Expected<JudgingQuestion> readJudgingFile(const std::string& path) {
    const auto text = textOf(path);
    if (!text) return tl::unexpected(text.error());
    return readJudging(*text, path);
}

Expected<Benchmark> readBenchmarkFile(const std::string& path) {
    const auto text = textOf(path);
    if (!text) return tl::unexpected(text.error());
    const auto root = rootOf(*text, path, "benchmark");
    if (!root) return tl::unexpected(root.error());
    YamlFields fields(*root, path, {});
    fields.find("orrery");
    Benchmark benchmark;
    benchmark.name = fields.text("name", "Benchmark");
    benchmark.meaning = fields.text("meaning", {});
    const YamlNode* parts = fields.required("parts", "a list of questions");
    fields.refuseOthers();
    if (parts && !parts->isSequence()) fields.refuse(*parts, "parts are no list", "a list of questions", {});
    if (fields.problem()) return tl::unexpected(ours(*fields.problem()));
    for (const YamlNode& item : parts->items) {
        YamlFields inside(item, path, fmt::format("parts[{}]", benchmark.parts.size() + 1));
        JudgingQuestion part = readQuestion(inside, path);
        part.id = inside.text("id", {});
        inside.refuseOthers();
        const bool twice = std::any_of(benchmark.parts.begin(), benchmark.parts.end(),
                                       [&](const JudgingQuestion& each) { return each.id == part.id; });
        if (part.id.empty() || twice) {
            inside.refuse(item, part.id.empty() ? "a part has no id" : fmt::format("'{}' stands twice", part.id),
                          "an id of its own", "id: kernels");
        }
        if (inside.problem()) return tl::unexpected(ours(*inside.problem()));
        if (part.name.empty()) part.name = part.id;
        benchmark.parts.push_back(std::move(part));
    }
    Hash hash;
    benchmark.hash = hash.add(*text).hex();
    return benchmark;
}

std::string shippedBenchmark() {
    return presetsFolder() + "/benchmarks/default.yaml";
}

std::string writeJudging(const JudgingQuestion& question, const std::string& folder) {
    std::string out = "orrery: judging/1\n";
    const auto line = [&](std::string_view key, const std::string& value) {
        out += fmt::format("{}: {}\n", key, value);
    };
    if (!question.name.empty()) line("name", yamlScalar(question.name));
    if (!question.meaning.empty()) line("meaning", yamlScalar(question.meaning));
    line("references", listed(relativeTo(question.references, folder)));
    if (!question.imports.empty()) {
        std::string said;
        for (const auto& [table, text] : question.imports)
            said += fmt::format("{}{}: {}", said.empty() ? "" : ", ", yamlScalar(relativeTo({table}, folder).front()),
                                yamlScalar(text));
        line("imports", "{" + said + "}");
    }
    if (!question.where.empty()) line("where", yamlScalar(question.where));
    if (!question.without.empty()) {
        std::string off;
        for (const auto& [facet, words] : question.without)
            off +=
                fmt::format("{}{}: {}", off.empty() ? "" : ", ", toText(facet), listed({words.begin(), words.end()}));
        line("without", "{" + off + "}");
    }
    line("most", std::to_string(question.most));
    if (question.seen) line("seen", "true");
    if (question.leaveDeviceOut) line("leave_device_out", "true");
    if (!question.methods.empty()) line("methods", listed(question.methods));
    if (!question.compare.empty()) {
        std::string said;
        for (const auto& [method, in] : question.compare)
            said += fmt::format("{}{}: {}", said.empty() ? "" : ", ", yamlScalar(method), in);
        line("compare", "{" + said + "}");
    }
    line("common", question.common ? "true" : "false");
    line("equal", question.equal ? "true" : "false");
    line("by", std::string(toText(question.by)));
    if (question.published) line("published", "true");
    if (!question.results.empty()) line("results", listed(relativeTo(question.results, folder)));
    if (!question.saved.hash.empty()) {
        const auto known = [](std::string_view key, const std::string& hash) {
            return hash.empty() ? std::string() : fmt::format(", {}: {}", key, yamlScalar(hash));
        };
        line("saved",
             fmt::format("{{version: {}, rows: {}, hash: {}{}{}}}", yamlScalar(question.saved.version),
                         question.saved.rows, yamlScalar(question.saved.hash),
                         known("calibrations", question.saved.calibrations), known("results", question.saved.results)));
    }
    return out;
}

std::string judgingCommand(const std::string& file) {
    const bool plain = file.find_first_of(" '\"$`\\&;()<>|*?") == std::string::npos;
    std::string quoted;
    for (const char c : file) quoted.append(c == '\'' ? "'\\''" : std::string(1, c));
    return plain ? "orrery-cli evaluate " + file : "orrery-cli evaluate '" + quoted + "'";
}

}  // namespace orrery
