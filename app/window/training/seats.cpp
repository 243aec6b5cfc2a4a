#include "app/window/training/seats.h"

#include "widgets/common/text.h"

#include <QStringList>

#include <algorithm>

namespace orrery::app {

void seatKinds(const TrainingQuestion& question, ui::ClusterMapData& map) {
    const PlanKinds& kinds = *question.kinds;
    const Component& root = question.hardware->root;
    map.drawn = map.nodes = 0;
    map.perNode = 1;
    std::vector<std::int64_t> perNode, firstNode;
    for (const std::size_t kind : kinds.kinds) {
        const DeviceGroup& group = question.cluster->groups[kind];
        perNode.push_back(devicesPerNode(group));
        firstNode.push_back(map.nodes);
        map.drawn += group.count;
        map.nodes += (group.count + perNode.back() - 1) / perNode.back();
        map.perNode = std::max(map.perNode, perNode.back());
        QString node;
        for (ComponentPath path = group.places.front(); !path.empty() && node.isEmpty();) {
            path.pop_back();
            const Component* around = componentAt(root, path);
            if (around && around->kind == ComponentKind::Node) node = ui::qs(around->name);
        }
        map.kinds.push_back({ui::qs(group.name), node.isEmpty() ? map.node : node, firstNode.back()});
    }
    std::vector<std::int64_t> taken(kinds.kinds.size(), 0);
    const auto take = [&](std::size_t kind) {
        const std::int64_t device = taken[kind]++;
        map.seats.push_back((firstNode[kind] + device / perNode[kind]) * map.perNode + device % perNode[kind]);
    };
    const std::int64_t block = question.plan.tensor * question.plan.context;
    for (const std::size_t group : kinds.of)
        for (std::int64_t i = 0; i < block; ++i) take(kinds.indexOf(group));
    for (std::size_t kind = 0; kind < kinds.kinds.size(); ++kind)
        while (taken[kind] < question.cluster->groups[kinds.kinds[kind]].count) take(kind);
}

QString devicesText(const TrainingQuestion& question) {
    if (!question.group) return QObject::tr("devices");
    if (!question.kinds) return ui::qs(question.group->name);
    QStringList names;
    for (const std::size_t kind : question.kinds->kinds) names << ui::qs(question.cluster->groups[kind].name);
    return names.join(QObject::tr(" and "));
}

}  // namespace orrery::app
