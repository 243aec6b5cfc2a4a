// Recorded under one plan, asked about another (the class of Lumos): kernels that a method prices are written as
// PyTorch would record them, an execution trace and its timeline, read back, and asked about plans of which that
// method's own answers are known. What is recorded of one rank is exact wherever its kernels come again; other shapes
// are extrapolated.

#include "base/executor.h"
#include "hardware/files/catalogue.h"
#include "methods/model/compose.h"
#include "methods/system/sharded_workload.h"
#include "workload/traces/operator_recording.h"

#include <QtTest/QtTest>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>

using namespace orrery;

namespace {

using nlohmann::json;
using Shapes = std::vector<std::vector<std::int64_t>>;

std::string folder() {
    const std::string path = std::string(ORRERY_TEST_OUTPUT) + "/recorded-plans";
    std::filesystem::create_directories(path);
    return path;
}

WorkloadPtr smallGpt(std::int64_t batch) {
    const std::string path = folder() + "/gpt.json";
    std::ofstream(path)
        << R"({"model_type": "gpt2", "n_layer": 4, "n_embd": 1024, "n_head": 16, "n_inner": 4096, "vocab_size": 50304, "n_positions": 512, "torch_dtype": "float32"})";
    WorkloadRecipe recipe;
    recipe.source = path;
    recipe.options.batch = batch;
    recipe.options.sequence = 512;
    recipe.options.phase = Phase::TrainingForward;
    recipe.options.weights = recipe.options.activations = recipe.options.kv = DType::F32;
    auto made = loadWorkload(recipe);
    if (!made) qFatal("%s", toText(made.error()).c_str());
    return *made;
}

HardwarePtr node() {
    static const HardwarePtr its = std::make_shared<const Hardware>(loadHardware("dgx-h100")->hardware);
    return its;
}

Plan planOf(const std::string& text) {
    auto plan = parsePlan(text);
    if (!plan) qFatal("%s", toText(plan.error()).c_str());
    return *plan;
}

Estimate answered(const std::string& choice, std::int64_t batch, const std::string& plan) {
    const auto read = methodChoice(choice, builtinMethods());
    if (!read) qFatal("%s", toText(read.error()).c_str());
    const auto executor = makeSerialExecutor();
    EstimateContext context{*executor, {}};
    context.wantTimeline = false;
    context.options = read->options;
    context.options["fusion"] = "apart";  // the operators that frameworks have names for; offered for arrays alone
    auto answer = estimate(*findMethod(read->id), {node(), smallGpt(batch), planOf(plan), TrainingStep{}}, context);
    if (!answer) qFatal("%s: %s", plan.c_str(), toText(answer.error()).c_str());
    return std::move(*answer);
}

/// Writes what a profiler of one rank would.
class TorchWriter {
public:
    TorchWriter() {
        callers_[Part::Forward] = callers_[Part::Loss] = add("[pytorch|profiler|execution_trace|thread]", 1, {}, {});
    }
    void launch(Part part, const std::string& name, const Shapes& inputs, const Shapes& outputs, double seconds) {
        if (!callers_.contains(part))
            callers_[part] = add(part == Part::Backward ? "autograd::engine::evaluate_function: AnyBackward0"
                                                        : "Optimizer.step#Adam.step",
                                 1, {}, {});
        // The operator that is asked for calls the one that launches the kernel.
        const std::int64_t outer = add(name, callers_[part], inputs, outputs);
        const std::int64_t inner = add("aten::_inner", outer, inputs, outputs);
        events_.push_back({{"ph", "X"},
                           {"cat", "cpu_op"},
                           {"name", name},
                           {"ts", time_},
                           {"dur", 1.0},
                           {"args", {{"External id", inner}, {"Record function id", inner}}}});
        events_.push_back({{"ph", "X"},
                           {"cat", "kernel"},
                           {"name", "some_kernel"},
                           {"ts", time_},
                           {"dur", seconds * 1e6},
                           {"args", {{"External id", inner}, {"stream", 7}}}});
        time_ += seconds * 1e6;
    }
    void write(const std::string& trace, const std::string& timeline) const {
        std::ofstream(trace) << json{{"schema", "1.0.2-chakra.0.0.4"}, {"pid", 1}, {"nodes", nodes_}};
        std::ofstream(timeline) << json{{"schemaVersion", 1}, {"traceEvents", events_}};
    }
    double time() const { return time_ * 1e-6; }

private:
    std::int64_t add(const std::string& name, std::int64_t caller, const Shapes& inputs, const Shapes& outputs) {
        const std::int64_t id = next_++;
        const auto side = [](const Shapes& shapes) {
            json its{{"values", json::array()}, {"shapes", shapes}, {"types", json::array()}};
            for (std::size_t i = 0; i < shapes.size(); ++i) its["types"].push_back("Tensor(float)");
            return its;
        };
        nodes_.push_back({{"id", id},
                          {"name", name},
                          {"ctrl_deps", caller},
                          {"inputs", side(inputs)},
                          {"outputs", side(outputs)},
                          {"attrs", json::array({{{"name", "rf_id"}, {"type", "uint64"}, {"value", id}}})}});
        return id;
    }
    json nodes_ = json::array(), events_ = json::array();
    std::map<Part, std::int64_t> callers_;
    std::int64_t next_ = 2;
    double time_ = 0;
};

void write(TorchWriter& out, const Launch& launch, double seconds) {
    const Kernel& k = launch.kernel;
    const bool back = launch.part == Part::Backward;
    const std::vector<std::int64_t> rows{k.m, k.n};
    const auto elements = [](double bytes) { return std::vector<std::int64_t>{std::llround(bytes / 4)}; };
    switch (k.kind) {
        case KernelKind::Gemm:
            if (!back) return out.launch(launch.part, "aten::linear", {{k.m, k.k}, {k.n, k.k}}, {rows}, seconds);
            return out.launch(launch.part, "aten::mm", {{k.m, k.k}, {k.k, k.n}}, {rows}, seconds);
        case KernelKind::PrefillAttention: {
            const std::vector<std::int64_t> q{k.attention.batch, k.attention.heads, k.attention.queries,
                                              k.attention.headDim};
            if (!back) return out.launch(launch.part, "aten::scaled_dot_product_attention", {q, q, q}, {q}, seconds);
            return out.launch(launch.part, "aten::_scaled_dot_product_flash_attention_backward", {q, q, q, q},
                              {q, q, q}, seconds);
        }
        case KernelKind::Normalization:
            return out.launch(launch.part, back ? "aten::native_layer_norm_backward" : "aten::layer_norm", {rows, rows},
                              {rows}, seconds);
        case KernelKind::Softmax:
            return out.launch(launch.part, back ? "aten::_log_softmax_backward_data" : "aten::log_softmax",
                              {rows, rows}, {rows}, seconds);
        case KernelKind::Elementwise:
            if (k.function.starts_with("Gelu"))
                return out.launch(launch.part, back ? "aten::gelu_backward" : "aten::gelu", {rows}, {rows}, seconds);
            return out.launch(launch.part, "aten::add", {rows, rows}, {rows}, seconds);
        case KernelKind::Movement:
            if (launch.part == Part::Optimizer)
                return out.launch(launch.part, "aten::_foreach_addcdiv_", {elements(k.bytes() / 7)}, {}, seconds);
            if (back)
                return out.launch(launch.part, "aten::embedding_dense_backward", {elements(k.readBytes / 2)},
                                  {elements(k.writeBytes - k.readBytes / 2)}, seconds);
            return out.launch(launch.part, "aten::embedding", {{50304, 1024}}, {elements(k.writeBytes)}, seconds);
        default:
            QVERIFY2(k.function == "ReduceSum", std::string(k.function).c_str());
            return out.launch(launch.part, "aten::sum", {rows}, {{1, k.n}}, seconds);
    }
}

/// What one rank of a plan does, its kernels as tile-hybrid prices them. Returns their seconds.
double record(std::int64_t batch, const std::string& plan, const std::string& trace, const std::string& timeline) {
    const Plan its = planOf(plan);
    const auto sharded = shardedWorkload(smallGpt(batch), its, TrainingStep{});
    if (!sharded) qFatal("%s", toText(sharded.error()).c_str());
    ModelOptions options;
    options.fusion = Fusion::Apart;
    options.step = Step::Training;
    const auto executor = makeSerialExecutor();
    EstimateContext context{*executor, {}};
    const auto composed = compose({node(), sharded->shard}, *findKernelMethod("tile-hybrid"), options, context);
    if (!composed) qFatal("%s", toText(composed.error()).c_str());
    TorchWriter out;
    const auto& launches = composed->list().launches;
    for (std::size_t i = 0; i < launches.size(); ++i) {
        double seconds = composed->prices[i].seconds;
        // A layer norm's two backward launches are one operator.
        if (launches[i].what == "dγ, dβ") continue;
        if (launches[i].kernel.kind == KernelKind::Normalization && launches[i].part == Part::Backward)
            seconds += composed->prices[i + 1].seconds;
        for (int repeat = 0; repeat < std::lround(launches[i].count); ++repeat) write(out, launches[i], seconds);
    }
    out.write(trace, timeline);
    return out.time();
}

}  // namespace

