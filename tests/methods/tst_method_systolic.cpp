#include "evaluation/evaluation.h"
#include "hardware/files/catalogue.h"
#include "hardware/views/spatial_array_view.h"
#include "methods/array/systolic.h"
#include "methods/array/systolic_machine.h"
#include "simulation/systolic/closed_form.h"
#include "support/devices.h"
#include "support/method_fixture.h"

#include <QtTest/QtTest>

#include <fmt/format.h>

#include <cmath>

using namespace orrery;
using orrery::fixture::device;

namespace {

const Method& method(std::string_view id) {
    return *findMethod(id);
}

Expected<Estimate> ask(const Method& method, const HardwarePtr& hardware, const WorkloadPtr& workload,
                       std::stop_token stop = {}) {
    static const auto executor = makeSerialExecutor();
    EstimateContext context{*executor, std::move(stop), nullptr, 1, true};
    return estimate(method, {hardware, workload}, context);
}

Estimate answer(const Method& method, const HardwarePtr& hardware, const WorkloadPtr& workload) {
    auto got = ask(method, hardware, workload);
    if (!got) qFatal("%s", toText(got.error()).c_str());
    return std::move(*got);
}

// One product in fp16, and what follows it element by element.
WorkloadPtr product(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t repeat = 1) {
    Graph graph;
    const auto add = [&](Shape shape, TensorRole role) {
        Tensor tensor;
        tensor.type = DType::F16;
        tensor.shape = std::move(shape);
        tensor.role = role;
        return graph.addTensor(tensor);
    };
    Operator op;
    op.name = "product";
    op.type = "MatMul";
    op.kind = OperatorKind::MatMul;
    op.repeat = repeat;
    op.inputs = {add({m, k}, TensorRole::Input), add({k, n}, TensorRole::Weight)};
    op.outputs = {add({m, n}, TensorRole::Activation)};
    graph.inputs = {op.inputs[0]};
    Operator relu;
    relu.name = "relu";
    relu.type = "Relu";
    relu.kind = OperatorKind::Elementwise;
    relu.inputs = op.outputs;
    relu.outputs = {add({m, n}, TensorRole::Output)};
    graph.outputs = relu.outputs;
    graph.operators = {op, relu};
    return fixture::workloadOf(std::move(graph));
}

SystolicMachine machine(std::int64_t side, std::int64_t arrays) {
    SystolicMachine made;
    made.array.rows = made.array.cols = side;
    made.array.dataflow = Dataflow::WeightStationary;
    made.arrays = arrays;
    made.hertz = 1e9;
    made.bytesPerSecond = 1e12;
    return made;
}

double cyclesOf(const SystolicMachine& made, const SystolicShare& share) {
    return static_cast<double>(share.rounds) *
           static_cast<double>(systolic::closedForm(made.array, share.layer)->totalCycles + 1);
}

}  // namespace

class TestMethodSystolic : public QObject {
    Q_OBJECT
private slots:
    // One core of TPU v3: two weight-stationary arrays of 128 × 128 at 940 MHz. Half of 256 columns to each: 2 row
    // folds of 256 + 2·128 + 128 - 2 cycles.
    void productTakesItsFolds() {
        const auto got = answer(method("systolic-closed-form"), device("tpu-v3-core"), product(256, 256, 256));
        QVERIFY(std::abs(got.operators.seconds[0] * 940e6 - 2 * 638) < 1e-6);
        QVERIFY(got.operators.bound[0].kind == BoundKind::Compute);
        QVERIFY(got.interval.low <= got.latency && got.latency < got.interval.high);
        QVERIFY(!got.interval.basis.empty() && !got.assumptions.empty());
        for (const Diagnostic& warning : got.warnings) QVERIFY(warning.code != "method.unmeasured");
    }
    void repeatsMultiply() {
        const auto tpu = device("tpu-v3-core");
        for (const Method& each : {method("systolic-cycle"), method("systolic-closed-form")}) {
            const auto once = answer(each, tpu, product(300, 500, 200));
            const auto many = answer(each, tpu, product(300, 500, 200, 8));
            QVERIFY(std::abs(many.operators.seconds[0] - 8 * once.operators.seconds[0]) < 1e-15);
            QVERIFY(std::abs(many.operators.bytes[0] - 8 * once.operators.bytes[0]) < 1e-3);
        }
    }
    // Cycle by cycle it is never faster than without stalls, and no array multiplies faster than all its elements.
    void simulationIsBoundByTheFormulaAndBothByThePeak() {
        const auto tpu = device("tpu-v3-core");
        const double peak = 2 * 128.0 * 128 * 940e6;
        for (const auto [m, n, k] : {std::array<std::int64_t, 3>{1, 4096, 4096}, {128, 1000, 512}, {700, 300, 90}}) {
            const auto workload = product(m, n, k);
            const auto slow = answer(method("systolic-cycle"), tpu, workload);
            const auto fast = answer(method("systolic-closed-form"), tpu, workload);
            QVERIFY(slow.operators.seconds[0] >= fast.operators.seconds[0] * (1 - 1e-12));
            const auto macs = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
            QVERIFY(fast.operators.seconds[0] >= macs / peak);
            QVERIFY(answer(method("systolic-cycle"), tpu, workload).latency == slow.latency);
        }
    }
    void othersAreRefused() {
        const auto work = product(64, 64, 64);
        for (const Method& each : {method("systolic-cycle"), method("systolic-closed-form")}) {
            const auto gpu = ask(each, device("h100-sxm"), work);
            QVERIFY(!gpu && gpu.error().code == "method.not-applicable");
            QVERIFY(!gpu.error().hint.empty() || !gpu.error().expected.empty());
            std::stop_source stop;
            stop.request_stop();
            QCOMPARE(ask(each, device("tpu-v3-core"), work, stop.get_token()).error().code,
                     std::string("study.cancelled"));
        }
        const auto eyeriss = spatialArrayView(*device("eyeriss-like"));
        QVERIFY(eyeriss);
        QCOMPARE(systolicMachine(*eyeriss, 2).error().code, std::string("method.not-applicable"));
    }

