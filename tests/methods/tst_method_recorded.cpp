// `recorded`: does a step whose operators were recorded take what was recorded, what do sizes left out miss, and what
// is said of anything else? TrioSim's tables are of ResNet-50 and VGG-13 on one H100, batch 128, fp32; the Chakra trace
// is of ResNet-50, batch 32, one rank of a data-parallel run.

#include "base/executor.h"
#include "base/text/tar_members.h"
#include "hardware/files/catalogue.h"
#include "hardware/views/device_view.h"
#include "methods/model/compose.h"
#include "methods/trace/recorded_law.h"
#include "workload/traces/chakra.h"

#include <QtTest/QtTest>

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <numeric>

using namespace orrery;

namespace {

std::string trioSim(const char* model, const char* what = "trace") {
    return fmt::format("{}/training/data/triosim/{}_{}_h100_bs128.csv", ORRERY_REFERENCE, model, what);
}

HardwarePtr preset(const char* id) {
    static std::map<std::string, HardwarePtr, std::less<>> known;
    HardwarePtr& its = known[id];
    if (its) return its;
    auto loaded = loadHardware(id);
    if (!loaded) qFatal("%s", toText(loaded.error()).c_str());
    return its = std::make_shared<const Hardware>(std::move(loaded->hardware));
}

WorkloadPtr model(const char* source, std::int64_t batch, DType type = DType::F32, std::int64_t sequence = 0) {
    WorkloadRecipe recipe;
    recipe.source = source;
    recipe.options.batch = batch;
    recipe.options.sequence = sequence;
    recipe.options.phase = Phase::TrainingForward;
    recipe.options.weights = recipe.options.activations = type;
    auto made = loadWorkload(recipe);
    if (!made) qFatal("%s", toText(made.error()).c_str());
    return *made;
}

Expected<Estimate> asked(std::string_view choice, Scenario scenario) {
    const auto read = methodChoice(choice, builtinMethods());
    if (!read) return Unexpected(read.error());
    const auto executor = makeSerialExecutor();
    EstimateContext context{*executor, {}};
    context.wantTimeline = false;
    context.options = read->options;
    return estimate(*findMethod(read->id), scenario, context);
}

Estimate good(std::string_view choice, Scenario scenario) {
    auto answer = asked(choice, std::move(scenario));
    if (!answer) qFatal("%s", toText(answer.error()).c_str());
    return std::move(*answer);
}

std::string codeOf(const Expected<Estimate>& answer) {
    return answer ? std::string() : answer.error().code;
}

double sum(const std::vector<double>& column) {
    return std::accumulate(column.begin(), column.end(), 0.0);
}

bool warns(const Estimate& answer, std::string_view code) {
    return std::any_of(answer.warnings.begin(), answer.warnings.end(), [&](const auto& w) { return w.code == code; });
}

double figure(const Estimate& answer, std::string_view label) {
    for (const Figure& each : answer.figures)
        if (each.label == label) return each.value;
    return -1;
}

Plan planOf(const char* text) {
    auto plan = parsePlan(text);
    if (!plan) qFatal("%s", toText(plan.error()).c_str());
    return *plan;
}

RecordedLaw lawOf(const char* name) {
    const auto recording = readOperatorRecording(trioSim(name));
    if (!recording) qFatal("%s", toText(recording.error()).c_str());
    const auto device = deviceView(*firstDevice(preset("h100-sxm")));
    const auto launches = recordedLaunches(*recording, *device);
    if (!launches) qFatal("%s", toText(launches.error()).c_str());
    return RecordedLaw::of(*launches);
}

/// Two tables of a small run: a convolution and its backward pass, as whole microseconds.
struct SmallTables {
    std::string trace =
        "OperatorID,OperatorName,Operator_input,Operator_output,Operator_cudatime,stage\n"
        "1,aten::conv2d,[1; 2],[3],100,forward\n"
        "2,aten::relu_,[3],[3],10,forward\n"
        "3,autograd::engine::evaluate_function: ReluBackward0,[3; 3],[3],15,backward\n"
        "4,autograd::engine::evaluate_function: ConvolutionBackward0,[3; 1; 2],[1; 2],230,backward\n";
    std::string tensors =
        "Index,TensorID,TensorShape,TensorNumElement,TensorEachByte\n"
        "0,1,\"[8, 64, 56, 56]\",1605632,4\n"
        "1,2,\"[64, 64, 3, 3]\",36864,4\n"
        "2,3,\"[8, 64, 56, 56]\",1605632,4\n";
    std::string write(const char* name) const {
        const std::string folder = std::string(ORRERY_TEST_OUTPUT) + "/recorded";
        std::filesystem::create_directories(folder);
        const std::string path = fmt::format("{}/{}_trace_.csv", folder, name);
        std::ofstream(path) << trace;
        std::ofstream(fmt::format("{}/{}_tensor_.csv", folder, name)) << tensors;
        return path;
    }
};

std::string replaced(std::string text, std::string_view from, std::string_view to) {
    const auto at = text.find(from);
    if (at == std::string::npos) qFatal("nothing to replace");
    return text.replace(at, from.size(), to);
}

}  // namespace

