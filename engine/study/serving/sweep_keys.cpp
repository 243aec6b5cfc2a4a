#include "base/text/nearest.h"
#include "base/text/words.h"
#include "serving/fields/field_path.h"
#include "serving/schedulers/scheduler_options.h"
#include "study/serving/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace orrery {

namespace {

bool whole(std::string_view text, std::int32_t& to) {
    const auto value = numberIn(text);
    if (!value || *value != std::floor(*value) || *value < 0 || *value > 2e9) return false;
    to = static_cast<std::int32_t>(*value);
    return true;
}

bool positive(std::string_view text, double& to) {
    const auto value = numberIn(text);
    if (value && *value >= 0) to = *value;
    return value && *value >= 0;
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
    const std::string wanted = schedulerKey(key);
    return std::any_of(card.options.begin(), card.options.end(),
                       [&](const auto& option) { return schedulerKey(option.key) == wanted; });
}

// A policy takes what only it knows with it.
bool scheduler(ServingStudy& study, std::string_view text) {
    const SchedulerCard* card = findScheduler(text);
    return card && each(study, [&](PoolSpec& p) {
               p.scheduler.id = text;
               std::erase_if(p.scheduler.more, [&](const auto& own) { return !names(*card, own.first); });
               return true;
           });
}

// What is said in one word: a field by its path, or more than one field at once.
struct ShortKey {
    std::string_view key, path, meaning;
    bool (*set)(ServingStudy&, std::string_view) = nullptr;
};
constexpr std::array<ShortKey, 20> shortKeys{{
    {"model", "model/source", {}},
    {"weights", "model/weights", {}},
    {"kv", "model/kv", {}},
    {"hardware", {}, "a device or system of the catalogue, with its price per hour: `h100-sxm@2.5`", hardware},
    {"tensor", "pools/plan/tensor", {}},
    {"pipeline", "pools/plan/pipeline", {}},
    {"expert", "pools/plan/expert", {}},
    {"replicas",
     {},
     "replicas of every pool",
     [](ServingStudy& s, std::string_view t) { return replicas(s, t, ReplicaRole::Whole, true); }},
    {"prefill_replicas",
     {},
     "replicas of pools that compute prompts",
     [](ServingStudy& s, std::string_view t) { return replicas(s, t, ReplicaRole::Prefill, false); }},
    {"decode_replicas",
     {},
     "replicas of pools that decode",
     [](ServingStudy& s, std::string_view t) { return replicas(s, t, ReplicaRole::Decode, false); }},
    {"pools", {}, "replicas that do both, `4`, or prefill and decode apart, `1:3`", pools},
    {"scheduler", "pools/scheduler/id", {}, scheduler},
    {"chunk", "pools/scheduler/chunk", {}},
    {"token_budget", "pools/scheduler/token_budget", {}},
    {"max_sequences", "pools/scheduler/max_sequences", {}},
    {"router", "router/id", {}},
    {"method", "pools/time/method", {}},
    {"rate", "traffic/arrivals/rate", {}},
    {"ratio",
     {},
     "prompt tokens per output token",
     [](ServingStudy& s, std::string_view t) { return positive(t, s.traffic.ratio) && s.traffic.ratio > 0; }},
    {"concurrency", "traffic/arrivals/concurrency", {}},
}};

const ShortKey* shortKey(std::string_view key) {
    for (const ShortKey& each : shortKeys)
        if (each.key == key || (each.set && !each.path.empty() && each.path == key)) return &each;
    return nullptr;
}
std::string_view pathOf(std::string_view key) {
    if (const ShortKey* known = shortKey(key)) return known->path;
    return key;
}

// `longPrompt`, or `pools/scheduler/long_prompt`, as `long_prompt`; other keys are names of no policy's number.
std::string optionOf(std::string_view key) {
    constexpr std::string_view part = "/scheduler/";
    const std::string_view path = pathOf(key);
    if (path.starts_with("pools") && path.find(part) != path.npos) key = path.substr(path.find(part) + part.size());
    return schedulerKey(key);
}

bool policyReads(const ServingStudy& study, std::string_view key) {
    const std::string option = optionOf(key);
    // Memory is planned by the others, whatever the policy (capacity_plan.h).
    const auto all = schedulers();
    if (option == "token_budget" || option == "max_sequences" || option == "max_model_length" ||
        std::none_of(all.begin(), all.end(), [&](const SchedulerCard& card) { return names(card, option); })) {
        return true;
    }
    return std::any_of(study.scenario.pools.begin(), study.scenario.pools.end(), [&](const PoolSpec& pool) {
        const SchedulerCard* card = findScheduler(pool.scheduler.id);
        return !card || names(*card, option);
    });
}

}  // namespace

