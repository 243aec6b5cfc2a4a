#include "app/window/hardware/auto_arrange.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace orrery::app {

namespace {

bool joins(const Component& component) {
    using enum ComponentKind;
    constexpr std::array joined = {Node, Package, Die, Cluster, Core, Array};
    return std::ranges::find(joined, component.kind) != joined.end();
}

}  // namespace

AutoArrange::AutoArrange(QObject* parent) : QObject(parent) {
    connect(&layout_, &ui::GraphvizLayout::finished, this, &AutoArrange::apply);
    connect(&layout_, &ui::GraphvizLayout::failed, this, [this](const QString& why) {
        emit stageChanged({});
        emit failed({Severity::Error,
                     "canvas.layout",
                     why.toStdString(),
                     {},
                     "arrange by hand, or use Arrange ▸ Arrange everything",
                     {}});
    });
    connect(&layout_, &ui::GraphvizLayout::progress, this, [this](double share, const QString& stage) {
        emit stageChanged(share < 0 ? tr("Arranging: %1…").arg(stage)
                                    : tr("Arranging: %1 %2 %").arg(stage).arg(qRound(share * 100)));
    });
}

void AutoArrange::start(ui::CanvasView* view, ui::CanvasEditor* editor, const ComponentPath& parent) {
    cancel();
    view_ = view;
    editor_ = editor;
    const ui::Scene& scene = view->scene();
    design_ = scene.hardware();
    parent_ = parent;
    nodes_.clear();
    const int top = scene.find(parent);
    if (top < 0 || !design_) return;
    ui::LayoutGraph graph;
    std::map<int, std::int32_t> indexOf;
    for (const int node : scene.children(top)) {
        const ui::SceneNode& child = scene.nodes()[static_cast<std::size_t>(node)];
        if (child.component->kind == ComponentKind::Link) continue;
        indexOf[node] = static_cast<std::int32_t>(nodes_.size());
        nodes_.push_back(node);
        graph.sizes.push_back(child.box.size());
    }
    const auto indexBelow = [&](int node) -> std::int32_t {
        while (node >= 0 && !indexOf.contains(node)) node = scene.nodes()[static_cast<std::size_t>(node)].parent;
        return node < 0 ? -1 : indexOf[node];
    };
    for (const ui::SceneLink& link : scene.links()) {
        const std::int32_t from = indexBelow(link.from), to = indexBelow(link.to);
        if (from >= 0 && to >= 0 && from != to) graph.edges.push_back({from, to});
    }
    for (const int node : nodes_) {
        if (scene.nodes()[static_cast<std::size_t>(node)].component->kind != ComponentKind::Topology) continue;
        for (const int other : nodes_) {
            if (joins(*scene.nodes()[static_cast<std::size_t>(other)].component))
                graph.edges.push_back({indexOf[node], indexOf[other]});
        }
    }
    if (nodes_.size() < 2) return emit arranged(0);
    if (!ui::GraphvizLayout::isAvailable()) return apply(ui::layeredLayout(graph));
    const bool meshed = graph.edges.size() >= graph.sizes.size();
    emit stageChanged(tr("Arranging %n component(s)…", nullptr, static_cast<int>(nodes_.size())));
    layout_.start(graph, meshed ? ui::GraphvizLayout::Engine::Neato : ui::GraphvizLayout::Engine::Dot);
}

void AutoArrange::cancel() {
    if (!layout_.isRunning()) return;
    layout_.cancel();
    emit stageChanged({});
}

void AutoArrange::apply(const ui::LayoutResult& result) {
    emit stageChanged({});
    if (!view_ || view_->scene().hardware() != design_ || result.centres.size() != nodes_.size()) return;
    const ui::Scene& scene = view_->scene();
    QPointF origin;
    std::vector<QPointF> corners;
    for (std::size_t at = 0; at < nodes_.size(); ++at) {
        const QSizeF size = scene.nodes()[static_cast<std::size_t>(nodes_[at])].box.size();
        const QPointF corner = result.centres[at] - QPointF(size.width(), size.height()) / 2;
        corners.push_back(corner);
        origin = at == 0 ? corner : QPointF(std::min(origin.x(), corner.x()), std::min(origin.y(), corner.y()));
    }
    std::vector<ui::PlacedAt> places;
    for (std::size_t at = 0; at < nodes_.size(); ++at) {
        ui::Placement place = scene.placementOf(nodes_[at]);
        const QPointF corner = corners[at] - origin;
        place.x = std::round(corner.x() / ui::gridStep) * ui::gridStep;
        place.y = std::round(corner.y() / ui::gridStep) * ui::gridStep;
        place.placed = true;
        places.push_back({scene.path(nodes_[at]), place});
    }
    if (Expected<void> done = editor_->arrange(tr("Arrange automatically"), places); !done)
        return emit failed(done.error());
    emit arranged(static_cast<int>(places.size()));
}

}  // namespace orrery::app
