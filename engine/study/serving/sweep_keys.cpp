#include "base/text/nearest.h"
#include "base/text/words.h"
#include "serving/schedulers/scheduler_options.h"
#include "study/serving/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace orrery {

namespace {

using Set = bool (*)(ServingStudy&, std::string_view);

template <class Whole>
bool whole(std::string_view text, Whole& to) {
    const auto value = numberIn(text);
    if (!value || *value != std::floor(*value) || *value < 0 || *value > 2e9) return false;
    to = static_cast<Whole>(*value);
    return true;
}

bool positive(std::string_view text, double& to) {
    const auto value = numberIn(text);
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

// A price belongs to a device: another one has none until it is said.
bool hardware(ServingStudy& study, std::string_view text) {
    const std::size_t at = text.find('@');
    const std::string_view id = text.substr(0, at);
    double price = 0;
    if (id.empty() || (at != text.npos && !positive(text.substr(at + 1), price))) return false;
    return each(study, [&](PoolSpec& pool) {
        if (at != text.npos || pool.hardware != id) pool.dollarsPerHour = price;
        pool.hardware = id;
        pool.device.clear();
        return true;
    });
}

bool pools(ServingStudy& study, std::string_view text) {
    auto& all = study.scenario.pools;
    const bool apart = all.size() == 2 && all[0].role == ReplicaRole::Prefill && all[1].role == ReplicaRole::Decode;
    if (!apart && (all.size() != 1 || all[0].role != ReplicaRole::Whole)) return false;
    const std::size_t colon = text.find(':');
    std::int32_t first = 0, second = 0;
    if (!whole(text.substr(0, colon), first) || first < 1) return false;
    if (colon == text.npos) {
        all.resize(1);
        all[0].role = ReplicaRole::Whole;
        if (apart) all[0].name = PoolSpec{}.name;
    } else {
        if (!whole(text.substr(colon + 1), second) || second < 1) return false;
        if (!apart) {
            all.push_back(all[0]);
            all[0].role = ReplicaRole::Prefill;
            all[0].name = toText(ReplicaRole::Prefill);
            all[1].role = ReplicaRole::Decode;
            all[1].name = toText(ReplicaRole::Decode);
        }
        all[1].replicas = second;
    }
    all[0].replicas = first;
    return true;
}

bool names(const SchedulerCard& card, std::string_view key) {
    return std::any_of(card.options.begin(), card.options.end(), [&](const auto& option) { return option.key == key; });
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
        {{"hardware", "a device or system of the catalogue, with its price per hour: `h100-sxm@2.5`"},
         [](ServingStudy& s, std::string_view t) { return hardware(s, t); }},
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
        {{"pools", "replicas that do both, `4`, or prefill and decode apart, `1:3`"},
         [](ServingStudy& s, std::string_view t) { return pools(s, t); }},
        {{"scheduler", "a policy"},
         [](ServingStudy& s, std::string_view t) {
             const SchedulerCard* card = findScheduler(t);
             return card && each(s, [&](PoolSpec& p) {
                        p.scheduler.id = t;
                        std::erase_if(p.scheduler.more, [&](const auto& own) { return !names(*card, own.first); });
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
        const auto number = numberIn(value);
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

bool sweepReads(const ServingStudy& study, std::string_view key) {
    // Memory is planned by the others, whatever the policy (capacity_plan.h).
    const auto all = schedulers();
    if (key == "tokenBudget" || key == "maxSequences" || key == "maxModelLength" ||
        std::none_of(all.begin(), all.end(), [&](const SchedulerCard& card) { return names(card, key); })) {
        return true;
    }
    return std::any_of(study.scenario.pools.begin(), study.scenario.pools.end(), [&](const PoolSpec& pool) {
        const SchedulerCard* card = findScheduler(pool.scheduler.id);
        return !card || names(*card, key);
    });
}

Expected<void> setSweepValues(ServingStudy& study, std::span<const SweepAxis> axes,
                              std::span<const std::string> values) {
    // A number is read or not by the policy that is there in the end, and prices stand on the pools that are.
    const auto early = [](std::string_view key) { return key == "scheduler" || key == "pools"; };
    for (const bool first : {true, false}) {
        for (std::size_t a = 0; a < axes.size(); ++a) {
            if (early(axes[a].key) != first || !sweepReads(study, axes[a].key)) continue;
            if (auto set = setSweepValue(study, axes[a].key, values[a]); !set) return set;
        }
    }
    return {};
}

}  // namespace orrery
