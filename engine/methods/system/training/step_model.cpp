#include "methods/system/training/step_model.h"

#include "mapping/plan_kinds.h"
#include "methods/system/training/layer_programs.h"
#include "methods/system/training/pipeline_law.h"
#include "methods/system/training/step_model_state.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery {

namespace {

double priceOf(const DevicePrices& prices, const DeviceGroup& group) {
    for (const std::string& name : {group.name, group.path, std::string()})
        if (const auto at = prices.find(name); at != prices.end()) return at->second;
    return 0;
}

/// Copies of several classes: they end together, and each has its share of the rest.
StepFigures ofCopies(std::vector<StepFigures> classes, const std::vector<double>& shares) {
    if (classes.size() == 1) return std::move(classes.front());
    const auto slowest = std::max_element(classes.begin(), classes.end(),
                                          [](const auto& a, const auto& b) { return a.seconds < b.seconds; });
    StepFigures made = *slowest;
    made.compute = made.tensor = made.context = made.expert = made.joules = 0;
    double rates = 0;
    for (std::size_t c = 0; c < classes.size(); ++c) {
        const StepFigures& its = classes[c];
        made.low = std::max(made.low, its.low);
        made.high = std::max(made.high, its.high);
        made.bound = std::max(made.bound, its.bound);
        made.compute += shares[c] * its.compute;
        made.tensor += shares[c] * its.tensor;
        made.context += shares[c] * its.context;
        made.expert += shares[c] * its.expert;
        made.joules += shares[c] * its.joules;
        rates += its.mfu * its.seconds > 0 ? shares[c] / (its.mfu * its.seconds) : 0;
        for (std::size_t s = 0; s < made.stages.size(); ++s) {
            const auto full = [](const StageMemory& one) {
                return one.capacity.value > 0 ? one.total() / one.capacity : 0;
            };
            if (full(its.stages[s]) > full(made.stages[s])) made.stages[s] = its.stages[s];
        }
        if (its.capacity > 0 && its.needs * made.capacity > made.needs * its.capacity)
            made.needs = its.needs, made.capacity = its.capacity;
    }
    made.bubble = std::max(0.0, made.seconds - made.compute - made.tensor - made.context - made.expert - made.pipeline -
                                    made.data - made.optimizer);
    made.mfu = rates > 0 ? 1 / rates / made.seconds : 0;
    return made;
}

}  // namespace

std::string toText(const StepPlan& plan) {
    std::string text = toText(plan.plan);
    if (plan.recompute != Recompute::None) text += fmt::format(" recompute={}", toText(plan.recompute));
    return text;
}

StepModel::StepModel(std::unique_ptr<State> state) : state_(std::move(state)) {}
StepModel::~StepModel() = default;
const ClusterView& StepModel::cluster() const {
    return state_->cluster;
}
const Scenario& StepModel::scenario() const {
    return state_->scenario;
}
const Method& StepModel::method() const {
    return state_->method;
}

Expected<std::shared_ptr<const StepModel>> StepModel::make(const Method& method, const Scenario& scenario,
                                                           const EstimateContext& context, DevicePrices prices) {
    const auto* step = std::get_if<TrainingStep>(&scenario.task);
    if (!step || method.card.level == MethodLevel::System)
        return fail("method.not-applicable",
                    step ? fmt::format("{} composes no kernels", method.card.title)
                         : fmt::format("the closed form of a {}", toText(kindOf(scenario.task))),
                    "a training step by a method that composes kernels", "choose `training-step`, and `tile-hybrid`");
    if (!scenario.hardware || !scenario.workload)
        return fail("scenario.incomplete",
                    fmt::format("the question has no {}", scenario.hardware ? "workload" : "hardware"),
                    "one hardware design and one workload", "Choose both in the library");
    auto state = std::make_unique<State>();
    state->method = method;
    state->scenario = scenario;
    state->step = *step;
    state->options = context.options;
    state->calibrations = context.calibrations;
    state->seed = context.seed;
    auto cluster = clusterView(*scenario.hardware);
    if (!cluster) return Unexpected(std::move(cluster.error()));
    state->cluster = std::move(*cluster);
    state->batch = std::max<std::int64_t>(1, scenario.workload->recipe.options.batch);
    for (const DeviceGroup& group : state->cluster.groups) state->dollarsPerHour.push_back(priceOf(prices, group));
    state->prices = std::move(prices);
    state->exchanges.resize(state->cluster.groups.size());
    return std::shared_ptr<const StepModel>(new StepModel(std::move(state)));
}

