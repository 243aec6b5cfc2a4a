#include "evaluation/column_mapping.h"

#include "base/text/csv_stream.h"
#include "base/text/nearest.h"
#include "base/text/words.h"
#include "evaluation/reference_checks.h"
#include "evaluation/reference_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace orrery {

namespace {

constexpr std::array<std::string_view, 11> keys{"name",   "source", "licence", "software", "note", "truth",
                                                "device", "time",   "unit",    "noise",    "only"};
constexpr std::array<std::string_view, 5> units{"s", "ms", "us", "µs", "ns"};

std::string* memberOf(ColumnMapping& mapping, std::string_view key) {
    const std::array<std::string*, keys.size()> members{
        &mapping.name,   &mapping.source, &mapping.licence, &mapping.software, &mapping.note, &mapping.truth,
        &mapping.device, &mapping.time,   &mapping.unit,    &mapping.noise,    &mapping.only};
    const auto found = std::find(keys.begin(), keys.end(), key);
    return found == keys.end() ? nullptr : members[static_cast<std::size_t>(found - keys.begin())];
}

/// `{column}` → column.
std::optional<std::string_view> columnIn(std::string_view value) {
    if (value.size() < 3 || value.front() != '{' || value.back() != '}') return std::nullopt;
    return value.substr(1, value.size() - 2);
}

Diagnostic wrong(std::string message, std::string expected, std::string hint = {}) {
    return fail("mapping.value", std::move(message), std::move(expected), std::move(hint)).value();
}

std::optional<Diagnostic> noSuchColumn(std::string_view name, const TableSample& sample) {
    if (std::find(sample.columns.begin(), sample.columns.end(), name) != sample.columns.end()) return std::nullopt;
    std::string known;
    for (const auto& column : sample.columns) known.append(known.empty() ? "" : ", ").append(column.substr(0, 40));
    return wrong(fmt::format("there is no column '{}'", name), "one of " + known,
                 didYouMean(std::string(name), sample.columns));
}

std::optional<Diagnostic> checkArithmetic(std::string_view value, const TableSample& sample) {
    const auto parsed = Expression::parse(value);
    if (!parsed) return parsed.error();
    for (const auto& name : parsed->names()) {
        if (name == "type_bytes" || name == "row") continue;
        if (auto absent = noSuchColumn(name, sample)) return absent;
    }
    return std::nullopt;
}

constexpr std::size_t mostSampled = std::size_t{1} << 20;

}  // namespace

std::span<const std::string_view> mappingKeys() {
    return keys;
}

Expected<void> setMapped(ColumnMapping& mapping, std::string_view key, std::string_view value) {
    value = trimmed(value);
    if (auto* member = memberOf(mapping, key)) {
        *member = value;
        return {};
    }
    const KernelField* field = findKernelField(key);
    if (!field) {
        std::vector<std::string> names(keys.begin(), keys.end());
        for (const auto& each : kernelFields()) names.emplace_back(each.name);
        return fail("mapping.field", fmt::format("nothing is called '{}'", key),
                    "time, unit, device, noise, only, or a field of kernels: kind, dtype, m, n, k, …",
                    didYouMean(std::string(key), names));
    }
    const auto found =
        std::find_if(mapping.fields.begin(), mapping.fields.end(), [&](const auto& f) { return f.first == key; });
    if (found == mapping.fields.end()) {
        if (!value.empty()) mapping.fields.emplace_back(key, value);
    } else if (value.empty()) {
        mapping.fields.erase(found);
    } else {
        found->second = value;
    }
    return {};
}

Expected<void> setMappedTerms(ColumnMapping& mapping, std::string_view terms) {
    int depth = 0;
    bool quoted = false;
    std::size_t begin = 0;
    for (std::size_t i = 0; i <= terms.size(); ++i) {
        const char c = i < terms.size() ? terms[i] : ',';
        if (c == '`') quoted = !quoted;
        if (c == '(' || c == '{') ++depth;
        if (c == ')' || c == '}') --depth;
        if (i < terms.size() && (c != ',' || depth > 0 || quoted)) continue;
        const auto term = trimmed(terms.substr(begin, i - begin));
        begin = i + 1;
        if (term.empty()) continue;
        const auto equal = term.find('=');
        if (equal == std::string_view::npos || equal == 0) {
            return fail("mapping.term", fmt::format("'{}' maps nothing", term), "FIELD=COLUMN, FIELD=WORD, …",
                        "for example kind=gemm,dtype={precision},m=M,n=N,k=K,time=latency_ms,unit=ms");
        }
        if (auto set = setMapped(mapping, trimmed(term.substr(0, equal)), term.substr(equal + 1)); !set) return set;
    }
    return {};
}