std::string_view sweepPath(std::string_view key) {
    return pathOf(key);
}

const FieldSpec* sweepField(std::string_view key) {
    const std::string_view path = pathOf(key);
    const FieldSpec* field = path.empty() ? nullptr : findField(path);
    return field && field->isSwept() ? field : nullptr;
}

std::span<const SweepKey> sweepKeys() {
    static const std::vector<SweepKey> keys = [] {
        std::vector<SweepKey> made;
        for (const ShortKey& each : shortKeys) {
            const FieldSpec* field = each.meaning.empty() ? findField(each.path) : nullptr;
            made.push_back({std::string(each.key), std::string(field ? field->meaning : each.meaning)});
        }
        for (const ListedField& each : servingFields())
            if (each.spec->isSwept()) made.push_back({each.path, std::string(each.spec->meaning)});
        return made;
    }();
    return keys;
}

Expected<void> setSweepValue(ServingStudy& study, std::string_view key, std::string_view value) {
    const auto wrong = [&](std::string_view expected) {
        return fail("sweep.value", fmt::format("{} cannot be `{}`", key, value.substr(0, 60)), std::string(expected),
                    {}, Place{{}, 0, 0, fmt::format("sweep/{}", key)});
    };
    const ShortKey* known = shortKey(key);
    if (known && known->set) {
        if (known->set(study, value)) return {};
        const FieldSpec* field = known->meaning.empty() ? findField(known->path) : nullptr;
        return wrong(field ? field->meaning : known->meaning);
    }
    if (const FieldSpec* field = findField(pathOf(key)); field && field->isSwept()) {
        if (value.empty() && field->none.empty()) return wrong(field->meaning);
        if (auto set = setFieldText(study, pathOf(key), value); !set)
            return wrong(set.error().expected.empty() ? field->meaning : set.error().expected);
        return {};
    }
    // Numbers of policies by the names on their cards.
    const auto all = schedulers();
    if (!std::isnan(schedulerNumber(SchedulerSpec{}, key)) ||
        std::any_of(all.begin(), all.end(), [&](const SchedulerCard& card) { return names(card, key); })) {
        const auto number = numberIn(value);
        if (!number) return wrong("a number");
        for (PoolSpec& pool : study.scenario.pools) setSchedulerNumber(pool.scheduler, key, *number);
        return {};
    }
    std::vector<std::string> keys;
    std::string list;
    for (const ShortKey& each : shortKeys) list += fmt::format("{}, ", each.key);
    for (const SweepKey& each : sweepKeys()) keys.push_back(each.key);
    return fail("sweep.key", fmt::format("a sweep cannot change `{}`", key),
                list + "or the path of a value: `pools/memory_share`", didYouMean(std::string(key), keys),
                Place{{}, 0, 0, fmt::format("sweep/{}", key)});
}

bool sweepReads(const ServingStudy& study, std::string_view key) {
    const std::string_view path = pathOf(key);
    return policyReads(study, key) && (path.empty() || !findField(path) || fieldMatters(study, path));
}

Expected<void> setSweepValues(ServingStudy& study, std::span<const SweepAxis> axes,
                              std::span<const std::string> values) {
    // A number is read or not by the policy that is there in the end, and prices stand on the pools that are.
    const auto early = [](std::string_view key) { return pathOf(key) == "pools/scheduler/id" || key == "pools"; };
    for (const bool first : {true, false}) {
        for (std::size_t a = 0; a < axes.size(); ++a) {
            if (early(axes[a].key) != first || !policyReads(study, axes[a].key)) continue;
            if (auto set = setSweepValue(study, axes[a].key, values[a]); !set) return set;
        }
    }
    return {};
}

}  // namespace orrery