/// A plan found in the caches, or put there.
struct StepModel::Found {
    struct Kind {
        std::shared_ptr<const PricedShard> shard;
        std::shared_ptr<const StepPieces> pieces;
        const ExchangeCache* exchanges = nullptr;
        std::size_t group = 0;
    };
    std::vector<Kind> kinds;                          ///< as placement->kinds.kinds, else one
    std::shared_ptr<const MixedPlacement> placement;  ///< of a plan on several kinds of device
    const ExchangeCache* between = nullptr;
    Plan plan;  ///< with its layers
    std::int64_t microbatches = 1, samples = 1;

    const Kind& front() const { return kinds.front(); }
    ClosedStages stages(std::int32_t copyClass) const;
};

ClosedStages StepModel::Found::stages(std::int32_t copyClass) const {
    ClosedStages made;
    const auto add = [&](const Kind& kind, const StageWays* ways) {
        made.each.push_back({kind.pieces.get(), &kind.shard->facts, kind.exchanges, ways});
    };
    if (!placement) {
        add(front(), nullptr);
        return made;
    }
    made.between = between;
    for (const Kind& kind : kinds) made.kinds.push_back(kind.exchanges);
    const PlanKinds& stand = placement->kinds;
    for (std::int64_t s = 0; s < plan.pipeline; ++s)
        add(kinds[stand.indexOf(stand.at(s, stand.firstOf(copyClass)))], &placement->at(s, copyClass));
    return made;
}

Expected<StepModel::Found> StepModel::find(const StepPlan& asked, const std::stop_token& stop) const {
    const State& s = *state_;
    const Plan& plan = asked.plan;
    Found found;
    found.plan = plan;
    std::vector<std::size_t> groups;
    if (namesSeveralDevices(plan)) {
        if (auto good = checkPlan(plan); !good) return Unexpected(std::move(good.error()));
        const auto kinds = planKinds(s.cluster, plan);
        if (!kinds) return Unexpected(kinds.error());
        groups = kinds->kinds;
    }
    if (groups.size() > 1) {
        auto placed = s.placementOf(plan);
        if (!placed) return Unexpected(std::move(placed.error()));
        found.placement = std::move(*placed);
        groups = found.placement->kinds.kinds;
    } else {
        const auto group = groupFor(s.cluster, plan);
        if (!group) return Unexpected(group.error());
        if (auto good = checkPlan(plan, (*group)->count); !good) return Unexpected(std::move(good.error()));
        groups = {static_cast<std::size_t>(*group - s.cluster.groups.data())};
    }
    found.microbatches = microbatchesOf(plan, s.batch);
    const std::int64_t m = found.microbatches, copies = plan.data * m;
    const bool rounds = plan.interleave < 2 || m % plan.pipeline == 0;
    const bool pairs = plan.schedule != PipelineSchedule::DualPipe || (m % 2 == 0 && m >= 2 * plan.pipeline);
    if (!rounds || !pairs) return Unexpected(scheduleOf(plan, 0, m).error());
    if (s.batch < copies) return Unexpected(shardedWorkload(s.scenario.workload, plan, s.scenario.task).error());
    found.samples = (s.batch + copies - 1) / copies;
    for (const std::size_t group : groups) {
        ShardKey key{static_cast<std::int64_t>(group), plan.tensor, plan.context, plan.expert, found.samples};
        auto shard = s.shards.get(key, [&] { return s.shardOf(plan, key, stop); });
        if (!shard) return Unexpected(std::move(shard.error()));
        if (plan.offload != 0 && (*shard)->noHost) return Unexpected(*(*shard)->noHost);
        const auto exchanges = s.exchangesOf(group, (*shard)->facts.bound);
        if (!exchanges) return Unexpected(exchanges.error());
        key.sequence = plan.sequence;
        key.recompute = static_cast<std::int64_t>(asked.recompute);
        key.piped = plan.pipeline > 1 ? 1 : 0;
        const TrainingStack* stack = (*shard)->facts.stack;
        key.divided =
            stack && stack->shareCopies > 0 && plan.zero >= 3 && plan.sharingCopies() * plan.context > 1 ? 1 : 0;
        auto pieces = s.pieces.get(key, [&] { return s.piecesOf(plan, **shard, **exchanges, asked.recompute, stop); });
        if (!pieces) return Unexpected(std::move(pieces.error()));
        const std::int64_t chunks = plan.pipeline * plan.interleave;
        if (chunks > 1 && (*pieces)->dealt < chunks)
            return Unexpected(trainingProgram((*shard)->sharded, (*shard)->estimate.operators, plan, s.step).error());
        found.kinds.push_back({std::move(*shard), std::move(*pieces), *exchanges, group});
    }
    if (!found.placement) return found;
    const auto between = s.exchangesBetween(*found.placement, found.front().shard->facts.bound);
    if (!between) return Unexpected(between.error());
    found.between = *between;
    if (plan.pipeline > 1 && plan.layers.empty()) {
        std::vector<double> seconds;
        const PlanKinds& stand = found.placement->kinds;
        for (std::int64_t at = 0; at < plan.pipeline; ++at) {
            double most = 0;
            for (std::int64_t c = 0; c < plan.data; ++c)
                most = std::max(most, secondsOfLayer(*found.kinds[stand.indexOf(stand.at(at, c))].pieces));
            seconds.push_back(most);
        }
        found.plan.layers = layersBySpeed(found.front().pieces->dealt, seconds);
    }
    return found;
}

