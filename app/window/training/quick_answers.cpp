#include "app/window/training/quick_answers.h"

#include "base/executor.h"

namespace orrery::app {

QuickAnswers::QuickAnswers(std::shared_ptr<WorkloadCache> cache, QObject* parent)
    : QObject(parent), cache_(std::move(cache)), prepared_(std::make_shared<std::optional<Prepared>>()) {}

const StepFigures* QuickAnswers::figures(const StepPlan& plan) const {
    return figures_ && plan_ == plan ? &*figures_ : nullptr;
}

void QuickAnswers::ask(const TrainingQuestion& question, const std::string& method,
                       std::shared_ptr<const CalibrationSet> calibrations) {
    const StepPlan plan{question.plan, question.step.recompute};
    Asked asked{question.hardware, question.recipe, method, question.step, calibrations};
    if (!(asked == asked_)) {  // the same plan of another question is another answer
        figures_.reset();
        refusal_.reset();
        asked_ = std::move(asked);
    }
    work_.ask(
        [plan, method, calibrations = std::move(calibrations), hardware = question.hardware, recipe = question.recipe,
         step = question.step, cache = cache_,
         prepared = prepared_](std::stop_token stop, Progress&) -> Expected<StepFigures> {
            std::optional<Prepared>& there = *prepared;
            const bool same = there && there->hardware == hardware && there->recipe == recipe &&
                              there->method == method && there->step == step && there->calibrations == calibrations;
            if (!same) {
                const auto workload = cache->get(recipe);
                if (!workload) return Unexpected(workload.error());
                const auto choice = methodChoice(method, builtinMethods());
                if (!choice) return Unexpected(choice.error());
                const auto executor = makeSerialExecutor();
                EstimateContext context{*executor, {}};
                context.options = choice->options;
                context.calibrations = calibrations.get();
                const Scenario scenario{hardware, *workload, plan.plan, step};
                there = Prepared{hardware, recipe,       method,
                                 step,     calibrations, StepModel::make(*findMethod(choice->id), scenario, context)};
            }
            if (!there->model) return Unexpected(there->model.error());
            return (*there->model)->figures(plan, stop);
        },
        [this, plan](const Expected<StepFigures>& found) {
            plan_ = plan;
            figures_ = found ? std::optional(*found) : std::nullopt;
            refusal_ = found ? std::nullopt : std::optional(found.error());
            emit answered();
        },
        Background::Newest::LetsItFinish);
}

}  // namespace orrery::app
