#include "methods/system/training/plan_values.h"

#include "mapping/shard.h"
#include "methods/system/training/training_program.h"
#include "workload/models/transformer_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

namespace orrery {

namespace {

struct NumberOfPlan {
    std::string_view key;
    std::int64_t Plan::*member;
};
constexpr std::array<NumberOfPlan, planNumberCount> numbersOfPlan{{{"tp", &Plan::tensor},
                                                                   {"pp", &Plan::pipeline},
                                                                   {"dp", &Plan::data},
                                                                   {"cp", &Plan::context},
                                                                   {"ep", &Plan::expert},
                                                                   {"vp", &Plan::interleave},
                                                                   {"mb", &Plan::microbatches}}};

/// What is divided by this number, 0: nothing is.
std::int64_t dividedBy(PlanNumber number, const Plan& plan, const PlanRoom& room) {
    switch (number) {
        case PlanNumber::Tensor:
            return room.model ? room.model->heads : 0;
        case PlanNumber::Pipeline:
            return room.model ? room.model->layers : 0;
        case PlanNumber::Data:
            return room.batch;
        case PlanNumber::Context:
            return 0;
        case PlanNumber::Expert:
            return room.model ? room.model->experts : 0;
        case PlanNumber::Interleave:
            return room.model ? room.model->layers / std::max<std::int64_t>(1, plan.pipeline) : 0;
        case PlanNumber::Microbatches:
            return room.batch / std::max<std::int64_t>(1, plan.data);
    }
    return 0;
}

Expected<void> fitsBatch(const Plan& plan, const PlanRoom& room) {
    const std::int64_t micro = microbatchesOf(plan, room);
    if (room.batch / plan.data < micro || room.batch < plan.data)
        return fail(
            "plan.batch",
            fmt::format("a batch of {} over {} copies of the model in {} micro-batches", room.batch, plan.data, micro),
            "at least one sample for each", "raise the batch, or lower dp or mb", Place{.path = "plan/data"});
    return {};
}

Expected<void> fitsLayers(const Plan& plan, const PlanRoom& room) {
    const std::int64_t chunks = plan.pipeline * plan.interleave;
    if (chunks > room.model->layers)
        return fail(
            "plan.pipeline",
            fmt::format("{} layers do not fill {} chunks of {} stages", room.model->layers, chunks, plan.pipeline),
            "at least one layer for each", "lower pp or vp", Place{.path = "plan/pipeline"});
    if (plan.schedule != PipelineSchedule::OneForwardOneBackward)
        if (const auto turns = scheduleOf(plan, 0, microbatchesOf(plan, room)); !turns)
            return Unexpected(turns.error());
    if (plan.interleave < 2) return {};
    if (plan.pipeline < 2)
        return fail("plan.interleave", "there is no pipeline whose stages could take turns", "pp of 2 or more",
                    "raise pp first", Place{.path = "plan/interleave"});
    if (const std::int64_t micro = microbatchesOf(plan, room); micro % plan.pipeline != 0)
        return fail(
            "plan.interleave",
            fmt::format("{} micro-batches do not go in rounds of {} through interleaved stages", micro, plan.pipeline),
            fmt::format("a multiple of {}", plan.pipeline), "change mb, or take vp=1",
            Place{.path = "plan/microbatches"});
    return {};
}

/// Turns of interleaved stages come in rounds of so many micro-batches.
std::int64_t roundOf(const Plan& plan) {
    return plan.interleave > 1 ? plan.pipeline : 1;
}

/// With so many micro-batches at most that every copy has a sample for each, and sets of copies that divide them.
Plan withSamples(Plan plan, const PlanRoom& room) {
    if (plan.shard > 0 && plan.data % plan.shard != 0) plan.shard = 0;
    const std::int64_t samples = room.batch / std::max<std::int64_t>(1, plan.data), round = roundOf(plan);
    if (plan.microbatches == 0 || (plan.microbatches <= samples && plan.microbatches % round == 0)) return plan;
    std::int64_t micro = std::min(samples, plan.microbatches) / round * round;
    while (micro > round && samples % micro != 0) micro -= round;
    plan.microbatches = std::max(round, micro);
    return plan;
}

}  // namespace

std::string_view keyOf(PlanNumber number) {
    return numbersOfPlan[static_cast<std::size_t>(number)].key;
}

std::int64_t valueOf(const Plan& plan, PlanNumber number) {
    return plan.*numbersOfPlan[static_cast<std::size_t>(number)].member;
}

void setValue(Plan& plan, PlanNumber number, std::int64_t value) {
    if (number == PlanNumber::Pipeline || number == PlanNumber::Interleave) plan.layers.clear();
    plan.*numbersOfPlan[static_cast<std::size_t>(number)].member = value;
}

PlanRoom planRoom(const WorkloadRecipe& recipe, std::int64_t devices) {
    PlanRoom room;
    room.name = recipe.source;
    room.batch = std::max<std::int64_t>(1, recipe.options.batch);
    room.sequence = std::max<std::int64_t>(1, recipe.options.sequence);
    room.devices = std::max<std::int64_t>(1, devices);
    if (auto model = transformerConfig(recipe.source); model && recipe.whatIfs.empty()) {
        room.name = model->name;
        room.sequence = usualSequence(*model, recipe.options);
        room.model = std::move(*model);
    }
    return room;
}

std::int64_t microbatchesOf(const Plan& plan, const PlanRoom& room) {
    if (plan.microbatches > 0) return plan.microbatches;
    return std::clamp<std::int64_t>(room.batch / std::max<std::int64_t>(1, plan.data), 1,
                                    std::max<std::int64_t>(1, plan.pipeline));
}

Expected<void> fits(const Plan& plan, const PlanRoom& room) {
    if (auto good = checkPlan(plan, room.devices); !good) return good;
    if (!room.model &&
        (plan.tensor > 1 || plan.pipeline > 1 || plan.expert > 1 || plan.context > 1 || plan.interleave > 1))
        return fail("plan.not-a-transformer",
                    fmt::format("{} is no decoder transformer, whose layers are known how to be split", room.name),
                    "a plan of data parallelism alone, such as dp=8", "choose dp, or a language model",
                    Place{.path = "plan"});
    if (room.model) {
        if (const auto part = shardOf(*room.model, plan); !part) return Unexpected(part.error());
        if (auto good = fitsLayers(plan, room); !good) return good;
    }
    if (plan.context > 1 && room.sequence < 2 * plan.context)
        return fail("plan.context",
                    fmt::format("a sequence of {} over {} context-parallel devices", room.sequence, plan.context),
                    fmt::format("at least {} positions", 2 * plan.context), "lower cp, or ask about a longer sequence",
                    Place{.path = "plan/context"});
    return fitsBatch(plan, room);
}

Plan filled(Plan plan, const PlanRoom& room, std::int64_t devices) {
    const std::int64_t most =
        std::min(std::min(devices, room.devices) / std::max<std::int64_t>(1, plan.devicesPerReplica()),
                 room.batch / roundOf(plan));
    plan.data = std::max<std::int64_t>(1, most);
    // Copies of equal work, if that leaves no more than half of the devices idle.
    for (std::int64_t copies = plan.data; copies > plan.data / 2; --copies) {
        if (room.batch % copies != 0) continue;
        plan.data = copies;
        break;
    }
    return withSamples(plan, room);
}

std::vector<PlanValue> planValues(const Plan& plan, PlanNumber number, const PlanRoom& room, bool fill) {
    constexpr std::size_t most = 24;
    const auto with = [&](std::int64_t value) {
        PlanValue made{value, plan, {}};
        setValue(made.plan, number, value);
        const bool copies =
            number == PlanNumber::Tensor || number == PlanNumber::Pipeline || number == PlanNumber::Context;
        if (fill && copies && value != valueOf(plan, number)) made.plan = filled(made.plan, room, plan.devices());
        if (number == PlanNumber::Data && value != plan.data) made.plan = withSamples(made.plan, room);
        if (auto good = fits(made.plan, room); !good) made.refused = std::move(good.error());
        return made;
    };
    const std::int64_t whole = dividedBy(number, plan, room);
    std::int64_t limit = number == PlanNumber::Microbatches ? whole
                         : number == PlanNumber::Context    ? room.devices
                                                            : std::max(whole, std::int64_t{1});
    if (number != PlanNumber::Microbatches && number != PlanNumber::Interleave) limit = std::min(limit, room.devices);
    std::set<std::int64_t> values{1, valueOf(plan, number)};
    if (number != PlanNumber::Microbatches) values.erase(0);
    std::int64_t power = 2;
    for (; power <= limit; power *= 2) values.insert(power);
    values.insert(power);  // the first that is too many says why
    for (std::int64_t each = 2; each <= std::min<std::int64_t>(limit, 4096) && values.size() < most; ++each) {
        if (whole <= 0 || whole % each != 0 || values.contains(each)) continue;
        if (!with(each).refused) values.insert(each);
    }
    std::vector<PlanValue> found;
    for (const std::int64_t value : values) found.push_back(with(value));
    return found;
}

}  // namespace orrery