    void productsAreDealtToTheArrays() {
        const auto four = machine(32, 4);
        const auto whole = systolicShare(10, 64, 64, 64, four);
        QCOMPARE(whole.rounds, std::int64_t{3});
        QCOMPARE(systolic::productOf(whole.layer, four.array).m, std::int64_t{64});
        // One product with few columns is cut along its rows, one with few rows along its columns.
        const auto tall = systolicShare(1, 4000, 32, 64, four);
        QCOMPARE(systolic::productOf(tall.layer, four.array).m, std::int64_t{1000});
        const auto broad = systolicShare(1, 8, 4096, 64, four);
        QCOMPARE(systolic::productOf(broad.layer, four.array).n, std::int64_t{1024});
        QCOMPARE(broad.arraysBusy, std::int64_t{4});
        QVERIFY(cyclesOf(four, tall) < cyclesOf(machine(32, 1), systolicShare(1, 4000, 32, 64, machine(32, 1))));
    }
    void attentionIsTwoProducts() {
        Operator op;
        op.kind = OperatorKind::Attention;
        op.attention = AttentionShape{2, 4, 4, 100, 300, 64, 80};
        const auto made = machine(32, 1);
        const auto shares = systolicShares(op, Graph{}, made);
        QCOMPARE(shares.size(), std::size_t{2});
        double macs = 0;
        for (const auto& share : shares) {
            const auto p = systolic::productOf(share.layer, made.array);
            macs += static_cast<double>(share.rounds * p.m * p.n * p.k);
        }
        QCOMPARE(macs, 2.0 * 4 * 100 * 300 * (64 + 80));
    }

    // The interval's basis: measured over predicted, of the products and convolutions on arrays that ship. Its ends are
    // those of the rows, no wider than their last digit.
    void measuredTimesLieInTheInterval_data() {
        QTest::addColumn<QString>("id");
        QTest::newRow("by formula") << "systolic-closed-form";
        QTest::newRow("by cycles") << "systolic-cycle";
    }
    void measuredTimesLieInTheInterval() {
        QFETCH(QString, id);
        const auto& tables = shippedReferences();
        std::vector<RowRef> rows;
        for (const RowRef ref : selectRows(tables, *parseFilter("kind=gemm|convolution,platform=TPU|Accelerator"))) {
            const ReferenceTable& table = tables[static_cast<std::size_t>(ref.table)];
            const std::string& device =
                table.devices[static_cast<std::size_t>(table.rows[static_cast<std::size_t>(ref.row)].device)].catalogue;
            if (table.models.empty() && (device.starts_with("tpu") || device == "gemmini-like")) rows.push_back(ref);
        }
        const auto executor = makeDefaultExecutor();
        EvaluateOptions options;
        options.executor = executor.get();
        const auto judged = evaluate(method(id.toStdString()), tables, rows, options);
        QVERIFY2(judged, judged ? "" : toText(judged.error()).c_str());
        const EvaluatedRows& found = judged->rows;
        QCOMPARE(found.size(), std::size_t{22});
        double least = 1e9, greatest = 0, low = 0, high = 0;
        for (std::size_t i = 0; i < found.size(); ++i) {
            least = std::min(least, found.measured[i] / found.predicted[i]);
            greatest = std::max(greatest, found.measured[i] / found.predicted[i]);
            high = std::max(high, found.high[i] / found.predicted[i]);
            low = i == 0 ? found.low[i] / found.predicted[i] : std::min(low, found.low[i] / found.predicted[i]);
        }
        qInfo("%s: measured over predicted %.4f to %.4f, stated %.4f to %.4f", qPrintable(id), least, greatest, low,
              high);
        QVERIFY(low <= least && greatest <= high);
        QVERIFY(least - low < 0.006);
        // Of the cycles the upper end is that of the formula.
        if (id == "systolic-closed-form") QVERIFY(high - greatest < 0.06);
        QCOMPARE(judged->figures.coverage90, 1.0);
    }
};

QTEST_GUILESS_MAIN(TestMethodSystolic)
#include "tst_method_systolic.moc"
