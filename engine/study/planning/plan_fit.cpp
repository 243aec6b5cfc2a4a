#include "study/planning/plan_fit.h"

#include "base/unit.h"
#include "hardware/views/cluster_view.h"
#include "mapping/placement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace orrery {

namespace {

struct Change {
    std::string said;
    StepPlan plan;
};

// From the cheapest in time to what needs more devices.
std::vector<Change> changesOf(const StepModel& model, const StepPlan& plan) {
    std::vector<Change> changes;
    const auto add = [&](std::string said, const StepPlan& changed) {
        if (!(changed == plan)) changes.push_back({std::move(said), changed});
    };
    const Plan& now = plan.plan;
    const bool copies = now.data * now.context > 1;
    StepPlan other = plan;
    if (now.tensor > 1 && now.sequence == 0) {
        other.plan.sequence = 1;
        add("sp=1", other);
    }
    if (now.shard > 0) {
        other = plan;
        other.plan.shard = 0;
        add("all copies sharing", other);
    }
    for (std::int64_t zero = now.zero + 1; zero <= 3 && copies; ++zero) {
        other = plan;
        other.plan.zero = zero;
        add(fmt::format("zero={}", zero), other);
    }
    for (int r = static_cast<int>(plan.recompute) + 1; r <= static_cast<int>(Recompute::Full); ++r) {
        other = plan;
        other.recompute = static_cast<Recompute>(r);
        add(fmt::format("recompute={}", toText(other.recompute)), other);
    }
    const std::int64_t batch = std::max<std::int64_t>(1, model.scenario().workload->recipe.options.batch);
    for (std::int64_t m = std::max<std::int64_t>(1, now.microbatches) * 2; m * now.data <= batch; m *= 2) {
        other = plan;
        other.plan.microbatches = m;
        add(fmt::format("mb={}", m), other);
    }
    if (copies) {
        other = plan;
        other.plan.zero = 3;
        other.recompute = Recompute::Full;
        if (now.tensor > 1) other.plan.sequence = 1;
        add("zero=3 with recompute=full", other);
    }
    for (std::int64_t times = 2; times <= 64; times *= 2) {
        other = plan;
        other.plan.pipeline *= times;
        add(fmt::format("pp={}", other.plan.pipeline), other);
        other = plan;
        other.plan.tensor *= times;
        add(fmt::format("tp={}", other.plan.tensor), other);
        if (now.data > 1 && now.data % times == 0) {
            other = plan;
            other.plan.pipeline *= times;
            other.plan.data /= times;
            if (now.microbatches > 0) other.plan.microbatches *= times;
            add(fmt::format("pp={},dp={}", other.plan.pipeline, other.plan.data), other);
        }
    }
    return changes;
}

/// Devices may differ by stage.
double fullness(const StageMemory& stage) {
    return stage.total().value / (stage.capacity.value > 0 ? stage.capacity.value : 1);
}

std::string missing(const StepFigures& figures, double limit) {
    std::size_t worst = 0;
    for (std::size_t s = 0; s < figures.stages.size(); ++s)
        if (fullness(figures.stages[s]) > fullness(figures.stages[worst])) worst = s;
    const std::string whose = figures.stages.size() > 1 ? fmt::format("a device of stage {}", worst) : "a device";
    return fmt::format("{} needs {} of {}, {} too much", whose, format(Bytes(figures.needs)), format(Bytes(limit)),
                       format(Bytes(figures.needs - limit)));
}

}  // namespace

std::string planFit(const StepModel& model, const StepPlan& plan, const StepFigures& figures) {
    if (figures.fits()) return {};
    std::string said = missing(figures, figures.capacity);
    said.front() = 'A';
    for (const Change& change : changesOf(model, plan)) {
        const auto changed = model.figures(change.plan);
        if (!changed || !changed->fits()) continue;
        return fmt::format("{}. With {} it fits: {} in {}{}", said, change.said, format(Bytes(changed->needs)),
                           format(Seconds(changed->seconds)),
                           changed->devices != figures.devices ? fmt::format(" on {} devices", changed->devices) : "");
    }
    return said + ". No single change of the plan is enough: take more devices, a smaller batch or sequence";
}

std::string clusterFit(const StepModel& model, const PlannedPoint& closest, double limit) {
    const StepFigures& figures = closest.figures;
    std::string kind = "the device";
    if (const auto group = groupFor(model.cluster(), closest.plan.plan)) kind = fmt::format("`{}`", (*group)->name);
    const auto devices = static_cast<std::int64_t>(
        std::ceil(static_cast<double>(figures.devices) * figures.needs / std::max(limit, 1.0)));
    return fmt::format(
        "No plan fits. The closest is {}; missing: {}. It would fit on devices with {} each; with {} about {} of them "
        "are "
        "needed, of which the plan uses {}. Or shorten the sequence",
        toText(closest.plan), missing(figures, limit), format(Bytes(figures.needs)), kind, devices, figures.devices);
}

std::string_view toText(PlanObjective objective) {
    constexpr std::array<std::string_view, 4> words{"time", "devices", "energy", "cost"};
    return words[static_cast<std::size_t>(objective)];
}

std::optional<PlanObjective> planObjective(std::string_view word) {
    for (int o = 0; o < 4; ++o)
        if (toText(static_cast<PlanObjective>(o)) == word) return static_cast<PlanObjective>(o);
    return std::nullopt;
}

}  // namespace orrery
