// A mapping as an import description, and a first guess at one from the names of columns.

#include "evaluation/column_mapping.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>

namespace orrery {

namespace {

struct Usual {
    std::string_view field;
    std::array<std::string_view, 8> names;  ///< plainName() of columns, the likeliest first
};

constexpr std::array<Usual, 26> usual{{
    {"device", {"device", "gpu", "gpu-name", "device-name", "hardware", "accelerator"}},
    {"kind", {"kind", "operator-kind", "op-kind", "op-type", "operator", "op"}},
    {"dtype", {"dtype", "precision", "data-type", "gemm-dtype", "datatype", "prec", "type"}},
    {"function", {"function", "op-name", "kernel"}},
    {"batch", {"batch", "batch-size", "b", "bs"}},
    {"m", {"m", "rows"}},
    {"n", {"n", "cols", "columns"}},
    {"k", {"k", "reduction"}},
    {"queries", {"queries", "q-len", "query-len", "isl", "seq-q", "chunk-size", "prefill-chunk-size"}},
    {"keys", {"keys", "kv-len", "context", "seq-kv", "context-length", "kv-cache-size"}},
    {"heads", {"heads", "num-heads", "n-head", "n-q-head", "q-heads"}},
    {"kv_heads", {"kv-heads", "num-key-value-heads", "n-kv-head", "num-kv-heads"}},
    {"head_dim", {"head-dim", "head-size", "headdim"}},
    {"in_channels", {"in-channels", "c-in", "ic", "c"}},
    {"out_channels", {"out-channels", "c-out", "oc"}},
    {"height", {"height", "h", "input-height"}},
    {"width", {"width", "w", "input-width"}},
    {"kernel_height", {"kernel-height", "kernel-size", "r", "kh"}},
    {"kernel_width", {"kernel-width", "kernel-size", "s", "kw"}},
    {"stride", {"stride"}},
    {"pad", {"pad", "padding"}},
    {"ranks", {"ranks", "num-gpus", "gpus", "num-workers", "world-size", "nranks"}},
    {"message_bytes", {"message-bytes", "message-size", "bytes", "size-bytes", "size"}},
    {"collective", {"collective", "nccl-op", "collective-op"}},
    {"weights", {"weights", "weight-dtype", "weight-type"}},
    {"kv", {"kv", "kv-cache-dtype", "kv-dtype"}},
}};

struct UsualTime {
    std::string_view name, unit;
};
constexpr std::array<UsualTime, 28> times{
    {{"lat-us", "us"},     {"lat-ms", "ms"},      {"time-seconds", "s"},    {"runtime-ms", "ms"}, {"time-ms", "ms"},
     {"latency-ms", "ms"}, {"duration-ms", "ms"}, {"median-ms", "ms"},      {"mean-ms", "ms"},    {"time-us", "us"},
     {"latency-us", "us"}, {"duration-us", "us"}, {"median-us", "us"},      {"mean-us", "us"},    {"time-ns", "ns"},
     {"latency-ns", "ns"}, {"duration-ns", "ns"}, {"time-s", "s"},          {"latency-s", "s"},   {"duration-s", "s"},
     {"seconds", "s"},     {"time-usec", "us"},   {"kernel-time-us", "us"}, {"elapsed-ms", "ms"}, {"latency", "ms"},
     {"time", "ms"},       {"duration", "ms"},    {"elapsed", "ms"}}};

/// A column's name inside arithmetic.
std::string nameIn(const std::string& column) {
    const bool plain = !column.empty() && std::isdigit(static_cast<unsigned char>(column.front())) == 0 &&
                       std::all_of(column.begin(), column.end(), [](char c) {
                           return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
                       });
    return plain ? column : '`' + column + '`';
}

bool understood(const KernelField& field, const std::vector<std::string>& words) {
    return std::all_of(words.begin(), words.end(), [&](const std::string& word) {
        KernelDraft scratch;
        return field.setWord(scratch, word);
    });
}

std::string map(const std::vector<std::pair<std::string, std::string>>& items) {
    std::string text;
    for (const auto& [key, value] : items) {
        text.append(text.empty() ? "{" : ", ").append(yamlScalar(key)).append(": ").append(yamlScalar(value));
    }
    return text + "}";
}

}  // namespace

ColumnMapping guessMapping(const TableSample& sample) {
    ColumnMapping mapping;
    std::map<std::string, const std::string*, std::less<>> columns;
    for (const auto& column : sample.columns) columns.emplace(plainName(column), &column);
    for (const Usual& each : usual) {
        for (const auto name : each.names) {
            const auto found = name.empty() ? columns.end() : columns.find(name);
            if (found == columns.end()) continue;
            const KernelField* field = findKernelField(each.field);
            const auto& column = *found->second;
            if (each.field == "device" || field->setWord) {
                if (each.field == "kind" && !understood(*field, wordsOf(sample, column))) continue;
                (void)setMapped(mapping, each.field, '{' + column + '}');
            } else {
                (void)setMapped(mapping, each.field, nameIn(column));
            }
            break;
        }
    }
    for (const auto& time : times) {
        const auto found = columns.find(time.name);
        if (found == columns.end()) continue;
        mapping.time = nameIn(*found->second);
        mapping.unit = time.unit;
        break;
    }
    const auto has = [&](std::string_view field) { return !mappedTo(mapping, field).empty(); };
    if (!has("kind")) {
        const char* kind = has("ranks") && has("message_bytes")         ? "collective"
                           : has("in_channels") && has("kernel_height") ? "convolution"
                           : has("heads") && has("queries")             ? "prefill-attention"
                           : has("heads") && has("keys")                ? "decode-attention"
                           : has("m") && has("n") && has("k")           ? "gemm"
                                                                        : "";
        (void)setMapped(mapping, "kind", kind);
    }
    // Letters such as `h` or `c` mean something else in a table of another kind.
    if (const auto kind = kernelKind(mappedTo(mapping, "kind"))) {
        const KindFields fields = fieldsOfKind(*kind);
        const auto belongs = [&](std::string_view name) {
            return name == "kind" ||
                   std::find(fields.needed.begin(), fields.needed.end(), name) != fields.needed.end() ||
                   std::find(fields.possible.begin(), fields.possible.end(), name) != fields.possible.end();
        };
        std::erase_if(mapping.fields, [&](const auto& field) { return !belongs(field.first); });
    }
    return mapping;
}

std::string writeImport(const ColumnMapping& mapping, std::span<const std::string> files) {
    std::string text = "orrery: import/1\n";
    const auto line = [&](std::string_view key, std::string_view value) {
        if (!value.empty()) text += fmt::format("{}: {}\n", key, yamlScalar(value));
    };
    line("name", mapping.name);
    line("source", mapping.source);
    line("licence", mapping.licence);
    line("software", mapping.software);
    line("kind", mapping.truth);
    line("note", mapping.note);
    if (!files.empty()) {
        std::string list;
        for (const auto& file : files) list.append(list.empty() ? "[" : ", ").append(yamlScalar(file));
        text += "files: " + list + "]\n";
    }
    const bool column = mapping.device.size() > 2 && mapping.device.front() == '{';
    if (column) line("device_column", std::string_view(mapping.device).substr(1, mapping.device.size() - 2));
    if (!column) line("device", mapping.device);
    if (!mapping.devices.empty()) text += "devices: " + map(mapping.devices) + "\n";
    line("only", mapping.only);
    if (!mapping.time.empty()) {
        text += fmt::format("time: {{value: {}, unit: {}}}\n", yamlScalar(mapping.time), yamlScalar(mapping.unit));
    }
    line("noise", mapping.noise);
    // What words say is said there alone.
    const auto byWords = [&](const auto& field) {
        return std::any_of(mapping.words.begin(), mapping.words.end(), [&](const WordMeaning& word) {
            return word.field == field.first && field.second == '{' + word.column + '}';
        });
    };
    std::vector<std::pair<std::string, std::string>> fields;
    std::copy_if(mapping.fields.begin(), mapping.fields.end(), std::back_inserter(fields),
                 [&](const auto& field) { return !byWords(field); });
    if (!fields.empty()) text += "kernel: " + map(fields) + "\n";
    std::vector<std::string> columns;
    for (const auto& word : mapping.words) {
        if (std::find(columns.begin(), columns.end(), word.column) == columns.end()) columns.push_back(word.column);
    }
    if (!columns.empty()) text += "words:\n";
    for (const auto& name : columns) {
        text += fmt::format("  {}:\n", yamlScalar(name));
        std::vector<std::pair<std::string, std::vector<std::pair<std::string, std::string>>>> words;
        for (const auto& word : mapping.words) {
            if (word.column != name) continue;
            auto found = std::find_if(words.begin(), words.end(), [&](const auto& w) { return w.first == word.word; });
            if (found == words.end()) found = words.insert(words.end(), {word.word, {}});
            found->second.emplace_back(word.field, word.value);
        }
        for (const auto& [word, meanings] : words) text += fmt::format("    {}: {}\n", yamlScalar(word), map(meanings));
    }
    return text;
}

}  // namespace orrery
