#include "evaluation/edge/bring_device.h"
#include "evaluation/edge/topologies.h"
#include "learning/edge/network_graph.h"
#include "support/edge_fixture.h"
#include "workload/models/builder.h"

#include <QtTest/QtTest>

#include <algorithm>
#include <cmath>

using namespace orrery;

namespace {

constexpr std::size_t columns = operatorKindCount + 1 + 10;

double logOf(const NetworkGraph& graph, std::size_t node, std::size_t at) {
    return double(graph.nodes[node * columns + operatorKindCount + 1 + at]);
}

double totalOf(const NetworkGraph& graph, std::size_t amount) {
    double sum = 0;
    for (std::size_t n = 0; n < graph.rows; ++n) sum += double(graph.amounts[n * 4 + amount]);
    return sum;
}

WorkloadPtr made(GraphBuilder& builder) {
    return finishWorkload("made", "made", {}, builder.finish(), {});
}

std::string ofaCode(RandomStream& random) {
    constexpr std::array<int, 3> kernels{3, 5, 7}, expansions{3, 4, 6};
    std::string depth, kernel, expand;
    for (int i = 0; i < 5; ++i) depth += (i ? " " : "") + std::to_string(2 + random.below(3));
    for (int i = 0; i < 20; ++i) kernel += (i ? " " : "") + std::to_string(kernels[random.below(3)]);
    for (int i = 0; i < 20; ++i) expand += (i ? " " : "") + std::to_string(expansions[random.below(3)]);
    return "r=" + std::to_string(160 + 16 * random.below(5)) + "|d=" + depth + "|ks=" + kernel + "|e=" + expand;
}

// A device that pays for each operator by its kind: a call, dense work, work by channel, values moved.
struct Prices {
    double call, dense, channelwise, moved;
    double of(const Workload& workload) const {
        double sum = 0;
        const CostTable& costs = workload.costs;
        for (std::size_t i = 0; i < costs.size(); ++i) {
            if (costs.kind[i] == OperatorKind::View || costs.kind[i] == OperatorKind::Normalization) continue;
            const double work = costs.macs[i] * (costs.gemm[i].batch > 1 ? channelwise : dense);
            sum += costs.repeat[i] * (call + work + moved * (costs.inputBytes[i] + costs.outputBytes[i]));
        }
        return sum;
    }
};

Prices pricesOf(RandomStream& random) {
    const double level = std::exp(random.normal());
    return {level * 0.02 * (0.5 + random.uniform()), level * 1e-8 * (0.5 + random.uniform()),
            level * 8e-8 * (0.5 + random.uniform()), level * 2e-9 * (0.5 + random.uniform())};
}

}  // namespace