class TstRecordedPlans : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() {
        recorded_ = record(6, "tp=2", trace_, timeline_);
        choice_ = fmt::format("recorded(trace={}, tensors={}, on=h100-sxm, fusion=apart)", trace_, timeline_);
    }
    void everyKernelIsRead() {
        const auto recording = readOperatorRecording(trace_, timeline_);
        QVERIFY2(recording, recording ? "" : toText(recording.error()).c_str());
        double sum = 0;
        for (const RecordedOperator& op : recording->operators) {
            sum += op.microseconds * 1e-6;
            QVERIFY2(op.name.starts_with("aten::") && op.name != "aten::_inner", op.name.c_str());
        }
        QVERIFY2(std::abs(sum / recorded_ - 1) < 1e-9, qPrintable(QString("%1 %2").arg(sum).arg(recorded_)));
        QCOMPARE(recording->unlinked, 0.0);
    }
    // Other pipelines, copies, micro-batches of the same shape: the recording knows all their kernels.
    void plansOfTheSameKernels_data() {
        QTest::addColumn<QString>("plan");
        QTest::addColumn<int>("batch");
        QTest::newRow("as recorded") << "tp=2" << 6;
        QTest::newRow("copies") << "tp=2,dp=4" << 24;
        QTest::newRow("stages") << "tp=2,pp=2,mb=8" << 48;
        QTest::newRow("all three") << "tp=2,pp=2,dp=2,mb=4" << 48;
        QTest::newRow("shared state") << "tp=2,dp=4,zero=3" << 24;
        QTest::newRow("zero bubble") << "tp=2,pp=4,mb=8,schedule=zero-bubble" << 48;
    }
    void plansOfTheSameKernels() {
        QFETCH(QString, plan);
        QFETCH(int, batch);
        const Estimate own = answered("tile-hybrid", batch, plan.toStdString());
        const Estimate read = answered(choice_, batch, plan.toStdString());
        const double off = read.latency.value / own.latency.value - 1;
        qInfo("%s: %.3f ms of %.3f, %.4f %%", qPrintable(plan), read.latency.value * 1e3, own.latency.value * 1e3,
              100 * off);
        QVERIFY(std::abs(off) < 1e-3);  // what starts a graph stands in the method's answer alone
        for (const Diagnostic& each : read.warnings)
            QVERIFY2(each.code != "method.kernels-not-covered", each.message.c_str());
    }
    // Parts that were not recorded: by the law, within its own interval.
    void plansOfOtherKernels_data() {
        QTest::addColumn<QString>("plan");
        QTest::addColumn<int>("batch");
        QTest::addColumn<double>("within");
        QTest::newRow("narrower parts") << "tp=4" << 6 << 0.25;
        QTest::newRow("no parts") << "tp=1" << 6 << 0.25;
        QTest::newRow("larger micro-batches") << "tp=2,dp=2" << 24 << 0.15;
        QTest::newRow("smaller ones") << "tp=2,pp=2,mb=4" << 12 << 0.15;
    }
    void plansOfOtherKernels() {
        QFETCH(QString, plan);
        QFETCH(int, batch);
        QFETCH(double, within);
        const Estimate own = answered("tile-hybrid", batch, plan.toStdString());
        const Estimate read = answered(choice_, batch, plan.toStdString());
        const double off = read.latency.value / own.latency.value - 1;
        qInfo("%s: %.3f ms of %.3f, %.1f %%, %.3f to %.3f", qPrintable(plan), read.latency.value * 1e3,
              own.latency.value * 1e3, 100 * off, read.interval.low.value * 1e3, read.interval.high.value * 1e3);
        QVERIFY(std::abs(off) < within);
        QVERIFY(read.interval.low < own.latency && own.latency < read.interval.high);
    }

private:
    std::string trace_ = folder() + "/rank0.json", timeline_ = folder() + "/kineto0.json", choice_;
    double recorded_ = 0;
};

QTEST_APPLESS_MAIN(TstRecordedPlans)
#include "tst_recorded_plans.moc"
