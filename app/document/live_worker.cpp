#include "app/document/live_worker.h"

#include "app/document/kept_answers.h"
#include "app/document/method_refusal.h"
#include "evaluation/best_answer.h"
#include "evaluation/shipped_references.h"
#include "methods/adapter/adapter_method.h"

#include <utility>

namespace orrery::app {

namespace {

ui::Answer answerOf(const std::string& id, int colour, const Scenario& scenario, EstimateContext& context) {
    ui::Answer answer;
    answer.method = QString::fromStdString(id);
    answer.colour = colour;
    answer.title = QString::fromStdString(methodTitle(id));
    auto choice = methodChoice(id, builtinMethods());
    if (!choice) {
        answer.failure = choice.error();
        return answer;
    }
    context.options = choice->options;
    Expected<Estimate> estimate = orrery::estimate(*findMethod(choice->id), scenario, context);
    if (estimate) {
        answer.estimate = std::make_shared<const Estimate>(std::move(*estimate));
    } else {
        answer.failure = estimate.error();
    }
    return answer;
}

/// Recorded output is read at once; a program or a slow method is not asked at every edit: what a run made it say
/// stands.
ui::Answer runAnswer(const std::string& id, int colour, const Scenario& scenario, EstimateContext& context) {
    const auto choice = methodChoice(id, builtinMethods());
    const bool recorded = choice && choice->options.contains("recorded");
    if (!choice || recorded) return answerOf(id, colour, scenario, context);
    ui::Answer answer;
    answer.method = QString::fromStdString(id);
    answer.colour = colour;
    answer.title = QString::fromStdString(methodTitle(id));
    if (const Method* method = findMethod(id); method && !asksProgram(*method))
        answer.failure =
            refusalUnasked(*method, scenario, context.calibrations ? *context.calibrations : shippedCalibrations().set);
    if (answer.failure) return answer;
    answer.estimate = keptAnswer(id, scenario, context.calibrations);
    if (!answer.estimate) {
        answer.failure = warning(ui::notAskedCode, answer.title.toStdString() + " has not answered this question yet",
                                 "Run (F5) starts it; it is too slow to answer every edit");
    }
    return answer;
}

void chooseBest(ui::Snapshot& snapshot) {
    std::vector<AskedAnswer> asked;
    for (const ui::Answer& answer : snapshot.answers)
        asked.push_back({answer.method.toStdString(), answer.estimate.get()});
    const AnswerRanking ranking = rankAnswers(asked);
    if (!ranking.best) return;
    snapshot.best = snapshot.primary = static_cast<int>(*ranking.best);
    snapshot.bestReason = QString::fromStdString(ranking.reason);
    snapshot.bound = boundBeside(asked, ranking);
}

}  // namespace

std::optional<LiveAnswer> answerLive(const LiveQuestion& question, WorkloadCache& cache, Executor& executor,
                                     const std::stop_token& stop) {
    LiveAnswer answer{question.revision, question.generation, nullptr, nullptr, std::nullopt};
    if (!question.recipe) return answer;
    Expected<WorkloadPtr> workload = cache.get(*question.recipe);
    if (stop.stop_requested()) return std::nullopt;
    if (!workload) {
        answer.failure = workload.error();
        return answer;
    }
    answer.workload = *workload;
    if (!question.hardware) return answer;

    auto snapshot = std::make_shared<ui::Snapshot>();
    snapshot->revision = question.revision;
    snapshot->scenario = {question.hardware, answer.workload, question.plan, question.task};
    snapshot->calibrations = question.calibrations;
    if (Expected<DeviceView> view = deviceView(*question.hardware)) {
        snapshot->device = std::make_shared<const DeviceView>(std::move(*view));
    }
    EstimateContext context{executor, stop};
    context.calibrations = question.calibrations.get();
    for (std::size_t at = 0; at < question.methods.size(); ++at) {
        const Method* method = findMethod(question.methods[at]);
        const bool system = method && method->card.level == MethodLevel::System;
        if (system && !method->card.answers(kindOf(question.task))) continue;
        const bool byRun = asksByRunOnly(question.methods[at], snapshot->scenario);
        snapshot->answers.push_back(
            (byRun ? runAnswer : answerOf)(question.methods[at], static_cast<int>(at), snapshot->scenario, context));
        if (stop.stop_requested()) return std::nullopt;
    }
    chooseBest(*snapshot);
    snapshot->reference = referenceFor(snapshot->scenario);
    if (question.truth) {
        for (const OperatorTruth& each : question.truth->truthOf(snapshot->scenario))
            snapshot->references.push_back({each.op, each.seconds, each.kind != ReferenceKind::Simulated,
                                            QString::fromStdString(each.table->name)});
    }
    answer.snapshot = std::move(snapshot);
    return answer;
}

}  // namespace orrery::app
