#include "methods/system/training/mixed_step.h"

#include "base/unit.h"
#include "mapping/plan_kinds.h"
#include "methods/answer/parts_used.h"
#include "methods/system/network_slot.h"
#include "methods/system/sharded_workload.h"
#include "methods/system/training/layer_programs.h"
#include "methods/system/training/step_answer.h"
#include "methods/system/training/step_columns.h"
#include "methods/system/training/training_memory.h"
#include "methods/system/training/training_stack.h"
#include "simulation/picoseconds.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace orrery {

namespace {

/// One kind of device: the shard's pass on it.
struct KindStep {
    const DeviceGroup* group = nullptr;
    Estimate estimate;  ///< with what the stack adds
    double alone = 0;   ///< s of its kernels
    StackHere here;
    TrainingProgram program;
    double peakSeconds = 0;

    double computed() const { return estimate.latency.value; }
    KindSides sides() const {
        const auto of = [&](Seconds seconds) { return computed() > 0 ? seconds.value / computed() : 1; };
        return {of(estimate.interval.low), of(estimate.interval.high), estimate.bound ? of(*estimate.bound) : 0};
    }
};

class MixedStep {
public:
    MixedStep(const Method& method, const Scenario& scenario, const ClusterView& cluster, EstimateContext& context)
        : method_(method),
          scenario_(scenario),
          cluster_(cluster),
          context_(context),
          step_(std::get<TrainingStep>(scenario.task)),
          plan_(scenario.plan) {}