// Workloads as graphs of operators, and what is learned over them.
class TestOperatorGraph : public QObject {
    Q_OBJECT

private slots:
    // Worked by hand: a normalisation folds, a rectifier is joined where nothing else reads what is between.
    void aBlockIsItsKernels() {
        GraphBuilder g("block", {});
        const TensorId x = g.input("x", {1, 8, 4, 4});
        TensorId h = g.elementwise("Relu", "relu", {g.batchNorm("bn", g.conv("a", x, 16, {.bias = false}))});
        h = g.view("same", h, {1, 16, 16});
        h = g.view("back", h, {1, 16, 4, 4});
        const TensorId b = g.conv("b", h, 16, {.kernel = 3, .padding = 1, .groups = 16, .bias = false});
        g.output(g.elementwise("Add", "add", {b, h}));
        const NetworkGraph graph = operatorGraph(*made(g));
        QCOMPARE(graph.rows, std::size_t{3});
        const std::vector<std::pair<std::uint32_t, std::uint32_t>> edges{{0, 1}, {0, 2}, {1, 2}};
        auto found = graph.edges;
        std::sort(found.begin(), found.end());
        QCOMPARE(found, edges);
        QVERIFY(graph.nodes[static_cast<std::size_t>(OperatorKind::Conv)] == 1);
        // 16 × 16 positions of the rectifier; 2 × 8 × 16 × 16 operations; 128 and 256 values, 128 weights.
        const std::array<double, 10> first{256, 4096, 128, 256, 128, 16, 8, 1, 16, 1};
        for (std::size_t i = 0; i < first.size(); ++i)
            QVERIFY2(std::abs(logOf(graph, 0, i) - std::log1p(first[i])) < 1e-5, qPrintable(QString::number(i)));
        // By channel: sixteen groups, nine values summed for each.
        QVERIFY(std::abs(logOf(graph, 1, 6) - std::log(10.0)) < 1e-5);
        QVERIFY(std::abs(logOf(graph, 1, 7) - std::log(17.0)) < 1e-5);
        QCOMPARE(totalOf(graph, 0), 3.0);
    }
    // Read by two, it stays an operator of its own.
    void whatIsReadTwiceIsNotJoined() {
        GraphBuilder g("fork", {});
        const TensorId x = g.input("x", {1, 8, 4, 4}), a = g.conv("a", x, 8, {.bias = false});
        const TensorId r = g.elementwise("Relu", "relu", {a});
        g.output(g.elementwise("Add", "add", {a, r}));
        QCOMPARE(operatorGraph(*made(g)).rows, std::size_t{3});
    }
    // Of every space: edges go forward, nothing is lost of the work, folded repetitions count.
    void workIsKept() {
        for (const NetworkSpace& space : searchSpaces()) {
            const auto workload = loadWorkload({.source = std::string(space.example), .options = {}, .whatIfs = {}});
            QVERIFY(workload);
            const NetworkGraph graph = operatorGraph(**workload);
            QVERIFY(graph.rows > 5);
            for (const auto& [from, to] : graph.edges) QVERIFY(from < to && to < graph.rows);
            QVERIFY(
                std::all_of(graph.nodes.begin(), graph.nodes.end(), [](float each) { return std::isfinite(each); }));
            double macs = 0;
            for (std::size_t i = 0; i < (*workload)->costs.size(); ++i)
                macs += (*workload)->costs.repeat[i] * (*workload)->costs.macs[i];
            const double told = totalOf(graph, 1);
            QVERIFY2(told >= 2 * macs * (1 - 1e-6) && told < 2.2 * macs, qPrintable(QString::number(told / macs)));
        }
    }
    void aCellFoldsAsItsCodeDoes() {
        const std::string dead = "|nor_conv_3x3~0|+|nor_conv_3x3~0|none~1|+|none~0|nor_conv_1x1~1|none~2|";
        const auto as = graphOfCode("nasbench201", {}, dead, GraphForm::Operators, false),
                   folded = graphOfCode("nasbench201", {}, dead, GraphForm::Operators, true);
        QVERIFY(as && folded);
        // Fifteen cells without one 3×3 convolution of 2 · 9 · C² · positions operations each.
        const double work = 2 * 9 * 5 * (16. * 16 * 1024 + 32. * 32 * 256 + 64. * 64 * 64);
        QVERIFY2(std::abs((totalOf(*as, 1) - totalOf(*folded, 1)) / work - 1) < 0.02,
                 qPrintable(QString::number((totalOf(*as, 1) - totalOf(*folded, 1)) / work)));
    }

    // Told of its neighbours, an operator's numbers hang on the edges; alone they do not. Each form is the same again
    // from its own numbers.
    void edgesAreSeenWhereTheyAreAskedFor() {
        RandomStream random(9);
        std::vector<std::string> codes;
        std::vector<std::vector<double>> latencies(2);
        for (int r = 0; r < 24; ++r) {
            codes.push_back(ofaCode(random));
            for (auto& each : latencies) each.push_back(1 + random.uniform());
        }
        const auto graphs = graphsOfCodes("ofa", {}, codes, GraphForm::Operators);
        QVERIFY(graphs);
        NetworkGraphs cut = *graphs;
        for (NetworkGraph& each : cut.graphs) each.edges.clear();
        for (const GraphEdges edges : {GraphEdges::None, GraphEdges::Mean, GraphEdges::Attention}) {
            const auto model = GraphFeatures::learn(*graphs, latencies, {.edges = edges, .rounds = 1});
            QVERIFY(model);
            const FeatureRows rows = model->rows(*graphs), other = model->rows(cut);
            double apart = 0;
            for (std::size_t i = 0; i < rows.values.size(); ++i) {
                QVERIFY(std::isfinite(rows.values[i]));
                apart = std::max(apart, std::abs(rows.values[i] - other.values[i]));
            }
            QVERIFY2((apart > 1e-3) == (edges != GraphEdges::None), qPrintable(QString::number(apart)));
            GraphNumbers numbers = GraphNumbers::of(*model);
            const auto again = numbers.model("ofa");
            QVERIFY(again && again->rows(*graphs).values == rows.values);
            numbers.parameters.pop_back();
            QVERIFY(!numbers.model("ofa"));
        }
    }

