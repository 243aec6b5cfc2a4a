#include "evaluation/tool_claims.h"

#include "base/text/nearest.h"
#include "base/text/read_file.h"
#include "hardware/files/catalogue.h"
#include "workload/yaml/fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

namespace orrery {

namespace {

constexpr std::array methodologies{Methodology::Analytical, Methodology::CycleAccurate, Methodology::TraceDriven,
                                   Methodology::Learned, Methodology::Hybrid};
constexpr std::array levels{MethodLevel::Kernel, MethodLevel::Model, MethodLevel::System};

/// One of some words; says what is wrong of any other, and which there are.
template <class Value, std::size_t count>
Value oneOf(YamlFields& fields, const char* key, const std::array<Value, count>& values) {
    const std::string text = fields.text(key, {});
    std::vector<std::string> words;
    for (const Value value : values) {
        words.emplace_back(toText(value));
        if (words.back() == text) return value;
    }
    if (const YamlNode* node = fields.find(key))
        fields.refuse(*node, fmt::format("'{}' is no {}", text, key), quotedList(words, "or"), didYouMean(text, words));
    return values.front();
}

Expected<Claim> readClaim(const YamlNode& item, const std::string& file) {
    const auto wrong = [&](std::string message, std::string expected) {
        return fail("claims.description", std::move(message), std::move(expected),
                    "a claim has tool, methodology, platform, class, level, error, what and source",
                    Place{file, item.line, item.column, {}});
    };
    if (!item.isMap()) return wrong("a claim is a map", "{tool: …, error: …, source: …}");
    YamlFields fields(item, file, "claims");
    Claim claim;
    claim.tool = fields.text("tool", {});
    claim.what = fields.text("what", {});
    claim.source = fields.text("source", {});
    claim.platform = fields.text("platform", {});
    claim.workloadClass = fields.text("class", {});
    claim.methodology = oneOf(fields, "methodology", methodologies);
    claim.level = oneOf(fields, "level", levels);
    claim.error = fields.number("error", 0, 1000, 0);
    claim.seconds = fields.number("seconds", 0, 1e9, 0);
    claim.rows = fields.whole("rows", 0, 1'000'000'000, 0);
    fields.refuseOthers();
    if (fields.problem()) {
        Diagnostic problem = *fields.problem();
        problem.code = "claims.description";
        return tl::unexpected(std::move(problem));
    }
    if (claim.tool.empty()) return wrong("the tool is missing", "its name");
    if (!(claim.error > 0)) return wrong("the error is missing", "a share: 0.1 is 10 %");
    if (claim.source.empty()) return wrong("the source is missing", "who published it, and where");
    return claim;
}

ShippedClaims readShippedClaims() {
    ShippedClaims shipped;
    std::vector<std::string> files;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(presetsFolder() + "/claims", error)) {
        if (entry.path().extension() == ".yaml") files.push_back(entry.path().string());
    }
    std::sort(files.begin(), files.end());
    for (const std::string& file : files) {
        auto read = readClaims(file);
        if (!read) {
            shipped.warnings.push_back(std::move(read.error()));
            continue;
        }
        for (Claim& each : *read) shipped.all.push_back(std::move(each));
    }
    return shipped;
}

}  // namespace

Expected<std::vector<Claim>> readClaims(const std::string& file) {
    const auto text = readFile(file, {.most = yamlLargestFile, .code = "claims.unreadable", .expected = "a YAML file"});
    if (!text) return tl::unexpected(text.error());
    auto root = parseYaml(*text, file);
    if (!root) return tl::unexpected(std::move(root.error()));
    const YamlNode* format = root->find("orrery");
    if (!format || format->scalar != "claims/1") {
        return fail("claims.format", "this is no list of claims that this version reads", "orrery: claims/1", {},
                    Place{file, format ? format->line : 1, 0, {}});
    }
    const YamlNode* list = root->find("claims");
    if (!list || !list->isSequence()) {
        return fail("claims.description", "the file has no list of claims", "claims: [...]", {},
                    Place{file, list ? list->line : 1, 0, {}});
    }
    std::vector<Claim> all;
    for (const YamlNode& item : list->items) {
        auto read = readClaim(item, file);
        if (!read) return tl::unexpected(std::move(read.error()));
        all.push_back(std::move(*read));
    }
    return all;
}

const ShippedClaims& shippedClaims() {
    static const ShippedClaims shipped = readShippedClaims();
    return shipped;
}

}  // namespace orrery
