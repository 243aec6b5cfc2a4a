#include "base/random.h"
#include "workload/blocks.h"
#include "workload/hierarchy.h"
#include "workload/workload.h"

#include <QtTest/QtTest>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

using namespace orrery;

namespace {

using Edges = std::map<std::pair<std::int32_t, std::int32_t>, std::set<TensorId>>;

TensorId make(Graph& graph, const std::string& name, const std::string& type, std::vector<TensorId> inputs,
              std::int64_t width = 8) {
    Operator op;
    op.name = name;
    op.type = type;
    op.kind = OperatorKind::Elementwise;
    op.inputs = std::move(inputs);
    op.outputs = {graph.addTensor({.name = name + ":0", .shape = {width}})};
    graph.operators.push_back(op);
    return op.outputs[0];
}

Graph randomGraph(std::uint64_t seed) {
    RandomStream random(seed);
    Graph graph;
    std::vector<TensorId> made{graph.addTensor({.name = "x", .shape = {8}, .role = TensorRole::Input}),
                               graph.addTensor({.name = "w", .shape = {8}, .role = TensorRole::Weight})};
    graph.inputs = {made[0]};
    const char* words[] = {"a", "b", "layers.0", "layers.1", "layers.2", "attn"};
    const std::size_t count = 1 + random.below(60);
    for (std::size_t i = 0; i < count; ++i) {
        std::string name;
        for (std::uint64_t depth = random.below(4); depth > 0; --depth)
            name += std::string("/") + words[random.below(6)];
        std::vector<TensorId> inputs;
        for (std::uint64_t k = 1 + random.below(2); k > 0; --k) inputs.push_back(made[random.below(made.size())]);
        made.push_back(make(graph, name + "/op" + std::to_string(i), "Relu", inputs));
    }
    graph.outputs = {made.back()};
    // runs of neighbours are folded blocks, some within others
    for (std::size_t i = 0; i + 6 < count; i += 7 + random.below(5)) {
        if (random.below(2) == 0) continue;
        for (std::size_t j = i; j < i + 6; ++j) {
            graph.operators[j].block = "run" + std::to_string(i) + " ×4";
            graph.operators[j].repeat = 4;
            if (j >= i + 2 && j < i + 5) graph.operators[j].block += " / in ×2", graph.operators[j].repeat = 8;
        }
    }
    return graph;
}

/// The node that must show an operator, by walking up from it: the outermost group that is not open, or itself.
std::pair<std::int32_t, std::int32_t> shownBy(const GraphHierarchy& hierarchy, const std::vector<bool>& open,
                                              std::int32_t op) {
    std::int32_t shown = -1;
    for (std::int32_t g = hierarchy.groupOf[static_cast<std::size_t>(op)]; g >= 0;
         g = hierarchy.groups[static_cast<std::size_t>(g)].parent) {
        if (!open[static_cast<std::size_t>(g)]) shown = g;
    }
    return shown < 0 ? std::pair{op, -1} : std::pair{-1, shown};
}

/// Edges between operators by definition: every reader of what an earlier operator made.
Edges operatorEdges(const Graph& graph) {
    Edges edges;
    for (std::size_t reader = 0; reader < graph.operators.size(); ++reader) {
        for (const TensorId id : graph.operators[reader].inputs) {
            if (id < 0) continue;
            const TensorRole role = graph.tensors[static_cast<std::size_t>(id)].role;
            if (role == TensorRole::Weight || role == TensorRole::Constant) continue;
            std::int32_t from = -1;
            for (std::size_t i = 0; i < graph.operators.size(); ++i) {
                for (const TensorId out : graph.operators[i].outputs) {
                    if (out == id) from = static_cast<std::int32_t>(i);
                }
            }
            edges[{from, static_cast<std::int32_t>(reader)}].insert(id);
        }
    }
    return edges;
}

void checkTree(const Graph& graph, const GraphHierarchy& hierarchy) {
    QCOMPARE(hierarchy.groupOf.size(), graph.operators.size());
    std::vector<std::int32_t> counted(hierarchy.groups.size(), 0);
    for (const std::int32_t group : hierarchy.groupOf) {
        QVERIFY(group < static_cast<std::int32_t>(hierarchy.groups.size()));
        for (std::int32_t g = group; g >= 0; g = hierarchy.groups[static_cast<std::size_t>(g)].parent) {
            ++counted[static_cast<std::size_t>(g)];
        }
    }
    std::set<std::string> scopes;
    for (std::size_t g = 0; g < hierarchy.groups.size(); ++g) {
        const GraphGroup& group = hierarchy.groups[g];
        QVERIFY(group.parent < static_cast<std::int32_t>(g));  // parents first: no cycle is possible
        QCOMPARE(group.operatorCount, counted[g]);
        QVERIFY(group.operatorCount >= 2);
        QVERIFY(!group.name.empty());
        QVERIFY2(scopes.insert(group.scope).second, group.scope.c_str());
    }
}

void checkVisible(const Graph& graph, const GraphHierarchy& hierarchy, const std::vector<bool>& open) {
    const VisibleGraph visible = visibleGraph(graph, hierarchy, open);
    std::set<std::pair<std::int32_t, std::int32_t>> shown;
    for (const auto& node : visible.nodes) {
        QVERIFY((node.op < 0) != (node.group < 0));
        QVERIFY(shown.insert({node.op, node.group}).second);
    }
    std::set<std::pair<std::int32_t, std::int32_t>> needed;
    QCOMPARE(visible.nodeOf.size(), graph.operators.size());
    for (std::size_t i = 0; i < graph.operators.size(); ++i) {
        const auto expected = shownBy(hierarchy, open, static_cast<std::int32_t>(i));
        const auto& node = visible.nodes[static_cast<std::size_t>(visible.nodeOf[i])];
        QCOMPARE((std::pair{node.op, node.group}), expected);
        needed.insert(expected);
    }
    QVERIFY(shown == needed);

    Edges expected;
    for (const auto& [pair, tensors] : operatorEdges(graph)) {
        const std::int32_t from = pair.first < 0 ? -1 : visible.nodeOf[static_cast<std::size_t>(pair.first)];
        const std::int32_t to = visible.nodeOf[static_cast<std::size_t>(pair.second)];
        if (from != to) expected[{from, to}].insert(tensors.begin(), tensors.end());
    }
    for (const TensorId id : graph.outputs) {
        for (std::size_t i = 0; i < graph.operators.size(); ++i) {
            const auto& made = graph.operators[i].outputs;
            if (std::find(made.begin(), made.end(), id) != made.end()) expected[{visible.nodeOf[i], -1}].insert(id);
        }
    }
    Edges got;
    for (const auto& edge : visible.edges) {
        QVERIFY((!got.contains({edge.from, edge.to})));
        got[{edge.from, edge.to}] = {edge.tensors.begin(), edge.tensors.end()};
        QCOMPARE((got[{edge.from, edge.to}].size()), edge.tensors.size());
    }
    QVERIFY(got == expected);
}

const GraphGroup* groupNamed(const GraphHierarchy& hierarchy, const std::string& name) {
    for (const GraphGroup& group : hierarchy.groups) {
        if (group.name == name) return &group;
    }
    return nullptr;
}

WorkloadPtr reference(const char* file) {
    const std::string path = std::string(ORRERY_REFERENCE) + "/onnx/torchvision/" + file;
    if (!std::filesystem::exists(path)) return nullptr;
    auto loaded = loadWorkload({.source = path, .options = {}, .whatIfs = {}});
    return loaded ? *loaded : nullptr;
}

}  // namespace