std::string_view mappedTo(const ColumnMapping& mapping, std::string_view key) {
    if (const auto* member = memberOf(const_cast<ColumnMapping&>(mapping), key)) return *member;
    for (const auto& [field, value] : mapping.fields) {
        if (field == key) return value;
    }
    return {};
}

KindFields fieldsOfKind(KernelKind kind) {
    switch (kind) {
        case KernelKind::Gemm:
            return {{"dtype", "m", "n", "k"},
                    {"batch", "weights", "bias", "transposed_weight", "scale_block", "quantises_input"}};
        case KernelKind::PrefillAttention:
            return {{"dtype", "queries", "keys", "heads", "kv_heads", "head_dim"},
                    {"batch", "causal", "window", "value_dim", "kv"}};
        case KernelKind::DecodeAttention:
            return {{"dtype", "keys", "heads", "kv_heads", "head_dim"}, {"batch", "window", "value_dim", "kv"}};
        case KernelKind::Elementwise:
            return {{"dtype", "function", "m", "n"}, {"batch", "operands"}};
        case KernelKind::Softmax:
        case KernelKind::Normalization:
            return {{"dtype", "m", "n"}, {"batch", "function"}};
        case KernelKind::Convolution:
            return {
                {"dtype", "batch", "in_channels", "out_channels", "height", "width", "kernel_height", "kernel_width"},
                {"batch", "stride", "pad", "dilation", "groups", "out_height", "out_width", "bias"}};
        case KernelKind::Collective:
            return {{"collective", "ranks", "message_bytes"}, {"dtype", "library"}};
        case KernelKind::Experts:
            return {{"tokens", "experts", "experts_per_token", "hidden", "inner"},
                    {"dtype", "weights", "scale_block", "expert_ranks", "gated", "skew"}};
        case KernelKind::Movement:
        case KernelKind::Other:
            break;
    }
    return {{}, {"flops", "read_bytes", "write_bytes", "dtype", "function"}};
}

Expected<TableSample> sampleTable(const std::string& path, std::size_t most) {
    auto text = CsvStream::head(path, mostSampled);
    if (!text) return tl::unexpected(std::move(text.error()));
    TableSample sample;
    sample.path = path;
    sample.whole = text->size() < mostSampled;
    if (!sample.whole) text->resize(std::min(text->size(), text->rfind('\n') + 1));
    auto stream = CsvStream::of(*text, path);
    bool ended = false;
    while (sample.rows.size() < most) {
        const auto more = stream.next();
        if (!more) return tl::unexpected(more.error());
        ended = !*more;
        if (ended) break;
        auto& cells = sample.columns.empty() ? sample.columns : sample.rows.emplace_back();
        for (const auto cell : stream.cells()) cells.emplace_back(cell);
        if (&cells != &sample.columns) sample.lines.push_back(stream.line());
    }
    if (sample.rows.empty()) {
        return fail("reference.empty", "the table has no rows", "a header line and rows", "export the table again",
                    Place{path, 1, 0, {}});
    }
    if (!ended) {
        sample.whole = false;
        std::size_t end = 0;
        for (int line = 0; line < stream.line(); ++line) end = std::min(text->find('\n', end), text->size() - 1) + 1;
        text->resize(end);
    }
    sample.text = std::move(*text);
    return sample;
}

std::vector<std::string> wordsOf(const TableSample& sample, std::string_view column) {
    std::vector<std::string> words;
    const auto found = std::find(sample.columns.begin(), sample.columns.end(), column);
    if (found == sample.columns.end()) return words;
    const auto at = static_cast<std::size_t>(found - sample.columns.begin());
    for (const auto& row : sample.rows) {
        if (words.size() >= 64) break;
        if (at < row.size() && std::find(words.begin(), words.end(), row[at]) == words.end()) words.push_back(row[at]);
    }
    return words;
}