    Expected<TrainingAnswer> make() {
        if (followedNetwork(method_, context_))
            return fail("network.mixed", "messages between several kinds of device are not followed one by one",
                        "network=closed-form", "leave out `network`");
        auto placement = mixedPlacement(*scenario_.hardware, cluster_, plan_);
        if (!placement) return Unexpected(std::move(placement.error()));
        placement_ = std::move(*placement);
        auto sharded = shardedWorkload(scenario_.workload, plan_, scenario_.task);
        if (!sharded) return Unexpected(std::move(sharded.error()));
        sharded_ = std::move(*sharded);
        for (const std::size_t kind : placement_.kinds.kinds)
            if (auto made = addKind(cluster_.groups[kind]); !made) return Unexpected(std::move(made.error()));
        if (auto dealt = dealLayers(); !dealt) return Unexpected(std::move(dealt.error()));
        join();
        auto prices = priceExchanges();
        if (!prices) return Unexpected(std::move(prices.error()));
        if (kinds_.front().here.row) {
            // The first kind's numbers hold for what all exchange.
            const StackOnGeneration& row = *kinds_.front().here.row;
            const auto classes = static_cast<double>(programs_.classes.size());
            for (TrainingProgram& program : programs_.classes)
                slowBeside(row, prices->besideSeconds() / classes, program);
            prices->hide(row.hiddenTensor, plan_.zero < 3 ? row.hiddenGather : 0);
            prices->slowCopies(row.exchanges);
        }
        std::vector<KindSides> sides;
        for (const KindStep& kind : kinds_) sides.push_back(kind.sides());
        const bool bound = kinds_.front().estimate.interval.kind == IntervalKind::Bound;
        const auto runs = runSides(programs_, *prices, nullptr, sides, bound, context_);
        if (!runs) return Unexpected(runs.error());
        return answer(*runs, std::move(*prices), sides);
    }

private:
    std::int64_t classes() const { return placement_.kinds.classes(); }
    std::size_t kindAt(std::int64_t stage, std::int32_t copyClass) const {
        return placement_.kinds.indexOf(placement_.kinds.at(stage, placement_.kinds.firstOf(copyClass)));
    }
    double weightBytes() const {
        const CostTotals& totals = sharded_.shard->totals;
        return totals.parameters > 0 ? totals.weightBytes / totals.parameters : 0;
    }
    Expected<void> addKind(const DeviceGroup& group) {
        KindStep kind;
        kind.group = &group;
        Plan oneDevice;
        oneDevice.placement = group.path;
        auto made = method_.estimate({scenario_.hardware, sharded_.shard, oneDevice, allOf(step_)}, context_);
        if (!made) return Unexpected(std::move(made.error()));
        if (made->operators.forwardSeconds.empty())
            return fail("training.parts", "the method does not tell forward pass and backward pass apart",
                        "a method that composes kernels", "choose another method");
        kind.estimate = std::move(*made);
        kind.alone = kind.estimate.latency.value;
        kind.peakSeconds = peakSecondsOf(kind.estimate, kind.alone);
        kind.here = stackHere(method_, scenario_, group, context_);
        if (kind.here.row)
            takeStack(onBusiest(*kind.here.stack, *kind.here.row, plan_.context), sharded_.shard->graph, kind.estimate);
        kinds_.push_back(std::move(kind));
        return {};
    }
    Expected<void> makePrograms() {
        for (KindStep& kind : kinds_) {
            auto program = trainingProgram(sharded_, kind.estimate.operators, plan_, step_,
                                           kind.here.row ? kind.here.stack->selective : SelectiveForm::Attention);
            if (!program) return Unexpected(std::move(program.error()));
            if (kind.here.row)
                takeStack(*kind.here.stack, *kind.here.row, weightBytes(), kind.here.bandwidth, *program);
            kind.program = std::move(*program);
        }
        return {};
    }
    // Unless the plan states them: a stage waits for the slowest of its copies.
    Expected<void> dealLayers() {
        if (auto made = makePrograms(); !made || !plan_.layers.empty()) return made;
        std::vector<double> seconds;
        for (std::int64_t s = 0; s < plan_.pipeline; ++s) {
            double most = 0;
            for (std::int32_t c = 0; c < classes(); ++c)
                most = std::max(most, secondsOfLayer(kinds_[kindAt(s, c)].program));
            seconds.push_back(most);
        }
        const auto dealt = dealtLayers(kinds_.front().program);
        if (plan_.pipeline > 1 && dealt >= plan_.pipeline) plan_.layers = layersBySpeed(dealt, seconds);
        return makePrograms();
    }
    // Layers of all kinds one after the other; a class of copies takes each stage's from the kind that it stands on.
    void join() {
        TrainingProgram joined = kinds_.front().program;
        const auto layers = static_cast<std::int32_t>(joined.layers.size());
        joined.layers.clear();
        joined.inOrder = classes() > 1;
        for (std::size_t k = 0; k < kinds_.size(); ++k)
            for (const LayerProgram& layer : kinds_[k].program.layers) {
                joined.layers.push_back(layer);
                programs_.kindOfLayer.push_back(static_cast<std::int32_t>(k));
            }
        programs_.classes.assign(static_cast<std::size_t>(classes()), joined);
        programs_.classOf = placement_.kinds.classOf;
        for (std::int64_t s = 0; s < plan_.pipeline; ++s) {
            for (std::int32_t c = 0; c < classes(); ++c) {
                const std::size_t kind = kindAt(s, c);
                TrainingProgram& its = programs_.classes[static_cast<std::size_t>(c)];
                for (std::int32_t& layer : its.chunks[static_cast<std::size_t>(s)].layers)
                    layer += static_cast<std::int32_t>(kind) * layers;
                its.optimizerSeconds[static_cast<std::size_t>(s)] =
                    kinds_[kind].program.optimizerSeconds[static_cast<std::size_t>(s)];
                programs_.kindOfSlot.push_back(static_cast<std::int32_t>(kind));
            }
        }
    }
    Expected<PlanPrices> priceExchanges() {
        for (const KindStep& kind : kinds_) {
            auto network = pricedNetwork(method_, *kind.group, scenario_, context_);
            if (!network) return Unexpected(std::move(network.error()));
            networks_.push_back(std::move(*network));
            tiers_.push_back(&kind.group->tiers);
        }
        auto between = pricedNetwork(method_, placement_.joined, scenario_, context_);
        if (!between) return Unexpected(std::move(between.error()));
        networks_.push_back(std::move(*between));
        tiers_.push_back(&placement_.joined.tiers);
        const auto job = programs_.job();
        if (!job) return Unexpected(job.error());
        return PlanPrices::make(
            *job,
            [&](std::int32_t kind, std::int32_t slot) {
                const StageWays& ways = placement_.ways[static_cast<std::size_t>(slot)];
                const ExchangeWay* all[] = {&ways.tensor,          &ways.context,  &ways.gradients, &ways.expert,
                                            &ways.expertGradients, &ways.replicas, &ways.ends,      &ways.next};
                const ExchangeWay& way = *all[kind];
                const std::size_t index = std::min(way.network, networks_.size() - 1);
                return PlanPrices::Way{networks_[index].get(), index, &way.group};
            },
            context_.stop);
    }

