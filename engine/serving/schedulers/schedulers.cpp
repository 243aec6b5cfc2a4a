#include "serving/fields/field.h"
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
    if (auto good = checkFields(spec, {}, spec.id); !good) return good;
    for (const auto& [key, value] : spec.more) {
        bool known = false;
        for (const auto& option : card->options) known |= option.key == key;
        if (!known) {
            return fail("serving.unknown-option", fmt::format("{} has no option `{}`", spec.id, key),
                        "an option of its card", {}, Place{.path = "more/" + key});
        }
        if (!std::isfinite(value) || value < 0) {
            return fail("serving.bad-scheduler", fmt::format("{} of {} is {}", key, spec.id, value),
                        "a number from 0 on", {}, Place{.path = "more/" + key});
        }
    }
    return {};
}

}  // namespace orrery