class TestHierarchy : public QObject {
    Q_OBJECT
private slots:
    void scopesAreTheWordsBeforeTheLast() {
        using Words = std::vector<std::string_view>;
        QVERIFY((scopesOf("/features/features.1/attn/MatMul") == Words{"features", "features.1", "attn"}));
        QVERIFY((scopesOf("layers.0.mlp.up") == Words{"layers", "layers.0", "mlp"}));
        QVERIFY((scopesOf("layer1.0.1.conv") == Words{"layer1", "layer1.0", "layer1.0.1"}));
        QVERIFY(scopesOf("relu.1").empty());
        QVERIFY(scopesOf("Conv_12").empty());
        QVERIFY(scopesOf("").empty());
        QVERIFY(scopesOf("//").empty());
        QVERIFY(scopesOf(std::string(100000, '/') + "x").empty());
        std::string deep;
        for (int i = 0; i < 10000; ++i) deep += "a/";
        QVERIFY(scopesOf(deep).size() <= 32);
    }

    void builtInBlockIsOneGroup() {
        const auto workload = loadWorkload({.source = "gpt-3-175b", .options = {}, .whatIfs = {}});
        QVERIFY(workload.has_value());
        const GraphHierarchy hierarchy = hierarchyOf((*workload)->graph);
        QCOMPARE(hierarchy.groups.size(), std::size_t{1});
        QCOMPARE(hierarchy.groups[0].name, std::string("layers"));
        QCOMPARE(hierarchy.groups[0].repeat, std::int64_t{96});
        QCOMPARE(hierarchy.groups[0].operatorCount, 11);
        checkTree((*workload)->graph, hierarchy);
    }

