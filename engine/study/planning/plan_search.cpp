#include "study/planning/plan_search.h"

#include "hardware/views/cluster_view.h"
#include "mapping/plan_kinds.h"
#include "study/planning/plan_fit.h"
#include "study/planning/plan_frontier.h"
#include "study/planning/plan_space.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <numeric>

namespace orrery {

namespace {

/// A shard that the method has priced, with what nothing in it is better than.
struct PricedChoice {
    ShardChoice shard;
    double least = 0;  ///< s of a step, if it scaled perfectly to all devices that may be used
    std::optional<Diagnostic> refused;
};

struct Found {
    PlanFrontier best;
    std::uint64_t plans = 0, priced = 0, pruned = 0, nodes = 0, tooLarge = 0;

    void add(const Found& other) {
        plans += other.plans, priced += other.priced, pruned += other.pruned;
        nodes += other.nodes, tooLarge += other.tooLarge;
    }
};

class PlanSearch {
public:
    PlanSearch(const PlanSearchRequest& request, const PlanSearchContext& context, const StepModel& model,
               std::vector<PlanChoices> choices)
        : request_(request), context_(context), model_(model), choices_(std::move(choices)) {}

    Expected<PlanSearchResult> run() {
        const auto began = std::chrono::steady_clock::now();
        std::vector<ShardChoice> shards = shardsOf(choices_);
        if (shards.empty())
            return fail("plan.space", "no sizes that divide the model, the batch and the devices", "at least one plan",
                        "change the batch or the number of devices, or widen what may be chosen");
        if (context_.progress) context_.progress->setTotal(2 * shards.size());
        std::vector<PricedChoice> priced = priceAll(shards);
        std::erase_if(priced, [&](const PricedChoice& one) {
            if (one.refused && !refused_ && one.refused->code != "study.cancelled") refused_ = one.refused;
            return one.refused.has_value();
        });
        if (priced.empty()) {
            if (context_.stop.stop_requested()) return fail("study.cancelled", "the search was stopped");
            return Unexpected(*refused_);
        }
        Found all{PlanFrontier(request_.objective, request_.top), {}, {}, {}, {}, {}};
        searchAll(priced, all);
        PlanSearchResult result;
        result.points = all.best.points();
        result.plans = all.plans, result.priced = all.priced, result.pruned = all.pruned, result.nodes = all.nodes;
        result.tooLarge = all.tooLarge;
        result.shards = priced.size();
        result.proven = !stopped() && !result.points.empty();
        if (result.points.empty() && !stopped()) {
            result.closest = closest(priced);
            if (result.closest) result.advice = clusterFit(model_, *result.closest, limit(result.closest->figures));
        }
        result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
        runAgain(result.points);
        return result;
    }

private:
    bool stopped() const { return context_.stop.stop_requested(); }
    double limit(const StepFigures& figures) const { return figures.capacity * request_.memoryShare; }

    // What the method says of the shards; those that it cannot price are left out.
    std::vector<PricedChoice> priceAll(const std::vector<ShardChoice>& shards) {
        std::vector<PricedChoice> priced(shards.size());
        context_.executor.forEach(shards.size(), [&](std::size_t i) {
            PricedChoice& its = priced[i];
            its.shard = shards[i];
            const PlanChoices& choices = choices_[shards[i].choices];
            const std::vector<NodeChoice> nodes = nodesOf(choices, shards[i]);
            const auto pass = leastPass(choices, planOf(model_, choices, shards[i], nodes.front()));
            if (!pass)
                its.refused = pass.error();
            else
                its.least = pass->pass * static_cast<double>(choices.batch / shards[i].samples) *
                            static_cast<double>(shards[i].tensor * shards[i].context) /
                            static_cast<double>(choices.mostDevices);
            if (context_.progress) context_.progress->advance();
        });
        std::stable_sort(priced.begin(), priced.end(),
                         [](const PricedChoice& a, const PricedChoice& b) { return a.least < b.least; });
        return priced;
    }