class TstMethodRecorded : public QObject {
    Q_OBJECT
private slots:
    void stepsTakeWhatWasRecorded_data();
    void stepsTakeWhatWasRecorded();
    void sizesLeftOut();
    void oneModelFromAnother();
    void otherBatches();
    void copiesComputeAsOne();
    void otherDevices();
    void chakraOfADataParallelRank();
    void damagedChakra();
    void whatIsNotRecordedStandsAtItsRoofline();
    void badFiles_data();
    void badFiles();
    void withoutAFile();
};

void TstMethodRecorded::stepsTakeWhatWasRecorded_data() {
    QTest::addColumn<QString>("recording");
    QTest::addColumn<QString>("workload");
    QTest::addColumn<double>("forward");
    QTest::addColumn<double>("backward");
    QTest::addColumn<double>("optimizer");
    QTest::newRow("ResNet-50") << "resnet50"
                               << "resnet-50" << 24719.0 << 57720.0 << 870.0;
    QTest::newRow("VGG-13") << "vgg13"
                            << "vgg-13" << 28204.0 << 62602.0 << 3656.0;
}

void TstMethodRecorded::stepsTakeWhatWasRecorded() {
    QFETCH(QString, recording);
    QFETCH(QString, workload);
    QFETCH(double, forward);
    QFETCH(double, backward);
    QFETCH(double, optimizer);
    const std::string file = trioSim(qPrintable(recording));
    if (!std::ifstream(file)) QSKIP("no reference data");
    const Estimate answer = good(fmt::format("recorded(trace={}, on=h100-sxm)", file),
                                 {preset("h100-sxm"), model(qPrintable(workload), 128), {}, TrainingStep{}});
    const auto& ops = answer.operators;
    const double there = sum(ops.forwardSeconds) * 1e6, update = sum(ops.updateSeconds) * 1e6;
    const auto same = [](double a, double b) { return std::abs(a - b) < 1e-6 * b; };
    QVERIFY2(same(there, forward), qPrintable(QString::number(there, 'f', 3)));
    QVERIFY2(same(update, optimizer), qPrintable(QString::number(update, 'f', 3)));
    QVERIFY2(same(sum(ops.seconds) * 1e6 - there - update, backward), "backward");
    QVERIFY(same(answer.latency.value * 1e6, forward + backward + optimizer));
    QVERIFY(answer.interval.low < answer.latency && answer.latency < answer.interval.high);
    QVERIFY(answer.interval.high / answer.latency < 1.05);  // the scatter of equal kernels is 2 %
    QVERIFY(!warns(answer, "method.kernels-not-covered"));
    QVERIFY(answer.interval.basis.find("the scatter of equal ones") != std::string::npos);
    // Convolutions in TF32 beat the peak of plain fp32: kept, and said.
    QVERIFY(warns(answer, "recorded.below-bound"));
    for (const Figure& figure : answer.figures)
        QVERIFY2(figure.label != "Model FLOP utilisation" || figure.value <= 1, "no share above all");
}

