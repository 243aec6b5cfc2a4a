#pragma once

// Numbers of trace files, for the readers of this folder.

#include "base/text/csv_stream.h"
#include "base/text/words.h"
#include "serving/traffic/traces.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace orrery::trace {

__extension__ typedef __int128 Ticks;  ///< picoseconds since any epoch

enum class Unit : std::uint8_t { Seconds, Milli, Micro, Nano, Date };
std::optional<Unit> unitOf(std::string_view word);

/// A decimal number in that unit, exactly (no detour over binary fractions, unless it has an exponent), or a date
/// `2023-11-16 18:17:03.9799600`, with `T`, `Z` or `+00:00` where the file has them.
std::optional<Ticks> readTime(std::string_view text, Unit unit);
/// `119` or `119.0`.
std::optional<double> readNumber(std::string_view text);
/// Cut to a line's width, with what cannot be printed escaped.
std::string quoted(std::string_view text);

/// Collects rows, checks each, and makes the stream of them.
class Rows {
public:
    Rows(const TraceSpec& trace, const TraceKind& kind) : trace_(trace), kind_(kind) {}
    struct Row {
        std::optional<Ticks> arrival;
        double prompt = 0, output = 0;
        std::int64_t id = 0;
        std::int32_t tenant = 0, priority = 0;
    };
    /// Whether the row was kept (a lenient reader leaves failed requests out).
    Expected<bool> add(const Row& row, int line);
    void addHash(std::uint64_t hash) { stream_.hashes.push_back(hash); }
    void endHashes() { stream_.hashBegin.push_back(static_cast<std::uint32_t>(stream_.hashes.size())); }
    void withHashes(std::int32_t tokens);
    void with(bool id, bool tenant, bool priority);
    std::size_t size() const { return stream_.size(); }
    Expected<RequestStream> finish();

private:
    void cut(std::size_t rows);  ///< those from there on are left out
    Unexpected wrong(std::string code, std::string message, std::string expected, std::string hint, int line) const;

    const TraceSpec& trace_;
    const TraceKind& kind_;
    RequestStream stream_;
    std::vector<Ticks> times_;
    bool hashed_ = false, id_ = false, tenant_ = false, priority_ = false, disordered_ = false;
    std::size_t left_ = 0;
};

/// What to do about columns that are none of a known kind's. By these names files and forms have them.
inline constexpr std::string_view nameColumns =
    "name the columns of the trace: `prompt` and `output`, and `arrival` where it has times";
Unexpected badCell(const TraceSpec& trace, std::string_view column, std::string_view cell, int line);
/// `header`: what the file has instead.
Unexpected missingColumn(const TraceSpec& trace, std::string_view column, std::string_view header, int line);
/// Of CsvStream, in the words of this folder.
Unexpected unreadable(const Diagnostic& problem);

/// What follows in an open file: a table with a header line, or one JSON object per line.
Expected<RequestStream> readTable(CsvStream& file, const TraceSpec& trace, const TraceKind* kind);
Expected<RequestStream> readJsonLines(CsvStream& file, const TraceSpec& trace, const TraceKind* kind);

}  // namespace orrery::trace
