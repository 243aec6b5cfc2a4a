#include "serving/schedulers/scheduler_options.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace orrery {

namespace {

struct WholeField {
    std::string_view key;
    std::int32_t SchedulerSpec::*field;
};
struct SwitchField {
    std::string_view key;
    bool SchedulerSpec::*field;
};
constexpr std::array<WholeField, 6> wholes{{{"maxSequences", &SchedulerSpec::maxSequences},
                                            {"tokenBudget", &SchedulerSpec::tokenBudget},
                                            {"chunk", &SchedulerSpec::chunk},
                                            {"longPrompt", &SchedulerSpec::longPrompt},
                                            {"maxModelLength", &SchedulerSpec::maxModelLength},
                                            {"lookahead", &SchedulerSpec::lookahead}}};
constexpr std::array<SwitchField, 5> switches{{{"chunkedPrefill", &SchedulerSpec::chunkedPrefill},
                                               {"reserveWholePrompt", &SchedulerSpec::reserveWholePrompt},
                                               {"prefixCache", &SchedulerSpec::prefixCache},
                                               {"byPriority", &SchedulerSpec::byPriority},
                                               {"swap", &SchedulerSpec::swap}}};

template <class Fields>
const auto* find(const Fields& fields, std::string_view key) {
    const auto at = std::ranges::find_if(fields, [key](const auto& field) { return field.key == key; });
    return at == fields.end() ? nullptr : &*at;
}

}  // namespace

double schedulerNumber(const SchedulerSpec& spec, std::string_view key) {
    if (const auto* whole = find(wholes, key)) return spec.*whole->field;
    if (const auto* flag = find(switches, key)) return spec.*flag->field ? 1 : 0;
    if (key == "watermark") return spec.watermark;
    const auto at = spec.more.find(key);
    return at == spec.more.end() ? std::numeric_limits<double>::quiet_NaN() : at->second;
}

void setSchedulerNumber(SchedulerSpec& spec, std::string_view key, double value) {
    if (const auto* whole = find(wholes, key))
        spec.*whole->field = static_cast<std::int32_t>(std::lround(std::clamp(value, -2e9, 2e9)));
    else if (const auto* flag = find(switches, key))
        spec.*flag->field = value != 0;
    else if (key == "watermark")
        spec.watermark = value;
    else
        spec.more[std::string(key)] = value;
}

double optionValue(const SchedulerSpec& spec, const SchedulerOption& option) {
    const double value = schedulerNumber(spec, option.key);
    return std::isnan(value) ? option.fallback : value;
}

bool isSwitch(std::string_view key) {
    return find(switches, key) != nullptr;
}

}  // namespace orrery