    // The quickest micro-batch of a shard, and the least that it computes, over what changes neither stages nor copies.
    Expected<StepTotals> leastPass(const PlanChoices& choices, Plan node) const {
        std::optional<StepTotals> least;
        std::optional<Diagnostic> problem;
        static const std::vector<std::int64_t> no{0};
        for (const Recompute recompute : choices.recompute) {
            for (const std::int64_t sequence : node.tensor > 1 ? choices.sequence : no) {
                node.sequence = sequence;
                const auto totals = model_.totals({node, recompute}, context_.stop);
                if (!totals) {
                    if (!problem) problem = totals.error();
                    continue;
                }
                if (!least) least = *totals;
                least->pass = std::min(least->pass, totals->pass);
                least->computing = std::min(least->computing, totals->computing);
            }
        }
        if (!least) return Unexpected(std::move(*problem));
        // From both ends turns hide each other's exchanges.
        const auto& schedules = choices.schedule;
        if (std::find(schedules.begin(), schedules.end(), PipelineSchedule::DualPipe) != schedules.end())
            least->pass = least->computing;
        return *least;
    }

    // Shards in waves of fixed size: each sees what the waves before have found, so that the result and the counts do
    // not depend on threads.
    void searchAll(const std::vector<PricedChoice>& priced, Found& all) {
        constexpr std::size_t wave = 8;
        for (std::size_t begin = 0; begin < priced.size(); begin += wave) {
            const std::size_t many = std::min(wave, priced.size() - begin);
            std::vector<Found> found(many);
            context_.executor.forEach(many, [&](std::size_t i) {
                found[i].best = all.best;
                searchShard(priced[begin + i].shard, found[i]);
                if (context_.progress) context_.progress->advance();
            });
            for (const Found& one : found) {
                all.best.merge(one.best);
                all.add(one);
            }
        }
    }

    void searchShard(const ShardChoice& shard, Found& found) const {
        const PlanChoices& choices = choices_[shard.choices];
        ++found.nodes;
        for (const NodeChoice& node : nodesOf(choices, shard)) {
            if (stopped()) return;
            const Plan plan = planOf(model_, choices, shard, node);
            const LayerDeals deals = layerDealsOf(model_, choices, plan, context_.stop);
            const std::uint64_t plans = plansOf(choices, plan, deals);
            found.plans += plans;
            ++found.nodes;
            const auto totals = leastPass(choices, plan);
            if (!totals || hopeless(*totals, plan, found)) {
                found.pruned += plans;
                continue;
            }
            std::uint64_t priced = 0;
            eachPlan(choices, plan, deals, [&](const StepPlan& each) { priced += price(each, found) ? 1 : 0; });
            found.priced += priced;
            found.pruned += plans - priced;
        }
    }

    // A step takes no less than its stages have to do on average; every weight, its gradient and its state are held
    // once at least.
    bool hopeless(const StepTotals& totals, const Plan& plan, const Found& found) const {
        if (!request_.prune) return false;
        const auto stages = static_cast<double>(plan.pipeline), copies = static_cast<double>(plan.data * plan.context);
        const double held = (2 * totals.parameterBytes + totals.stateBytes) / stages / copies;
        if (totals.capacity > 0 && held > totals.capacity * request_.memoryShare) return true;
        return found.best.beats(leastFigures(totals, plan, static_cast<double>(plan.microbatches)));
    }
    StepFigures leastFigures(const StepTotals& totals, const Plan& plan, double turns) const {
        StepFigures least;
        const auto stages = static_cast<double>(plan.pipeline), m = static_cast<double>(plan.microbatches);
        least.seconds = turns * totals.pass / stages;
        least.devices = plan.devices();
        least.joules = totals.joulesPerSecond * static_cast<double>(least.devices) * m * totals.computing / stages;
        least.dollarsPerHour = totals.dollarsPerHour * static_cast<double>(least.devices);
        return least;
    }

