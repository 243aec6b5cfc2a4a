#include "serving/traffic/trace_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <unordered_map>

namespace orrery::trace {

namespace {

// Lower case without blanks and underscores: `Request tokens` is `request_tokens`.
std::string plain(std::string_view name) {
    std::string result;
    for (const char c : name) {
        if (c == ' ' || c == '_' || c == '-') continue;
        result += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }
    return result;
}

struct Columns {
    std::ptrdiff_t arrival = -1, prompt = -1, output = -1, id = -1, tenant = -1, priority = -1;
};

std::ptrdiff_t find(const std::vector<std::string>& header, std::string_view name) {
    if (name.empty()) return -1;
    const auto found = std::find(header.begin(), header.end(), plain(name));
    return found == header.end() ? -1 : found - header.begin();
}

std::string_view chosen(const std::string& own, std::string_view usual) {
    return own.empty() ? usual : std::string_view(own);
}

const TraceKind* kindOf(const std::vector<std::string>& header) {
    for (const TraceKind& kind : traceKinds()) {
        if (kind.prompt.empty() || kind.lines) continue;
        if (find(header, kind.prompt) >= 0 && find(header, kind.output) >= 0 &&
            (kind.arrival.empty() || find(header, kind.arrival) >= 0)) {
            return &kind;
        }
    }
    return nullptr;
}

// Words of a column as small numbers, in the order in which they come up.
class Names {
public:
    std::int32_t operator()(std::string_view word) {
        const auto next = static_cast<std::int32_t>(numbers_.size());
        const auto [found, added] = numbers_.try_emplace(std::string(word), next);
        if (added) words.push_back(found->first);
        return found->second;
    }
    std::vector<std::string> words;

private:
    std::unordered_map<std::string, std::int32_t> numbers_;
};

}  // namespace

Expected<RequestStream> readTable(CsvStream& file, const TraceSpec& trace, const TraceKind* kind) {
    auto more = file.next();
    if (!more) return unreadable(more.error());
    if (!*more)
        return fail("trace.empty", "the file is empty", "a header line and a line per request", "choose another file",
                    Place{trace.file, 0, 0, {}});
    std::vector<std::string> header;
    std::string shown;
    for (const auto cell : file.cells()) {
        if (!isUtf8(cell)) return badCell(trace, "header", cell, file.line());
        if (header.size() < 20) shown += (header.empty() ? "" : ", ") + std::string(cell.substr(0, 40));
        header.push_back(plain(cell));
    }
    const bool named = !trace.prompt.empty() && !trace.output.empty();
    if (!kind && !named) kind = kindOf(header);
    if (!kind && !named) {
        return fail("trace.kind", "no known kind of trace has these columns: " + shown, "a trace of a known kind",
                    std::string(nameColumns), Place{trace.file, file.line(), 0, {}});
    }
    if (!kind) kind = &traceKinds().back();
    Columns at;
    // A column that the spec names must be there; those of the kind are needed but for lengths alone.
    const std::array<std::pair<std::ptrdiff_t*, std::string_view>, 3> needed{
        std::pair{&at.arrival, chosen(trace.arrival, kind->arrival)},
        std::pair{&at.prompt, chosen(trace.prompt, kind->prompt)},
        std::pair{&at.output, chosen(trace.output, kind->output)}};
    for (const auto& [place, name] : needed) {
        *place = find(header, name);
        if (*place < 0 && (!name.empty() || place != &at.arrival)) {
            return missingColumn(trace, name.empty() ? "prompt" : name, shown, file.line());
        }
    }
    const std::array<std::pair<std::ptrdiff_t*, std::string_view>, 3> optional{
        std::pair{&at.id, std::string_view(trace.id)}, std::pair{&at.tenant, std::string_view(trace.tenant)},
        std::pair{&at.priority, std::string_view(trace.priority)}};
    for (const auto& [place, name] : optional) {
        *place = find(header, name);
        if (*place < 0 && !name.empty()) return missingColumn(trace, name, shown, file.line());
    }
    const auto unit = unitOf(chosen(trace.unit, kind->unit.empty() ? "s" : kind->unit));
    if (!unit) {
        return fail("trace.unit", fmt::format("{} is no unit of arrivals", quoted(trace.unit)), "s, ms, us, ns or date",
                    {}, Place{trace.file, 0, 0, "traffic/trace/unit"});
    }
    Rows rows(trace, *kind);
    rows.with(at.id >= 0, at.tenant >= 0, at.priority >= 0);
    Names tenants;
    while (true) {
        more = file.next();
        if (!more) return unreadable(more.error());
        if (!*more) {
            auto stream = rows.finish();
            if (stream) stream->tenantNames = std::move(tenants.words);
            return stream;
        }
        const auto cells = file.cells();
        const auto cell = [&](std::ptrdiff_t column) {
            return column >= 0 && column < std::ssize(cells) ? cells[static_cast<std::size_t>(column)]
                                                             : std::string_view();
        };
        const auto bad = [&](std::ptrdiff_t column) {
            return badCell(trace, header[static_cast<std::size_t>(column)], cell(column), file.line());
        };
        Rows::Row row;
        if (at.arrival >= 0) {
            row.arrival = readTime(cell(at.arrival), *unit);
            if (!row.arrival) return bad(at.arrival);
        }
        const auto prompt = readNumber(cell(at.prompt)), output = readNumber(cell(at.output));
        if (!prompt) return bad(at.prompt);
        if (!output) return bad(at.output);
        row.prompt = *prompt;
        row.output = *output;
        if (at.id >= 0) {
            const auto number = readNumber(cell(at.id));
            if (!number || std::abs(*number) > 9e15) return bad(at.id);
            row.id = static_cast<std::int64_t>(*number);
        }
        if (at.priority >= 0) {
            const auto number = readNumber(cell(at.priority));
            if (!number || std::abs(*number) > 1e9) return bad(at.priority);
            row.priority = static_cast<std::int32_t>(*number);
        }
        if (at.tenant >= 0) row.tenant = tenants(cell(at.tenant));
        if (auto kept = rows.add(row, file.line()); !kept) return Unexpected(std::move(kept.error()));
    }
}

}  // namespace orrery::trace
