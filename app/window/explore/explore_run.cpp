#include "app/window/explore/explore_run.h"

#include "app/window/explore/explore_remote.h"

#include <chrono>

namespace orrery::app {

namespace {

constexpr std::chrono::milliseconds mostOften{300};  // between two views

}  // namespace

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
    const auto show = [&](const PointAnswers& seen) {
        auto view = exploreView(*problem, run.drawn, seen);
        std::vector<std::shared_ptr<const ExploreView>> spent;  // go here, without the lock
        const std::scoped_lock hold(run.lock);
        spent.swap(run.spent);
        spent.push_back(std::exchange(run.view, std::move(view)));
    };
    // The more points, the longer a view of them takes: it never gets more than a fifth of the search's time.
    Clock::time_point due = Clock::now() + mostOften;
    options.onBatch = [&](const PointAnswers& seen, std::size_t) {
        const auto begun = Clock::now();
        if (begun < due) return true;
        show(seen);
        const auto now = Clock::now();
        due = now + std::max<Clock::duration>(mostOften, 4 * (now - begun));
        return true;
    };
    bool stopped = false;
    const auto found =
        run.command.isEmpty()
            ? Expected<PointAnswers>(runSearch(*problem, **agent, options, &stopped))
            : searchElsewhere({run.command, run.folder}, *problem, **agent,
                              writeSearch("Explore", problem->space.base(), run.question.settings), options, &stopped);
    if (!found) return refuse(found.error());
    show(*found);
    const std::scoped_lock hold(run.lock);
    run.stopped = stopped;
}

}  // namespace orrery::app
