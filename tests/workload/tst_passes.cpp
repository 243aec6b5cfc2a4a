#include "base/random.h"
#include "workload/graph.h"
#include "workload/passes.h"

#include <QtTest/QtTest>

#include <map>
#include <set>

using namespace orrery;

namespace {

TensorId make(Graph& graph, std::string name, Shape shape, TensorRole role = TensorRole::Activation) {
    Tensor tensor;
    tensor.name = std::move(name);
    tensor.shape = std::move(shape);
    tensor.role = role;
    graph.tensors.push_back(std::move(tensor));
    return static_cast<TensorId>(graph.tensors.size() - 1);
}

TensorId apply(Graph& graph, std::string name, std::string type, std::vector<TensorId> inputs, Shape shape,
               OperatorKind kind = OperatorKind::Elementwise) {
    Operator op;
    op.name = name;
    op.type = std::move(type);
    op.kind = kind;
    op.inputs = std::move(inputs);
    op.outputs = {make(graph, name + ":0", std::move(shape))};
    graph.operators.push_back(op);
    return op.outputs[0];
}

std::int64_t volume(const Tensor& tensor) {
    std::int64_t product = 1;
    for (const Dim& dim : tensor.shape) product *= dim.value;
    return product;
}

/// Everything that folding must keep, counted from the definitions and independently of costs.cpp.
struct Totals {
    std::map<std::string, std::int64_t> executed;  ///< by type and shapes
    std::int64_t traffic = 0;
    std::int64_t weights = 0;
    bool operator==(const Totals&) const = default;
};

Totals totals(const Graph& graph) {
    Totals sum;
    std::map<TensorId, std::int64_t> copies;
    for (const Operator& op : graph.operators) {
        std::string key = op.type;
        for (const auto* ids : {&op.inputs, &op.outputs}) {
            std::set<TensorId> once;
            for (const TensorId id : *ids) {
                if (id < 0) continue;
                const Tensor& tensor = graph.tensors[static_cast<std::size_t>(id)];
                key += "|" + std::to_string(volume(tensor));
                if (once.insert(id).second) sum.traffic += op.repeat * volume(tensor);
                if (tensor.role == TensorRole::Weight) {
                    auto& most = copies[id];
                    most = std::max(most, op.weightCopies > 0 ? op.weightCopies : op.repeat);
                }
            }
        }
        sum.executed[key] += op.repeat;
    }
    for (const auto& [id, count] : copies) sum.weights += count * volume(graph.tensors[static_cast<std::size_t>(id)]);
    return sum;
}

bool wellFormed(const Graph& graph) {
    std::set<TensorId> made(graph.inputs.begin(), graph.inputs.end());
    std::set<TensorId> produced;
    for (const Operator& op : graph.operators) {
        for (const TensorId id : op.outputs) produced.insert(id);
    }
    for (const Operator& op : graph.operators) {
        for (const TensorId id : op.inputs) {
            if (id >= 0 && produced.contains(id) && !made.contains(id)) return false;
        }
        for (const TensorId id : op.outputs) {
            if (!made.insert(id).second) return false;
        }
    }
    for (const TensorId id : graph.outputs) {
        if (!made.contains(id)) return false;
    }
    return true;
}

/// One transformer-like layer: two products with their own weights and a residual sum.
TensorId layer(Graph& graph, const std::string& scope, TensorId x, std::int64_t width, TensorId sharedWeight = -1) {
    const TensorId w1 = make(graph, scope + ".w1", {width, width}, TensorRole::Weight);
    const TensorId w2 =
        sharedWeight >= 0 ? sharedWeight : make(graph, scope + ".w2", {width, width}, TensorRole::Weight);
    const TensorId a = apply(graph, scope + ".up", "MatMul", {x, w1}, {4, width}, OperatorKind::MatMul);
    const TensorId b = apply(graph, scope + ".act", "Relu", {a}, {4, width});
    const TensorId c = apply(graph, scope + ".down", "MatMul", {b, w2}, {4, width}, OperatorKind::MatMul);
    return apply(graph, scope + ".sum", "Add", {c, x}, {4, width});
}

Graph stack(int layers, bool sharedWeight = false) {
    Graph graph;
    TensorId x = make(graph, "x", {4, 8}, TensorRole::Input);
    graph.inputs = {x};
    const TensorId shared = sharedWeight ? make(graph, "tied", {8, 8}, TensorRole::Weight) : -1;
    x = apply(graph, "embed", "Gelu", {x}, {4, 8});
    for (int i = 0; i < layers; ++i) x = layer(graph, "layers." + std::to_string(i), x, 8, shared);
    x = apply(graph, "head", "Tanh", {x}, {4, 8});
    graph.outputs = {x};
    return graph;
}

/// A random graph with runs of repeated random blocks; now and then a block is spoilt or read from afar.
Graph randomGraph(std::uint64_t seed) {
    RandomStream random(seed);
    Graph graph;
    const char* types[] = {"Relu", "Add", "MatMul", "Mul"};
    std::vector<TensorId> pool{make(graph, "in", {4, 4}, TensorRole::Input)};
    graph.inputs = pool;
    const TensorId common = make(graph, "common", {4, 4}, TensorRole::Weight);
    int serial = 0;
    const auto fresh = [&] { return "op" + std::to_string(serial++); };
    for (std::uint64_t part = 0, parts = 1 + random.below(4); part < parts; ++part) {
        const std::size_t length = 1 + random.below(5), count = 1 + random.below(6);
        struct Plan {
            std::uint64_t type, back;
            int operand;  // 0 none, 1 own weight, 2 common weight, 3 older activation, 4 from afar
        };
        std::vector<Plan> plan;
        for (std::size_t j = 0; j < length; ++j) {
            plan.push_back({random.below(4), random.below(3), static_cast<int>(random.below(5))});
        }
        for (std::size_t k = 0; k < count; ++k) {
            for (const Plan& p : plan) {
                std::vector<TensorId> inputs{pool[pool.size() - 1 - std::min<std::size_t>(p.back, pool.size() - 1)]};
                if (p.operand == 1) inputs.push_back(make(graph, fresh() + ".w", {4, 4}, TensorRole::Weight));
                if (p.operand == 2) inputs.push_back(common);
                if (p.operand == 3) inputs.push_back(pool.back());
                if (p.operand == 4) inputs.push_back(pool[random.below(pool.size())]);
                const bool spoilt = random.below(40) == 0;
                pool.push_back(apply(graph, fresh(), spoilt ? "Sigmoid" : types[p.type], inputs, {4, 4}));
            }
        }
    }
    graph.outputs = {pool.back()};
    if (random.below(3) == 0) graph.outputs.push_back(pool[random.below(pool.size() - 1) + 1]);
    return graph;
}

}  // namespace