// Each recorded size predicted from the others: what the card says.
void TstMethodRecorded::sizesLeftOut() {
    if (!std::ifstream(trioSim("vgg13"))) QSKIP("no reference data");
    for (const char* name : {"resnet50", "vgg13"}) {
        const RecordedLaw law = lawOf(name);
        QVERIFY(law.scatter() > 0.005 && law.scatter() < 0.03);
        double off = 0, all = 0;
        for (const RecordedFamily& family : law.families()) {
            if (!family.known) continue;
            double seconds = 0;
            for (const auto& size : family.sizes) seconds += size.rows * size.seconds;
            off += family.weighted * seconds, all += seconds;
            qInfo("%s %s %s use %d: %zu sizes, mean error %.1f %%, of the time %.1f %%", name,
                  std::string(toText(family.kind)).c_str(), std::string(family.function).c_str(),
                  static_cast<int>(family.use), family.sizes.size(), 100 * std::expm1(family.error),
                  100 * family.weighted);
            if (family.function == "Relu") QVERIFY(family.weighted < 0.05);
            if (family.kind == KernelKind::Convolution && std::string(name) == "vgg13") QVERIFY(family.weighted < 0.13);
            QVERIFY(family.low <= 1 && family.high >= 1);
        }
        qInfo("%s: %.1f %% of the time of families with four sizes or more", name, 100 * off / all);
        QVERIFY(off / all < (std::string(name) == "vgg13" ? 0.08 : 0.55));
    }
}

// VGG-13's step from the kernels of ResNet-50.
void TstMethodRecorded::oneModelFromAnother() {
    if (!std::ifstream(trioSim("resnet50"))) QSKIP("no reference data");
    const Scenario scenario{preset("h100-sxm"), model("vgg-13", 128), {}, TrainingStep{}};
    const Estimate other = good(fmt::format("recorded(trace={}, on=h100-sxm)", trioSim("resnet50")), scenario);
    const double measured = 94462e-6;
    qInfo("VGG-13 by ResNet-50's kernels: %.1f ms of %.1f, %.1f to %.1f", other.latency.value * 1e3, measured * 1e3,
          other.interval.low.value * 1e3, other.interval.high.value * 1e3);
    QVERIFY(other.interval.low.value < measured && measured < other.interval.high.value);
    QVERIFY(std::any_of(other.assumptions.begin(), other.assumptions.end(), [](const std::string& said) {
        return said.find("of kinds that this question does not ask for: normalization") != std::string::npos;
    }));
}

// A straight line between no work and the recorded batch, beyond it no less than what was recorded.
void TstMethodRecorded::otherBatches() {
    if (!std::ifstream(trioSim("resnet50"))) QSKIP("no reference data");
    for (const auto& [name, source] : {std::pair{"resnet50", "resnet-50"}, std::pair{"vgg13", "vgg-13"}}) {
        double before = 0;
        for (const std::int64_t batch : {16, 32, 64, 127, 128, 129, 256}) {
            const Estimate answer = good(fmt::format("recorded(trace={}, on=h100-sxm)", trioSim(name)),
                                         {preset("h100-sxm"), model(source, batch), {}, TrainingStep{}});
            QVERIFY2(answer.latency.value > before, qPrintable(QString("%1 %2").arg(name).arg(batch)));
            before = answer.latency.value;
            QVERIFY(answer.interval.low <= answer.latency && answer.latency <= answer.interval.high);
        }
    }
}

void TstMethodRecorded::copiesComputeAsOne() {
    const std::string file = trioSim("resnet50");
    if (!std::ifstream(file)) QSKIP("no reference data");
    const std::string choice = fmt::format("recorded(trace={}, on=h100-sxm)", file);
    const Estimate eight =
        good(choice, {preset("dgx-h100"), model("resnet-50", 8 * 128), planOf("dp=8"), TrainingStep{}});
    const double computing = figure(eight, "Computing share") * eight.latency.value;
    QVERIFY2(std::abs(computing / 83309e-6 - 1) < 1e-5, qPrintable(QString::number(computing * 1e6)));
    QVERIFY(eight.latency.value > 83309e-6 && eight.latency.value < 1.2 * 83309e-6);
    QVERIFY(figure(eight, "Exposed communication") > 0);
}

void TstMethodRecorded::otherDevices() {
    const std::string file = trioSim("vgg13");
    if (!std::ifstream(file)) QSKIP("no reference data");
    const Scenario scenario{preset("a100-80-sxm"), model("vgg-13", 128), {}, TrainingStep{}};
    QCOMPARE(codeOf(asked(fmt::format("recorded(trace={}, on=h100-sxm)", file), scenario)),
             std::string("recorded.other-device"));
    const Estimate moved = good(fmt::format("recorded(trace={}, on=h100-sxm, scale=tile-hybrid)", file), scenario);
    // By bandwidth 1.64 times as long, by fp32 peaks 3.4 times.
    QVERIFY2(moved.latency.value > 1.3 * 94462e-6 && moved.latency.value < 3.5 * 94462e-6,
             qPrintable(QString::number(moved.latency.value * 1e3)));
    QVERIFY(moved.interval.high / moved.latency > 1.05);
    QCOMPARE(codeOf(asked(fmt::format("recorded(trace={}, on=no-such-device)", file), scenario)),
             std::string("hardware.not-found"));
}

