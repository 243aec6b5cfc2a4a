#include "methods/system/training/training_program.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery {

namespace {

using Steps = std::vector<ScheduleStep>;

ScheduleStep turn(std::int64_t chunk, std::int64_t microbatch, bool forward,
                  TurnGradients gradients = TurnGradients::All) {
    return {static_cast<std::int32_t>(chunk), static_cast<std::int32_t>(microbatch), forward, gradients};
}

// Narayanan et al. 2021, section 2.2: with chunks, micro-batches go in rounds of as many as there are stages through
// one chunk after the other.
Expected<Steps> oneForwardOneBackward(std::int64_t stage, std::int64_t stages, std::int64_t interleave,
                                      std::int64_t microbatches) {
    if (interleave > 1 && microbatches % stages != 0)
        return fail(
            "plan.interleave",
            fmt::format("{} micro-batches do not go in rounds of {} through interleaved stages", microbatches, stages),
            fmt::format("a multiple of {}", stages), "change mb, or take vp=1", Place{.path = "plan/microbatches"});
    const std::int64_t turns = microbatches * interleave;
    std::int64_t warmup = stages - stage - 1;
    if (interleave > 1) warmup = microbatches == stages ? turns : 2 * warmup + (interleave - 1) * stages;
    warmup = std::min(warmup, turns);
    const auto step = [&](std::int64_t k, bool forward) {
        const std::int64_t round = stages * interleave;
        const std::int64_t chunk = interleave > 1 ? k % round / stages : 0;
        const std::int64_t microbatch = interleave > 1 ? k / round * stages + k % stages : k;
        return turn(forward ? chunk : interleave - 1 - chunk, microbatch, forward);
    };
    Steps steps;
    steps.reserve(static_cast<std::size_t>(2 * turns));
    for (std::int64_t k = 0; k < warmup; ++k) steps.push_back(step(k, true));
    for (std::int64_t k = warmup; k < turns; ++k) {
        steps.push_back(step(k, true));
        steps.push_back(step(k - warmup, false));
    }
    for (std::int64_t k = turns - warmup; k < turns; ++k) steps.push_back(step(k, false));
    return steps;
}

Steps allForwardsFirst(std::int64_t microbatches) {
    Steps steps;
    for (std::int64_t k = 0; k < microbatches; ++k) steps.push_back(turn(0, k, true));
    for (std::int64_t k = microbatches; k-- > 0;) steps.push_back(turn(0, k, false));
    return steps;
}

// Qi et al. 2024, ZB-H1: as one forward, one backward; a stage's gradients of weights lag behind by as many
// micro-batches as stages stand before it, so that it keeps no more than the first stage does.
Steps zeroBubble(std::int64_t stage, std::int64_t stages, std::int64_t microbatches) {
    using enum TurnGradients;
    const std::int64_t warmup = std::min(stages - stage - 1, microbatches);
    Steps steps;
    steps.reserve(static_cast<std::size_t>(3 * microbatches));
    std::int64_t weighed = 0;
    const auto backward = [&](std::int64_t k) {
        steps.push_back(turn(0, k, false, Inputs));
        if (k >= stage) steps.push_back(turn(0, weighed++, false, Weights));
    };
    for (std::int64_t k = 0; k < warmup; ++k) steps.push_back(turn(0, k, true));
    for (std::int64_t k = warmup; k < microbatches; ++k) {
        steps.push_back(turn(0, k, true));
        backward(k - warmup);
    }
    for (std::int64_t k = microbatches - warmup; k < microbatches; ++k) backward(k);
    while (weighed < microbatches) steps.push_back(turn(0, weighed++, false, Weights));
    return steps;
}

// DeepSeek-V3 technical report, section 3.2.1: the order of work of one device, whose half of the pipeline says which
// direction is its own ("near", whose micro-batches come early) and which comes from the other end ("far").
class BothEnds {
public:
    BothEnds(std::int64_t stage, std::int64_t stages, std::int64_t microbatches)
        : half_(stages / 2),
          place_(std::min(stage, stages - 1 - stage)),
          second_(stage >= half_),
          perDirection_(microbatches / 2) {}