class TestPasses : public QObject {
    Q_OBJECT
private slots:
    void bindingsAreReadAndRefused() {
        const auto good = parseBindings(" batch=8, seq = 128 ");
        QVERIFY(good.has_value());
        QCOMPARE(good->size(), std::size_t(2));
        QCOMPARE(good->at("batch"), std::int64_t(8));
        QCOMPARE(good->at("seq"), std::int64_t(128));
        QVERIFY(parseBindings("")->empty());
        for (const char* bad : {"batch", "batch=", "=8", "batch=eight", "batch=8x", "batch=-1", "batch=0", "batch=1.5",
                                "batch=8,,seq=1", "batch=8,batch=9", "batch=99999999999999999999", "a=1;b=2"}) {
            const auto answer = parseBindings(bad);
            QVERIFY2(!answer, bad);
            QVERIFY2(!answer.error().expected.empty() && !answer.error().hint.empty(), bad);
        }
        // the offending part is named, not the whole text
        QVERIFY(parseBindings("batch=8,seq=many").error().message.find("seq=many") != std::string::npos);
        QVERIFY(parseBindings("batch=8,seq=many").error().message.find("batch=8") == std::string::npos);
    }

    void deadOperatorsAndTensorsGo() {
        Graph graph = stack(1);
        const std::size_t operators = graph.operators.size();
        const TensorId head = graph.outputs[0];
        const TensorId unused = apply(graph, "dead1", "Relu", {head}, {4, 8});
        apply(graph, "dead2", "Relu", {unused}, {4, 8});
        make(graph, "orphan", {1024}, TensorRole::Weight);
        eliminateDead(graph);
        QCOMPARE(graph.operators.size(), operators);
        for (const Tensor& tensor : graph.tensors) {
            QVERIFY(tensor.name != "orphan" && !tensor.name.starts_with("dead"));
        }
        QCOMPARE(graph.tensor(graph.outputs[0])->name, std::string("head:0"));
        QVERIFY(wellFormed(graph));
    }

    void aWrittenCacheIsNotDead() {
        Graph graph = stack(1);
        const TensorId cache = make(graph, "cache", {4, 8}, TensorRole::KvCache);
        Operator op;
        op.name = op.type = "Append";
        op.inputs = {graph.inputs[0], cache};
        op.outputs = {cache};
        graph.operators.push_back(op);
        const std::size_t operators = graph.operators.size();
        QVERIFY(sortTopologically(graph).has_value());
        eliminateDead(graph);
        QCOMPARE(graph.operators.size(), operators);
    }

