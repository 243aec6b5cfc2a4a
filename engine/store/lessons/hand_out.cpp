#include "store/lessons/lesson.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace orrery {

namespace {

constexpr std::string_view first = "start.", earlier = "before.";
constexpr std::string_view blank = "……………", line = "______________________________";

bool changes(const LessonStep& step) {
    return std::ranges::any_of(step.tasks, [](const LessonTask& task) { return task.when.has_value(); });
}

/// Whether it is the same for everybody who reads the step, whatever they have made of the project: it speaks of what
/// the lesson begins with.
bool isKnown(const Expression& value, const Lesson& lesson, std::size_t step) {
    const auto steps = lesson.steps.begin();
    const bool changedBefore = std::any_of(steps, steps + static_cast<std::ptrdiff_t>(step), changes);
    return std::ranges::all_of(value.names(), [&](const std::string& name) {
        if (name.starts_with(first)) return true;
        return !changedBefore && (name.starts_with(earlier) || !changes(lesson.steps[step]));
    });
}

std::set<std::string> factsIn(const Expression& value) {
    std::set<std::string> facts;
    for (std::string name : value.names()) {
        if (name.starts_with(first)) name.erase(0, first.size());
        if (name.starts_with(earlier)) name.erase(0, earlier.size());
        facts.insert(std::move(name));
    }
    return facts;
}

/// What known questions ask for, in whatever unit: the facts that answer them.
std::set<std::set<std::string>> factsAsked(const Lesson& lesson) {
    std::set<std::set<std::string>> asked;
    for (std::size_t step = 0; step < lesson.steps.size(); ++step)
        for (const LessonTask& task : lesson.steps[step].tasks)
            if (task.answer && isKnown(task.answer->value, lesson, step)) asked.insert(factsIn(task.answer->value));
    return asked;
}

}  // namespace

std::string handOut(const Lesson& lesson, const LessonFacts& start) {
    const LessonState state{start, start, start};
    const auto asked = factsAsked(lesson);
    std::string page =
        fmt::format("# {}\n\n{}\n\nName: {}  Date: ______________\n\n", lesson.head.title, lesson.head.summary, line);
    for (std::size_t s = 0; s < lesson.steps.size(); ++s) {
        const LessonStep& step = lesson.steps[s];
        page += fmt::format("## {}. {}\n\n", s + 1, step.title);
        for (const LessonText& each : step.text) {
            page += each.words;
            if (!each.number) continue;
            const Expression& value = each.number->value;
            const bool printed = isKnown(value, lesson, s) && !asked.contains(factsIn(value)) && evaluate(value, state);
            page += printed ? toText(*each.number, state) : std::string(blank);
        }
        page += "\n\n";
        for (const LessonTask& task : step.tasks) {
            page += task.answer ? fmt::format("**Question.** {}\n\nAnswer: {}\n\n", task.text, line)
                                : fmt::format("☐ {}\n\nWhat I saw: {}\n\n", task.text, line);
        }
    }
    return page;
}

}  // namespace orrery
