#include "serving/traffic/traces.h"

#include "serving/traffic/trace_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace orrery {

namespace {

constexpr std::array kinds{
    TraceKind{"azure", "Azure LLM inference 2023 and 2024", "TIMESTAMP", "ContextTokens", "GeneratedTokens", "date",
              "Azure/AzurePublicDataset (CC-BY-4.0)"},
    TraceKind{"vidur", "VIDUR processed trace", "arrived_at", "num_prefill_tokens", "num_decode_tokens", "s",
              "microsoft/vidur (MIT)"},
    TraceKind{"splitwise", "Splitwise trace", "arrival_timestamp", "prompt_size", "token_size", "s",
              "Mutinifni/splitwise-sim (MIT)"},
    TraceKind{"burstgpt", "BurstGPT", "Timestamp", "Request tokens", "Response tokens", "s",
              "HPMLL/BurstGPT (CC-BY-4.0)"},
    TraceKind{"llmservingsim", "LLMServingSim workload (ShareGPT)", "arrival_time_ns", "input_toks", "output_toks",
              "ns", "casys-kaist/LLMServingSim (MIT)"},
    TraceKind{"requests", "Requests", "arrival_s", "prompt_tokens", "output_tokens", "s", "Orrery's own"},
    TraceKind{"plain", "Requests, columns in plain words", "arrival", "prompt", "output", "s", "Orrery's own"},
    TraceKind{"vidur-lengths", "VIDUR request lengths (ShareGPT, arXiv)", "", "num_prefill_tokens", "num_decode_tokens",
              "", "microsoft/vidur (MIT)"},
    TraceKind{"lengths", "Request lengths", "", "prompt_tokens", "output_tokens", "", "Orrery's own"},
    TraceKind{"mooncake", "Mooncake (JSON lines with block hashes)", "timestamp", "input_length", "output_length", "ms",
              "kvcache-ai/Mooncake FAST'25 (Apache-2.0)", true},
    TraceKind{"columns", "Any table, columns by name", "", "", "", "s", ""},
};

Expected<RequestStream> read(CsvStream first, CsvStream& file, const TraceSpec& trace) {
    const TraceKind* kind = nullptr;
    if (trace.kind != "auto") {
        const auto found = std::find_if(kinds.begin(), kinds.end(), [&](const auto& k) { return k.id == trace.kind; });
        if (found == kinds.end()) {
            std::string all = "auto";
            for (const TraceKind& one : kinds) all += fmt::format(", {}", one.id);
            return fail("trace.kind", fmt::format("{} is no kind of trace", trace::quoted(trace.kind)), all,
                        "choose one of these", Place{trace.file, 0, 0, "traffic/trace/kind"});
        }
        kind = &*found;
    }
    std::string_view line;
    auto any = first.next(line);
    if (!any) return trace::unreadable(any.error());
    const auto begin = line.find_first_not_of(" \t");
    const bool json = *any && begin != std::string_view::npos && line[begin] == '{';
    if (json) return trace::readJsonLines(file, trace, kind && kind->lines ? kind : nullptr);
    if (kind && kind->lines) {
        return fail("trace.text", "the file does not begin with a JSON object", "one JSON object per line",
                    "choose another kind, or auto", Place{trace.file, first.line(), 0, {}});
    }
    return trace::readTable(file, trace, kind);
}

}  // namespace

std::span<const TraceKind> traceKinds() {
    return kinds;
}

Expected<RequestStream> readTrace(const TraceSpec& trace) {
    auto first = CsvStream::open(trace.file);
    if (!first) return trace::unreadable(first.error());
    auto file = CsvStream::open(trace.file);
    if (!file) return trace::unreadable(file.error());
    return read(std::move(*first), *file, trace);
}

Expected<RequestStream> readTraceText(std::string_view text, const TraceSpec& trace) {
    auto file = CsvStream::of(text, trace.file);
    return read(CsvStream::of(text, trace.file), file, trace);
}

}  // namespace orrery