    void scopesOfOneOperatorAreNoGroups() {
        Graph graph;
        TensorId x = graph.addTensor({.name = "x", .shape = {8}, .role = TensorRole::Input});
        x = make(graph, "/conv1/Conv", "Conv", {x});
        x = make(graph, "/layer1/conv/Conv", "Conv", {x});
        x = make(graph, "/layer1/relu/Relu", "Relu", {x});
        const GraphHierarchy hierarchy = hierarchyOf(graph);
        QCOMPARE(hierarchy.groups.size(), std::size_t{1});
        QCOMPARE(hierarchy.groups[0].name, std::string("layer1"));
        QCOMPARE(hierarchy.groupOf, (std::vector<std::int32_t>{-1, 0, 0}));
    }

    void alikeBlocksBecomeOneRun() {
        Graph graph;
        TensorId x = graph.addTensor({.name = "x", .shape = {8}, .role = TensorRole::Input});
        x = make(graph, "net.embed", "Relu", {x});
        for (int i = 0; i < 6; ++i) {
            const std::string scope = "layers." + std::to_string(i);
            const std::int64_t width = i == 5 ? 16 : 8;  // the last is of another shape
            x = make(graph, scope + ".up", "Relu", {x}, width);
            x = make(graph, scope + ".down", "Tanh", {x}, 8);
        }
        GraphHierarchy hierarchy = hierarchyOf(graph);
        checkTree(graph, hierarchy);
        const GraphGroup* run = groupNamed(hierarchy, "layers.0…4");
        QVERIFY(run);
        QCOMPARE(run->alike, 5);
        QCOMPARE(run->operatorCount, 10);
        QCOMPARE(run->repeat, std::int64_t{1});
        QCOMPARE(groupNamed(hierarchy, "layers.5")->parent, run->parent);

        graph.operators.resize(graph.operators.size() - 2);  // all alike: the scope itself is the run
        hierarchy = hierarchyOf(graph);
        QCOMPARE(groupNamed(hierarchy, "layers")->alike, 5);
        QVERIFY(!groupNamed(hierarchy, "layers.0…4"));
    }

    void foldedBlockStandsWhereItBelongs() {
        Graph graph;
        TensorId x = graph.addTensor({.name = "x", .shape = {8}, .role = TensorRole::Input});
        x = make(graph, "/encoder/Add", "Add", {x});
        for (const char* name : {"/encoder/layers/layer_0/ln/Sub", "/encoder/layers/layer_0/ln/Pow",
                                 "/encoder/layers/layer_0/mlp/MatMul", "/encoder/layers/layer_0/mlp/Add"}) {
            x = make(graph, name, "Relu", {x});
            graph.operators.back().block = "/encoder/layers/layer ×12";
            graph.operators.back().repeat = 12;
        }
        x = make(graph, "/head/Gemm", "Gemm", {x});
        const GraphHierarchy hierarchy = hierarchyOf(graph);
        checkTree(graph, hierarchy);
        const GraphGroup* layer = groupNamed(hierarchy, "layers/layer");
        QVERIFY(layer);
        QCOMPARE(layer->repeat, std::int64_t{12});
        QCOMPARE(layer->operatorCount, 4);
        QVERIFY(groupNamed(hierarchy, "mlp"));
    }

