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
    const auto group = groupFor(*asked.cluster, asked.plan);
    if (!group) {
        fail(group.error());
        return asked;
    }
    asked.group = *group;
    asked.prices = state.prices;
    asked.prices.try_emplace(std::string(), usualPrice);
    // Where kinds of device differ, each has its price.
    if (asked.cluster->groups.size() > 1) asked.priceOf = asked.group->name;
    for (const std::string& kind : {std::string(), asked.group->name})
        if (const auto stated = state.prices.find(kind); stated != state.prices.end()) {
            asked.price = stated->second;
            if (!kind.empty()) asked.priceOf = kind;
        }
    asked.perNode = devicesPerNode(*asked.group);
    const bool sameRoom = before.recipe == asked.recipe && before.room.devices == asked.group->count &&
                          before.lacks == TrainingLacks::Nothing;
    asked.room = sameRoom ? before.room : planRoom(asked.recipe, asked.group->count);
    return asked;
}

}  // namespace orrery::app
