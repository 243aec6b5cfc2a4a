#include "mapping/plan.h"

#include "base/text/nearest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <vector>

namespace orrery {

namespace {

constexpr std::int64_t most_devices = 1000000;

struct PlanKey {
    std::string_view brief, name;
    std::int64_t Plan::*value;
    std::int64_t least;
    std::int64_t most = most_devices;
};
constexpr std::array<PlanKey, 10> plan_keys{{
    {"tp", "tensor", &Plan::tensor, 1},
    {"pp", "pipeline", &Plan::pipeline, 1},
    {"dp", "data", &Plan::data, 1},
    {"ep", "expert", &Plan::expert, 1},
    {"cp", "context", &Plan::context, 1},
    {"vp", "interleave", &Plan::interleave, 1},
    {"zero", "zero", &Plan::zero, 0, 3},
    {"shard", "shard", &Plan::shard, 0},
    {"sp", "sequence", &Plan::sequence, 0, 1},
    {"mb", "microbatches", &Plan::microbatches, 0},
}};

constexpr std::array<std::string_view, 4> schedule_words{"1f1b", "gpipe", "zero-bubble", "dualpipe"};
constexpr std::array<std::string_view, 3> offload_words{"optimizer", "weights", "activations"};

std::string_view withoutSpaces(std::string_view text) {
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
    return text;
}

Unexpected wrongValue(const PlanKey& key, std::string_view value) {
    return fail("plan.value", fmt::format("{} parallelism is `{}`", key.name, value),
                fmt::format("a whole number from {} to {}", key.least, key.most),
                fmt::format("write `{}=8`, or leave it out", key.brief),
                Place{.path = fmt::format("plan/{}", key.name)});
}

Unexpected unknownKey(std::string_view word) {
    std::vector<std::string> known;
    for (const PlanKey& key : plan_keys) {
        known.emplace_back(key.brief);
        known.emplace_back(key.name);
    }
    for (const char* word_key : {"sched", "offload", "layers", "at"}) known.emplace_back(word_key);
    const std::string near = didYouMean(word, known);
    return fail("plan.unknown-key", fmt::format("`{}` is no dimension of a plan", word),
                "`tp`, `pp`, `dp`, `ep`, `cp`, `vp`, `zero`, `shard`, `sp`, `mb`, `sched`, `offload`, `layers` or `at`",
                near.empty() ? "write `tp=8,pp=2`" : near, Place{.path = "plan"});
}

std::optional<std::int64_t> wholeNumber(std::string_view text) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return number;
}

Expected<std::vector<std::int64_t>> parseLayers(std::string_view text) {
    std::vector<std::int64_t> layers;
    for (bool more = true; more;) {
        const std::size_t plus = text.find('+');
        const std::string_view word = withoutSpaces(text.substr(0, plus));
        more = plus != std::string_view::npos;
        text = more ? text.substr(plus + 1) : std::string_view();
        const auto number = wholeNumber(word);
        if (!number || *number < 1 || *number > most_devices)
            return fail("plan.value", fmt::format("a stage of `{}` layers", word),
                        fmt::format("a whole number from 1 to {} for each stage", most_devices),
                        "write `layers=20+12`, or leave it out", Place{.path = "plan/layers"});
        layers.push_back(*number);
    }
    return layers;
}

Expected<PipelineSchedule> parseSchedule(std::string_view word) {
    for (std::size_t i = 0; i < schedule_words.size(); ++i)
        if (schedule_words[i] == word) return static_cast<PipelineSchedule>(i);
    return fail("plan.value", fmt::format("`{}` is no schedule of a pipeline", word),
                fmt::format("{}", fmt::join(schedule_words, ", ")), "write `sched=zero-bubble`, or leave it out",
                Place{.path = "plan/schedule"});
}

Expected<std::uint8_t> parseOffload(std::string_view text) {
    std::uint8_t parts = 0;
    while (!text.empty()) {
        const std::size_t plus = text.find('+');
        const std::string_view word = withoutSpaces(text.substr(0, plus));
        text = plus == std::string_view::npos ? std::string_view() : text.substr(plus + 1);
        const auto* at = std::find(offload_words.begin(), offload_words.end(), word);
        if (at == offload_words.end())
            return fail("plan.value", fmt::format("`{}` is nothing that a host could hold", word),
                        fmt::format("{}", fmt::join(offload_words, ", ")), "write `offload=optimizer+activations`",
                        Place{.path = "plan/offload"});
        parts |= static_cast<std::uint8_t>(1U << (at - offload_words.begin()));
    }
    return parts;
}

// What hybrid shards need.
Expected<void> checkShards(const Plan& plan) {
    if (plan.shard == 0) return {};
    const auto wrong = [&](std::string what, std::string expected, std::string hint) {
        return fail("plan.shard", std::move(what), std::move(expected), std::move(hint), Place{.path = "plan/shard"});
    };
    if (plan.zero == 0)
        return wrong(fmt::format("sets of {} copies share nothing", plan.shard), "a plan with `zero`",
                     "write `zero=3`, or leave out `shard`");
    if (plan.data % plan.shard != 0)
        return wrong(fmt::format("{} copies in sets of {}", plan.data, plan.shard), "a number that divides the copies",
                     "change `shard` or `dp`");
    if (const std::int64_t set = plan.tensor * plan.context * plan.shard; set % plan.expert != 0)
        return wrong(fmt::format("experts are spread over {} devices, and a set of {} copies has {}", plan.expert,
                                 plan.shard, set),
                     "sets in which all experts stand", "raise `shard`, or lower `ep`");
    return {};
}

// Copies that each hold all weights would each fetch and update them.
Expected<void> checkOffload(const Plan& plan) {
    if ((plan.offload & OffloadWeights) == 0 || plan.zero == 3 || plan.data * plan.context == 1) return {};
    return fail("plan.offload", fmt::format("weights of {} copies go to the host whole", plan.data * plan.context),
                "a plan whose copies divide them", "write `zero=3`, or leave `weights` on the device",
                Place{.path = "plan/offload"});
}

Expected<void> checkLayers(const Plan& plan) {
    if (plan.layers.empty()) return {};
    const auto wrong = [](std::string what, std::string expected, std::string hint) {
        return fail("plan.layers", std::move(what), std::move(expected), std::move(hint), Place{.path = "plan/layers"});
    };
    if (static_cast<std::int64_t>(plan.layers.size()) != plan.pipeline)
        return wrong(
            fmt::format("layers are stated for {} stages, and there are {}", plan.layers.size(), plan.pipeline),
            "a number for each stage", "write as many numbers as `pp`, or leave out `layers`");
    if (plan.interleave > 1 || plan.schedule == PipelineSchedule::DualPipe)
        return wrong("layers are stated for stages that hold several chunks", "stages of one chunk",
                     "leave out `vp`, or take `sched=1f1b`");
    for (const std::int64_t many : plan.layers)
        if (many < 1 || many > most_devices)
            return wrong(fmt::format("a stage of {} layers", many), fmt::format("1 to {}", most_devices),
                         "give each stage a layer at least");
    return {};
}

// Kinds of device that share stages or copies do so evenly.
Expected<void> checkKinds(const Plan& plan) {
    const auto runs = [](std::string_view text, char mark) {
        return static_cast<std::int64_t>(std::count(text.begin(), text.end(), mark)) + 1;
    };
    const auto wrong = [](std::int64_t kinds, std::string_view what, std::int64_t many, std::string_view key) {
        return fail("plan.kinds", fmt::format("{} names of devices share {} {} evenly", kinds, many, what),
                    fmt::format("a number of names that divides `{}`", key),
                    fmt::format("change `{}`, or name a kind once for each of its {}", key, what),
                    Place{.path = "plan/placement"});
    };
    std::string_view left = plan.placement;
    if (const std::int64_t many = runs(left, '+'); plan.pipeline % many != 0)
        return wrong(many, "stages", plan.pipeline, "pp");
    while (!left.empty()) {
        const std::string_view stage = left.substr(0, left.find('+'));
        if (const std::int64_t many = runs(stage, '&'); plan.data % many != 0)
            return wrong(many, "copies", plan.data, "dp");
        left.remove_prefix(std::min(left.size(), stage.size() + 1));
    }
    return {};
}

}  // namespace

