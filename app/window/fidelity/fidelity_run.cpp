#include "app/window/fidelity/fidelity_run.h"

#include <chrono>

namespace orrery::app {

Expected<FidelityViewPtr> fidelityNow(const FidelityQuestion& question, FidelitySteps& steps, std::stop_token stop,
                                      Progress& progress) {
    auto view = std::make_shared<FidelityView>();
    view->question = question;
    const CalibrationSet* calibrations = question.calibrations.get();
    const auto begun = std::chrono::steady_clock::now();
    const auto spent = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count(); };
    if (question.mode == FidelityMode::Ladder) {
        const auto executor = makeDefaultExecutor();
        LadderOptions options{
            .executor = executor.get(), .stop = stop, .progress = &progress, .calibrations = calibrations};
        options.onStep = [&](const LadderStep& step) {
            if (!step.estimate) return;
            const Estimate& e = *step.estimate;
            ui::ConvergencePoint point{.spent = spent(), .what = QString::fromStdString(step.method)};
            if (step.soFar)
                point.latency = step.soFar->latency, point.low = step.soFar->low, point.high = step.soFar->high;
            point.own = e.latency.value, point.ownLow = e.interval.low.value, point.ownHigh = e.interval.high.value;
            point.bound = e.interval.kind == IntervalKind::Bound;
            steps.add(std::move(point));
        };
        view->ladder = climbLadder(question.scenario, options);
        if (!view->ladder->last()) {
            for (const LadderStep& step : view->ladder->steps)
                if (step.failure) return Unexpected(*step.failure);
            return fail("study.cancelled", "stopped before the first answer");
        }
    } else if (question.mode == FidelityMode::Advice) {
        const auto executor = makeDefaultExecutor();
        AdviceQuestion asked{question.scenario, question.data};
        if (question.value > 0) asked.latency = question.value;
        AdviceOptions options{
            .executor = executor.get(), .stop = stop, .progress = &progress, .calibrations = calibrations};
        auto advice = adviseOn(asked, options);
        if (!advice) return Unexpected(std::move(advice.error()));
        view->advice = std::move(*advice);
    } else {
        const auto executor = makeSerialExecutor();
        BudgetOptions options{
            .executor = executor.get(), .stop = stop, .progress = &progress, .calibrations = calibrations};
        options.full = question.full;
        (question.mode == FidelityMode::Within ? options.within : options.to) = question.value;
        options.onStep = [&](const BudgetStep& step) {
            steps.add({.spent = step.seconds,
                       .latency = step.latency,
                       .low = step.low,
                       .high = step.high,
                       .what = QString::fromStdString(step.asked)});
        };
        auto answer = answerWithin(question.scenario, options);
        if (!answer) return Unexpected(std::move(answer.error()));
        view->budget = std::move(*answer);
    }
    view->points = steps.points();
    return FidelityViewPtr(std::move(view));
}

}  // namespace orrery::app
