#include "serving/schedulers/all.h"

#include <fmt/format.h>

#include <cmath>

namespace orrery {

std::span<const SchedulerCard> schedulers() {
    static const std::vector<SchedulerCard> all{
        vllmV1(),       //
        sgLang(),       //
        vllmV0(),       //
        sarathi(),      //
        orca(),         //
        lightLlm(),     //
        staticBatch(),  //
        splitwise(),    //
        distserve(),    //
    };
    return all;
}

const SchedulerCard* findScheduler(std::string_view id) {
    for (const auto& card : schedulers()) {
        if (card.id == id) return &card;
    }
    return nullptr;
}

double numberOf(const SchedulerSpec& spec, std::string_view key, double fallback) {
    const auto found = spec.more.find(key);
    return found == spec.more.end() ? fallback : found->second;
}

namespace {

// As files spell it: `max_sequences`.
std::string keyOf(std::string_view field) {
    std::string key;
    for (const char each : field) {
        const bool capital = each >= 'A' && each <= 'Z';
        if (capital) key += '_';
        key += capital ? static_cast<char>(each - 'A' + 'a') : each;
    }
    return key;
}

}  // namespace

Expected<void> check(const SchedulerSpec& spec) {
    const auto* card = findScheduler(spec.id);
    if (!card) {
        std::string known;
        for (const auto& each : schedulers()) known += fmt::format("{}{}", known.empty() ? "" : ", ", each.id);
        return fail("serving.unknown-scheduler", fmt::format("there is no scheduler `{}`", spec.id), known, {},
                    Place{.path = "id"});
    }
    if (!spec.compatibility.empty() && spec.compatibility != "vidur" && spec.compatibility != "splitwise" &&
        spec.compatibility != "distserve") {
        return fail("serving.unknown-compatibility", fmt::format("nothing is known of `{}`", spec.compatibility),
                    "vidur, splitwise or distserve; empty for the engine's own semantics", {},
                    Place{.path = "compatibility"});
    }
    const auto bad = [&](std::string_view what, double value, std::string expected) {
        return fail("serving.bad-scheduler", fmt::format("{} of {} is {}", what, spec.id, value), std::move(expected),
                    {}, Place{.path = keyOf(what)});
    };
    if (spec.maxSequences < 1) return bad("maxSequences", spec.maxSequences, "1 or more");
    if (spec.tokenBudget < 1) return bad("tokenBudget", spec.tokenBudget, "1 or more");
    if (spec.chunk < 1) return bad("chunk", spec.chunk, "1 or more");
    if (spec.longPrompt < 0) return bad("longPrompt", spec.longPrompt, "0 or more");
    if (spec.maxModelLength < 0) return bad("maxModelLength", spec.maxModelLength, "0 or more");
    if (spec.lookahead < 0 || spec.lookahead > 64) return bad("lookahead", spec.lookahead, "0 to 64");
    if (!(spec.watermark >= 0 && spec.watermark < 1)) return bad("watermark", spec.watermark, "from 0 to below 1");
    for (const auto& [key, value] : spec.more) {
        bool known = false;
        for (const auto& option : card->options) known |= option.key == key;
        if (!known) {
            return fail("serving.unknown-option", fmt::format("{} has no option `{}`", spec.id, key),
                        "an option of its card", {}, Place{.path = "more/" + key});
        }
        if (!std::isfinite(value) || value < 0) {
            auto wrong = bad(key, value, "a number from 0 on");
            wrong.value().place.path = "more/" + key;
            return wrong;
        }
    }
    return {};
}

}  // namespace orrery