Expected<StepFigures> StepModel::figures(const StepPlan& plan, const std::stop_token& stop) const {
    const auto found = find(plan, stop);
    if (!found) return Unexpected(found.error());
    auto made = closedStep(found->stages(0), found->plan, found->microbatches, stop);
    if (!made) return made;
    if (found->placement) {
        const PlanKinds& stand = found->placement->kinds;
        const auto copies = static_cast<double>(stand.copies);
        std::vector<StepFigures> classes{std::move(*made)};
        std::vector<double> shares{static_cast<double>(stand.copiesOf(0)) / copies};
        for (std::int32_t c = 1; c < stand.classes(); ++c) {
            auto more = closedStep(found->stages(c), found->plan, found->microbatches, stop);
            if (!more) return more;
            classes.push_back(std::move(*more));
            shares.push_back(static_cast<double>(stand.copiesOf(c)) / copies);
        }
        made = ofCopies(classes, shares);
        made->layers = found->plan.layers;
        const double each = static_cast<double>(made->devices) / static_cast<double>(stand.of.size());
        for (const std::size_t group : stand.of) made->dollarsPerHour += each * state_->dollarsPerHour[group];
    } else {
        made->dollarsPerHour = state_->dollarsPerHour[found->front().group] * static_cast<double>(made->devices);
    }
    made->microbatchSize = found->samples;
    return made;
}

Expected<StepFigures> StepModel::figures(const StepPlan& plan, const StackOnGeneration& row,
                                         const std::stop_token& stop) const {
    const auto found = find(plan, stop);
    if (!found) return Unexpected(found.error());
    const Found::Kind& kind = found->front();
    const auto executor = makeSerialExecutor();
    EstimateContext context{*executor, stop};
    context.options = state_->options;
    context.calibrations = state_->calibrations;
    StackHere here = stackHere(state_->method, state_->scenario, state_->cluster.groups[kind.group], context);
    if (found->placement || !here.stack || here.stack == trainingStacks().data()) return figures(plan, stop);
    here.row = row;
    PricedShard shard = *kind.shard;
    state_->dress(shard, here, kind.group, plan.plan.context);
    const auto pieces = state_->piecesOf(plan.plan, shard, *kind.exchanges, plan.recompute, stop);
    if (!pieces) return Unexpected(pieces.error());
    ClosedStages stages;
    stages.each = {{&*pieces, &shard.facts, kind.exchanges, nullptr}};
    return closedStep(stages, found->plan, found->microbatches, stop);
}

