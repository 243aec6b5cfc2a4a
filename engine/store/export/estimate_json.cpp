#include "base/unit.h"
#include "store/export/exports.h"
#include "store/export/json_parts.h"

#include <fmt/format.h>

#include <array>

namespace orrery {

namespace {

using store::Json;

Bound boundFrom(const Json& json) {
    const std::string text = json.value("bound", "none");
    Bound bound;
    for (const BoundKind kind : {BoundKind::Compute, BoundKind::Memory, BoundKind::Overhead, BoundKind::Network}) {
        if (text == store::toText(kind)) bound.kind = kind;
    }
    bound.level = json.value("bound_level", std::int16_t{-1});
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

void readOperators(const Json& list, Estimate& estimate, Workload& workload) {
    OperatorEstimates& columns = estimate.operators;
    for (const Json& row : list) {
        Operator op;
        op.name = row.at("name");
        op.type = row.value("type", "");
        op.kind = kindFrom(row.value("kind", ""));
        op.repeat = row.value("repeat", std::int64_t{1});
        op.block = row.value("block", "");
        workload.graph.operators.push_back(std::move(op));
        columns.seconds.push_back(row.value("latency_s", 0.0));
        columns.bound.push_back(boundFrom(row));
        columns.flops.push_back(row.value("flops", 0.0));
        columns.bytes.push_back(row.value("bytes", 0.0));
        if (row.contains("energy_j")) columns.joules.push_back(row.at("energy_j"));
        const auto levels = row.value("level_bytes", std::vector<double>{});
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

void readTimeline(const Json& json, Timeline& timeline) {
    timeline.rows = json.at("rows").get<std::vector<std::string>>();
    timeline.truncated = json.value("truncated", false);
    for (const Json& span : json.at("spans")) {
        timeline.spans.push_back({span.at("start_ps"), span.at("end_ps"), span.at("row"),
                                  span.value("operator", std::int32_t{-1}), span.value("repetition", std::int32_t{0})});
    }
}

std::vector<UsedParts::Part> partsFrom(const Json& list) {
    std::vector<UsedParts::Part> parts;
    for (const Json& row : list)
        parts.push_back({row.value("component", ""), row.value("attributes", std::vector<std::string>{})});
    return parts;
}

StoredEstimate read(const Json& json) {
    StoredEstimate stored;
    auto workload = std::make_shared<Workload>();
    Estimate& estimate = stored.estimate;
    estimate.method = json.at("method");
    estimate.latency = Seconds(json.at("latency_s").get<double>());
    estimate.interval.low = Seconds(json.at("latency_low_s").get<double>());
    estimate.interval.high = Seconds(json.at("latency_high_s").get<double>());
    estimate.interval.basis = json.value("interval_basis", "");
    if (json.contains("bound_s")) estimate.bound = Seconds(json.at("bound_s").get<double>());
    if (json.contains("support")) {
        const Json& said = json.at("support");
        estimate.support = Support{said.value("error", 0.0), said.value("outside", 0.0), said.value("edge", 0.0),
                                   said.value("unmeasured", 0.0), said.value("what", "")};
    }
    for (const IntervalKind kind :
         {IntervalKind::Bound, IntervalKind::Ensemble, IntervalKind::Residuals, IntervalKind::Sampling}) {
        if (json.value("interval_kind", "") == store::toText(kind)) estimate.interval.kind = kind;
    }
    if (json.contains("energy_j")) estimate.energy = Joules(json.at("energy_j").get<double>());
    if (json.contains("memory")) {
        const Json& memory = json.at("memory");
        MemoryUse use;
        use.weights = Bytes(memory.value("weights_bytes", 0.0));
        use.kvCache = Bytes(memory.value("kv_cache_bytes", 0.0));
        use.activations = Bytes(memory.value("activations_bytes", 0.0));
        use.capacity = Bytes(memory.value("capacity_bytes", 0.0));
        estimate.memory = use;
    }
    estimate.cost = Seconds(json.value("cost_s", 0.0));
    estimate.assumptions = json.value("assumptions", std::vector<std::string>{});
    for (const Json& warning : json.at("warnings")) estimate.warnings.push_back(store::diagnosticFrom(warning));
    estimate.levels = json.value("levels", std::vector<std::string>{});
    for (const Json& row : json.value("ceilings", Json::array())) {
        Ceiling ceiling;
        ceiling.label = row.value("label", "");
        ceiling.memory = row.contains("rate_bytes_per_s");
        ceiling.rate = row.value(ceiling.memory ? "rate_bytes_per_s" : "rate_flop_per_s", 0.0);
        ceiling.level = row.value("level", std::int16_t{-1});
        estimate.ceilings.push_back(std::move(ceiling));
    }
    for (const Json& row : json.value("figures", Json::array())) {
        const Dimension dimension = dimensionFrom(row.value("dimension", ""));
        const std::string unit = row.value("unit", "");
        Figure figure{row.value("label", ""), row.at("value").get<double>(), dimension,
                      unit == baseUnit(dimension) ? std::string() : unit};
        if (row.contains("low") && row.contains("high")) {
            figure.interval = {row.at("low").get<double>(), row.at("high").get<double>()};
            figure.basis = row.value("basis", "");
        }
        estimate.figures.push_back(std::move(figure));
    }
    if (json.contains("bound_s")) estimate.bound = Seconds(json.at("bound_s").get<double>());
    estimate.parts = {partsFrom(json.value("used", Json::array())), partsFrom(json.value("ignored", Json::array()))};
    readOperators(json.at("operators"), estimate, *workload);
    if (json.contains("timeline")) readTimeline(json.at("timeline"), estimate.timeline);
    if (json.contains("provenance")) {
        const Json& from = json.at("provenance");
        estimate.provenance = {from.value("method", ""),
                               from.value("version", ""),
                               from.value("hardware_hash", ""),
                               from.value("workload_hash", ""),
                               from.value("seed", std::uint64_t{0}),
                               from.value("task", ""),
                               from.value("plan", ""),
                               from.value("task_hash", "")};
    }
    stored.workload = std::move(workload);
    return stored;
}

}  // namespace

Expected<StoredEstimate> readEstimateJson(std::string_view text) {
    try {
        return read(Json::parse(text));
    } catch (const nlohmann::json::exception& error) {
        return fail("store.estimate", fmt::format("a stored estimate cannot be read: {}", error.what()),
                    "an estimate as the `run` JSON contract says",
                    "the run database may be damaged: run the study again");
    }
}

}  // namespace orrery
