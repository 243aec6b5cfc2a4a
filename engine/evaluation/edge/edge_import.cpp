#include "evaluation/edge/edge_import.h"

#include "base/text/csv_stream.h"
#include "base/text/read_file.h"
#include "evaluation/csv_file.h"
#include "evaluation/edge/network_facts.h"
#include "hardware/files/catalogue.h"
#include "workload/yaml/fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace orrery {
namespace {

std::vector<std::string> wordsOf(YamlFields& fields, std::string_view key) {
    std::vector<std::string> words;
    const YamlNode* node = fields.find(key);
    if (!node) return words;
    if (!node->isSequence())
        fields.refuse(*node, fmt::format("`{}` is {}", key, node->typeText()), "a list of columns", {});
    for (const YamlNode& item : node->items) words.push_back(item.scalar);
    return words;
}

}  // namespace

Expected<EdgeDescription> readEdgeDescription(const std::string& file) {
    const auto text = readFile(file);
    if (!text) return Unexpected(text.error());
    const auto root = parseYaml(*text, file);
    if (!root) return Unexpected(root.error());
    const auto wrong = [&](std::string message, std::string expected) {
        return fail("edge.description", std::move(message), std::move(expected), {}, Place{.file = file});
    };
    if (!root->isMap()) return wrong("a description is a map", "orrery: edge-import/1, columns, …");
    YamlFields fields(*root, file, "description");
    EdgeDescription out;
    if (fields.text("orrery", {}) != "edge-import/1") return wrong("this is no edge-import/1", "orrery: edge-import/1");
    out.id = std::filesystem::path(file).stem().string();
    out.name = fields.text("name", out.id);
    out.note = fields.text("note", {});
    fields.find("source");
    fields.find("licence");
    out.match = wordsOf(fields, "columns");
    out.columns.network = fields.text("network", {});
    out.columns.with = wordsOf(fields, "with");
    out.columns.devices = wordsOf(fields, "devices");
    out.columns.values = wordsOf(fields, "values");
    out.columns.facts = wordsOf(fields, "facts");
    out.columns.whole = fields.text("whole", {});
    if (const std::string beside = fields.text("beside", {}); !beside.empty())
        out.beside = (std::filesystem::path(file).parent_path() / beside).string();
    out.columns.rates = fields.flag("rates", false);
    fields.refuseOthers();
    if (fields.problem()) {
        Diagnostic problem = *fields.problem();
        problem.code = "edge.description";
        return Unexpected(problem);
    }
    if (out.match.empty()) return wrong("`columns` is missing", "columns that a file must have");
    if (out.columns.devices.empty() != out.columns.values.empty())
        return wrong("`devices` and `values` go together", "both, or none where each device has a column");
    return out;
}

std::vector<EdgeDescription> shippedEdgeDescriptions() {
    std::vector<EdgeDescription> all;
    std::error_code ignored;
    std::vector<std::string> files;
    for (const auto& each :
         std::filesystem::directory_iterator(std::filesystem::path(presetsFolder()) / "references" / "edge", ignored))
        if (each.path().extension() == ".yaml") files.push_back(each.path().string());
    std::sort(files.begin(), files.end());
    for (const std::string& file : files)
        if (auto read = readEdgeDescription(file)) all.push_back(std::move(*read));
    return all;
}

const EdgeDescription* descriptionFor(std::span<const EdgeDescription> all, std::span<const std::string> header) {
    const EdgeDescription* found = nullptr;
    for (const EdgeDescription& each : all) {
        const bool fits = std::all_of(each.match.begin(), each.match.end(), [&](const std::string& name) {
            return std::find(header.begin(), header.end(), name) != header.end();
        });
        if (fits && (!found || each.match.size() > found->match.size())) found = &each;
    }
    return found;
}

bool isEdgeTable(const std::string& path) {
    if (!path.ends_with(".csv") && !path.ends_with(".csv.gz")) return false;
    auto stream = CsvStream::open(path);
    if (!stream) return false;
    const auto first = stream->next();
    if (!first || !*first) return false;
    std::vector<std::string> header;
    for (const std::string_view cell : stream->cells()) header.emplace_back(cell);
    const auto has = [&](std::string_view name) {
        return std::find(header.begin(), header.end(), name) != header.end();
    };
    if (has("arch") || has("cell") || has("network") || has("model_name")) return true;
    if (has("encoder_embed_dim") && has("decoder_layer_num")) return true;
    const auto all = shippedEdgeDescriptions();
    return descriptionFor(all, header) != nullptr;
}

Expected<EdgeTable> openEdgeTable(const std::string& path, EdgeColumns columns) {
    std::string beside;
    if (columns.devices.empty() && columns.values.empty()) {
        const auto file = readCsv(path);
        if (!file) return Unexpected(file.error());
        const auto all = shippedEdgeDescriptions();
        if (const EdgeDescription* found = descriptionFor(all, file->header)) {
            if (columns.network.empty()) columns.network = found->columns.network;
            if (columns.with.empty()) columns.with = found->columns.with;
            if (columns.facts.empty()) columns.facts = found->columns.facts;
            columns.devices = found->columns.devices;
            columns.values = found->columns.values;
            columns.rates = columns.rates || found->columns.rates;
            if (columns.whole.empty()) columns.whole = found->columns.whole;
            beside = found->beside;
        }
    }
    auto table = readEdgeTable(path, columns);
    if (!table || beside.empty()) return table;
    // Other networks than those are no error.
    const auto facts = openEdgeTable(beside);
    if (!facts) return Unexpected(facts.error());
    static_cast<void>(addBeside(*table, *facts));
    return table;
}

}  // namespace orrery
