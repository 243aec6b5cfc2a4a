#include "methods/system/training/closed_step.h"

#include "methods/system/training/closed_step_work.h"

#include <algorithm>

namespace orrery {

namespace detail {

Expected<StepFigures> ClosedStep::make() {
    computing_ = facts_.factor;
    if (facts_.row && facts_.row->overlap > 0 && copies_.any()) slowBeside();
    for (std::int64_t c = 0; c < chunks_; ++c) addChunk(rangeOf(c));
    const auto message = plan_.pipeline > 1
                             ? exchanges_.price(std::nullopt, pieces_.stageBytes,
                                                {plan_.pipeline, plan_.tensor * plan_.context * plan_.data}, stop_)
                             : ExchangePrice{};
    if (!message) return Unexpected(message.error());
    const std::vector<double> waits = waitsBeside();
    PipelineTurns turns{forward_, backward_,        forwardComputed_, backwardComputed_, weights_,
                        waits,    message->seconds, plan_.pipeline,   microbatches_,     alike()};
    const Sides passes = larger(pipelineSeconds(turns, plan_), linkBound()) + began_;
    if (plan_.pipeline > 1) {
        PipelineTurns free = turns;
        free.message = {};
        figures_.pipeline = passes.likely() - began_.likely() - pipelineSeconds(free, plan_).likely();
    }
    endStages(passes, turns);
    if (copies_.problem()) return Unexpected(*copies_.problem());
    if (problem_) return Unexpected(*problem_);
    sumUp(message->joules);
    return std::move(figures_);
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

void ClosedStep::sumUp(double messageJoules) {
    StepFigures& f = figures_;
    const auto m = static_cast<double>(microbatches_), stages = static_cast<double>(plan_.pipeline);
    double joules = 0;
    for (const ChunkSums& sums : sums_) {
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
    f.capacity = facts_.capacity;
    if (plan_.offload != 0) f.hostCapacity = facts_.host.memory;
    const double passes = static_cast<double>(plan_.data * plan_.context) * m;
    f.rate = f.seconds > 0 ? facts_.tokens * passes / f.seconds : 0;
    f.tokens = facts_.counted;
    f.mfu = f.seconds > 0 ? facts_.peakSeconds * m / stages / f.seconds : 0;
    const double perStage = static_cast<double>(plan_.tensor * plan_.context * plan_.data);
    if (plan_.pipeline > 1) joules += 2 * m * static_cast<double>(chunks_ - 1) * messageJoules;
    if (facts_.joulesPerSecond > 0)
        f.joules = facts_.joulesPerSecond * perStage * (f.compute * stages + updates_) + perStage * (joules + sent_);
}

}  // namespace detail

Expected<StepFigures> closedStep(const StepPieces& pieces, const ShardFacts& facts, const Plan& plan,
                                 std::int64_t microbatches, const ExchangeCache& exchanges,
                                 const std::stop_token& stop) {
    return detail::ClosedStep(pieces, facts, plan, microbatches, exchanges, stop).make();
}

}  // namespace orrery
