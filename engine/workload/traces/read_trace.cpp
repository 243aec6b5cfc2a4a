#include "workload/traces/read_trace.h"

#include "base/text/tar_members.h"
#include "base/text/words.h"
#include "workload/traces/chakra.h"
#include "workload/traces/operator_table.h"
#include "workload/traces/recorded_json.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery {

bool looksLikeText(std::string_view text) {
    const std::string_view first = text.substr(0, 512);
    return std::none_of(first.begin(), first.end(), [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return byte < 32 && c != '\n' && c != '\r' && c != '\t';
    });
}

namespace {

Unexpected noTraceForm(std::string_view file, std::string message, std::string hint) {
    return fail("trace.form", std::move(message),
                "a Chakra .et or its JSON, a PyTorch execution trace, layers of ASTRA-sim 1.0 or SimAI, operators of "
                "TrioSim, a log of AICB",
                std::move(hint), {std::string(file), 1, 0, {}});
}

Expected<ReadTrace> formed(Expected<ExecutionTrace> trace, const char* form) {
    if (!trace) return Unexpected(std::move(trace.error()));
    return ReadTrace{std::move(*trace), form};
}

Expected<ReadTrace> linkedTrace(std::string_view text, const std::string& file, const TraceReading& how) {
    if (how.timeline.empty()) return formed(parsePyTorchTrace(text, file), "a PyTorch execution trace");
    const auto line = readTraceFile(how.timeline);
    if (!line) return Unexpected(line.error());
    const auto timeline = parseKineto(*line, how.timeline);
    if (!timeline) return Unexpected(timeline.error());
    return formed(parsePyTorchTrace(text, file, &*timeline), "a PyTorch execution trace with its timeline");
}

Expected<ReadTrace> traceOf(std::string_view text, const std::string& file, const TraceReading& how) {
    if (trimmed(text.substr(0, 4096)).empty())
        return noTraceForm(file, "the file is empty", "has it been written whole?");
    if (isLayerText(text)) {
        const auto table = parseLayerText(text, file);
        if (!table) return Unexpected(table.error());
        return formed(layerTrace(*table, how.order, how.ranks, file),
                      table->simai ? "layers of SimAI" : "layers of ASTRA-sim 1.0");
    }
    if (isOperatorTable(text)) return formed(operatorTrace(text, file), "operators of TrioSim");
    if (isExchangeLog(text)) return formed(exchangeLogTrace(text, file), "a log of AICB");
    const std::string_view begin = trimmed(text.substr(0, 4096));
    if (!looksLikeText(text)) return formed(parseChakra(text, file), "a Chakra trace");
    if (begin.starts_with('{') || begin.starts_with("\xEF\xBB\xBF{")) {
        switch (recordedForm(text)) {
            case RecordedForm::PyTorch:
                return linkedTrace(text, file, how);
            case RecordedForm::Chakra:
                return formed(parseChakraJson(text, file), "a Chakra trace as JSON");
            case RecordedForm::Kineto:
                return noTraceForm(file, "this is a Kineto trace, which has no dependencies",
                                   "give the execution trace that was recorded beside it, and this as its timeline");
            case RecordedForm::None:
                break;
        }
        // Which it would have been cannot be said; what is wrong with it can.
        auto asTrace = parsePyTorchTrace(text, file);
        if (!asTrace && asTrace.error().code != "trace.empty") return Unexpected(std::move(asTrace.error()));
        return noTraceForm(file, "this JSON has no `nodes` and no `workload_graph`", {});
    }
    const std::string_view line = trimmed(begin.substr(0, begin.find('\n')));
    return noTraceForm(file, fmt::format("`{}` begins no trace", line.substr(0, 60)),
                       line.starts_with("Index,TensorID") ? "this is the table of tensors; the trace stands beside it"
                                                          : "is this the right file?");
}

}  // namespace

Expected<ReadTrace> readTrace(const std::string& path, const TraceReading& how) {
    const auto text = readTraceFile(path);
    if (!text) return Unexpected(text.error());
    const auto beside = [&](Expected<ReadTrace> read) {
        if (read && !how.timeline.empty() && !read->form.ends_with("timeline"))
            read->trace.warnings.push_back(warning("trace.timeline", "only a PyTorch execution trace takes a timeline",
                                                   {}, {how.timeline, 0, 0, {}}));
        return read;
    };
    if (!isTar(*text)) return beside(traceOf(*text, path, how));
    const auto members = tarMembers(*text, path);
    if (!members) return Unexpected(members.error());
    const auto largest = std::max_element(members->begin(), members->end(),
                                          [](const auto& a, const auto& b) { return a.text.size() < b.text.size(); });
    if (largest == members->end()) return noTraceForm(path, "the archive holds no file", {});
    auto read = beside(traceOf(largest->text, fmt::format("{}/{}", path, largest->name), how));
    if (read && members->size() > 1)
        read->trace.warnings.push_back(
            warning("trace.archive",
                    fmt::format("of {} files in the archive the largest was taken, {}", members->size(), largest->name),
                    "unpack it for the others", {path, 0, 0, {}}));
    return read;
}

}  // namespace orrery