    // Of every operator what it takes on the mean, as layers stand on the kinds.
    Estimate blended() const {
        std::vector<double> weights(kinds_.size(), 0);
        double all = 0;
        for (std::size_t slot = 0; slot < programs_.slotCount(); ++slot) {
            const std::size_t classes = programs_.classes.size();
            const double its =
                programs_.devicesOf(slot) *
                static_cast<double>(programs_.classes[slot % classes].chunks[slot / classes].layers.size());
            weights[static_cast<std::size_t>(programs_.kindOfSlot[slot])] += its;
            all += its;
        }
        Estimate made = kinds_.front().estimate;
        std::vector<double> OperatorEstimates::*const columns[] = {
            &OperatorEstimates::seconds, &OperatorEstimates::lowSeconds, &OperatorEstimates::highSeconds,
            &OperatorEstimates::forwardSeconds, &OperatorEstimates::updateSeconds};
        for (const auto column : columns) {
            std::vector<double>& sums = made.operators.*column;
            for (std::size_t i = 0; i < sums.size(); ++i) {
                double sum = 0;
                for (std::size_t k = 0; k < kinds_.size(); ++k) {
                    const auto& its = kinds_[k].estimate.operators.*column;
                    sum += weights[k] / all * (i < its.size() ? its[i] : 0);
                }
                sums[i] = sum;
            }
        }
        return made;
    }
    void setMemory(Estimate& answer) const {
        if (!answer.memory) return;
        std::erase_if(answer.warnings, [](const Diagnostic& each) { return each.code == "memory.does-not-fit"; });
        double fullest = -1;
        for (std::int64_t s = 0; s < plan_.pipeline; ++s) {
            for (std::int32_t c = 0; c < classes(); ++c) {
                const KindStep& kind = kinds_[kindAt(s, c)];
                const MemoryUse whole = kind.estimate.memory.value_or(MemoryUse{});
                const StageMemory its = stageMemories(programs_.classes[static_cast<std::size_t>(c)], sharded_, step_,
                                                      whole)[static_cast<std::size_t>(s)];
                const double capacity = whole.capacity.value;
                const double full = capacity > 0 ? its.total().value / capacity : 0;
                if (full > 1 &&
                    std::none_of(answer.warnings.begin(), answer.warnings.end(), [&](const Diagnostic& said) {
                        return said.message.starts_with(fmt::format("stage {} ", s)) &&
                               said.message.find(kind.group->name) != std::string::npos;
                    }))
                    answer.warnings.push_back(stageTooLarge(s, kind.group->name, its.total(), whole.capacity));
                if (full <= fullest) continue;
                fullest = full;
                answer.memory = mostMemory({its}, whole);
            }
        }
    }
    struct Work {
        double joules = 0, joulesPerSecond = 0;
    };
    // What devices take while they compute; of all of them, if all did.
    Work work(const StepRun& run) const {
        Work sum;
        for (std::size_t slot = 0; slot < programs_.slotCount(); ++slot) {
            const KindStep& kind = kinds_[static_cast<std::size_t>(programs_.kindOfSlot[slot])];
            if (!kind.estimate.energy || kind.computed() <= 0) return {};
            const double power = programs_.devicesOf(slot) * kind.estimate.energy->value / kind.computed();
            sum.joules += power * toSeconds(run.outcome.ranks[slot].compute);
            sum.joulesPerSecond += power;
        }
        return sum;
    }
    double meanPeakSeconds() const {
        double rates = 0;
        for (std::size_t slot = 0; slot < programs_.slotCount(); ++slot) {
            const double its = kinds_[static_cast<std::size_t>(programs_.kindOfSlot[slot])].peakSeconds;
            if (its <= 0 || step_.lora > 0) return 0;
            rates += programs_.devicesOf(slot) / its;
        }
        return static_cast<double>(plan_.devices()) / rates;
    }
    void setGrounds(Estimate& answer, const SentBytes& sent) const {
        for (const auto& [network, tier] : sent.crossed)
            addMoreParts(answer, *scenario_.hardware, (*tiers_[network])[static_cast<std::size_t>(tier)].read);
        for (std::size_t k = 1; k < kinds_.size(); ++k)
            for (const Diagnostic& said : kinds_[k].estimate.warnings)
                if (said.code != "memory.does-not-fit" &&
                    std::none_of(answer.warnings.begin(), answer.warnings.end(),
                                 [&](const Diagnostic& known) { return known.message == said.message; }))
                    answer.warnings.push_back(said);
        std::erase_if(answer.warnings, [](const Diagnostic& each) { return each.code == "plan.one-device"; });
        for (const Diagnostics* more : {&cluster_.warnings, &placement_.warnings})
            answer.warnings.insert(answer.warnings.end(), more->begin(), more->end());
        std::erase_if(answer.assumptions, [](const std::string& said) { return said.starts_with("Backward: "); });
        std::string kinds;
        for (std::size_t k = 0; k < kinds_.size(); ++k) {
            double devices = 0;
            for (std::size_t slot = 0; slot < programs_.slotCount(); ++slot)
                devices += programs_.kindOfSlot[slot] == static_cast<std::int32_t>(k) ? programs_.devicesOf(slot) : 0;
            kinds += fmt::format("{}{:.0f} `{}`", k == 0 ? "" : " and ", devices, kinds_[k].group->name);
        }
        answer.assumptions.insert(answer.assumptions.begin(), fmt::format("{} work as {}", kinds, toText(plan_)));
        if (scenario_.plan.layers.empty() && !plan_.layers.empty())
            answer.assumptions.push_back(fmt::format(
                "Stages take {} layers, in proportion to the speed of their devices", fmt::join(plan_.layers, ", ")));
        if (classes() > 1)
            answer.assumptions.emplace_back(
                "Every copy has as many micro-batches; the quicker ones wait where gradients are added up");
        for (const std::vector<std::string>* more : {&sharded_.assumptions, &sent.assumptions})
            for (const std::string& said : *more)
                if (said.find("stages of equal time") == std::string::npos) answer.assumptions.push_back(said);
        sayOrder(answer, plan_);
        sayRecompute(answer, step_.recompute);
    }

