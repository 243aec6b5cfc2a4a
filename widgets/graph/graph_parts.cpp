// What the boxes say, and how large they are for it.

#include "widgets/common/text.h"
#include "widgets/common/units_text.h"
#include "widgets/graph/graph_scene.h"
#include "widgets/plots/operator_facts.h"

#include <QCoreApplication>

#include <algorithm>
#include <cmath>
#include <map>

namespace orrery::ui {
namespace {

constexpr double padding = 12, narrowest = 104, widest = 248;
constexpr double tall = 62, low = 28;
constexpr double valueRoom = 74;  // the number of the heat, right of the title

QString tr(const char* text) {
    return QCoreApplication::translate("orrery::ui::graph", text);
}

std::size_t at(std::int32_t index) {
    return static_cast<std::size_t>(index);
}

class Parts {
public:
    Parts(const Workload& workload, const GraphHierarchy& hierarchy, const VisibleGraph& visible,
          const TextWidths& widths)
        : graph_(workload.graph), hierarchy_(hierarchy), visible_(visible), widths_(widths) {
        mixes_.resize(visible.nodes.size());
        for (std::size_t op = 0; op < visible.nodeOf.size(); ++op) {
            const std::int32_t node = visible.nodeOf[op];
            if (node < 0 || visible.nodes[at(node)].group < 0) continue;
            Mix& mix = mixes_[at(node)];
            mix.count[static_cast<std::size_t>(graph_.operators[op].kind)] += 1;
            mix.operators += 1;
            mix.executed += static_cast<double>(graph_.operators[op].repeat);
        }
    }

    GraphScene::Node node(std::size_t n) const {
        const VisibleGraph::Node& shown = visible_.nodes[n];
        return shown.op >= 0 ? ofOperator(shown.op) : ofGroup(shown.group, mixes_[n]);
    }

    GraphScene::Node terminal(TensorId id, bool input) const {
        GraphScene::Node node;
        node.kind = GraphScene::NodeKind::Terminal;
        node.tensor = id;
        node.input = input;
        node.compact = true;
        const Tensor* tensor = graph_.tensor(id);
        node.title = tensor ? qs(tensor->name) : QString();
        if (node.title.isEmpty()) node.title = input ? tr("input") : tr("output");
        if (tensor && tensor->ranked) node.third = qs(toText(tensor->shape));
        const double text = TextWidths::of(widths_.name, node.title) + 14 + TextWidths::of(widths_.shape, node.third);
        node.box = QRectF(0, 0, std::ceil(std::clamp(text + 2 * padding + 10, 72.0, 340.0)), low);
        return node;
    }

private:
    struct Mix {
        std::array<double, operatorKindCount> count{};
        double operators = 0, executed = 0;
    };

    GraphScene::Node ofOperator(std::int32_t op) const {
        const Operator& shown = graph_.operators[at(op)];
        GraphScene::Node node;
        node.op = op;
        node.family = shown.kind;
        node.title = shown.type.empty() ? kindText(shown.kind) : qs(shown.type);
        node.compact = shown.kind == OperatorKind::View;
        double width = TextWidths::of(widths_.title, node.title) + valueRoom;
        if (!node.compact) {
            node.second = shortName(qs(shown.name));
            const Tensor* output = shown.outputs.empty() ? nullptr : graph_.tensor(shown.outputs.front());
            if (output && output->ranked) node.third = qs(toText(output->shape));
            width =
                std::max({width, TextWidths::of(widths_.name, node.second), TextWidths::of(widths_.shape, node.third)});
        } else {
            width -= valueRoom / 2;
        }
        width = std::clamp(width + 2 * padding, node.compact ? 72 : narrowest, widest);
        node.box = QRectF(0, 0, std::ceil(width), node.compact ? low : tall);
        return node;
    }