std::string offloadText(std::uint8_t parts) {
    std::string text;
    for (std::size_t i = 0; i < offload_words.size(); ++i)
        if ((parts & (1U << i)) != 0) text += fmt::format("{}{}", text.empty() ? "" : "+", offload_words[i]);
    return text;
}

std::string_view toText(PipelineSchedule schedule) {
    return schedule_words[static_cast<std::size_t>(schedule)];
}

std::string toText(const Plan& plan) {
    std::string text;
    const auto add = [&](std::string_view key, std::string_view value) {
        if (!text.empty()) text += ',';
        text += fmt::format("{}={}", key, value);
    };
    for (const PlanKey& key : plan_keys)
        if (plan.*key.value != key.least) add(key.brief, std::to_string(plan.*key.value));
    if (plan.schedule != PipelineSchedule::OneForwardOneBackward) add("sched", toText(plan.schedule));
    if (plan.offload != 0) add("offload", offloadText(plan.offload));
    if (!plan.layers.empty()) add("layers", fmt::format("{}", fmt::join(plan.layers, "+")));
    if (!plan.placement.empty()) add("at", plan.placement);
    return text.empty() ? "tp=1" : text;
}

Expected<Plan> parsePlan(std::string_view text) {
    Plan plan;
    std::vector<std::string_view> seen;
    text = withoutSpaces(text);
    while (!text.empty()) {
        const std::size_t comma = text.find(',');
        const std::string_view item = withoutSpaces(text.substr(0, comma));
        text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
        const std::size_t equals = item.find('=');
        if (equals == std::string_view::npos) {
            return fail("plan.syntax", fmt::format("`{}` sets nothing", item), "dimensions as `key=number`",
                        "write `tp=8,pp=2`", Place{.path = "plan"});
        }
        const std::string_view word = withoutSpaces(item.substr(0, equals));
        const std::string_view value = withoutSpaces(item.substr(equals + 1));
        const auto* key = plan_keys.begin();
        while (key != plan_keys.end() && key->brief != word && key->name != word) ++key;
        const bool placement = word == "at" || word == "placement";
        const bool schedule = word == "sched" || word == "schedule";
        const bool offload = word == "offload", layers = word == "layers";
        if (key == plan_keys.end() && !placement && !schedule && !offload && !layers) return unknownKey(word);
        const std::string_view name = placement ? "at" : schedule ? "sched" : offload || layers ? word : key->name;
        for (const std::string_view other : seen) {
            if (other != name) continue;
            return fail("plan.twice", fmt::format("`{}` is given twice", word), "each dimension once",
                        "remove one of them", Place{.path = fmt::format("plan/{}", name)});
        }
        seen.push_back(name);
        if (placement) {
            plan.placement = value;
            continue;
        }
        if (schedule) {
            const auto made = parseSchedule(value);
            if (!made) return Unexpected(made.error());
            plan.schedule = *made;
            continue;
        }
        if (offload) {
            const auto parts = parseOffload(value);
            if (!parts) return Unexpected(parts.error());
            plan.offload = *parts;
            continue;
        }
        if (layers) {
            auto each = parseLayers(value);
            if (!each) return Unexpected(std::move(each.error()));
            plan.layers = std::move(*each);
            continue;
        }
        const auto number = wholeNumber(value);
        if (!number || *number < key->least || *number > key->most) return wrongValue(*key, value);
        plan.*key->value = *number;
    }
    if (auto good = checkPlan(plan); !good) return Unexpected(std::move(good.error()));
    return plan;
}

