#include "store/lessons/lesson.h"

#include <fmt/format.h>

#include <cmath>

namespace orrery {

namespace {

std::optional<double> factOf(const LessonFacts& facts, std::string_view name) {
    const auto at = facts.find(name);
    return at == facts.end() ? std::nullopt : std::optional(at->second);
}

}  // namespace

std::optional<double> LessonState::operator()(std::string_view name) const {
    constexpr std::string_view first = "start.", earlier = "before.";
    if (name.starts_with(first)) return factOf(start, name.substr(first.size()));
    if (name.starts_with(earlier)) return factOf(before, name.substr(earlier.size()));
    if (const auto value = factOf(now, name)) return value;
    // A choice that was not made, of the methods' and parts' that are there: it is another one.
    const auto dot = name.rfind('.');
    if (dot == std::string_view::npos) return std::nullopt;
    const auto other = now.lower_bound(name.substr(0, dot + 1));
    const bool chosen = other != now.end() && other->first.starts_with(name.substr(0, dot + 1)) && other->second == 1;
    return chosen && now.lower_bound(std::string(name.substr(0, dot)) + "/") == std::next(other) ? std::optional(0.0)
                                                                                                 : std::nullopt;
}

bool isDone(const LessonTask& task, const LessonState& state) {
    return task.when && task.when->holds(state);
}

std::optional<bool> isRight(const LessonTask& task, double given, const LessonState& state) {
    if (!task.answer) return std::nullopt;
    const auto value = evaluate(task.answer->value, state);
    if (!value) return std::nullopt;
    return std::abs(given - *value) <= task.within * std::abs(*value);
}

std::string toText(const LessonNumber& number, const LessonState& state) {
    const auto value = evaluate(number.value, state);
    return value ? formatMeasure(*value, number.dimension) : std::string("…");
}

std::string toText(const std::vector<LessonText>& text, const LessonState& state) {
    std::string all;
    for (const LessonText& each : text) {
        all += each.words;
        if (each.number) all += toText(*each.number, state);
    }
    return all;
}

}  // namespace orrery