Expected<StepTotals> StepModel::totals(const StepPlan& plan, const std::stop_token& stop) const {
    const auto found = find(plan, stop);
    if (!found) return Unexpected(found.error());
    const auto ofKind = [&](const Found::Kind& kind) {
        const ShardFacts& facts = kind.shard->facts;
        const ChunkSums all = chunkSums(*kind.pieces, 0, kind.pieces->count, facts.factor);
        return StepTotals{.pass = (all.forward + all.backward).likely(),
                          .computing = all.compute,
                          .optimizer = kind.pieces->optimizerSeconds,
                          .parameterBytes = kind.pieces->parameterBytes,
                          .stateBytes = kind.pieces->stateBytes,
                          .capacity = facts.capacity,
                          .joulesPerSecond = facts.joulesPerSecond,
                          .dollarsPerHour = state_->dollarsPerHour[kind.group],
                          .layers = kind.pieces->dealt};
    };
    StepTotals totals = ofKind(found->front());
    if (!found->placement) return totals;
    // Of the mean stage. Every layer stands on some kind: the least that it can take of any kind's pass, and of energy.
    const PlanKinds& stand = found->placement->kinds;
    std::vector<StepTotals> kinds;
    for (const Found::Kind& kind : found->kinds) kinds.push_back(ofKind(kind));
    double share = 0, joules = 0;
    for (std::size_t run = 0; run < found->front().pieces->runs.size(); ++run) {
        double leastShare = 1, leastJoules = 0;
        for (std::size_t k = 0; k < kinds.size(); ++k) {
            const LayerRun& its = found->kinds[k].pieces->runs[run];
            const Sides& factor = found->kinds[k].shard->facts.factor;
            const ChunkSums sums = chunkSums(*found->kinds[k].pieces, its.begin, its.end, factor);
            const double spent = kinds[k].joulesPerSecond * sums.compute;
            leastShare = std::min(leastShare, (sums.forward + sums.backward).likely() / kinds[k].pass);
            leastJoules = k == 0 ? spent : std::min(leastJoules, spent);
        }
        share += leastShare;
        joules += leastJoules;
    }
    double pass = 0, capacity = 0, dollars = 0;
    for (std::int64_t c = 0; c < stand.copies; ++c) {
        double rates = 0;
        for (std::int64_t s = 0; s < stand.stages; ++s) rates += 1 / kinds[stand.indexOf(stand.at(s, c))].pass;
        pass = std::max(pass, share * static_cast<double>(stand.stages) / rates);
    }
    for (const std::size_t group : stand.of) {
        const StepTotals& its = kinds[stand.indexOf(group)];
        capacity += its.capacity / static_cast<double>(stand.of.size());
        dollars += its.dollarsPerHour / static_cast<double>(stand.of.size());
    }
    totals.pass = pass;
    totals.computing = joules > 0 ? joules : 0;
    totals.joulesPerSecond = joules > 0 ? 1 : 0;
    totals.capacity = capacity;
    totals.dollarsPerHour = dollars;
    return totals;
}

Expected<StepModel::Shard> StepModel::shard(const StepPlan& plan, const std::stop_token& stop) const {
    const auto found = find(plan, stop);
    if (!found) return Unexpected(found.error());
    const PricedShard& priced = *found->front().shard;
    Shard made{priced.estimate, priced.sharded.assumptions, {}, priced.sharded.shard, priced.facts.peakSeconds};
    if (priced.facts.spread.known() && (priced.facts.row || !priced.facts.bound))
        made.measured = priced.facts.measuredSteps;
    if (priced.facts.row) made.assumptions.push_back(saidOf(*priced.facts.stack, *priced.facts.row));
    return made;
}

}  // namespace orrery
