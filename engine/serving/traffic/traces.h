#pragma once

// Requests from files: tables (CSV, plain or gzipped) and JSON lines as others publish them, read line by line.

#include "serving/traffic/traffic.h"

namespace orrery {

/// One form of file. Columns are found by name whatever their order and case; those not named are ignored.
struct TraceKind {
    std::string_view id;                             ///< `azure`
    std::string_view title;                          ///< `Azure LLM inference 2023 and 2024`
    std::string_view arrival, prompt, output, unit;  ///< columns, and unit of the first; empty arrival: lengths only
    std::string_view source;                         ///< who publishes it
    bool lines = false;                              ///< one JSON object per line, not a table
};
/// In the order in which `auto` tries them; the last is `columns`, which TraceSpec's own names fill.
std::span<const TraceKind> traceKinds();

/// Reads a whole file. Dates, and seconds of a calendar (over 100 days), are counted from the first request; times from
/// a start are kept as they are. Codes: `trace.unreadable`, `trace.empty`, `trace.kind`, `trace.column` (missing),
/// `trace.unit`, `trace.number` (not a number, NaN), `trace.negative`, `trace.range` (no or over 10^9 tokens, parts of
/// a token, over 100 days), `trace.unsorted`, `trace.text` (not UTF-8, not JSON). Each with file, line, what was
/// expected, and what to do. A trace without arrival times has all of them 0.
Expected<RequestStream> readTrace(const TraceSpec& trace);
/// The same of a text; `file` is used in places.
Expected<RequestStream> readTraceText(std::string_view text, const TraceSpec& trace);

}  // namespace orrery
