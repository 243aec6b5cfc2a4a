// Does a whole model on an array keep to its bounds, tell what it could not map, and say the same twice?

#include "hardware/files/catalogue.h"
#include "methods/array/loop_nest.h"
#include "methods/array/loop_nest_relief.h"
#include "methods/method.h"
#include "support/devices.h"
#include "support/mapping_fixture.h"
#include "support/method_fixture.h"

#include <QtTest/QtTest>

#include <set>

using namespace orrery;
using orrery::fixture::device;

namespace {

WorkloadPtr integers(std::string source, DType type, std::int64_t image = 0) {
    WorkloadOptions options;
    options.weights = options.activations = options.kv = type;
    options.image = image;
    auto workload = loadWorkload({std::move(source), options, {}});
    if (!workload) qFatal("%s", toText(workload.error()).c_str());
    return *workload;
}

Expected<Estimate> ask(std::string_view method, const HardwarePtr& hardware, const WorkloadPtr& workload,
                       int threads = 1, std::stop_token stop = {}, OptionValues options = {}) {
    const auto executor = makeThreadExecutor(threads);
    EstimateContext context{*executor, stop, nullptr, 1, false, std::move(options)};
    return estimate(*findMethod(method), {hardware, workload}, context);
}

/// x · W1 · W2 · W3 in int8, row by row.
Graph chain(std::int64_t rows, std::int64_t width, int length) {
    Graph graph;
    const auto tensor = [&](std::string name, TensorRole role, Shape shape) {
        Tensor made;
        made.name = std::move(name);
        made.type = DType::I8;
        made.role = role;
        made.shape = std::move(shape);
        return graph.addTensor(made);
    };
    TensorId last = tensor("x", TensorRole::Input, {rows, width});
    graph.inputs = {last};
    for (int i = 0; i < length; ++i) {
        const TensorId weight = tensor("w" + std::to_string(i), TensorRole::Weight, {width, width});
        Operator op;
        op.name = "product" + std::to_string(i);
        op.type = "MatMul";
        op.kind = OperatorKind::MatMul;
        op.inputs = {last, weight};
        last = tensor("y" + std::to_string(i), i + 1 == length ? TensorRole::Output : TensorRole::Activation,
                      {rows, width});
        op.outputs = {last};
        graph.operators.push_back(op);
    }
    graph.outputs = {last};
    return graph;
}

}  // namespace