std::optional<Diagnostic> checkMapped(const ColumnMapping& mapping, std::string_view key, const TableSample& sample) {
    const auto value = mappedTo(mapping, key);
    if (value.empty()) return std::nullopt;
    if (key == "time" || key == "noise" || key == "only") return checkArithmetic(value, sample);
    if (key == "unit") {
        if (std::find(units.begin(), units.end(), value) != units.end()) return std::nullopt;
        return wrong(fmt::format("'{}' is no unit of time", value), "s, ms, us or ns");
    }
    if (key == "truth") {
        for (const auto kind : {ReferenceKind::Measured, ReferenceKind::Summed, ReferenceKind::Simulated}) {
            if (value == toText(kind)) return std::nullopt;
        }
        return wrong(fmt::format("'{}' is no kind of truth", value), "measured, summed or simulated");
    }
    if (key == "device") {
        if (const auto column = columnIn(value)) return noSuchColumn(*column, sample);
        if (!catalogueId(value).empty()) return std::nullopt;
        return wrong(fmt::format("the hardware catalogue has no '{}'", value), "an id of the catalogue, or {column}");
    }
    const KernelField* field = findKernelField(key);
    if (!field) return std::nullopt;
    if (field->setNumber) return checkArithmetic(value, sample);
    if (const auto column = columnIn(value)) return noSuchColumn(*column, sample);
    KernelDraft scratch;
    if (field->setWord(scratch, value)) return std::nullopt;
    return wrong(fmt::format("'{}' is no {}", value, key), std::string(field->words),
                 "a column's name stands in braces: {column}");
}

Expected<ImportDescription> describe(const ColumnMapping& mapping) {
    const auto kindOf = [&](const WordMeaning& word) { return word.field == "kind"; };
    const bool kind =
        !mappedTo(mapping, "kind").empty() || std::any_of(mapping.words.begin(), mapping.words.end(), kindOf);
    if (!kind || mapping.time.empty()) {
        return fail("mapping.incomplete",
                    kind ? "no column says how long a kernel took" : "the kind of the kernels is missing",
                    kind ? "time=COLUMN and its unit" : "kind=gemm, or a column that says it: kind={column}",
                    kind ? "a rate can be turned: 2 * m * n * k / tflops * 1e-12" : "");
    }
    if (const auto one = kernelKind(mappedTo(mapping, "kind"))) {
        for (const auto field : fieldsOfKind(*one).needed) {
            const auto saysIt = [&](const WordMeaning& word) { return word.field == field; };
            if (!mappedTo(mapping, field).empty() || std::any_of(mapping.words.begin(), mapping.words.end(), saysIt)) {
                continue;
            }
            return fail("mapping.incomplete",
                        fmt::format("nothing says `{}`: {}", field, findKernelField(field)->meaning),
                        fmt::format("{}=COLUMN, or what it is for all rows", field),
                        fmt::format("a kernel of the kind {} needs it", toText(*one)));
        }
    }
    return importOf(writeImport(mapping));
}

Expected<ReferenceTable> tryMapping(const TableSample& sample, const ImportDescription& description,
                                    const std::string& device) {
    auto stream = CsvStream::of(sample.text, sample.path);
    ReferenceTable table;
    table.name = description.name;
    table.file = sample.path;
    table.kind = description.kind;
    table.hostTimed = description.hostTimed;
    const ReferenceFilter all;
    RowReading reading;
    reading.fileDevice = description.device;
    reading.filter = &all;
    reading.most = mostReferenceRows;
    reading.catalogueId = [&](std::string_view name) {
        auto id = catalogueId(name);
        return id.empty() ? device : id;
    };
    if (auto read = readRows(stream, description, reading, table); !read)
        return tl::unexpected(std::move(read.error()));
    if (auto checked = leaveOutAbsurd(table); !checked) return tl::unexpected(std::move(checked.error()));
    for (const auto& each : table.devices) {
        if (!each.catalogue.empty()) continue;
        table.warnings.push_back(warning(
            "reference.unknown-device",
            each.name.empty() ? std::string("the device is missing")
                              : fmt::format("the hardware catalogue has no '{}'", each.name),
            "name a device of the library; without it the rows cannot be predicted", Place{sample.path, 0, 0, {}}));
    }
    return table;
}

}  // namespace orrery
