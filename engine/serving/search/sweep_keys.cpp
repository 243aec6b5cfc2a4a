#include "hardware/nearest.h"
#include "serving/scheduler_options.h"
#include "serving/search/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace orrery {

namespace {

using Set = bool (*)(ServingStudy&, std::string_view);

std::optional<double> numberOf(std::string_view text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return {};
    return value;
}

bool whole(std::string_view text, std::int32_t& to) {
    const auto value = numberOf(text);
    if (!value || *value != std::floor(*value) || *value < 0 || *value > 2e9) return false;
    to = static_cast<std::int32_t>(*value);
    return true;
}

bool positive(std::string_view text, double& to) {
    const auto value = numberOf(text);
    if (value && *value >= 0) to = *value;
    return value && *value >= 0;
}

bool type(std::string_view text, DType& to) {
    const auto found = dtype(text);
    if (found) to = *found;
    return found.has_value();
}

template <class Change>
bool each(ServingStudy& study, Change change) {
    return std::all_of(study.scenario.pools.begin(), study.scenario.pools.end(), change);
}

bool replicas(ServingStudy& study, std::string_view text, ReplicaRole role, bool all) {
    bool any = false;
    for (PoolSpec& pool : study.scenario.pools) {
        if (!all && pool.role != role) continue;
        any = true;
        if (!whole(text, pool.replicas) || pool.replicas < 1) return false;
    }
    return any;
}

struct Row {
    SweepKey key;
    Set set;
};

const std::vector<Row>& rows() {
    static const std::vector<Row> all{
        {{"model", "a built-in model or a config.json"},
         [](ServingStudy& s, std::string_view t) {
             s.scenario.model.source = t;
             return !t.empty();
         }},
        {{"weights", "data type of the weights"},
         [](ServingStudy& s, std::string_view t) { return type(t, s.scenario.model.weights); }},
        {{"kv", "data type of the KV cache"},
         [](ServingStudy& s, std::string_view t) { return type(t, s.scenario.model.kv); }},
        {{"hardware", "a device or system of the catalogue"},
         [](ServingStudy& s, std::string_view t) {
             return each(s, [&](PoolSpec& p) {
                 p.hardware = t;
                 p.device.clear();
                 return !t.empty();
             });
         }},
        {{"tensor", "devices that share each layer"},
         [](ServingStudy& s, std::string_view t) {
             return each(s, [&](PoolSpec& p) { return whole(t, p.plan.tensor); });
         }},
        {{"pipeline", "stages of layers"},
         [](ServingStudy& s, std::string_view t) {
             return each(s, [&](PoolSpec& p) { return whole(t, p.plan.pipeline); });
         }},
        {{"expert", "devices that experts are spread over"},
         [](ServingStudy& s, std::string_view t) {
             return each(s, [&](PoolSpec& p) { return whole(t, p.plan.expert); });
         }},
        {{"replicas", "replicas of every pool"},
         [](ServingStudy& s, std::string_view t) { return replicas(s, t, ReplicaRole::Whole, true); }},
        {{"prefill_replicas", "replicas of pools that compute prompts"},
         [](ServingStudy& s, std::string_view t) { return replicas(s, t, ReplicaRole::Prefill, false); }},
        {{"decode_replicas", "replicas of pools that decode"},
         [](ServingStudy& s, std::string_view t) { return replicas(s, t, ReplicaRole::Decode, false); }},
        {{"scheduler", "a policy"},
         [](ServingStudy& s, std::string_view t) {
             return findScheduler(t) && each(s, [&](PoolSpec& p) {
                        p.scheduler.id = t;
                        return true;
                    });
         }},
        {{"chunk", "tokens of an iteration with prompts in it (Sarathi)"},
         [](ServingStudy& s, std::string_view t) {
             return each(s, [&](PoolSpec& p) { return whole(t, p.scheduler.chunk); });
         }},
        {{"token_budget", "tokens of an iteration"},
         [](ServingStudy& s, std::string_view t) {
             return each(s, [&](PoolSpec& p) { return whole(t, p.scheduler.tokenBudget); });
         }},
        {{"max_sequences", "sequences of an iteration"},
         [](ServingStudy& s, std::string_view t) {
             return each(s, [&](PoolSpec& p) { return whole(t, p.scheduler.maxSequences); });
         }},
        {{"router", "where requests go"},
         [](ServingStudy& s, std::string_view t) {
             s.scenario.router.id = t;
             return !t.empty();
         }},
        {{"method", "who prices kernels"},
         [](ServingStudy& s, std::string_view t) {
             return each(s, [&](PoolSpec& p) {
                 p.time.method = t;
                 return !t.empty();
             });
         }},
        {{"rate", "requests per second"},
         [](ServingStudy& s, std::string_view t) { return positive(t, s.traffic.arrivals.rate); }},
        {{"ratio", "prompt tokens per output token"},
         [](ServingStudy& s, std::string_view t) { return positive(t, s.traffic.ratio) && s.traffic.ratio > 0; }},
        {{"concurrency", "requests in flight (closed loop)"},
         [](ServingStudy& s, std::string_view t) { return whole(t, s.traffic.arrivals.concurrency); }},
    };
    return all;
}

}  // namespace

std::span<const SweepKey> sweepKeys() {
    static const std::vector<SweepKey> keys = [] {
        std::vector<SweepKey> made;
        for (const Row& row : rows()) made.push_back(row.key);
        return made;
    }();
    return keys;
}

Expected<void> setSweepValue(ServingStudy& study, std::string_view key, std::string_view value) {
    const auto wrong = [&](std::string_view expected) {
        return fail("sweep.value", fmt::format("{} cannot be `{}`", key, value.substr(0, 60)), std::string(expected),
                    {}, Place{{}, 0, 0, fmt::format("sweep/{}", key)});
    };
    for (const Row& row : rows()) {
        if (row.key.key != key) continue;
        if (!row.set(study, value)) return wrong(row.key.meaning);
        return {};
    }
    // Numbers of policies by the names on their cards.
    bool known = !std::isnan(schedulerNumber(SchedulerSpec{}, key));
    for (const SchedulerCard& card : schedulers()) {
        for (const SchedulerOption& option : card.options) known = known || option.key == key;
    }
    if (known) {
        const auto number = numberOf(value);
        if (!number) return wrong("a number");
        for (PoolSpec& pool : study.scenario.pools) setSchedulerNumber(pool.scheduler, key, *number);
        return {};
    }
    std::vector<std::string> names;
    std::string list;
    for (const Row& row : rows()) {
        names.emplace_back(row.key.key);
        list += (list.empty() ? "" : ", ") + names.back();
    }
    return fail("sweep.key", fmt::format("a sweep cannot change `{}`", key), list, didYouMean(std::string(key), names),
                Place{{}, 0, 0, fmt::format("sweep/{}", key)});
}

}  // namespace orrery
