#include "base/text/json_cursor.h"
#include "serving/traffic/trace_rows.h"

#include <fmt/format.h>

#include <cmath>

namespace orrery::trace {

namespace {

constexpr std::size_t mostHashes = std::size_t{1} << 27;  // 1 GiB
constexpr std::int32_t tokensPerHash = 512;               // Mooncake's blocks

Unexpected notJson(const TraceSpec& trace, const Diagnostic& problem, int line) {
    return fail(
        "trace.text", "the line is no JSON object of a request: " + problem.message,
        problem.expected.empty() ? "{\"timestamp\": 0, \"input_length\": 1, \"output_length\": 1}" : problem.expected,
        "repair the line", Place{trace.file, line, 0, problem.place.path});
}

}  // namespace

Expected<RequestStream> readJsonLines(CsvStream& file, const TraceSpec& trace, const TraceKind* kind) {
    if (!kind) {
        for (const TraceKind& one : traceKinds()) {
            if (one.lines) kind = &one;
        }
    }
    const auto name = [](const std::string& own, std::string_view usual) {
        return own.empty() ? usual : std::string_view(own);
    };
    const auto arrival = name(trace.arrival, kind->arrival), prompt = name(trace.prompt, kind->prompt),
               output = name(trace.output, kind->output);
    const auto unit = unitOf(name(trace.unit, kind->unit.empty() ? "s" : kind->unit));
    if (!unit || *unit == Unit::Date) {
        return fail("trace.unit", fmt::format("{} is no unit of arrivals in JSON lines", quoted(trace.unit)),
                    "s, ms, us or ns", {}, Place{trace.file, 0, 0, "traffic/trace/unit"});
    }
    Rows rows(trace, *kind);
    bool hashed = false;
    std::vector<std::uint64_t> hashes;
    std::size_t allHashes = 0;
    std::string_view text;
    while (true) {
        auto more = file.next(text);
        if (!more) return unreadable(more.error());
        if (!*more) return rows.finish();
        if (!isUtf8(text)) return badCell(trace, "line", text, file.line());
        JsonCursor json(text, trace.file, "trace");
        Rows::Row row;
        bool hasPrompt = false, hasOutput = false;
        hashes.clear();
        std::string_view key;
        for (json.object(); json.key(key);) {
            if (!arrival.empty() && key == arrival) {
                const double time = json.number();
                // Whole numbers of a unit are exact; a clock of picoseconds rounds others.
                const double ticks = time * (*unit == Unit::Seconds ? 1e12
                                             : *unit == Unit::Milli ? 1e9
                                             : *unit == Unit::Micro ? 1e6
                                                                    : 1e3);
                if (std::abs(ticks) > 1e30) return badCell(trace, key, fmt::format("{}", time), file.line());
                row.arrival = static_cast<Ticks>(std::round(ticks));
            } else if (key == prompt) {
                row.prompt = json.number();
                hasPrompt = true;
            } else if (key == output) {
                row.output = json.number();
                hasOutput = true;
            } else if (key == "hash_ids") {
                for (const double hash : json.numbers(std::size_t{1} << 20)) {
                    hashes.push_back(static_cast<std::uint64_t>(static_cast<std::int64_t>(hash)));
                }
            } else {
                json.skip();
            }
        }
        json.end();
        if (!json.ok()) return notJson(trace, json.problem(), file.line());
        const std::string_view lacking = !arrival.empty() && !row.arrival ? arrival
                                         : !hasPrompt                     ? prompt
                                         : !hasOutput                     ? output
                                                                          : std::string_view();
        if (!lacking.empty()) return missingColumn(trace, lacking, text.substr(0, 120), file.line());
        if (rows.size() == 0 && !hashes.empty() && !hashed) {
            rows.withHashes(tokensPerHash);
            hashed = true;
        }
        auto kept = rows.add(row, file.line());
        if (!kept) return Unexpected(std::move(kept.error()));
        if (!*kept || !hashed) continue;
        const auto blocks = static_cast<std::size_t>(std::ceil((row.prompt + row.output) / tokensPerHash));
        allHashes += hashes.size();
        if (hashes.size() > blocks || allHashes > mostHashes) {
            return fail("trace.range", fmt::format("{} hashes for a prompt of {} tokens", hashes.size(), row.prompt),
                        fmt::format("one per {} tokens", tokensPerHash), "repair the line",
                        Place{trace.file, file.line(), 0, "hash_ids"});
        }
        for (const auto hash : hashes) rows.addHash(hash);
        rows.endHashes();
    }
}

}  // namespace orrery::trace
