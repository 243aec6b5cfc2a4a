#include "serving/schedulers/scheduler_options.h"

#include "serving/fields/field.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace orrery {

namespace {

const FieldSpec* schedulerField(std::string_view option) {
    const std::string key = schedulerKey(option);
    for (const FieldSpec& spec : fieldTable<SchedulerSpec>().fields)
        if (spec.key == key && (spec.isNumber() || spec.form == FieldForm::Flag)) return &spec;
    return nullptr;
}

}  // namespace

std::string schedulerKey(std::string_view option) {
    std::string key;
    for (const char each : option) {
        const bool capital = each >= 'A' && each <= 'Z';
        if (capital) key += '_';
        key += capital ? static_cast<char>(each - 'A' + 'a') : each;
    }
    return key;
}

double schedulerNumber(const SchedulerSpec& spec, std::string_view key) {
    if (const FieldSpec* field = schedulerField(key)) {
        const FieldValue value = field->get(&spec);
        if (const auto* number = std::get_if<double>(&value)) return *number;
        if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
        return std::get<bool>(value) ? 1 : 0;
    }
    const auto at = spec.more.find(key);
    return at == spec.more.end() ? std::numeric_limits<double>::quiet_NaN() : at->second;
}

void setSchedulerNumber(SchedulerSpec& spec, std::string_view key, double value) {
    const FieldSpec* field = schedulerField(key);
    if (!field)
        spec.more[std::string(key)] = value;
    else if (field->form == FieldForm::Whole)
        field->set(&spec, static_cast<std::int64_t>(std::lround(std::clamp(value, -2e9, 2e9))));
    else if (field->form == FieldForm::Flag)
        field->set(&spec, value != 0);
    else
        field->set(&spec, value);
}

double optionValue(const SchedulerSpec& spec, const SchedulerOption& option) {
    const double value = schedulerNumber(spec, option.key);
    return std::isnan(value) ? option.fallback : value;
}

bool isSwitch(std::string_view key) {
    const FieldSpec* field = schedulerField(key);
    return field && field->form == FieldForm::Flag;
}

}  // namespace orrery
