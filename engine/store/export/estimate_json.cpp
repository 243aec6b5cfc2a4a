#include "base/unit.h"
#include "store/export/exports.h"
#include "store/export/json_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>

namespace orrery {

namespace {

Bound boundFrom(const JsonValues& json) {
    const std::string text = json.text("bound", "none");
    Bound bound;
    for (const BoundKind kind : {BoundKind::Compute, BoundKind::Memory, BoundKind::Overhead, BoundKind::Network}) {
        if (text == store::toText(kind)) bound.kind = kind;
    }
    bound.level = static_cast<std::int16_t>(json.whole("bound_level", -1));
    return bound;
}

OperatorKind kindFrom(const std::string& text) {
    for (int kind = 0; kind < operatorKindCount; ++kind) {
        if (text == toText(static_cast<OperatorKind>(kind))) return static_cast<OperatorKind>(kind);
    }
    return OperatorKind::Other;
}

Dimension dimensionFrom(const std::string& text) {
    for (int i = 0; i <= static_cast<int>(Dimension::Area); ++i) {
        if (text == toText(static_cast<Dimension>(i))) return static_cast<Dimension>(i);
    }
    return Dimension::Number;
}

void readOperators(const JsonValues& json, Estimate& estimate, Workload& workload) {
    OperatorEstimates& columns = estimate.operators;
    for (const JsonNode& item : json.list("operators")) {
        const JsonValues row = json.of(item);
        Operator op;
        op.name = row.text("name");
        op.type = row.text("type", "");
        op.kind = kindFrom(row.text("kind", ""));
        op.repeat = row.whole("repeat", 1);
        op.block = row.text("block", "");
        workload.graph.operators.push_back(std::move(op));
        columns.seconds.push_back(row.number("latency_s", 0.0));
        columns.bound.push_back(boundFrom(row));
        columns.flops.push_back(row.number("flops", 0.0));
        columns.bytes.push_back(row.number("bytes", 0.0));
        if (row.has("energy_j")) columns.joules.push_back(row.number("energy_j"));
        const auto levels = row.numbers("level_bytes");
        columns.levelBytes.resize(std::max(columns.levelBytes.size(), levels.size()));
        for (std::size_t level = 0; level < levels.size(); ++level) columns.levelBytes[level].push_back(levels[level]);
    }
    if (columns.joules.size() != columns.size()) columns.joules.clear();
    for (const auto& level : columns.levelBytes) {
        if (level.size() != columns.size()) {
            columns.levelBytes.clear();
            break;
        }
    }
}

void readNetworkUse(const JsonValues& json, NetworkUse& use) {
    json.need({"span_s", "rows"});
    use.spanSeconds = json.number("span_s");
    for (const JsonNode& item : json.list("rows")) {
        const JsonValues row = json.of(item);
        const auto busy = row.numbers("busy");
        use.rows.push_back(
            {row.text("component", ""), row.text("what", ""), std::vector<float>(busy.begin(), busy.end())});
    }
}

void readTimeline(const JsonValues& json, Timeline& timeline) {
    json.need({"rows", "spans"});
    timeline.rows = json.texts("rows");
    timeline.truncated = json.truth("truncated", false);
    for (const JsonNode& item : json.list("spans")) {
        const JsonValues span = json.of(item);
        std::int64_t op = span.whole("operator", SpanIdle);
        const std::string work = span.text("work", "");
        for (const std::int32_t each : {SpanForward, SpanBackward, SpanExchange, SpanUpdate})
            if (work == store::workText(each)) op = each;
        timeline.spans.push_back({span.whole("start_ps"), span.whole("end_ps"),
                                  static_cast<std::int32_t>(span.whole("row")), static_cast<std::int32_t>(op),
                                  static_cast<std::int32_t>(span.whole("repetition", 0))});
    }
}

std::vector<UsedParts::Part> partsFrom(const JsonValues& json, std::string_view key) {
    std::vector<UsedParts::Part> parts;
    for (const JsonNode& item : json.list(key)) {
        const JsonValues row = json.of(item);
        parts.push_back({row.text("component", ""), row.texts("attributes")});
    }
    return parts;
}

void readCeilings(const JsonValues& json, std::vector<Ceiling>& ceilings) {
    for (const JsonNode& item : json.list("ceilings")) {
        const JsonValues row = json.of(item);
        Ceiling ceiling;
        ceiling.label = row.text("label", "");
        ceiling.memory = row.has("rate_bytes_per_s");
        ceiling.rate = row.number(ceiling.memory ? "rate_bytes_per_s" : "rate_flop_per_s", 0.0);
        ceiling.level = static_cast<std::int16_t>(row.whole("level", -1));
        ceilings.push_back(std::move(ceiling));
    }
}

void readFigures(const JsonValues& json, std::vector<Figure>& figures) {
    for (const JsonNode& item : json.list("figures")) {
        const JsonValues row = json.of(item);
        const Dimension dimension = dimensionFrom(row.text("dimension", ""));
        const std::string unit = row.text("unit", "");
        Figure figure{row.text("label", ""), row.number("value"), dimension,
                      unit == baseUnit(dimension) ? std::string() : unit};
        if (row.has("low") && row.has("high")) {
            figure.interval = {row.number("low"), row.number("high")};
            figure.basis = row.text("basis", "");
        }
        figures.push_back(std::move(figure));
    }
}

StoredEstimate estimateFrom(const JsonValues& json) {
    StoredEstimate stored;
    auto workload = std::make_shared<Workload>();
    Estimate& estimate = stored.estimate;
    json.need({"warnings", "operators"});
    estimate.method = json.text("method");
    estimate.latency = Seconds(json.number("latency_s"));
    estimate.interval.low = Seconds(json.number("latency_low_s"));
    estimate.interval.high = Seconds(json.number("latency_high_s"));
    estimate.interval.basis = json.text("interval_basis", "");
    if (json.has("bound_s")) estimate.bound = Seconds(json.number("bound_s"));
    if (json.has("support")) {
        const JsonValues said = json.inner("support");
        estimate.support = Support{said.number("error", 0.0), said.number("outside", 0.0), said.number("edge", 0.0),
                                   said.number("unmeasured", 0.0), said.text("what", "")};
    }
    for (const IntervalKind kind :
         {IntervalKind::Bound, IntervalKind::Ensemble, IntervalKind::Residuals, IntervalKind::Sampling}) {
        if (json.text("interval_kind", "") == store::toText(kind)) estimate.interval.kind = kind;
    }
    if (json.has("energy_j")) estimate.energy = Joules(json.number("energy_j"));
    if (json.has("memory")) {
        const JsonValues memory = json.inner("memory");
        MemoryUse use;
        use.weights = Bytes(memory.number("weights_bytes", 0.0));
        use.kvCache = Bytes(memory.number("kv_cache_bytes", 0.0));
        use.activations = Bytes(memory.number("activations_bytes", 0.0));
        use.capacity = Bytes(memory.number("capacity_bytes", 0.0));
        estimate.memory = use;
    }
    estimate.cost = Seconds(json.number("cost_s", 0.0));
    estimate.assumptions = json.texts("assumptions");
    for (const JsonNode& warning : json.list("warnings"))
        estimate.warnings.push_back(store::diagnosticFrom(json.of(warning)));
    estimate.levels = json.texts("levels");
    readCeilings(json, estimate.ceilings);
    readFigures(json, estimate.figures);
    estimate.parts = {partsFrom(json, "used"), partsFrom(json, "ignored")};
    readOperators(json, estimate, *workload);
    if (json.has("timeline")) readTimeline(json.inner("timeline"), estimate.timeline);
    if (json.has("network_use")) readNetworkUse(json.inner("network_use"), estimate.networkUse);
    if (json.has("provenance")) {
        const JsonValues from = json.inner("provenance");
        estimate.provenance = {
            from.text("method", ""),        from.text("version", ""),  from.text("hardware_hash", ""),
            from.text("workload_hash", ""), from.seed("seed"),         from.text("task", ""),
            from.text("plan", ""),          from.text("task_hash", "")};
    }
    stored.workload = std::move(workload);
    return stored;
}

}  // namespace

Expected<StoredEstimate> readEstimateJson(std::string_view text) {
    auto json = store::parseStored(text);
    std::optional<Diagnostic> problem;
    if (json) {
        StoredEstimate stored = estimateFrom(JsonValues(*json, problem));
        if (!problem) return stored;
    } else {
        problem = std::move(json.error());
    }
    return fail("store.estimate", fmt::format("a stored estimate cannot be read: {}", problem->message),
                "an estimate as the `run` JSON contract says", "the run database may be damaged: run the study again",
                std::move(problem->place));
}

}  // namespace orrery