    void randomGraphsAreShownWhole() {
        for (std::uint64_t seed = 0; seed < 300; ++seed) {
            const Graph graph = randomGraph(seed);
            const GraphHierarchy hierarchy = hierarchyOf(graph);
            checkTree(graph, hierarchy);
            const std::size_t groups = hierarchy.groups.size();
            checkVisible(graph, hierarchy, std::vector<bool>(groups, false));
            checkVisible(graph, hierarchy, std::vector<bool>(groups, true));
            RandomStream random(seed, 1);
            for (int round = 0; round < 4; ++round) {
                std::vector<bool> open(groups);
                for (std::size_t g = 0; g < groups; ++g) open[g] = random.below(2) == 0;
                checkVisible(graph, hierarchy, open);
            }
            if (QTest::currentTestFailed()) qFatal("seed %llu", static_cast<unsigned long long>(seed));
        }
    }

    void openedWhollyEveryOperatorIsANode() {
        const Graph graph = randomGraph(7);
        const GraphHierarchy hierarchy = hierarchyOf(graph);
        const VisibleGraph all = visibleGraph(graph, hierarchy, std::vector<bool>(hierarchy.groups.size(), true));
        QCOMPARE(all.nodes.size(), graph.operators.size());
        QCOMPARE(all.openGroups.size(), hierarchy.groups.size());
        for (std::size_t i = 0; i < all.nodes.size(); ++i) {  // and the stored order is kept
            QCOMPARE(all.nodes[i].op, static_cast<std::int32_t>(i));
        }
    }

    void foldedNodesStandInTopologicalOrder() {
        for (const char* id : {"resnet-50", "stable-diffusion-1.5", "gemma-2-9b"}) {
            const auto workload = loadWorkload({.source = id, .options = {}, .whatIfs = {}});
            QVERIFY(workload.has_value());
            const Graph& graph = (*workload)->graph;
            const GraphHierarchy hierarchy = hierarchyOf(graph);
            checkTree(graph, hierarchy);
            for (const int most : {0, 10, 60, 100000}) {
                const auto open = openAtFirst(graph, hierarchy, most);
                checkVisible(graph, hierarchy, open);
                const VisibleGraph visible = visibleGraph(graph, hierarchy, open);
                const auto folded = visibleGraph(graph, hierarchy, std::vector<bool>(open.size(), false));
                QVERIFY(visible.nodes.size() <= std::max<std::size_t>(folded.nodes.size(), std::size_t(most)));
            }
        }
    }

    void importedModelIsGroupedByItsScopes() {
        const WorkloadPtr swin = reference("swin_t.onnx");
        if (!swin) QSKIP("needs the reference models (ORRERY_REFERENCE)");
        const GraphHierarchy hierarchy = hierarchyOf(swin->graph);
        checkTree(swin->graph, hierarchy);
        checkVisible(swin->graph, hierarchy, openAtFirst(swin->graph, hierarchy));
        for (const char* name : {"features.1.0", "features.3.1", "attn", "mlp"}) {
            QVERIFY2(groupNamed(hierarchy, name), name);
        }
        const auto folded = visibleGraph(swin->graph, hierarchy, std::vector<bool>(hierarchy.groups.size(), false));
        QVERIFY2(folded.nodes.size() < 40, qPrintable(QString::number(folded.nodes.size())));
        const auto first = visibleGraph(swin->graph, hierarchy, openAtFirst(swin->graph, hierarchy));
        QVERIFY(first.nodes.size() > 40 && first.nodes.size() <= 300);
    }
};

QTEST_GUILESS_MAIN(TestHierarchy)
#include "tst_hierarchy.moc"
