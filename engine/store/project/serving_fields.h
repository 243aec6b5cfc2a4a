#pragma once

// The keys of serving documents, said once for reading and writing: an archive is asked for each field in the order in
// which files show them. For this folder's sources only.

#include "base/unit.h"
#include "serving/serving_study.h"

#include <string_view>

namespace orrery::store {

/// Words of an enumeration: toText() of its first `count` values.
template <class Enum>
struct Words {
    Enum& value;
    int count;
};

template <class Archive>
void describe(Archive& a, ArrivalSpec& s) {
    a.word("kind", Words<ArrivalKind>{s.kind, 8});
    a.number("rate", s.rate);
    a.number("cv", s.cv);
    a.number("burst_factor", s.burstFactor);
    a.number("burst_share", s.burstShare);
    a.number("burst_seconds", s.burstSeconds, Dimension::Time);
    a.number("swing", s.swing);
    a.number("period", s.period, Dimension::Time);
    a.number("phase", s.phase);
    a.whole("concurrency", s.concurrency);
    a.number("longest_gap", s.longestGap);
}
template <class Archive>
void describe(Archive& a, LengthSpec& s) {
    a.word("kind", Words<LengthKind>{s.kind, 5});
    a.number("mean", s.mean);
    a.number("cv", s.cv);
    a.number("theta", s.theta);
    a.whole("least", s.least);
    a.whole("most", s.most);
}
template <class Archive>
void describe(Archive& a, TraceSpec& s) {
    a.text("file", s.file);
    a.text("kind", s.kind);
    a.text("arrival", s.arrival);
    a.text("prompt", s.prompt);
    a.text("output", s.output);
    a.text("id", s.id);
    a.text("tenant", s.tenant);
    a.text("priority", s.priority);
    a.text("unit", s.unit);
    a.flag("sort", s.sort);
    a.flag("lenient", s.lenient);
}
template <class Archive>
void describe(Archive& a, SessionSpec& s) {
    a.number("turns", s.turns);
    a.flag("geometric", s.geometric);
    a.number("think", s.think, Dimension::Time);
    a.whole("context", s.context);
}
template <class Archive>
void describe(Archive& a, AgentSpec& s) {
    a.number("calls", s.calls);
    a.flag("geometric", s.geometric);
    a.number("tool_seconds", s.toolSeconds, Dimension::Time);
    a.whole("tool_tokens", s.toolTokens);
    a.whole("call_tokens", s.callTokens);
    a.whole("samples", s.samples);
    a.number("reasoning", s.reasoning);
}
template <class Archive>
void describe(Archive& a, TrafficEdit& s) {
    a.number("from", s.from, Dimension::Time);
    a.number("until", s.until, Dimension::Time);
    a.whole("skip", s.skip);
    a.number("rate", s.rate);
    a.number("prompt", s.prompt);
    a.number("output", s.output);
    a.whole("most_prompt", s.mostPrompt);
    a.whole("most_output", s.mostOutput);
    a.whole("most_text", s.mostText);
}
template <class Archive>
void describe(Archive& a, TrafficSpec& s) {
    a.text("name", s.name);
    a.whole("requests", s.requests);
    a.number("duration", s.duration, Dimension::Time);
    a.map("arrivals", s.arrivals);
    a.map("prompt", s.prompt);
    a.map("output", s.output);
    a.number("ratio", s.ratio);
    a.map("trace", s.trace);
    a.map("sessions", s.sessions);
    a.map("agents", s.agents);
    a.map("edit", s.edit);
    a.whole("shared_prompt", s.sharedPrompt);
    a.whole("prompt_groups", s.promptGroups);
    a.whole("tenants", s.tenants);
    a.whole("hash_tokens", s.hashTokens);
    a.text("compatibility", s.compatibility);
}

template <class Archive>
void describe(Archive& a, SchedulerSpec& s) {
    a.text("id", s.id);
    a.whole("max_sequences", s.maxSequences);
    a.whole("token_budget", s.tokenBudget);
    a.whole("chunk", s.chunk);
    a.whole("long_prompt", s.longPrompt);
    a.whole("max_model_length", s.maxModelLength);
    a.number("watermark", s.watermark);
    a.flag("chunked_prefill", s.chunkedPrefill);
    a.flag("reserve_whole_prompt", s.reserveWholePrompt);
    a.flag("prefix_cache", s.prefixCache);
    a.flag("by_priority", s.byPriority);
    a.flag("swap", s.swap);
    a.whole("lookahead", s.lookahead);
    a.text("compatibility", s.compatibility);
    a.numbers("more", s.more);
}
template <class Archive>
void describe(Archive& a, ServedModel& s) {
    a.text("source", s.source);
    a.type("weights", s.weights);
    a.type("activations", s.activations);
    a.type("kv", s.kv);
}
template <class Archive>
void describe(Archive& a, Plan& s) {
    a.whole("tensor", s.tensor);
    a.whole("pipeline", s.pipeline);
    a.whole("expert", s.expert);
}
template <class Archive>
void describe(Archive& a, IterationLaw& s) {
    a.number("fixed", s.fixed, Dimension::Time);
    a.number("per_token", s.perToken, Dimension::Time);
    a.number("per_square", s.perSquare, Dimension::Time);
    a.number("per_sequence", s.perSequence, Dimension::Time);
    a.number("per_context", s.perContext, Dimension::Time);
}
template <class Archive>
void describe(Archive& a, TimeSlot& s) {
    a.word("kind", Words<SlotKind>{s.kind, 3});
    a.text("method", s.method);
    a.text("software", s.software);
    a.text("format", s.format);
    a.text("path", s.path);
    a.text("key", s.key);
    a.map("law", s.law);
}
template <class Archive>
void describe(Archive& a, SpeculationChoice& s) {
    a.whole("drafts", s.drafts);
    a.number("acceptance", s.acceptance);
    a.text("draft_model", s.draftModel);
    a.number("draft_seconds", s.draftSeconds, Dimension::Time);
}
template <class Archive>
void describe(Archive& a, ExpertChoice& s) {
    a.word("routing", Words<RoutingKind>{s.routing, 4});
    a.number("skew", s.skew);
    a.text("trace", s.trace);
    a.flag("waves", s.waves);
}
template <class Archive>
void describe(Archive& a, AdapterChoice& s) {
    a.whole("rank", s.rank);
    a.whole("resident", s.resident);
    a.word("targets", Words<AdapterTargets>{s.targets, 2});
    a.number("host_bandwidth", s.hostBandwidth, Dimension::DataRate);
    a.number("hidden", s.hidden);
}
template <class Archive>
void describe(Archive& a, AdmissionSpec& s) {
    a.word("order", Words<AdmissionOrder>{s.order, 5});
    a.whole("queue", s.queue);
    a.flag("drop_late", s.dropLate);
}
template <class Archive>
void describe(Archive& a, TenantSpec& s) {
    a.text("name", s.name);
    a.number("share", s.share);
    a.whole("adapters", s.adapters);
    a.number("adapter_skew", s.adapterSkew);
    a.number("ttft", s.ttft, Dimension::Time);
}
template <class Archive>
void describe(Archive& a, StageSpec& s) {
    a.text("name", s.name);
    a.text("pool", s.pool);
    a.number("of_prompt", s.ofPrompt);
    a.whole("added", s.added);
    a.whole("output", s.output);
    a.number("pause", s.pause, Dimension::Time);
    a.number("seconds", s.seconds, Dimension::Time);
    a.number("per_token", s.perToken, Dimension::Time);
    a.whole("workers", s.workers);
    a.whole("together", s.together);
}
template <class Archive>
void describe(Archive& a, PoolSpec& s) {
    a.text("name", s.name);
    a.word("role", Words<ReplicaRole>{s.role, 3});
    a.whole("replicas", s.replicas);
    a.text("device", s.device);
    a.text("hardware", s.hardware);
    a.text("model", s.model);
    a.map("plan", s.plan);
    a.map("scheduler", s.scheduler);
    a.map("admission", s.admission);
    a.map("time", s.time);
    a.map("speculation", s.speculation);
    a.map("experts", s.experts);
    a.map("adapters", s.adapters);
    a.texts("serves", s.serves);
    a.number("memory_share", s.memoryShare);
    a.whole("tokens_per_block", s.tokensPerBlock);
    a.whole("kv_blocks", s.kvBlocks);
    a.number("power_cap", s.powerCap, Dimension::Power);
    a.word("clock", Words<ClockPolicy>{s.clock, 3});
    a.number("clock_share", s.clockShare);
    a.number("dollars_per_hour", s.dollarsPerHour);
}
template <class Archive>
void describe(Archive& a, RouterSpec& s) {
    a.text("id", s.id);
    a.number("weight", s.weight);
    a.number("queue_tokens", s.queueTokens);
    a.number("interval", s.interval, Dimension::Time);
    a.text("compatibility", s.compatibility);
}
template <class Archive>
void describe(Archive& a, TransferSpec& s) {
    a.number("bandwidth", s.bytesPerSecond, Dimension::DataRate);
    a.number("latency", s.latency, Dimension::Time);
    a.number("hidden", s.hidden);
    a.word("sharing", Words<LinkSharing>{s.sharing, 3});
    a.number("retry", s.retry, Dimension::Time);
}
template <class Archive>
void describe(Archive& a, AutoscaleSpec& s) {
    a.number("interval", s.interval, Dimension::Time);
    a.number("spin_up", s.spinUp, Dimension::Time);
    a.number("up", s.up);
    a.number("down", s.down);
    a.whole("least", s.least);
    a.whole("most", s.most);
}
template <class Archive>
void describe(Archive& a, ReplicaFailure& s) {
    a.whole("replica", s.replica);
    a.number("at", s.at, Dimension::Time);
    a.number("lasting", s.lasting, Dimension::Time);
    a.flag("drain", s.drain);
}
template <class Archive>
void describe(Archive& a, ServiceLevel& s) {
    a.number("ttft", s.ttft, Dimension::Time);
    a.number("tpot", s.tpot, Dimension::Time);
    a.number("end_to_end", s.endToEnd, Dimension::Time);
}
template <class Archive>
void describe(Archive& a, CapacitySpec& s) {
    a.number("attainment", s.attainment);
    a.number("guess", s.guess);
    a.number("tolerance", s.tolerance);
    a.number("highest", s.highest);
}
template <class Archive>
void describe(Archive& a, ServingStudy& s) {
    a.text("name", s.name);
    a.text("description", s.description);
    a.text("hardware", s.hardware);
    a.map("model", s.scenario.model);
    a.list("pools", s.scenario.pools);
    a.map("router", s.scenario.router);
    a.optional("transfer", s.scenario.transfer);
    a.map("autoscale", s.scenario.autoscale);
    a.list("failures", s.scenario.failures);
    a.map("promise", s.scenario.promise);
    a.list("tenants", s.scenario.tenants);
    a.list("stages", s.scenario.stages);
    a.map("traffic", s.traffic);
    a.whole("seed", s.seed);
    a.optional("compare_with", s.compareWith);
    a.map("capacity", s.capacity);
    a.axes("sweep", s.sweep);
}

}  // namespace orrery::store