    void sortingIsStableAndComplete() {
        Graph sorted = stack(3);
        std::vector<std::string> names;
        for (const Operator& op : sorted.operators) names.push_back(op.name);
        Graph same = sorted;
        QVERIFY(sortTopologically(same).has_value());
        for (std::size_t i = 0; i < names.size(); ++i) QCOMPARE(same.operators[i].name, names[i]);
        RandomStream random(7);
        for (int round = 0; round < 20; ++round) {
            Graph mixed = sorted;
            for (std::size_t i = mixed.operators.size(); i > 1; --i) {
                std::swap(mixed.operators[i - 1], mixed.operators[random.below(i)]);
            }
            QVERIFY(sortTopologically(mixed).has_value());
            QVERIFY(wellFormed(mixed));
            QCOMPARE(mixed.operators.size(), names.size());
        }
    }

    void aCycleIsNamed() {
        Graph graph = stack(2);
        // layers.0.up reads what layers.1.sum makes; `embed` before and `head` behind are not on the cycle
        for (Operator& op : graph.operators) {
            if (op.name == "layers.0.up") {
                for (const Operator& other : graph.operators) {
                    if (other.name == "layers.1.sum") op.inputs.push_back(other.outputs[0]);
                }
            }
        }
        const auto answer = sortTopologically(graph);
        QVERIFY(!answer);
        QVERIFY2(answer.error().place.path.starts_with("layers."), answer.error().place.path.c_str());
    }

    void aStackOfLayersFoldsToOne() {
        Graph graph = stack(12);
        const Totals before = totals(graph);
        QCOMPARE(foldRepeats(graph), std::size_t(11 * 4));
        QCOMPARE(graph.operators.size(), std::size_t(1 + 4 + 1));
        QVERIFY(totals(graph) == before);
        QVERIFY(wellFormed(graph));
        const Operator& up = graph.operators[1];
        QCOMPARE(up.name, std::string("layers.0.up"));
        QCOMPARE(up.repeat, std::int64_t(12));
        QCOMPARE(QString::fromStdString(up.block), QString::fromUtf8("layers ×12"));
        // the head reads the folded block's result
        QCOMPARE(graph.operators.back().inputs[0], graph.operators[4].outputs[0]);
        QCOMPARE(before.weights, std::int64_t(12 * 2 * 64));
    }

    void sharedWeightsAreStoredOnce() {
        Graph graph = stack(12, true);
        const Totals before = totals(graph);
        QCOMPARE(before.weights, std::int64_t(12 * 64 + 64));
        QVERIFY(foldRepeats(graph) > 0);
        QVERIFY(totals(graph) == before);
    }

    void whatIsReadFromOutsideKeepsItsBlock() {
        Graph graph = stack(6);
        // the second layer's hidden state is an output of the model: folding it away would lose it
        for (const Operator& op : graph.operators) {
            if (op.name == "layers.1.act") graph.outputs.push_back(op.outputs[0]);
        }
        const Totals before = totals(graph);
        foldRepeats(graph);
        QVERIFY(totals(graph) == before);
        QVERIFY(wellFormed(graph));
        QCOMPARE(graph.tensor(graph.outputs[1])->name, std::string("layers.1.act:0"));
    }

    void unequalLayersDoNotFold() {
        Graph graph = stack(2);
        for (Operator& op : graph.operators) {
            if (op.name == "layers.1.act") op.attributes["alpha"] = 0.5;
        }
        QCOMPARE(foldRepeats(graph), std::size_t(0));
    }

    void foldingRandomGraphsKeepsEveryTotal() {
        std::size_t removed = 0;
        for (std::uint64_t seed = 1; seed <= 600; ++seed) {
            Graph graph = randomGraph(seed);
            eliminateDead(graph);
            const Totals before = totals(graph);
            const std::size_t operators = graph.operators.size();
            const std::size_t gone = foldRepeats(graph);
            removed += gone;
            QCOMPARE(graph.operators.size() + gone, operators);
            QVERIFY2(totals(graph) == before, qPrintable(QString("seed %1").arg(seed)));
            QVERIFY2(wellFormed(graph), qPrintable(QString("seed %1").arg(seed)));
            std::set<std::string> names;
            for (const Operator& op : graph.operators) QVERIFY(names.insert(op.name).second);
        }
        QVERIFY2(removed > 600, qPrintable(QString("only %1 operators were folded at all").arg(removed)));
    }

    void foldingAManyLayeredGraphEnds() {
        Graph graph = stack(3000);
        QCOMPARE(foldRepeats(graph), std::size_t(2999 * 4));
        // one type throughout, but wired irregularly: nothing to fold, and it must still end
        Graph web;
        RandomStream random(11);
        std::vector<TensorId> made{make(web, "in", {4}, TensorRole::Input)};
        web.inputs = made;
        for (int i = 0; i < 8000; ++i) {
            made.push_back(
                apply(web, "n" + std::to_string(i), "Add", {made.back(), made[random.below(made.size())]}, {4}));
        }
        web.outputs = {made.back()};
        const Totals before = totals(web);
        foldRepeats(web);
        QVERIFY(totals(web) == before);
    }
};

QTEST_GUILESS_MAIN(TestPasses)
#include "tst_passes.moc"