    Steps make() {
        const std::int64_t before = half_ - 1 - place_, after = place_ + 1;
        for (std::int64_t k = 0; k < 2 * before; ++k) forward(Near);
        for (std::int64_t k = 0; k < after; ++k) forward(Near), forward(Far);
        for (std::int64_t k = 0; k < before; ++k) backward(Far, true), weigh(), forward(Far);
        for (std::int64_t k = 0; k < perDirection_ - 2 * half_ + after; ++k) {
            // The middle pair has nothing yet to hide behind.
            if (k == 0 && place_ == half_ - 1)
                forward(Near), backward(Far, false);
            else
                together(Near, Far);
            together(Far, Near);
        }
        for (std::int64_t k = 0; k < before; ++k) backward(Far, false), together(Far, Near);
        bool split = false;
        for (std::int64_t k = 0; k < after; ++k) {
            if (k == after / 2 && place_ % 2 == 1) split = true;
            backward(Far, split);
            if (k == after / 2 && place_ % 2 == 0) split = true;
            backward(Near, split);
        }
        for (std::int64_t k = 0; k < before; ++k) weigh(), backward(Near, true);
        while (weighed_ < put_.size()) weigh();
        return std::move(steps_);
    }

private:
    enum Direction : std::int64_t { Near, Far };
    std::int64_t chunk(Direction which) const { return second_ ? 1 - which : which; }
    std::int64_t microbatch(Direction which, std::int64_t k) const { return chunk(which) * perDirection_ + k; }

    void forward(Direction which) { steps_.push_back(turn(chunk(which), microbatch(which, forwards_[which]++), true)); }
    void backward(Direction which, bool split) {
        steps_.push_back(turn(chunk(which), microbatch(which, backwards_[which]++), false,
                              split ? TurnGradients::Inputs : TurnGradients::All));
        if (split) put_.push_back(steps_.back());
    }
    void together(Direction forwards, Direction backwards) {
        forward(forwards);
        backward(backwards, false);
        steps_.back().beside = true;
    }
    void weigh() {
        if (weighed_ == put_.size()) return;
        steps_.push_back(put_[weighed_++]);
        steps_.back().gradients = TurnGradients::Weights;
    }

    std::int64_t half_, place_;
    bool second_;
    std::int64_t perDirection_;
    std::int64_t forwards_[2] = {0, 0}, backwards_[2] = {0, 0};
    Steps steps_, put_;
    std::size_t weighed_ = 0;
};

Expected<Steps> bothEnds(std::int64_t stage, std::int64_t stages, std::int64_t microbatches) {
    if (microbatches % 2 != 0 || microbatches < 2 * stages)
        return fail("plan.schedule", fmt::format("dualpipe with {} micro-batches on {} stages", microbatches, stages),
                    fmt::format("an even number of micro-batches, {} at least", 2 * stages),
                    "raise mb, or take `sched=zero-bubble`", Place{.path = "plan/microbatches"});
    return BothEnds(stage, stages, microbatches).make();
}

}  // namespace

Expected<Steps> scheduleOf(const Plan& plan, std::int64_t stage, std::int64_t microbatches) {
    switch (plan.schedule) {
        case PipelineSchedule::GPipe:
            return allForwardsFirst(microbatches);
        case PipelineSchedule::ZeroBubble:
            return zeroBubble(stage, plan.pipeline, microbatches);
        case PipelineSchedule::DualPipe:
            return bothEnds(stage, plan.pipeline, microbatches);
        case PipelineSchedule::OneForwardOneBackward:
            break;
    }
    return oneForwardOneBackward(stage, plan.pipeline, plan.interleave, microbatches);
}

std::int64_t chunksPerStage(const Plan& plan) {
    return plan.schedule == PipelineSchedule::DualPipe ? 2 : plan.interleave;
}

std::int64_t chunkOf(const Plan& plan, std::int64_t stage, std::int32_t ofStage) {
    if (plan.schedule == PipelineSchedule::DualPipe) return ofStage == 0 ? stage : plan.pipeline - 1 - stage;
    return ofStage * plan.pipeline + stage;
}

std::int64_t stageOf(const Plan& plan, std::int64_t chunk, std::int32_t ofStage) {
    if (plan.schedule == PipelineSchedule::DualPipe && ofStage == 1) return plan.pipeline - 1 - chunk;
    return chunk % plan.pipeline;
}

}  // namespace orrery
