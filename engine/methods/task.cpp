#include "methods/task.h"

#include "base/text/nearest.h"
#include "serving/serving_study.h"

#include <fmt/format.h>

#include <array>

namespace orrery {

namespace {

constexpr std::array<std::string_view, taskKindCount> kindNames{"pass", "operator", "training-step", "serving-run"};
constexpr std::array<std::string_view, 3> optimizerNames{"adam", "sgd", "none"};

Expected<Task> trainingStep(std::string_view inside) {
    TrainingStep step;
    if (inside.empty()) return step;
    constexpr std::string_view key = "optimizer=";
    if (inside.starts_with(key)) {
        for (std::size_t i = 0; i < optimizerNames.size(); ++i) {
            if (inside.substr(key.size()) != optimizerNames[i]) continue;
            step.optimizer = static_cast<Optimizer>(i);
            return step;
        }
    }
    return fail("task.bad-option", fmt::format("`{}` is no option of a training step", inside),
                "optimizer=adam, optimizer=sgd or optimizer=none");
}

}  // namespace

std::string_view toText(Optimizer optimizer) {
    return optimizerNames[static_cast<std::size_t>(optimizer)];
}

std::string_view toText(TaskKind kind) {
    return kindNames[static_cast<std::size_t>(kind)];
}

bool ServingRun::operator==(const ServingRun& other) const {
    return study == other.study || (study && other.study && *study == *other.study);
}

std::string toText(const Task& task) {
    const std::string kind(toText(kindOf(task)));
    if (const auto* one = std::get_if<OneOperator>(&task)) return fmt::format("{}({})", kind, one->name);
    if (const auto* run = std::get_if<ServingRun>(&task)) {
        return run->study ? fmt::format("{}({})", kind, run->study->name) : kind;
    }
    const auto* step = std::get_if<TrainingStep>(&task);
    if (!step || step->optimizer == Optimizer::Adam) return kind;
    return fmt::format("{}(optimizer={})", kind, toText(step->optimizer));
}

Expected<Task> parseTask(std::string_view text) {
    const auto open = text.find('(');
    const auto kind = text.substr(0, open);
    std::string_view inside;
    if (open != std::string_view::npos) {
        if (!text.ends_with(')')) return fail("task.bad-option", fmt::format("`{}` does not end", text), "task(option)");
        inside = text.substr(open + 1, text.size() - open - 2);
    }
    if (kind == "pass" && inside.empty()) return Pass{};
    if (kind == "training-step") return trainingStep(inside);
    if (kind == "operator" && !inside.empty()) return OneOperator{std::string(inside)};
    const std::vector<std::string> known{"pass", "operator(NAME)", "training-step"};
    return fail("task.unknown", fmt::format("there is no task `{}`", text),
                "pass, operator(NAME), training-step, or a file of serving", didYouMean(kind, known));
}

}  // namespace orrery
