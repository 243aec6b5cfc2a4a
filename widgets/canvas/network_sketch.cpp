#include "widgets/canvas/network_sketch.h"

#include "hardware/network/topology.h"

#include <QCoreApplication>

#include <deque>

namespace orrery::ui {
namespace {

constexpr std::int64_t mostDrawn = 20000;
constexpr std::size_t mostKept = 32;

std::shared_ptr<const NetworkSketch> expanded(const Scene& scene, int node) {
    auto made = std::make_shared<NetworkSketch>();
    const Expected<TopologySpec> spec = topologySpec(scene.hardware()->root, scene.path(node));
    const Expected<ExpandedNetwork> network = spec ? expandTopology(*spec, mostDrawn) : Unexpected(spec.error());
    if (!network) {
        made->caption = QString::fromStdString(network.error().message);
        return made;
    }
    const auto at = [&](std::int32_t vertex) {
        const auto& shown = network->vertices[static_cast<std::size_t>(vertex)];
        return QPointF(static_cast<double>(shown.x), static_cast<double>(shown.y));
    };
    for (std::size_t i = 0; i < network->vertices.size(); ++i) {
        (network->vertices[i].isSwitch ? made->sketch.switches : made->sketch.ends).push_back(at(std::int32_t(i)));
    }
    for (const ExpandedNetwork::Edge& edge : network->edges) made->sketch.lines.push_back({at(edge.a), at(edge.b)});
    if (const Expected<TopologyFacts> facts = topologyFacts(*spec)) {
        made->caption =
            QCoreApplication::translate("NetworkSketch", "%1 endpoints · %2 switches · %3 links · diameter %4")
                .arg(facts->endpoints)
                .arg(facts->switches)
                .arg(facts->links)
                .arg(facts->diameter);
    }
    return made;
}

}  // namespace

std::shared_ptr<const NetworkSketch> networkOf(const Scene& scene, int node) {
    struct Known {
        std::weak_ptr<const Hardware> design;
        int node;
        std::shared_ptr<const NetworkSketch> network;
    };
    thread_local std::deque<Known> known;
    for (const Known& entry : known) {
        if (entry.node == node && entry.design.lock() == scene.hardware()) return entry.network;
    }
    known.push_front({scene.hardware(), node, expanded(scene, node)});
    if (known.size() > mostKept) known.pop_back();
    return known.front().network;
}

}  // namespace orrery::ui
