#include "app/window/explore/explore_run.h"

#include "app/window/explore/explore_remote.h"

#include <chrono>

namespace orrery::app {

void explore(ExploreRun& run, WorkloadPtr workload, const CalibrationSet* calibrations, std::stop_token stop,
             Progress& progress) {
    const auto refuse = [&](Diagnostic why) {
        const std::scoped_lock hold(run.lock);
        run.refusal = std::move(why);
    };
    auto made = searchProblem(run.question.settings, scenarioOf(run.question, std::move(workload)));
    if (!made) return refuse(made.error());
    auto agent = searchAgent(run.agent);
    if (!agent) return refuse(agent.error());
    const auto problem = std::make_shared<const SearchProblem>(std::move(*made));
    const auto executor = makeDefaultExecutor();
    SearchOptions options{.executor = executor.get(), .stop = stop, .calibrations = calibrations};
    BaseAnswer drawn = evaluateBase(*problem, options);
    {
        const std::scoped_lock hold(run.lock);
        run.problem = problem;
        run.drawn = std::move(drawn);
    }
    PointAnswers alone = runSearch(*problem, **searchAgent("one-at-a-time"), options);
    {
        const std::scoped_lock hold(run.lock);
        run.effects = knobEffects(*problem, alone);
        run.alone = alone;
    }
    const std::uint64_t most = run.question.settings.evaluations;
    progress.setTotal(most > 0 ? std::min(most, problem->space.points()) : problem->space.points());
    options.progress = &progress;
    options.evaluations = most;
    options.known = &alone;
    using Clock = std::chrono::steady_clock;
    auto told = Clock::now();
    options.onBatch = [&](const PointAnswers& seen, std::size_t) {
        if (Clock::now() - told < std::chrono::milliseconds(300)) return true;
        auto view = exploreView(*problem, run.drawn, seen);
        told = Clock::now();
        const std::scoped_lock hold(run.lock);
        run.view = std::move(view);
        return true;
    };
    bool stopped = false;
    const auto found =
        run.command.isEmpty()
            ? Expected<PointAnswers>(runSearch(*problem, **agent, options, &stopped))
            : searchElsewhere({run.command, run.folder}, *problem, **agent,
                              writeSearch("Explore", problem->space.base(), run.question.settings), options, &stopped);
    if (!found) return refuse(found.error());
    const PointAnswers& seen = *found;
    auto view = exploreView(*problem, run.drawn, seen);
    const std::scoped_lock hold(run.lock);
    run.view = std::move(view);
    run.stopped = stopped;
}

}  // namespace orrery::app