    // False: a bound said enough.
    bool price(const StepPlan& plan, Found& found) const {
        // One chunk a stage: it fills and drains besides.
        const bool plain = plan.plan.schedule == PipelineSchedule::OneForwardOneBackward && plan.plan.interleave == 1 &&
                           !namesSeveralDevices(plan.plan);
        if (request_.prune && plain && plan.plan.pipeline > 1) {
            const auto totals = model_.totals(plan, context_.stop);
            const auto turns = static_cast<double>(plan.plan.microbatches + plan.plan.pipeline - 1);
            if (totals && found.best.beats(leastFigures(*totals, plan.plan, turns))) return false;
        }
        auto figures = model_.figures(plan, context_.stop);
        if (!figures) return true;
        if (figures->capacity > 0 && figures->needs > limit(*figures)) {
            ++found.tooLarge;
            return true;
        }
        PlannedPoint point;
        point.plan = plan;
        point.figures = std::move(*figures);
        found.best.add(std::move(point));
        return true;
    }

    // Where nothing fits: the least that any plan holds.
    std::optional<PlannedPoint> closest(const std::vector<PricedChoice>& priced) const {
        std::optional<PlannedPoint> best;
        for (const PricedChoice& one : priced) {
            const PlanChoices& choices = choices_[one.shard.choices];
            for (const NodeChoice& node : nodesOf(choices, one.shard)) {
                if (stopped()) return best;
                StepPlan plan{planOf(model_, choices, one.shard, node), choices.recompute.back()};
                plan.recompute = *std::max_element(choices.recompute.begin(), choices.recompute.end());
                if (plan.plan.tensor > 1) plan.plan.sequence = choices.sequence.back();
                if (plan.plan.data * plan.plan.context > 1)
                    plan.plan.zero = *std::max_element(choices.zero.begin(), choices.zero.end());
                auto figures = model_.figures(plan, context_.stop);
                if (!figures ||
                    (best && figures->needs - figures->capacity >= best->figures.needs - best->figures.capacity))
                    continue;
                best.emplace();
                best->plan = plan;
                best->figures = std::move(*figures);
            }
        }
        return best;
    }

    // The best by the event run, which knows every wait.
    void runAgain(std::vector<PlannedPoint>& points) const {
        const std::size_t many = std::min({request_.rerun, request_.top, points.size()});
        const auto choice = methodChoice(request_.method, builtinMethods());
        if (many == 0 || !choice) return;
        context_.executor.forEach(many, [&](std::size_t i) {
            PlannedPoint& point = points[i];
            Scenario scenario = model_.scenario();
            TrainingStep step = std::get<TrainingStep>(scenario.task);
            step.recompute = point.plan.recompute;
            scenario.plan = point.plan.plan;
            scenario.task = step;
            EstimateContext context{context_.executor, context_.stop};
            context.seed = context_.seed;
            context.wantTimeline = false;
            context.options = choice->options;
            context.calibrations = context_.calibrations;
            const auto ran = estimate(model_.method(), scenario, context);
            if (!ran) {
                point.ranFailure = ran.error();
                return;
            }
            point.ranSeconds = ran->latency.value;
            point.ranLow = ran->interval.low.value;
            point.ranHigh = ran->interval.high.value;
        });
    }

    const PlanSearchRequest& request_;
    const PlanSearchContext& context_;
    const StepModel& model_;
    std::vector<PlanChoices> choices_;
    std::optional<Diagnostic> refused_;
};

}  // namespace

Expected<PlanSearchResult> searchPlans(const PlanSearchRequest& request, const PlanSearchContext& context) {
    const auto choice = methodChoice(request.method, builtinMethods());
    if (!choice) return Unexpected(choice.error());
    EstimateContext asked{context.executor, context.stop};
    asked.seed = context.seed;
    asked.options = choice->options;
    asked.calibrations = context.calibrations;
    const auto model = StepModel::make(*findMethod(choice->id), request.scenario, asked, request.prices);
    if (!model) return Unexpected(model.error());
    auto choices = planChoices(**model, request.space);
    if (!choices) return Unexpected(std::move(choices.error()));
    return PlanSearch(request, context, **model, std::move(*choices)).run();
}

}  // namespace orrery
