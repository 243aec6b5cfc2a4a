#include "methods/task.h"

#include "base/text/nearest.h"
#include "base/text/words.h"
#include "serving/serving_study.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace orrery {

namespace {

constexpr std::array<std::string_view, taskKindCount> kindNames{"pass", "operator", "training-step", "serving-run"};
constexpr std::array<std::string_view, 3> optimizerNames{"adam", "sgd", "none"};

constexpr std::array<std::string_view, 3> recomputeNames{"none", "selective", "full"};

template <class Choice, std::size_t N>
bool choose(std::string_view value, const std::array<std::string_view, N>& names, Choice& out) {
    const auto at = std::find(names.begin(), names.end(), value);
    if (at == names.end()) return false;
    out = static_cast<Choice>(at - names.begin());
    return true;
}

template <class Number>
bool number(std::string_view value, Number least, Number most, Number& out) {
    Number read{};
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), read);
    if (error != std::errc{} || end != value.data() + value.size() || !(read >= least && read <= most)) return false;
    out = read;
    return true;
}

Expected<Task> trainingStep(std::string_view inside) {
    TrainingStep step;
    if (inside.empty()) return step;
    for (const std::string_view option : splitTrimmed(inside, ',')) {
        const auto equals = option.find('=');
        const std::string_view key = option.substr(0, equals), value = equals == std::string_view::npos
                                                                           ? std::string_view()
                                                                           : option.substr(equals + 1);
        const bool good = (key == "optimizer" && choose(value, optimizerNames, step.optimizer)) ||
                          (key == "recompute" && choose(value, recomputeNames, step.recompute)) ||
                          (key == "lora" && number(value, std::int64_t{0}, std::int64_t{65536}, step.lora)) ||
                          (key == "imbalance" && number(value, 1.0, 1000.0, step.imbalance));
        if (good) continue;
        return fail("task.bad-option", fmt::format("`{}` is no option of a training step", option),
                    "optimizer=adam, sgd or none; recompute=none, selective or full; lora=RANK, 0 to 65536; "
                    "imbalance=RATIO, 1 to 1000");
    }
    return step;
}

}  // namespace

std::string_view toText(Optimizer optimizer) {
    return optimizerNames[static_cast<std::size_t>(optimizer)];
}

std::string_view toText(Recompute recompute) {
    return recomputeNames[static_cast<std::size_t>(recompute)];
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
    if (!step || *step == TrainingStep{}) return kind;
    std::string options;
    const auto add = [&](std::string_view key, std::string_view value) {
        options += fmt::format("{}{}={}", options.empty() ? "" : ", ", key, value);
    };
    if (step->optimizer != Optimizer::Adam) add("optimizer", toText(step->optimizer));
    if (step->recompute != Recompute::None) add("recompute", toText(step->recompute));
    if (step->lora > 0) add("lora", std::to_string(step->lora));
    if (step->imbalance != 1) add("imbalance", fmt::format("{}", step->imbalance));
    return options.empty() ? kind : fmt::format("{}({})", kind, options);
}

Expected<Task> parseTask(std::string_view text) {
    const auto open = text.find('(');
    const auto kind = text.substr(0, open);
    std::string_view inside;
    if (open != std::string_view::npos) {
        if (!text.ends_with(')'))
            return fail("task.bad-option", fmt::format("`{}` does not end", text), "task(option)");
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