void TstMethodRecorded::chakraOfADataParallelRank() {
    const std::string archive =
        std::string(ORRERY_REFERENCE) + "/training/data/chakra/chakra_tests/feeder_tests_trace.tar.gz";
    if (!std::ifstream(archive)) QSKIP("no reference data");
    const auto recording = readOperatorRecording(archive);
    QVERIFY2(recording, recording ? "" : toText(recording.error()).c_str());
    std::map<std::string, int> counts;
    for (const RecordedOperator& op : recording->operators) ++counts[op.name];
    QCOMPARE(counts["aten::conv2d"], 53);
    QCOMPARE(counts["aten::convolution_backward"], 53);
    QCOMPARE(counts["aten::batch_norm"], 53);
    QCOMPARE(counts["aten::threshold_backward"], 49);
    QCOMPARE(recording->microseconds(RecordedStage::Optimizer), 3947.0);
    const Estimate answer =
        good(fmt::format("recorded(trace={})", archive),
             {preset("v100"), model("resnet-50", 32), {}, TrainingStep{.optimizer = Optimizer::Sgd}});
    double all = 0, sums = 0;
    for (const RecordedOperator& op : recording->operators) {
        all += op.microseconds * 1e-6;
        if (op.stage == RecordedStage::Backward && op.name == "aten::add_" && op.outputs[0].elements() > 1)
            sums += op.microseconds * 1e-6;
    }
    // Sixteen sums of gradients are no kernels of the model here; the answer says so.
    QVERIFY(sums > 0.01 && sums < 0.011);
    QVERIFY2(std::abs(answer.latency.value + sums - all) < 0.002 * all,
             qPrintable(QString("%1 %2").arg(answer.latency.value).arg(all - sums)));
    QVERIFY(!warns(answer, "method.kernels-not-covered"));
    QVERIFY(std::any_of(answer.assumptions.begin(), answer.assumptions.end(), [](const std::string& said) {
        return said.find("this question does not ask for: elementwise Add") != std::string::npos;
    }));
}

void TstMethodRecorded::damagedChakra() {
    const std::string archive =
        std::string(ORRERY_REFERENCE) + "/training/data/chakra/chakra_tests/feeder_tests_trace.tar.gz";
    if (!std::ifstream(archive)) QSKIP("no reference data");
    const auto text = readTraceFile(archive);
    QVERIFY(text);
    const auto members = tarMembers(*text, archive);
    QVERIFY(members && !members->empty());
    std::string_view whole;
    for (const TarMember& each : *members)
        if (each.text.size() > whole.size()) whole = each.text;
    // Cut anywhere it is refused or shorter, and never more than it was.
    const auto all = chakraRecording(whole, "whole");
    QVERIFY(all);
    int refused = 0;
    for (std::size_t length = 1; length < whole.size(); length += whole.size() / 97) {
        const auto cut = chakraRecording(whole.substr(0, length), "cut");
        refused += cut ? 0 : 1;
        if (cut) QVERIFY(cut->operators.size() <= all->operators.size());
        if (!cut) QVERIFY(cut.error().code == "trace.syntax" || cut.error().code == "trace.empty");
    }
    QVERIFY(refused > 80);
}

void TstMethodRecorded::whatIsNotRecordedStandsAtItsRoofline() {
    const std::string file = SmallTables().write("small");
    const Estimate answer =
        good(fmt::format("recorded(trace={})", file), {preset("h100-sxm"), model("resnet-50", 8), {}, Pass{}});
    QVERIFY(warns(answer, "method.kernels-not-covered"));
    QVERIFY(std::any_of(answer.assumptions.begin(), answer.assumptions.end(), [](const std::string& said) {
        return said.find("does not state its device") != std::string::npos;
    }));
    // That very convolution: three of ResNet-50's first stage.
    const auto device = deviceView(*firstDevice(preset("h100-sxm")));
    const auto law = RecordedLaw::of(*recordedLaunches(*readOperatorRecording(file), *device));
    const auto workload = model("resnet-50", 8);
    int found = 0;
    for (std::size_t i = 0; i < workload->graph.operators.size(); ++i) {
        const Kernel kernel = kernelOf(workload->graph, workload->costs, i);
        const auto at = law.find(kernel, KernelUse::Forward);
        if (!at.recorded || kernel.kind != KernelKind::Convolution) continue;
        QVERIFY(std::abs(at.seconds - 100e-6) < 1e-12);
        // Both gradients together take what was recorded of them.
        const double back =
            law.find(kernel, KernelUse::Backward).seconds + law.find(kernel, KernelUse::WeightGradient).seconds;
        QVERIFY(std::abs(back - 230e-6) < 1e-12);
        ++found;
    }
    QCOMPARE(found, 3);
}