    // Devices that pay operator by operator: a new one is told from ten of its networks, and so is a network of
    // another space, which no count of the space knows. Its file says the same of the workload.
    void aNetworkOfAnotherSpaceIsTold() {
        RandomStream random(31);
        EdgeTable table;
        table.path = "made";
        table.space = "ofa";
        std::vector<WorkloadPtr> workloads;
        for (std::size_t r = 0; r < 150; ++r) {
            table.networks.push_back(ofaCode(random));
            table.index.push_back(static_cast<double>(r));
            workloads.push_back(
                *loadWorkload({.source = "ofa:" + table.networks.back(), .options = {}, .whatIfs = {}}));
        }
        std::vector<Prices> prices;
        for (int d = 0; d < 7; ++d) {
            prices.push_back(pricesOf(random));
            table.targets.push_back("device" + std::to_string(d));
            table.described.push_back(table.targets.back());
            table.values.emplace_back();
            // With a factor of each network's own, which no operator shows.
            for (const WorkloadPtr& each : workloads)
                table.values.back().push_back(prices.back().of(*each) * std::exp(0.04 * random.normal()));
        }
        OwnDevice device{"device0", {}};
        for (std::size_t r = 0; r < 10; ++r)
            device.measured.push_back({table.networks[15 * r], table.values[0][15 * r]});
        BringOptions options;
        options.next = 0;
        options.model = EdgeModel::Graph;
        const std::string other = "mobilenet-v2", code = table.networks[7];
        options.tell = {other, code, "ofa:" + code};
        const auto told = bringDevice(table, device, options);
        QVERIFY2(told, told ? "" : told.error().message.c_str());
        QVERIFY(told->graph());
        QCOMPARE(told->others.size(), std::size_t{3});
        // Of the 140 that were not measured nine in ten lie within their interval, less four deviations of such a
        // count.
        int held = 0, open = 0;
        for (std::size_t r = 0; r < told->told.size(); ++r) {
            const EdgePrediction& each = told->told[r];
            if (!std::isnan(each.measured)) continue;
            ++open, held += each.predicted.low <= table.values[0][r] && table.values[0][r] <= each.predicted.high;
        }
        qInfo("%d of %d intervals hold", held, open);
        QCOMPARE(open, 140);
        QVERIFY2(held >= 0.9 * open - 4 * std::sqrt(0.09 * open), qPrintable(QString::number(held)));
        for (int i = 1; i < 3; ++i)
            QVERIFY(std::abs(told->others[i].predicted.mean / told->told[7].predicted.mean - 1) < 1e-4);
        const auto workload = *loadWorkload({.source = other, .options = {}, .whatIfs = {}});
        const double truth = prices[0].of(*workload), said = told->others[0].predicted.mean;
        qInfo("%s: told %.4g, is %.4g", other.c_str(), said, truth);
        QVERIFY2(said > truth / 1.5 && said < truth * 1.5, qPrintable(QString("%1 of %2").arg(said).arg(truth)));
        QVERIFY(told->others[0].doubt == EdgeDoubt::Outside ||
                (told->others[0].predicted.low <= truth && truth <= told->others[0].predicted.high));

        const auto file = deviceFileOf(*told, table, device);
        QVERIFY(file);
        const QTemporaryDir folder;
        const QString path = written(folder, "board.json", QByteArray::fromStdString(writeDeviceFile(*file)));
        const auto again = readDeviceFile(path.toStdString());
        QVERIFY2(again, again ? "" : again.error().message.c_str());
        QVERIFY(std::abs(again->tell(*workload)->mean / said - 1) < 1e-4);
        QVERIFY(std::abs(again->tell(*workloads[7])->mean / told->told[7].predicted.mean - 1) < 1e-4);
        // One number of the network less: refused, and not asked.
        QByteArray text = QByteArray::fromStdString(writeDeviceFile(*file));
        const auto at = text.indexOf("\"parameters\":[") + 14;
        text.remove(at, text.indexOf(',', at) + 1 - at);
        QCOMPARE(readDeviceFile(written(folder, "bad.json", text).toStdString()).error().code,
                 std::string("edge.device-file"));

        // Counts know codes alone, and say what would know more.
        options.model = EdgeModel::Additive;
        options.tell = {other};
        const auto none = bringDevice(table, device, options);
        QVERIFY(!none && none.error().hint.find("operators") != std::string::npos);
        options.model = EdgeModel::Graph;
        options.tell = {"absent.onnx"};
        QVERIFY(!bringDevice(table, device, options));
    }