    Expected<TrainingAnswer> answer(const StepRuns& runs, PlanPrices prices, const std::vector<KindSides>& sides) {
        const KindStep& first = kinds_.front();
        Estimate answer = blended();
        const StepSide side = sideOf(runs.likely, programs_);
        const SentBytes sent = sentBy(prices, programs_, tiers_);
        setLatency(answer, runs);
        const auto widest = std::max_element(kinds_.begin(), kinds_.end(), [&](const KindStep& a, const KindStep& b) {
            const auto width = [&](const KindStep& its) { return its.here.spreadOf(sharded_.shard->graph).width(); };
            return width(a) < width(b);
        });
        setMeasured(answer, widest->here, sharded_.shard->graph);
        answer.figures = stepFigures(answer, plan_, first.alone, meanPeakSeconds(), sharded_.microbatches, side, sent);
        const double whole = first.estimate.memory ? first.estimate.memory->weights.value : 0;
        setMemory(answer);
        const Work work = this->work(runs.likely);
        if (answer.energy && work.joules > 0) {
            setEnergy(answer, work.joules / answer.energy->value, sent.joules);
            answer.figures.push_back({"Energy of one step", answer.energy->value, Dimension::Energy});
        }
        setRateIntervals(answer.figures, answer.latency.value, answer.interval);
        setSideIntervals(answer.figures, {runs.best, side, runs.worst}, work.joulesPerSecond, sent.joules);
        spreadColumns(answer.operators, answer.latency.value, static_cast<double>(sharded_.microbatches),
                      static_cast<double>(plan_.pipeline), updatesOf(programs_));
        answer.timeline = {};
        if (context_.wantTimeline) answer.timeline = timelineOf(runs.likely, programs_);
        setGrounds(answer, sent);
        double low = 1, high = 1;
        for (const KindSides& kind : sides) low = std::min(low, kind.low), high = std::max(high, kind.high);
        const double state = stateOf(programs_.front(), sharded_, whole);
        return TrainingAnswer{std::move(answer), {programs_, std::move(prices), low, high, state}};
    }

    const Method& method_;
    const Scenario& scenario_;
    const ClusterView& cluster_;
    EstimateContext& context_;
    TrainingStep step_;
    Plan plan_;  ///< with its layers
    MixedPlacement placement_;
    ShardedWorkload sharded_;
    std::vector<KindStep> kinds_;  ///< as placement_.kinds.kinds
    StepPrograms programs_;
    std::vector<std::unique_ptr<NetworkModel>> networks_;  ///< by kind; last: between kinds
    std::vector<const std::vector<NetworkTier>*> tiers_;
};

}  // namespace

Diagnostic stageTooLarge(std::int64_t stage, std::string_view device, Bytes needs, Bytes capacity) {
    return warning("memory.does-not-fit",
                   fmt::format("stage {} needs {} of the {} of `{}`, {} too much: the time is that of devices with "
                               "enough memory",
                               stage, format(needs), format(capacity), device, format(needs - capacity)),
                   "Give the stage fewer layers (`layers`), raise tp, pp or zero, or recompute=full");
}

Expected<TrainingAnswer> answerMixedStep(const Method& method, const Scenario& scenario, const ClusterView& cluster,
                                         EstimateContext& context) {
    return MixedStep(method, scenario, cluster, context).make();
}

}  // namespace orrery