void TstMethodRecorded::badFiles_data() {
    QTest::addColumn<QString>("trace");
    QTest::addColumn<QString>("tensors");
    QTest::addColumn<QString>("code");
    QTest::addColumn<int>("line");
    const SmallTables ok;
    const auto row = [&](const char* name, const std::string& trace, const std::string& tensors, const char* code,
                         int line) {
        QTest::newRow(name) << QString::fromStdString(trace) << QString::fromStdString(tensors) << code << line;
    };
    row("stage", replaced(ok.trace, "10,forward", "10,sideways"), ok.tensors, "trace.value", 3);
    row("time", replaced(ok.trace, ",100,", ",soon,"), ok.tensors, "trace.value", 2);
    row("below zero", replaced(ok.trace, ",100,", ",-1,"), ok.tensors, "trace.value", 2);
    row("no such tensor", replaced(ok.trace, "[1; 2]", "[1; 9]"), ok.tensors, "recording.tensors", 2);
    row("no list", replaced(ok.trace, "[1; 2]", "1; 2"), ok.tensors, "trace.value", 2);
    row("no column", replaced(ok.trace, "stage\n", "phase\n"), ok.tensors, "trace.syntax", 2);
    row("no rows", ok.trace.substr(0, ok.trace.find('\n') + 1), ok.tensors, "trace.empty", 0);
    row("a shape", ok.trace, replaced(ok.tensors, "64, 3, 3", "64, x, 3"), "trace.value", 3);
    row("a width", ok.trace, replaced(ok.tensors, "36864,4", "36864,wide"), "trace.value", 3);
    row("another file", "{\"nodes\": []}", ok.tensors, "recording.timeline", 1);
    row("no table", "hello\n", ok.tensors, "recording.form", 1);
    row("strange operators", replaced(replaced(ok.trace, "aten::conv2d", "aten::magic"), "aten::relu_", "aten::more"),
        ok.tensors, "", 0);
}

void TstMethodRecorded::badFiles() {
    QFETCH(QString, trace);
    QFETCH(QString, tensors);
    QFETCH(QString, code);
    QFETCH(int, line);
    const std::string file = SmallTables{trace.toStdString(), tensors.toStdString()}.write("bad");
    const auto read = readOperatorRecording(file);
    if (code.isEmpty()) {
        QVERIFY(read);  // what is not known rides along with what is
        return;
    }
    QVERIFY(!read);
    QCOMPARE(QString::fromStdString(read.error().code), code);
    QCOMPARE(read.error().place.line, line);
    QVERIFY(!read.error().place.file.empty());
}

void TstMethodRecorded::withoutAFile() {
    const Scenario scenario{preset("h100-sxm"), model("resnet-50", 8), {}, Pass{}};
    QCOMPARE(codeOf(asked("recorded", scenario)), std::string("recorded.no-trace"));
    QVERIFY(asksForFile(findMethod("recorded")->card));
    QVERIFY(!asksForFile(findMethod("tile-hybrid")->card));
    QVERIFY(!asked("recorded(trace=/no/such/file.csv)", scenario));
    const std::string lonely = std::string(ORRERY_TEST_OUTPUT) + "/recorded/lonely.csv";
    std::filesystem::create_directories(std::string(ORRERY_TEST_OUTPUT) + "/recorded");
    std::ofstream(lonely) << SmallTables().trace;
    QCOMPARE(codeOf(asked(fmt::format("recorded(trace={})", lonely), scenario)), std::string("recording.tensors"));
    QCOMPARE(codeOf(asked("recorded(trace=x, scale=roofline)", scenario)), std::string("method.bad-option"));
}

QTEST_APPLESS_MAIN(TstMethodRecorded)
#include "tst_method_recorded.moc"