    // By name a network that no device has is told from what it is made of, by the matrix and by a graph network, which
    // tell the device's other networks too.
    void aNetworkWithoutATimeIsToldByName() {
        EdgeTable table;
        table.path = "made";
        QCOMPARE(addNetwork(table, "alexnet").error().code, std::string("edge.no-topologies"));
        table.facts = {"work", "weights", "traffic", "kernels", "grouped work"};
        RandomStream random(5);
        std::vector<WorkloadPtr> workloads;
        std::vector<std::string> names{"resnet-18", "resnet-34", "resnet-50", "mobilenet-v2", "efficientnet-b0"};
        for (int i = 0; i < 20; ++i) names.push_back("ofa:" + ofaCode(random));
        names.push_back("resnet-101");
        for (const std::string& each : names) {
            QVERIFY(addNetwork(table, each));
            workloads.push_back(*loadWorkload({.source = each, .options = {}, .whatIfs = {}}));
        }
        std::vector<Prices> prices;
        for (int d = 0; d < 8; ++d) {
            prices.push_back(pricesOf(random));
            table.targets.push_back("device" + std::to_string(d));
            table.described.push_back(table.targets.back());
            table.values.emplace_back();
            for (const WorkloadPtr& each : workloads) table.values.back().push_back(prices.back().of(*each));
            table.values.back().back() = std::nan("");
        }
        OwnDevice device{"device0", {}};
        for (const std::size_t r : {0u, 3u, 9u, 15u, 21u}) device.measured.push_back({names[r], table.values[0][r]});
        const double truth = prices[0].of(*workloads.back());
        for (const EdgeModel model : {EdgeModel::Additive, EdgeModel::Graph}) {
            BringOptions options;
            options.next = 0;
            options.model = model;
            options.tell = {names.back()};
            const auto told = bringDevice(table, device, options);
            QVERIFY2(told, told ? "" : told.error().message.c_str());
            QCOMPARE(told->others.size(), std::size_t{1});
            const Predicted& said = told->others.front().predicted;
            qInfo("%s: told %.4g, is %.4g", toText(model).data(), said.mean, truth);
            QVERIFY2(said.mean > truth / 2 && said.mean < truth * 2, qPrintable(QString::number(said.mean / truth)));
            QVERIFY(said.low <= truth && truth <= said.high);
            std::vector<double> errors;
            for (std::size_t r = 0; r + 1 < names.size(); ++r)
                errors.push_back(std::abs(told->told[r].predicted.mean / table.values[0][r] - 1));
            std::sort(errors.begin(), errors.end());
            QVERIFY2(errors[errors.size() / 2] < 0.15, qPrintable(QString::number(errors[errors.size() / 2])));
        }
        EdgeProtocol protocol;
        protocol.model = EdgeModel::Graph;
        protocol.targets = {"device1"};
        protocol.samples = 5;
        const auto judged = judgeEdge(table, table, protocol);
        QVERIFY2(judged, judged ? "" : judged.error().message.c_str());
        QVERIFY2(judged->mean.median < 0.15, qPrintable(QString::number(judged->mean.median)));
        QVERIFY(judged->mean.spearman > 0.9);
        table.graphs.clear();
        QCOMPARE(judgeEdge(table, table, protocol).error().code, std::string("edge.no-graph"));
    }
};

QTEST_GUILESS_MAIN(TestOperatorGraph)
#include "tst_operator_graph.moc"