class TestMethodLoopNest : public QObject {
    Q_OBJECT
private slots:
    void neverBelowTheRoofline_data() {
        QTest::addColumn<QString>("hardware");
        QTest::addColumn<int>("type");
        QTest::newRow("Eyeriss-like") << "eyeriss-like" << int(DType::I16);
        QTest::newRow("TPU v1-like") << "tpu-v1-like" << int(DType::I8);
        QTest::newRow("TPU v3") << "tpu-v3" << int(DType::BF16);
    }
    void neverBelowTheRoofline() {
        QFETCH(QString, hardware);
        QFETCH(int, type);
        const auto on = device(hardware.toStdString());
        const auto workload = integers("alexnet", static_cast<DType>(type));
        const auto roof = ask("roofline", on, workload);
        const auto nest = ask("loop-nest", on, workload, 1, {}, {{"fusion", "none"}});
        QVERIFY2(nest, nest ? "" : toText(nest.error()).c_str());
        for (const auto& each : nest->warnings) QVERIFY2(!each.code.starts_with("mapper."), each.message.c_str());
        const auto view = spatialArrayView(*on);
        QCOMPARE(nest->levels.size(), view->levels.size());
        for (std::size_t i = 0; i < roof->operators.size(); ++i) {
            QVERIFY(nest->operators.seconds[i] >= roof->operators.seconds[i] * (1 - 1e-12));
            // No more multiply-accumulates in a cycle than there are units.
            const double macs = workload->costs.macs[i] * workload->costs.repeat[i];
            QVERIFY(nest->operators.seconds[i] * view->clock.value * static_cast<double>(view->macs()) >=
                    macs * (1 - 1e-9));
        }
        QVERIFY(nest->interval.basis.find("No error against measured machines") == 0);
        QVERIFY(nest->interval.low <= nest->latency && nest->latency <= nest->interval.high);
        // A search that works: within a small factor of the bound on the whole.
        QVERIFY2(nest->latency.value < 40 * roof->latency.value,
                 qPrintable(QString("%1 against %2").arg(nest->latency.value).arg(roof->latency.value)));
    }
    void threadsChangeNothingAndEnergyIsTheSumOfItsParts() {
        const auto on = device("eyeriss-like");
        const auto workload = integers("alexnet", DType::I16);
        const auto one = ask("loop-nest", on, workload, 1);
        const auto three = ask("loop-nest", on, workload, 3);
        QVERIFY(one && three);
        QVERIFY(one->operators.seconds == three->operators.seconds);
        QVERIFY(one->operators.joules == three->operators.joules);
        QVERIFY(one->operators.levelBytes == three->operators.levelBytes);
        QVERIFY(one->energy && one->energy->value > 0);
        double sum = 0;
        for (const double joules : one->operators.joules) sum += joules;
        QVERIFY(std::fabs(sum - one->energy->value) <= 1e-9 * sum);
        // At the least every multiply-accumulate at 1 pJ (the stated unit).
        QVERIFY(one->energy->value >= workload->totals.macs * 1e-12);
    }
    void devicesWithoutAnArrayAreRefused() {
        const auto answer = ask("loop-nest", device("xeon-8480"), integers("alexnet", DType::I8));
        QVERIFY(!answer);
        QCOMPARE(answer.error().code, std::string("method.not-applicable"));
        QVERIFY(!answer.error().hint.empty());
    }
    void optionsChangeWhatTheyName() {
        const auto on = device("eyeriss-like");
        const auto workload = integers("alexnet", DType::I16);
        const auto plain = ask("loop-nest", on, workload);
        const auto fused = ask("loop-nest", on, workload, 1, {}, {{"chains", "on"}});
        QVERIFY(plain && fused);
        QVERIFY(fused->latency <= plain->latency && fused->energy->value <= plain->energy->value);
        QCOMPARE(fused->method, std::string("loop-nest(chains=on)"));
        const auto saving = ask("loop-nest", on, workload, 1, {}, {{"objective", "energy"}});
        QVERIFY(saving && saving->energy->value < plain->energy->value && saving->latency >= plain->latency);
        const auto genetic = ask("loop-nest", on, workload, 1, {}, {{"mapper", "genetic"}});
        QVERIFY(genetic && genetic->assumptions != plain->assumptions);
    }
    void provenMappingsAnswerAnyQuestion() {
        const auto on = device("eyeriss-like");
        const auto workload = integers("alexnet", DType::I16);
        const auto found = ask("loop-nest", on, workload, 1, {}, {{"objective", "edp"}});
        const auto proven = ask("loop-nest", on, workload, 1, {}, {{"mapper", "optimal"}, {"objective", "edp"}});
        const auto again = ask("loop-nest", on, workload, 2, {}, {{"mapper", "optimal"}, {"objective", "edp"}});
        QVERIFY2(proven, proven ? "" : toText(proven.error()).c_str());
        QVERIFY(found && again);
        QCOMPARE(proven->method, std::string("loop-nest(mapper=optimal, objective=edp)"));
        QVERIFY(proven->operators.seconds == again->operators.seconds);
        // No operator with a nest of its own has less energy × delay by the search.
        for (std::size_t i = 0; i < proven->operators.seconds.size(); ++i) {
            const double best = proven->operators.seconds[i] * proven->operators.joules[i];
            QVERIFY(best <= found->operators.seconds[i] * found->operators.joules[i] * (1 + 1e-9));
        }
        const auto says = [](const Estimate& answer, const char* what) {
            return std::any_of(answer.assumptions.begin(), answer.assumptions.end(),
                               [&](const std::string& each) { return each.find(what) != std::string::npos; });
        };
        QVERIFY(says(*proven, "proven, no mapping of the space has a smaller edp"));
        QVERIFY(!says(*proven, "not proven"));
        QVERIFY(!says(*found, "proven"));
    }
    void nestsTogetherHaveTheLeastEnergyDelay() {
        WorkloadOptions sizes;
        sizes.weights = sizes.activations = sizes.kv = DType::I16;
        sizes.sequence = 64;
        const auto workload = loadWorkload({"bert-base", sizes, {}});
        QVERIFY(workload);
        const auto view = spatialArrayView(*device("eyeriss-like"));
        const Graph& graph = (*workload)->graph;
        const auto executor = makeSerialExecutor();
        SearchContext context{*executor};
        LoopNestOptions options;
        options.mapper = {.kind = MapperKind::Optimal, .objectives = {MapObjective::Edp, MapObjective::Latency}};
        int several = 0;
        const auto mapped = mapOperators(*view, graph, options, context);
        for (std::size_t i = 0; i < mapped.size(); ++i) {
            if (!mapped[i] || mapped[i]->nests.size() < 2 || several > 0) continue;
            ++several;
            QVERIFY(mapped[i]->proven);
            QVERIFY(std::abs(mapped[i]->value - mapped[i]->energy() * mapped[i]->cycles()) <= 1e-9 * mapped[i]->value);
            const auto alone = mapOperator(*view, graph.operators[i], graph, options, context);
            QVERIFY(alone && alone->value == mapped[i]->value);
            // Mapped for anything else, the two have no less.
            for (const MapObjective other : {MapObjective::Latency, MapObjective::Energy}) {
                LoopNestOptions single = options;
                single.mapper.objectives = {other, MapObjective::Edp};
                const auto each = mapOperator(*view, graph.operators[i], graph, single, context);
                QVERIFY(each && each->energy() * each->cycles() >= mapped[i]->value * (1 - 1e-9));
            }
        }
        QCOMPARE(several, 1);
    }
    void imperfectFactorsFillAnArrayThatTheExtentDoesNotDivide() {
        // 13 rows by 13 columns of outputs over 12 × 14 elements.
        const auto view = spatialArrayView(*device("eyeriss-like"));
        const auto graph = chain(13, 169, 1);
        const auto executor = makeSerialExecutor();
        SearchContext context{*executor};
        LoopNestOptions options;
        options.mapper.evaluations = 300;
        const auto perfect = mapOperator(*view, graph.operators[0], graph, options, context);
        options.imperfect = true;
        const auto imperfect = mapOperator(*view, graph.operators[0], graph, options, context);
        QVERIFY(perfect && imperfect);
        QVERIFY(imperfect->cycles() < perfect->cycles());
    }
    void stoppingIsHeard() {
        std::stop_source source;
        source.request_stop();
        const auto answer =
            ask("loop-nest", device("tpu-v1-like"), integers("mobilenet-v2", DType::I8), 2, source.get_token());
        QVERIFY(!answer);
        QCOMPARE(answer.error().code, std::string("study.cancelled"));
    }
    void oneOperatorIsMappedAsTheStudioShowsIt() {
        const auto view = spatialArrayView(*device("tpu-v1-like"));
        const auto graph = chain(64, 256, 1);
        const auto executor = makeSerialExecutor();
        SearchContext context{*executor};
        const auto mapped = mapOperator(*view, graph.operators[0], graph, {}, context);
        QVERIFY2(mapped, mapped ? "" : toText(mapped.error()).c_str());
        QCOMPARE(mapped->nests.size(), std::size_t{1});
        const auto& nest = mapped->nests.front();
        NestEvaluator evaluator(nest.problem, mapped->hardware);
        const auto again = evaluator.explain(nest.mapping());
        QVERIFY(again);
        QCOMPARE(again->cycles, nest.counts().cycles);
        // Main memory bounds it: 65,536 weights and 2 × 16,384 activations of a byte at 34 GB/s and 700 MHz, and the
        // search attains that bound.
        QCOMPARE(nest.counts().cycles, 2024.0);
        QCOMPARE(nest.counts().levels.back().tensors[1].reads, 65536.0);
        Operator add = graph.operators[0];
        add.kind = OperatorKind::Elementwise;
        const auto refused = mapOperator(*view, add, graph, {}, context);
        QVERIFY(!refused && refused.error().code == "mapper.not-mappable");
    }
    void chainsSaveWhatTheyKeepOnTheChip() {
        const auto on = device("tpu-v1-like");
        const auto view = spatialArrayView(*on);
        const auto graph = chain(512, 512, 3);
        const auto executor = makeSerialExecutor();
        SearchContext context{*executor};
        const auto mapped = mapOperators(*view, graph, {}, context);
        const double activation = 512.0 * 512;
        for (const bool in : {false, true}) {
            for (const bool out : {false, true}) {
                QVERIFY(mapped[0]);
                const auto relief = relieve(*mapped[0], in, out);
                QVERIFY(relief.cycles <= mapped[0]->cycles() && relief.cycles >= mapped[0]->computeCycles());
                // At least once out and once in.
                QVERIFY(relief.savedBytes >= activation * (in + out));
                if (!in && !out) QCOMPARE(relief.cycles, mapped[0]->cycles());
            }
        }
        const auto workload = fixture::workloadOf(chain(512, 512, 3));
        const auto apart = ask("loop-nest", on, workload);
        const auto kept = ask("loop-nest", on, workload, 1, {}, {{"chains", "on"}});
        QVERIFY2(kept, kept ? "" : toText(kept.error()).c_str());
        const auto& before = apart->operators.levelBytes[0];
        const auto& after = kept->operators.levelBytes[0];
        for (std::size_t i = 0; i < 3; ++i) QVERIFY(before[i] - after[i] >= activation * ((i > 0) + (i < 2)) * 0.999);
        QVERIFY(kept->latency < apart->latency && kept->latency >= *kept->bound);
        // Activations larger than the buffer go to main memory as before.
        const auto large = fixture::workloadOf(chain(65536, 512, 2));
        QVERIFY(ask("loop-nest", on, large, 1, {}, {{"chains", "on"}})->operators.levelBytes ==
                ask("loop-nest", on, large)->operators.levelBytes);
    }
};

QTEST_GUILESS_MAIN(TestMethodLoopNest)
#include "tst_method_loop_nest.moc"