    GraphScene::Node ofGroup(std::int32_t group, const Mix& mix) const {
        const GraphGroup& shown = hierarchy_.groups[at(group)];
        GraphScene::Node node;
        node.kind = GraphScene::NodeKind::Group;
        node.group = group;
        node.stacked = shown.repeat > 1 || shown.alike > 1;
        node.title = groupTitle(shown);
        node.second = tr("%1 operators").arg(countText(std::max(mix.operators, mix.executed)));
        for (int kind = 0; kind < operatorKindCount; ++kind) {
            const double count = mix.count[static_cast<std::size_t>(kind)];
            if (count > 0)
                node.mix.emplace_back(static_cast<OperatorKind>(kind), static_cast<float>(count / mix.operators));
        }
        std::stable_sort(node.mix.begin(), node.mix.end(), [](auto& a, auto& b) { return a.second > b.second; });
        if (!node.mix.empty()) node.family = node.mix.front().first;
        const double width = std::max(TextWidths::of(widths_.title, node.title) + 24,
                                      TextWidths::of(widths_.name, node.second) + valueRoom);
        node.box = QRectF(0, 0, std::ceil(std::clamp(width + 2 * padding, 136.0, widest)), tall);
        return node;
    }

public:
    static QString groupTitle(const GraphGroup& group) {
        const std::int64_t times = group.repeat > 1 ? group.repeat : group.alike;
        return times > 1 ? QStringLiteral("%1 ×%2").arg(qs(group.name), countText(double(times))) : qs(group.name);
    }

private:
    const Graph& graph_;
    const GraphHierarchy& hierarchy_;
    const VisibleGraph& visible_;
    const TextWidths& widths_;
    std::vector<Mix> mixes_;
};

}  // namespace

double TextWidths::of(const std::array<float, 256>& font, const QString& text) {
    double width = 0;
    for (const QChar letter : text) width += letter.unicode() < 256 ? font[letter.unicode()] : font[u'm'];
    return width;
}

GraphParts partsOf(const Workload& workload, const GraphHierarchy& hierarchy, const VisibleGraph& visible,
                   const TextWidths& widths, bool leftToRight) {
    GraphParts result;
    GraphScene& scene = result.scene;
    LayoutGraph& layout = result.layout;
    scene.leftToRight = layout.leftToRight = leftToRight;
    scene.nodeOf = visible.nodeOf;
    const Parts parts(workload, hierarchy, visible, widths);

    std::vector<std::int32_t> frameOf(hierarchy.groups.size(), -1);
    for (const std::int32_t group : visible.openGroups) {
        const GraphGroup& shown = hierarchy.groups[at(group)];
        const std::int32_t parent = shown.parent < 0 ? -1 : frameOf[at(shown.parent)];
        frameOf[at(group)] = static_cast<std::int32_t>(scene.frames.size());
        scene.frames.push_back(
            {group, parent < 0 ? 0 : scene.frames[at(parent)].depth + 1, Parts::groupTitle(shown), {}});
        layout.frameParent.push_back(parent);
        layout.frameWidth.push_back(TextWidths::of(widths.name, scene.frames.back().caption) + 44);
    }
    std::vector<std::int32_t> frames;
    for (std::size_t n = 0; n < visible.nodes.size(); ++n) {
        scene.nodes.push_back(parts.node(n));
        const VisibleGraph::Node& shown = visible.nodes[n];
        const std::int32_t around =
            shown.op >= 0 ? hierarchy.groupOf[at(shown.op)] : hierarchy.groups[at(shown.group)].parent;
        frames.push_back(around < 0 ? -1 : frameOf[at(around)]);
    }
    std::map<std::pair<bool, TensorId>, std::int32_t> terminals;
    const auto terminal = [&](const VisibleGraph::Edge& edge, bool input) {
        const TensorId tensor = edge.tensors.empty() ? -1 : edge.tensors.front();
        const auto [found, fresh] =
            terminals.emplace(std::pair{input, tensor}, static_cast<std::int32_t>(scene.nodes.size()));
        if (fresh) {
            scene.nodes.push_back(parts.terminal(tensor, input));
            frames.push_back(-1);
        }
        return found->second;
    };
    for (const VisibleGraph::Edge& edge : visible.edges) {
        if (edge.from < 0 && edge.to < 0) continue;
        GraphScene::Edge drawn;
        drawn.from = edge.from < 0 ? terminal(edge, true) : edge.from;
        drawn.to = edge.to < 0 ? terminal(edge, false) : edge.to;
        drawn.tensors = edge.tensors;
        scene.edges.push_back(std::move(drawn));
    }
    // A layout may take an edge against the order of nodes for one that goes back: inputs stand first.
    std::vector<std::int32_t> place(scene.nodes.size());
    for (const bool inputs : {true, false}) {
        for (std::size_t n = 0; n < scene.nodes.size(); ++n) {
            if (scene.nodes[n].input != inputs) continue;
            place[n] = static_cast<std::int32_t>(result.nodes.size());
            result.nodes.push_back(static_cast<std::int32_t>(n));
            layout.sizes.push_back(scene.nodes[n].box.size());
            layout.frame.push_back(frames[n]);
        }
    }
    for (const GraphScene::Edge& edge : scene.edges) layout.edges.push_back({place[at(edge.from)], place[at(edge.to)]});
    return result;
}

}  // namespace orrery::ui
