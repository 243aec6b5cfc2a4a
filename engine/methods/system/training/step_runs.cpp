#include "methods/system/training/step_runs.h"

#include "methods/method.h"
#include "methods/system/training/step_network.h"
#include "simulation/picoseconds.h"

#include <algorithm>
#include <functional>

namespace orrery {

namespace {

StepPrograms scaled(StepPrograms programs, const std::vector<double>& factors) {
    if (std::all_of(factors.begin(), factors.end(), [](double factor) { return factor == 1; })) return programs;
    const auto of = [&](std::size_t layer) {
        return factors[layer < programs.kindOfLayer.size() ? static_cast<std::size_t>(programs.kindOfLayer[layer]) : 0];
    };
    for (std::size_t c = 0; c < programs.classes.size(); ++c) {
        TrainingProgram& program = programs.classes[c];
        for (std::size_t l = 0; l < program.layers.size(); ++l) {
            for (auto* pieces : {&program.layers[l].forward, &program.layers[l].backward})
                for (ProgramPiece& piece : *pieces) piece.seconds *= of(l);
            program.layers[l].weightGradientSeconds *= of(l);
        }
        for (std::size_t s = 0; s < program.optimizerSeconds.size(); ++s)
            program.optimizerSeconds[s] *=
                factors[static_cast<std::size_t>(programs.kindOf(s * programs.classes.size() + c))];
    }
    return programs;
}

StepRun stepRun(ClusterOutcome outcome) {
    StepRun run;
    for (const RankResult& rank : outcome.ranks) run.seconds = std::max(run.seconds, toSeconds(rank.finish));
    run.outcome = std::move(outcome);
    return run;
}

}  // namespace

double StepPrograms::devicesOf(std::size_t slot) const {
    const Plan& plan = front().plan;
    const auto its = static_cast<std::int32_t>(slot % classes.size());
    const auto copies = classOf.empty() ? plan.data : std::count(classOf.begin(), classOf.end(), its);
    return static_cast<double>(copies * plan.tensor * plan.context);
}

Expected<ClusterJob> StepPrograms::job(std::int64_t drawn) const {
    return trainingJob(classes, classOf, drawn);
}

Expected<StepRun> runStep(const StepPrograms& programs, const ExchangePrices& prices, bool spans,
                          const std::stop_token& stop) {
    const TrainingProgram& program = programs.front();
    const std::int64_t drawn = std::max<std::int64_t>(2, program.plan.devices());  // a network has two at least
    auto job = programs.job(drawn);
    if (!job) return Unexpected(std::move(job.error()));
    ClusterSettings settings;
    settings.network.dimensions = {{TopologyShape::Switch, drawn, 1e9, 0}};
    settings.network.congestion = false;
    settings.prices = &prices;
    settings.remote = {program.host.latency * 1e9, program.host.link};
    auto outcome = runCluster(std::move(*job), settings, spans, stop, false);
    if (!outcome) return Unexpected(std::move(outcome.error()));
    return stepRun(std::move(*outcome));
}

StepSide sideOf(const StepRun& run, const StepPrograms& programs) {
    StepSide side{run.seconds};
    const auto all = static_cast<double>(programs.front().plan.devices());
    for (std::size_t s = 0; s < programs.slotCount(); ++s) {
        const double share = programs.devicesOf(s) / all;
        side.busy += toSeconds(run.outcome.ranks[s].compute) * share;
        side.exposed += toSeconds(run.outcome.ranks[s].exposed) * share;
    }
    return side;
}

Expected<StepRuns> runSides(const StepPrograms& programs, const PlanPrices& prices, const StepNetwork* network,
                            const std::vector<KindSides>& kinds, bool bound, const EstimateContext& context) {
    using enum PlanPrices::Side;
    using Factors = std::vector<double>;
    const auto factors = [&](double KindSides::*side) {
        Factors all;
        for (const KindSides& kind : kinds) all.push_back(kind.*side);
        return all;
    };
    const Factors one(kinds.size(), 1.0), low = factors(&KindSides::low), high = factors(&KindSides::high),
                                          least = factors(&KindSides::least);
    StepRuns runs;
    StepSide bare, worst, floor;
    std::vector<std::function<Expected<void>()>> tasks;
    const auto add = [&](const Factors& factor, PlanPrices::Side priced, StepRun* whole, StepSide* side) {
        tasks.emplace_back([&, by = &factor, priced, whole, side]() -> Expected<void> {
            const auto taken = prices.take(priced);
            auto run = runStep(scaled(programs, *by), taken, whole && context.wantTimeline, context.stop);
            if (!run) return Unexpected(std::move(run.error()));
            if (side) *side = sideOf(*run, programs);
            if (whole) *whole = std::move(*run);
            return {};
        });
    };
    const auto follow = [&](const Factors& factor, StepRun* whole, StepSide* side) {
        tasks.emplace_back([&, by = &factor, whole, side]() -> Expected<void> {
            auto outcome = network->run(scaled(programs, *by).front(), whole && context.wantTimeline, context.stop);
            if (!outcome) return Unexpected(std::move(outcome.error()));
            StepRun run = stepRun(std::move(*outcome));
            if (side) *side = sideOf(run, programs);
            if (whole) *whole = std::move(run);
            return {};
        });
    };
    if (network && !bound) {
        follow(one, &runs.likely, nullptr);
        follow(high, nullptr, &worst);
        add(one, Low, nullptr, &bare);
    } else {
        add(one, bound ? Low : Likely, &runs.likely, nullptr);
    }
    add(low, Low, nullptr, &runs.best);
    add(high, High, nullptr, &runs.worst);
    if (std::all_of(least.begin(), least.end(), [](double its) { return its > 0; })) add(least, Low, nullptr, &floor);
    std::vector<Expected<void>> done(tasks.size());
    context.executor.forEach(tasks.size(), [&](std::size_t i) { done[i] = tasks[i](); });
    for (const Expected<void>& each : done)
        if (!each) return Unexpected(each.error());
    runs.likely.seconds = std::max(runs.likely.seconds, bare.seconds);
    if (worst.seconds > runs.worst.seconds) runs.worst = worst;
    runs.floor = floor.seconds;
    return runs;
}

}  // namespace orrery