Expected<void> checkPlan(const Plan& plan) {
    for (const PlanKey& key : plan_keys) {
        const std::int64_t value = plan.*key.value;
        if (value < key.least || value > key.most) return wrongValue(key, std::to_string(value));
    }
    const std::int64_t spread = plan.tensor * plan.context;  // at most 10^12; data may follow without overflow
    if (plan.expert > 1 && (spread * plan.data) % plan.expert != 0) {
        return fail("plan.experts",
                    fmt::format("experts are spread over {} devices, and a stage of the pipeline has {}", plan.expert,
                                spread * plan.data),
                    "a number of devices that divides tensor × context × data",
                    fmt::format("lower `ep`, or raise `dp` so that {} divides it", plan.expert),
                    Place{.path = "plan/expert"});
    }
    if (auto good = checkShards(plan); !good) return good;
    if (auto good = checkOffload(plan); !good) return good;
    if (auto good = checkLayers(plan); !good) return good;
    if (auto good = checkKinds(plan); !good) return good;
    if (plan.interleave > 1 && plan.schedule != PipelineSchedule::OneForwardOneBackward)
        return fail("plan.interleave", fmt::format("{} keeps one chunk of layers a stage", toText(plan.schedule)),
                    "vp=1", "leave out `vp`, or take `sched=1f1b`", Place{.path = "plan/interleave"});
    if (plan.schedule == PipelineSchedule::DualPipe && plan.pipeline % 2 != 0)
        return fail("plan.schedule", fmt::format("dualpipe pairs its stages, and there are {}", plan.pipeline),
                    "an even number of stages", "change pp, or take `sched=1f1b`", Place{.path = "plan/schedule"});
    return {};
}

Expected<void> checkPlan(const Plan& plan, std::int64_t devices) {
    if (auto good = checkPlan(plan); !good) return good;
    // Compared step by step: the product of four numbers of six digits does not fit.
    std::int64_t needed = 1;
    for (const std::int64_t factor : {plan.tensor, plan.pipeline, plan.data, plan.context}) {
        needed *= factor;
        if (needed <= devices) continue;
        return fail(
            "plan.too-many-devices",
            fmt::format("the plan {} needs {} devices, and {} {} drawn", toText(plan),
                        fmt::format("{}", static_cast<double>(plan.tensor) * static_cast<double>(plan.pipeline) *
                                              static_cast<double>(plan.data) * static_cast<double>(plan.context)),
                        devices, devices == 1 ? "is" : "are"),
            fmt::format("at most {} devices", devices),
            "lower a dimension of the plan, or raise the `count` of the device in the drawing", Place{.path = "plan"});
    }
    return {};
}

}  // namespace orrery
