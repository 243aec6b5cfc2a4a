#include "app/window/training/training_question.h"

#include <algorithm>

namespace orrery::app {

std::int64_t devicesPerNode(const DeviceGroup& group) {
    for (const NetworkTier& tier : group.tiers)
        if (tier.betweenNodes) return std::max<std::int64_t>(1, tier.inner);
    return std::max<std::int64_t>(1, group.count);
}

TrainingQuestion trainingQuestion(const Document& document, const TrainingQuestion& before) {
    TrainingQuestion asked;
    const ProjectState& state = *document.state();
    asked.hardware = document.hardware();
    asked.hardwareIndex = document.hardwareIndex();
    asked.workloadIndex = document.workloadIndex();
    const ProjectWorkload* workload = document.workload();
    if (asked.hardware) asked.design = QString::fromStdString(asked.hardware->name);
    if (workload) {
        asked.model = QString::fromStdString(workload->name);
        asked.recipe = workload->recipe;
    }
    if (!asked.hardware || state.scenarios.empty()) return asked;
    asked.lacks = TrainingLacks::Workload;
    if (!workload) return asked;
    asked.lacks = TrainingLacks::Task;
    const ScenarioRef& shown = state.scenarios.front();
    asked.plan = shown.plan;
    const auto task = parseTask(shown.task.empty() ? std::string(toText(TaskKind::Pass)) : shown.task);
    if (task && std::holds_alternative<TrainingStep>(*task)) {
        asked.step = std::get<TrainingStep>(*task);
        asked.lacks = TrainingLacks::Nothing;
    }
    const auto fail = [&](const Diagnostic& why) {
        asked.lacks = TrainingLacks::Cluster;
        asked.why = why;
    };
    asked.cluster = before.hardware == asked.hardware ? before.cluster : nullptr;
    if (!asked.cluster) {
        auto view = clusterView(*asked.hardware);
        if (!view) {
            fail(view.error());
            return asked;
        }
        asked.cluster = std::make_shared<const ClusterView>(std::move(*view));
    }
    const auto kinds = planKinds(*asked.cluster, asked.plan);
    if (!kinds && kinds.error().code == "plan.no-such-device") {
        fail(kinds.error());
        return asked;
    }
    asked.group = &asked.cluster->groups[kinds ? kinds->kinds.front() : 0];
    if (kinds && kinds->several()) asked.kinds = *kinds;
    asked.prices = state.prices;
    asked.prices.try_emplace(std::string(), usualPrice);
    const auto priceOf = [&](const DeviceGroup& kind) {
        for (const std::string& name : {kind.name, std::string()})
            if (const auto stated = asked.prices.find(name); stated != asked.prices.end()) return stated->second;
        return usualPrice;
    };
    // Where kinds of device differ, each has its price.
    const bool ofKind = asked.cluster->groups.size() > 1 || state.prices.contains(asked.group->name);
    if (ofKind) asked.priceOf = asked.group->name;
    asked.price = asked.meanPrice = priceOf(*asked.group);
    std::int64_t drawn = asked.group->count;
    if (asked.kinds) {
        const DeviceGroup& other = asked.cluster->groups[asked.kinds->kinds[1]];
        asked.otherPriceOf = other.name;
        asked.otherPrice = priceOf(other);
        asked.meanPrice = 0;
        for (const std::size_t kind : asked.kinds->of)
            asked.meanPrice += priceOf(asked.cluster->groups[kind]) / static_cast<double>(asked.kinds->of.size());
        drawn = 0;
        for (const std::size_t kind : asked.kinds->kinds) drawn += asked.cluster->groups[kind].count;
    }
    asked.perNode = devicesPerNode(*asked.group);
    const bool sameRoom =
        before.recipe == asked.recipe && before.room.devices == drawn && before.lacks == TrainingLacks::Nothing;
    asked.room = sameRoom ? before.room : planRoom(asked.recipe, drawn);
    return asked;
}

}  // namespace orrery::app
