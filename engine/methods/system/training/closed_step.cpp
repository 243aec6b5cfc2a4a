#include "methods/system/training/closed_step.h"

#include "methods/system/training/closed_step_work.h"
#include "methods/system/training/layer_programs.h"

#include <algorithm>

namespace orrery {

namespace detail {

ClosedStep::ClosedStep(const ClosedStages& stages, const Plan& plan, std::int64_t microbatches,
                       const std::stop_token& stop)
    : stages_(stages),
      pieces_(*stages.each.front().pieces),
      facts_(*stages.each.front().facts),
      plan_(plan),
      microbatches_(microbatches),
      chunks_(plan.pipeline * plan.interleave),
      stop_(stop) {
    copies_.reserve(stages.each.size());
    for (const ClosedStage& one : stages.each) {
        const double slower = facts_.row ? facts_.row->exchanges : 1;
        if (one.ways && one.ways->gradients.network == ExchangeWay::between)
            copies_.emplace_back(plan, *stages.between, slower, stop_, &one.ways->gradients.group);
        else
            copies_.emplace_back(plan, *one.exchanges, slower, stop_);
    }
}

Expected<StepFigures> ClosedStep::make() {
    if (!plan_.layers.empty()) {
        auto bounds = chunkBounds(plan_, pieces_.dealt);
        if (!bounds) return Unexpected(std::move(bounds.error()));
        bounds_ = std::move(*bounds);
    }
    const bool any = std::any_of(copies_.begin(), copies_.end(), [](const CopyExchanges& its) { return its.any(); });
    if (facts_.row && facts_.row->overlap > 0 && any) slowBeside();
    for (std::int64_t c = 0; c < chunks_; ++c) addChunk(rangeOf(c));
    const auto handed = messages();
    if (!handed) return Unexpected(handed.error());
    const std::vector<double> waits = waitsBeside();
    PipelineTurns turns{forward_, backward_, forwardComputed_, backwardComputed_, weights_,
                        waits,    *handed,   plan_.pipeline,   microbatches_,     alike()};
    const Sides passes = larger(pipelineSeconds(turns, plan_), linkBound()) + began_;
    if (plan_.pipeline > 1) {
        PipelineTurns free = turns;
        const std::vector<Sides> nothing(handed->size());
        free.messages = nothing;
        figures_.pipeline = passes.likely() - began_.likely() - pipelineSeconds(free, plan_).likely();
    }
    endStages(passes, turns);
    for (const CopyExchanges& its : copies_)
        if (its.problem()) return Unexpected(*its.problem());
    if (problem_) return Unexpected(*problem_);
    sumUp();
    return std::move(figures_);
}

// One for all stages, or one for each but the last; and what they take of the network.
Expected<std::vector<Sides>> ClosedStep::messages() {
    std::vector<Sides> handed(1);
    if (plan_.pipeline < 2) return handed;
    const double times = 2 * static_cast<double>(microbatches_);
    if (!mixed()) {
        const auto price = stage(0).exchanges->price(
            std::nullopt, pieces_.stageBytes, {plan_.pipeline, plan_.tensor * plan_.context * plan_.data}, stop_);
        if (!price) return Unexpected(price.error());
        handed.front() = price->seconds;
        sent_ += times * static_cast<double>(chunks_ - 1) * price->joules;
        return handed;
    }
    handed.clear();
    for (std::int64_t s = 0; s + 1 < plan_.pipeline; ++s) {
        const ExchangeWay& way = stage(s).ways->next;
        const auto price = stages_.over(way).priceAmong(std::nullopt, pieces_.stageBytes, way.group, stop_);
        if (!price) return Unexpected(price.error());
        handed.push_back(price->seconds);
        sent_ += times * price->joules;
    }
    return handed;
}

// More than the step has room for: messages off the critical path, and exchanges that the turns beside them hide.
void ClosedStep::hide() {
    StepFigures& f = figures_;
    const double messages = std::min(f.pipeline, -f.bubble);
    f.pipeline -= messages;
    f.bubble += messages;
    const double sent = f.tensor + f.context + f.expert;
    const double hidden = std::min(sent, -f.bubble);
    for (double* each : {&f.tensor, &f.context, &f.expert})
        if (sent > 0) *each *= 1 - hidden / sent;
    f.bubble = 0;
    f.compute = f.seconds - f.tensor - f.context - f.expert - f.pipeline - f.data - f.optimizer;
}

void ClosedStep::sumUp() {
    StepFigures& f = figures_;
    const auto m = static_cast<double>(microbatches_), stages = static_cast<double>(plan_.pipeline);
    double joules = 0, burnt = updates_, rates = 0;
    bool powered = true;
    for (std::int64_t c = 0; c < chunks_; ++c) {
        const ChunkSums& sums = sums_[static_cast<std::size_t>(c)];
        const ShardFacts& its = *stage(c % plan_.pipeline).facts;
        powered = powered && its.joulesPerSecond > 0;
        if (mixed()) burnt += its.joulesPerSecond * sums.compute * slow_ * m;
        f.compute += sums.compute * slow_ * m / stages;
        f.tensor += sums.tensor * m / stages;
        f.context += sums.context * m / stages;
        f.expert += sums.expert * m / stages;
        joules += sums.joules * m;
        f.data += sums.gathered * m / stages;
    }
    f.data += began_.likely();
    f.bubble = f.seconds - f.compute - f.tensor - f.context - f.expert - f.pipeline - f.data - f.optimizer;
    if (f.bubble < 0) hide();
    f.devices = plan_.devices();
    f.microbatches = microbatches_;
    if (plan_.offload != 0) f.hostCapacity = facts_.host.memory;
    const double passes = static_cast<double>(plan_.data * plan_.context) * m;
    f.rate = f.seconds > 0 ? facts_.tokens * passes / f.seconds : 0;
    f.tokens = facts_.counted;
    for (const ClosedStage& one : stages_.each) rates += one.facts->peakSeconds > 0 ? 1 / one.facts->peakSeconds : 0;
    const double peak = rates > 0 ? static_cast<double>(stages_.each.size()) / rates : 0;
    f.mfu = f.seconds > 0 ? peak * m / stages / f.seconds : 0;
    const double perStage = static_cast<double>(plan_.tensor * plan_.context * plan_.data);
    if (!mixed()) burnt += facts_.joulesPerSecond * f.compute * stages;
    if (powered) f.joules = perStage * (burnt + joules + sent_);
}

}  // namespace detail

Expected<StepFigures> closedStep(const ClosedStages& stages, const Plan& plan, std::int64_t microbatches,
                                 const std::stop_token& stop) {
    return detail::ClosedStep(stages, plan, microbatches, stop).make();
}

}  // namespace orrery
