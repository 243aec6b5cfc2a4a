#pragma once

// A lesson: a project to begin with, and steps with tasks that are checked on what a person has made of it and on what
// the methods answer. presets/lessons/README.md describes the files.

#include "base/text/condition.h"
#include "base/unit.h"
#include "store/project/project.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace orrery {

/// A number that is computed where it is shown: an expression over facts, and how it is printed.
struct LessonNumber {
    Expression value;
    Dimension dimension = Dimension::Number;
};

/// Either something to be done to the project, or a question whose answer is a number.
struct LessonTask {
    std::string text, hint;
    std::optional<Condition> when;       ///< of something to be done
    std::optional<LessonNumber> answer;  ///< of a question
    double within = 0.05;                ///< of the answer, as a share of it
    /// What does it, in order: changes as doChange() takes them. Shown to who asks for it; tests do lessons by it.
    std::vector<std::pair<std::string, std::string>> changes;
};

/// A stretch of the text: words as they stand, then a number.
struct LessonText {
    std::string words;  ///< Markdown
    std::optional<LessonNumber> number;
};

struct LessonStep {
    std::string title;
    std::string page, panel;  ///< of the window, to be shown with it; empty: as it stands
    std::vector<LessonText> text;
    std::vector<LessonTask> tasks;
};

/// Who a lesson is, as the first lines of its file say.
struct LessonHead {
    std::string id, title, summary, file;
    int order = 0, minutes = 0;
};

struct Lesson {
    LessonHead head;
    Project project;
    std::vector<LessonStep> steps;
};

/// presets/lessons, in their order; files that are no lessons are left out.
std::vector<LessonHead> shippedLessons();
/// Reads `orrery: lesson/1`; the text beside it has a `## ` heading per step, in the same order. Fails with `lesson.…`
/// and what reading a project or a document fails with.
Expected<Lesson> readLesson(std::string_view yaml, std::string_view markdown, const std::string& file = {});
/// Of a file NAME.yaml and the text NAME.md beside it; its id is NAME.
Expected<Lesson> readLessonFile(const std::string& path);

/// The project with one thing changed: `plan`, `task`, `methods`, `hardware` and `workload` (chosen by name), an option
/// of the workload (`batch`), `serving.KEY` as sweeps name it, or the path of an attribute (`hbm3.bandwidth`).
Expected<Project> doChange(Project project, std::string_view key, std::string_view value);

using LessonFacts = std::map<std::string, double, std::less<>>;
/// Facts under their names, those of the lesson's beginning as `start.NAME` and those of the step's as `before.NAME`.
struct LessonState {
    LessonFacts now, start, before;
    std::optional<double> operator()(std::string_view name) const;
};
bool isDone(const LessonTask& task, const LessonState& state);
/// Whether the number that a person gave is the answer; nothing where the answer is not known yet.
std::optional<bool> isRight(const LessonTask& task, double given, const LessonState& state);
/// `3.35 TB/s`; `…` where it is not known yet.
std::string toText(const LessonNumber& number, const LessonState& state);
/// Markdown with its numbers.
std::string toText(const std::vector<LessonText>& text, const LessonState& state);
/// All of it on paper, in Markdown: the text, tasks with boxes to tick and lines to write on, no answers. Numbers are
/// those that the lesson begins with (`start`); dots to write on stand for those that a person sees only after a
/// change, that a question asks for, or that are not known.
std::string handOut(const Lesson& lesson, const LessonFacts& start);

}  // namespace orrery
